"""`scrapy sites`: what there is to crawl, for people and for programs."""

from __future__ import annotations

import json
import subprocess


def test_people_read_sites_operations_and_arguments(project):
    done = project.scrapy("sites")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(project.names)
    assert "  profile: Public profile with its first posts.  (chosen by user, id)" in lines
    assert any("-a url=… *" in line for line in lines)
    assert "proxy: preferred, 4 at once, every 0 s" in done.stdout


def test_programs_read_json_with_schemas(project):
    done = project.scrapy("sites", "--json", "instagram")
    (site,) = map(json.loads, done.stdout.splitlines())
    assert (site["site"], site["config"]["proxy"]) == ("instagram", "preferred")
    assert {"profile", "posts", "post", "comments", "reels", "search"} <= site["operations"].keys()
    posts = site["operations"]["posts"]
    assert posts["counts"] == "post"
    assert posts["params"]["properties"]["limit"]["anyOf"][0]["minimum"] == 1


def test_an_unknown_site_is_named_with_the_known_ones(project):
    done = project.scrapy("sites", "instagrm")
    assert done.returncode == 2
    assert "'instagrm'" in done.stderr
    assert ", ".join(project.names) in done.stderr


def test_a_wrong_configuration_is_told_and_ends_with_2(project):
    (project.folder / "sites.yaml").write_text("sites: {fetch: {}}\n")
    done = project.scrapy("sites")
    assert done.returncode == 2
    assert "instagram" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(project):
    with project.start("sites", "--json", stdout=subprocess.PIPE) as listing:
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 141
