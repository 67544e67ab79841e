"""`scrapy parse-file`: saved pages through the rules and parsers of crawls, one JSON object each."""

from __future__ import annotations

import json

import pytest

from fetchworker.contracts import Fetch, Params, Parsed
from fetchworker.demo.instagram import Instagram
from fetchworker.errors import ConfigError
from fetchworker.offline import LARGEST, Row, header_map, parse_row, run_manifest
from fetchworker.spiders.base import SiteSpider, operation

KEYS = ["file", "outcome", "vendor", "evidence", "items", "error"]
PROFILE = "https://www.instagram.com/nasa/"


@pytest.fixture(scope="module")
def profile_page() -> bytes:
    site = Instagram()
    return site._page("/nasa/", site.tokens("guest")).body


class TestOneFile:
    def run(self, project, *arguments, stdin=None):
        done = project.scrapy("parse-file", *arguments, stdin=stdin)
        assert "Traceback" not in done.stderr
        return done, [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_page_with_its_address(self, project, profile_page):
        page = project.folder / "page.html"
        page.write_bytes(profile_page)
        done, (answer,) = self.run(project, "instagram", str(page), "--url", PROFILE, "--status", "200")
        assert done.returncode == 0
        assert list(answer) == KEYS
        assert (answer["file"], answer["outcome"], answer["error"]) == (str(page), "ok", None)
        kinds = [item["kind"] for item in answer["items"]]
        assert (kinds[0], kinds[-1], kinds.count("post")) == ("profile", "page", 12)
        assert answer["items"][0]["username"] == "nasa"

    def test_standard_input_and_headers(self, project):
        page = "<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/h/b/orchestrate/x'></script>"
        headers = ("--header", "Server: cloudflare", "--header", "CF-Mitigated: challenge")
        done, (answer,) = self.run(project, "any", "-", "--status", "403", *headers, stdin=page)
        assert done.returncode == 1, "no items"
        assert (answer["file"], answer["outcome"], answer["vendor"]) == ("-", "challenge", "cloudflare")
        assert answer["evidence"]

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["instagram"], "SITE and FILE"),
            (["instagram", "no-such-file.html"], "no-such-file.html"),
            (["instagram", "x", "--manifest", "y"], "leave SITE and FILE out"),
            (["--manifest", "no-such-manifest.jsonl"], "no-such-manifest.jsonl"),
        ],
    )
    def test_wrong_use_ends_with_2(self, project, arguments, told):
        done, answers = self.run(project, *arguments)
        assert (done.returncode, answers) == (2, [])
        assert told in done.stderr


def test_a_manifest_is_answered_row_by_row(project, profile_page):
    folder = project.folder / "saved" / "pages"
    folder.mkdir(parents=True)
    (folder / "nasa.html").write_bytes(profile_page)
    (folder / "other.html").write_bytes(b"<html><title>Hello</title><p>A page of another kind, with words.</p></html>")
    rows = [
        {"file": "pages/nasa.html", "site": "instagram", "operation": "profile", "url": PROFILE, "status": 200,
         "headers": {"Content-Type": "text/html", "Set-Cookie": ["a=1", "b=2"]}},
        {"file": "pages/nasa.html", "site": "instagram", "operation": None},
        {"file": "pages/other.html", "site": "any", "status": 403, "headers": [["Server", "nginx"]]},
        {"file": "pages/other.html", "site": "nosuch", "operation": "profile"},
        {"file": "pages/other.html", "site": "instagram", "operation": "profile"},
        {"file": "pages/other.html", "site": "instagram", "operation": "profil"},
        {"file": "pages/absent.html", "site": "instagram", "operation": "profile"},
    ]  # fmt: skip
    manifest = project.folder / "saved" / "manifest.jsonl"
    manifest.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    done = project.scrapy("parse-file", "--manifest", str(manifest))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["file"] for answer in answers] == [row["file"] for row in rows]
    assert all(list(answer) == KEYS for answer in answers)
    whole, classified, anywhere, unknown, broken, misspelt, absent = answers
    assert (whole["outcome"], len(whole["items"])) == ("ok", 14)
    assert (classified["outcome"], classified["items"], classified["error"]) == ("ok", [], None)
    assert (anywhere["outcome"], anywhere["items"]) == ("blocked", [])
    assert unknown["error"] == "unknown site"
    assert (broken["outcome"], broken["items"], "not found in the page" in broken["error"]) == ("ok", [], True)
    assert "not found in the page" in broken["error"]
    assert "no operation 'profil'" in misspelt["error"]
    assert (absent["outcome"], absent["items"]) == (None, [])
    assert "line 7" in absent["error"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON"),
        ("[1]", "`file` and `site`"),
        ('{"file": "a"}', "`file` and `site`"),
        ('{"file": 1, "site": "any"}', "`file` and `site`"),
        ('{"file": "a", "site": "any", "status": "200"}', "status: a number"),
        ('{"file": "a", "site": "any", "operation": 5}', "operation: a text"),
        ('{"file": "a", "site": "any", "url": ["x"]}', "url: a text"),
        ('{"file": "a", "site": "any", "headers": 5}', "headers: an object"),
        ('{"file": "a", "site": "any", "headers": {"a": null}}', "headers: an object"),
        ('{"file": "a", "site": "any", "headers": [["a"]]}', "headers: an object"),
    ],
)
def test_a_bad_line_of_a_manifest_is_named_and_the_others_go_on(tmp_path, line, told):
    manifest = tmp_path / "m.jsonl"
    (tmp_path / "a").write_bytes(b"x")
    good = '{"file": "a", "site": "any"}'
    manifest.write_text(f"{good}\n\n{line}\n{good}")
    malformed: list[int] = []
    first, bad, last = run_manifest(manifest, {}, malformed)
    assert first == last
    assert first["error"] is None
    assert list(bad) == KEYS
    assert (bad["file"], bad["outcome"], bad["items"]) == ("a" if '"file": "a"' in line else None, None, [])
    assert bad["error"].startswith("line 3: ")
    assert told in bad["error"]
    assert malformed == [3]


def test_a_malformed_line_ends_the_command_with_1(project):
    (project.folder / "a").write_bytes(b"<title>Hello</title><p>words</p>")
    manifest = project.folder / "m.jsonl"
    manifest.write_bytes(b'\xff\n{"file": "a", "site": "any"}\n')
    done = project.scrapy("parse-file", "--manifest", str(manifest))
    assert (done.returncode, done.stderr) == (1, "")
    assert [json.loads(line)["file"] for line in done.stdout.splitlines()] == [None, "a"]


def test_a_manifest_that_cannot_be_read_is_no_manifest(tmp_path):
    with pytest.raises(ConfigError, match="cannot read the manifest"):
        list(run_manifest(tmp_path, {}, []))


class NoParams(Params):
    pass


def buggy(page, call):
    raise KeyError("name")


def empty(page, call):
    return Parsed([])


class BuggySpider(SiteSpider):
    name = "buggy"

    @operation(parse=empty, params=NoParams, patterns=(r"https://buggy\.example/empty",))
    def empty(self, call):
        yield Fetch("page", "https://buggy.example/empty")

    @operation(parse=buggy, params=NoParams, patterns=(r"https://buggy\.example/bug",))
    def bug(self, call):
        yield Fetch("page", "https://buggy.example/bug")


def test_a_bug_in_a_parser_is_one_pages_answer():
    row = Row("a.html", "buggy", url="https://buggy.example/bug")
    answer = parse_row(row, b"<html>text</html>", {"buggy": BuggySpider})
    assert (answer["outcome"], answer["items"]) == ("error", [])
    assert answer["error"] == "the parser failed: KeyError: 'name'"


def test_what_no_crawl_would_have_taken_is_told_and_not_parsed():
    row = Row("a.html", "buggy", url="https://buggy.example/bug")
    answer = parse_row(row, b"<html>" + b"a" * LARGEST, {"buggy": BuggySpider})
    assert (answer["outcome"], answer["items"]) == ("ok", [])
    assert answer["error"] == f"body: {LARGEST + 6} bytes; crawls give up beyond {LARGEST} (`max_bytes`)"


def test_the_address_chooses_the_operation():
    row = Row("a.html", "buggy", url="https://buggy.example/empty")
    assert parse_row(row, b"<html>text</html>", {"buggy": BuggySpider})["error"] is None


def test_a_page_that_was_cut_off_is_said_to_be():
    row = Row("page.html", "buggy", url="https://buggy.example/empty")
    answer = parse_row(row, b"<html><body>half a list</li>", {"buggy": BuggySpider})
    assert (answer["outcome"], answer["items"], answer["error"]) == ("ok", [], "empty: the page is cut off")


def test_headers_keep_their_order_under_lower_case_names():
    assert header_map([("A", "1"), ("b", "2"), ("a", "3")]) == {"a": ("1", "3"), "b": ("2",)}
