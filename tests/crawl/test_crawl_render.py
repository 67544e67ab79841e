"""Pages that a browser loads because their answers take one: whole crawls of the lab, with a real Chromium."""

from __future__ import annotations

import json
import re

import pytest

from fetchworker.demo.model import Reply
from tests.crawl.conftest import crawled

pytestmark = [pytest.mark.browser, pytest.mark.slow]
URL = "https://lab.example"


@pytest.fixture
def browser(project, shell):
    project.env["FETCHWORKER_BROWSER"] = shell


def stats(crawled, name):
    """The number of a stat, in the dump at the end of the log."""
    found = re.search(rf"'fetchworker/{re.escape(name)}': ([\d.]+)", crawled.log)
    return float(found[1]) if found else 0


def agents(lab):
    return {request.header("user-agent") for request in lab.requests}


def test_a_challenge_takes_one_step_and_the_session_goes_on(browser, lab, sites, serve):
    sites(render="on_evidence", concurrency=4)
    seeds = [{"url": f"{URL}/challenge/{n}", "session": "ann"} for n in range(6)]
    done = serve(*seeds)
    assert done.code == 0, done.log
    assert {item["body"].count("<h1>") for item in done.items} == {1}
    assert len(done.items) == 6
    assert stats(done, "render/fetch/challenge") == 1, done.log
    assert stats(done, "browser/pages") == 1
    assert len(agents(lab)) == 1


def test_requests_of_scripts_go_on_after_a_visit_of_the_page_they_come_from(browser, lab, sites, serve):
    sites(render="on_evidence")
    origin = f"{URL}/challenge/list"
    seed = {"url": f"{URL}/challenge/api/7", "destination": "xhr", "referer": origin, "session": "ann"}
    done = serve(seed)
    assert [item["body"] for item in done.items] == ['{"name": "7"}'], done.log
    assert "/challenge/list" in lab.paths
    assert lab.paths[0] == lab.paths[-1] == "/challenge/api/7"
    assert stats(done, "render/fetch/challenge") == stats(done, "browser/pages") == 1


def test_an_application_is_filled_in_by_its_scripts(browser, lab, sites, fetch):
    sites(render="on_evidence")
    done = fetch(f"{URL}/app/mug")
    assert "<h1>mug is one" in done.item["body"]
    assert (done.item["attempts"], stats(done, "render/fetch/shell")) == (1, 1)


LINKS = {"props": {"pageProps": {"username": "ann", "account": {"id": 7, "username": "ann"}, "links": []}}}
FILLED = f"""<!doctype html><title>ann</title><h1>ann</h1><p>{"Pages of a friend of mine. " * 200}</p><script>
const made = document.createElement("script");
made.id = "__NEXT_DATA__";
made.type = "application/json";
made.textContent = TOLD;
setTimeout(() => document.body.append(made), 400);
</script>"""


@pytest.mark.parametrize("data", [json.dumps(json.dumps(LINKS)), '"{}"'], ids=["filled", "empty"])
def test_a_page_without_its_data_is_asked_for_once_more(browser, project, lab, queue, data):
    project.use(lab)
    project.sites(timeout=15 if "ann" in data else 5)
    path = project.folder / "sites.yaml"
    entries = json.loads(path.read_text())["sites"]
    path.write_text(json.dumps({"sites": entries | {"linktree": {**entries["linktree"], "render": "on_evidence"}}}))
    lab.app = lambda _: Reply(200, (("content-type", "text/html"),), FILLED.replace("TOLD", data).encode())
    done = crawled(project, project.scrapy("crawl", "linktree", "-a", "user=ann", "-O", f"{project.folder}/f.jsonl"))
    assert [item["username"] for item in done.items] == (["ann"] if "ann" in data else []), done.log
    assert [line["type"] for line in done.failed] == ([] if "ann" in data else ["CONTRACT_ERROR"])
    assert stats(done, "render/linktree/contract") == 1


def test_json_that_a_browser_was_sent_for_is_json(browser, lab, sites, fetch):
    sites(render="on_evidence")
    done = fetch(f"{URL}/challenge/api/7")
    assert done.item["body"] == '{"name": "7"}'


def test_without_the_wish_no_browser_is_asked(browser, lab, fetch):
    done = fetch(f"{URL}/app/mug")
    assert '<div id="root"></div>' in done.item["body"]
    done = fetch(f"{URL}/challenge/mug")
    assert done.items == []
    assert stats(done, "browser/pages") == 0


def test_always_means_each_page_and_nothing_else(browser, lab, sites, fetch):
    sites(render="always")
    done = fetch(f"{URL}/app/mug")
    assert "<h1>mug is one" in done.item["body"]
    assert lab.paths == ["/app/mug", "/app/data/mug"]
    assert '"name": "mug"' in fetch(f"{URL}/app/data/mug", destination="xhr").item["body"]


def test_a_challenge_that_no_browser_passes_costs_one_step_of_each_identity(browser, lab, sites, fetch):
    sites(render="on_evidence", timeout=15, retries=4)  # of these a page is waited for 9: 6 are for the browser
    lab.app = lambda _: Reply(403, (("content-type", "text/html"), ("x-amzn-waf-action", "challenge")), b"<p>Wait</p>")
    done = fetch(f"{URL}/never")
    assert done.items == []
    assert [line["outcome"] for line in done.failed] == ["challenge"]
    assert stats(done, "render/fetch/challenge") == stats(done, "render_failed/fetch") == 2
    assert len(lab.requests) == 5 + 2, "steps are no tries"


def test_where_there_is_no_browser_it_is_said_once(project, lab, sites, fetch):
    sites(render="on_evidence")
    project.env["FETCHWORKER_BROWSER"] = "/nowhere/chromium"
    done = fetch(f"{URL}/challenge/mug")
    assert done.log.count("no page is given to a browser") == 1
    assert [line["outcome"] for line in done.failed] == ["challenge"]
    sites(render="always")
    done = fetch(f"{URL}/app/mug")
    assert done.code != 0
    assert "scrapy doctor" in done.log


def test_a_session_is_minted_and_the_crawl_goes_over_http(browser, project, lab, queue, fetch):
    made = project.scrapy("sessions", "mint", "fetch", "mia", "--url", f"{URL}/challenge/home", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == {"site": "fetch", "warmed": [], "minted": ["mia"], "failed": 0, "missing": []}
    shown = project.scrapy("sessions", "show", "fetch", "mia", "--json")
    assert "cleared" in shown.stdout
    spent = project.scrapy("usage", "--json", "--by", "operation")
    assert '"mint"' in spent.stdout, spent.stdout
    done = fetch(f"{URL}/challenge/cup", session="mia")
    assert "<h1>cup</h1>" in done.item["body"]
    assert (stats(done, "browser/pages"), len(agents(lab))) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fetch", "mia"), "has no warm-up page: say with --url"),
        (("fetch", "mia", "--url", "gopher://lab.example/"), "http:// or https://"),
        (("fetch", "mia", "ben"), "mint SITE [ID]"),
    ],
)
def test_what_cannot_be_minted_is_told(browser, project, arguments, told):
    made = project.scrapy("sessions", "mint", *arguments)
    assert made.returncode == 2
    assert told in made.stderr


def test_a_pool_is_minted(browser, project, lab, sites, queue):
    project.use(lab)
    sites(pool={"via": "browser"})
    made = project.scrapy("sessions", "mint", "fetch", "--url", f"{URL}/challenge/home")
    assert made.returncode == 0, made.stderr
    assert "1 minted: pool.main." in made.stdout
