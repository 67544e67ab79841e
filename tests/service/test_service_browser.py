"""Actions in a browser over HTTP: by the session, under the egress policy, with what they keep."""

from __future__ import annotations

import argparse
import json

import pytest
from scrapy.settings import Settings

from fetchworker.commands.browser import Command
from fetchworker.service.callers import hash_of
from tests.service.conftest import LAB, Serving, failure

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(120)]
BODY = {"type": "extract", "fields": {"text": {"css": "body"}}}


@pytest.fixture(scope="module")
def browsing(demo, shell, tmp_path_factory):
    """A service with a browser."""
    keys = [
        {"name": "one", "hash": hash_of("fwk_one"), "scopes": ["fetch", "artifacts", "sessions"], "workspace": "w-one"},
        {"name": "sites", "hash": hash_of("fwk_sites"), "scopes": ["sites"]},
    ]
    made = Serving(
        tmp_path_factory.mktemp("browsing"), "--stateless", FETCHWORKER_BROWSER=shell,
        FETCHWORKER_SERVE_KEYS=json.dumps(keys),
    )  # fmt: skip
    made.project.use(demo, proxies=False)
    with made:
        yield made


def run(browsing, url=f"{LAB}/", *actions, key="one", **more):
    with browsing.client(headers={"authorization": f"Bearer fwk_{key}"}) as client:
        return client.post("/browser/runs", json={"url": url, "actions": list(actions), **more})


def done(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_run_is_told_action_by_action_and_its_artifacts_are_there(browsing):
    answer = run(browsing, f"{LAB}/", BODY, {"type": "screenshot"}, keep=["html", "trace"])
    told = done(answer)
    assert (told["outcome"], told["layer"]) == ("ok", None)
    assert told["page"] == {"url": f"{LAB}/", "status": 200, "outcome": "ok"}
    assert [one["outcome"] for one in told["actions"]] == ["ok", "ok"]
    assert "demo" in told["extracted"]["text"]
    assert told["artifacts"].keys() == {"html", "trace"}
    assert told["problems"] == []
    shot = told["actions"][1]["artifact"]
    headers = {"authorization": "Bearer fwk_one"}
    about = browsing.get(f"/artifacts/{shot}", headers=headers).json()
    assert (about["kind"], about["operation"], about["workspace"]) == ("screenshot", "browser", "w-one")
    assert about["request_id"] == told["request_id"] == answer.headers["x-request-id"]
    assert browsing.get(f"/artifacts/{shot}/data", headers=headers).content.startswith(b"\x89PNG")


def test_a_session_keeps_its_cookies(browsing):
    run(browsing, f"{LAB}/cookies/set?name=ann", session_id="ann")
    told = done(run(browsing, f"{LAB}/cookies", BODY, session_id="ann"))
    assert '"name": "ann"' in told["extracted"]["text"].replace("&quot;", '"').replace('":"', '": "')
    other = done(run(browsing, f"{LAB}/cookies", BODY))
    assert "ann" not in other["extracted"]["text"]
    with browsing.client(headers={"authorization": "Bearer fwk_one"}) as client:
        plain = client.post("/fetch", json={"url": f"{LAB}/cookies", "session_id": "ann"}).json()
    assert "ann" in plain["body"], "what the browser was given goes on over HTTP"


def test_a_failed_action_is_a_result(browsing):
    told = done(
        run(browsing, f"{LAB}/", {"type": "assert", "text": "Nothing like it", "timeout": 0.2}, {"type": "pdf"})
    )
    assert (told["outcome"], told["layer"]) == ("failed", "assertion")
    assert [one["outcome"] for one in told["actions"]] == ["failed", "skipped"]
    assert told["artifacts"].keys() == {"screenshot", "html"}


def test_an_address_that_is_refused_has_no_status(browsing):
    told = done(run(browsing, f"{LAB}/", {"type": "goto", "url": "http://10.0.0.1/inside"}))
    assert (told["outcome"], told["layer"], told["page"]["status"]) == ("failed", "target_policy", None)
    told = done(run(browsing, f"{LAB}/", {"type": "goto", "url": f"{LAB}/status/404"}))
    assert told["page"]["status"] == told["actions"][0]["value"]["status"]


def test_the_time_of_a_run(browsing):
    told = done(run(browsing, f"{LAB}/", {"type": "wait_for", "seconds": 60}, timeout=8))
    assert (told["outcome"], told["layer"]) == ("failed", "deadline")


def test_a_page_that_is_refused_is_judged(browsing):
    told = done(run(browsing, f"{LAB}/status/403", {"type": "html"}))
    assert (told["outcome"], told["page"]["outcome"], told["page"]["status"]) == ("failed", "blocked", 403)
    assert told["actions"][0]["outcome"] == "ok"


@pytest.mark.parametrize(
    ("url", "more", "status", "kind", "where"),
    [
        ("http://127.0.0.1:1/", {}, 403, "EGRESS_DENIED", None),
        ("http://169.254.169.254/", {}, 403, "EGRESS_DENIED", None),
        (f"{LAB}/", {"actions": [{"type": "click"}]}, 400, "VALIDATION_ERROR", ["actions[0].selector"]),
        (f"{LAB}/", {"actions": "click"}, 400, "VALIDATION_ERROR", ["actions"]),
        (f"{LAB}/", {"keep": ["film"]}, 400, "VALIDATION_ERROR", None),
        (f"{LAB}/", {"site": "nowhere"}, 400, "VALIDATION_ERROR", ["site"]),
        (f"{LAB}/", {"proxy": "gold"}, 400, "VALIDATION_ERROR", ["proxy"]),
        (f"{LAB}/", {"country": "DE"}, 400, "VALIDATION_ERROR", ["country"]),
        (f"{LAB}/", {"lease": "x"}, 400, "VALIDATION_ERROR", ["lease"]),
        (f"{LAB}/", {"evaluate": "1"}, 400, "VALIDATION_ERROR", ["evaluate"]),
        (f"{LAB}/close", {}, 502, "FETCH_ERROR", None),
    ],
)
def test_refusals(browsing, url, more, status, kind, where):  # noqa: PLR0917  # a row of the table
    with browsing.client(headers={"authorization": "Bearer fwk_one"}) as client:
        answer = client.post("/browser/runs", json={"url": url, **more})
    assert failure(answer) == (status, kind), answer.text
    if where is not None:
        assert answer.json()["context"]["fields"] == where


def test_its_scope_is_that_of_fetch(browsing):
    assert failure(run(browsing, key="sites")) == (403, "FORBIDDEN")


def test_without_a_browser_it_says_how_to_get_one(demo, tmp_path):
    made = Serving(tmp_path, "--stateless", FETCHWORKER_BROWSER=str(tmp_path / "none"))
    made.project.use(demo, proxies=False)
    with made, made.client() as client:
        answer = client.post("/browser/runs", json={"url": f"{LAB}/"})
    assert failure(answer) == (501, "NOT_INSTALLED")
    assert "FETCHWORKER_BROWSER" in answer.json()["message"]


class TestCommand:
    @pytest.fixture
    def browser(self, project, demo, shell):
        project.use(demo, proxies=False)
        project.env["FETCHWORKER_BROWSER"] = shell
        return lambda *arguments: project.scrapy("browser", *arguments)

    def test_actions_are_told_as_they_end(self, browser, project):
        steps = project.folder / "steps.json"
        steps.write_text(json.dumps([{"type": "wait_for", "load": "load", "name": "loaded"}]))
        ran = browser(f"{LAB}/", "--actions", str(steps), "--action", "extract:text=body", "--action", "html", "--json")
        assert ran.returncode == 0, ran.stderr
        told = json.loads(ran.stdout)
        assert [one["type"] for one in told["actions"]] == ["wait_for", "extract", "html"]
        lines = [line for line in ran.stderr.splitlines() if line.startswith("[")]
        assert [line.partition(": ")[0] for line in lines] == ["[0] wait_for loaded", "[1] extract", "[2] html"]
        got = project.scrapy("artifacts", "get", told["actions"][2]["artifact"])
        assert "<html" in got.stdout

    def test_a_failure_is_exit_code_1(self, browser):
        ran = browser(f"{LAB}/", "--action", '{"type": "assert", "text": "Nothing", "timeout": 0.1}')
        assert ran.returncode == 1
        assert "[0] assert: failed" in ran.stderr
        assert ran.stdout.startswith(f"failed: {LAB}/ 200 in ")

    @pytest.mark.parametrize(
        ("arguments", "code", "told"),
        [
            ((), 2, "write scrapy browser URL"),
            ((f"{LAB}/", "--action", "dance"), 2, "there is no 'dance'"),
            ((f"{LAB}/", "--action", '{"type": "click"}'), 2, "actions[0].selector: Field required"),
            ((f"{LAB}/", "--actions", "/nowhere.json"), 2, "--actions /nowhere.json: it cannot be read"),
            ((f"{LAB}/", "--keep", "film"), 2, "keep[0]: Input should be"),
        ],
    )
    def test_wrong_arguments(self, arguments, code, told, capsys):
        """In this process: nothing of it needs one of its own."""
        command = Command()
        command.settings = Settings()
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        opts, args = parser.parse_known_args(list(arguments))
        command.run(args, opts)
        assert command.exitcode == code
        assert told in capsys.readouterr().err

    def test_what_may_not_be_reached(self, browser):
        ran = browser("http://127.0.0.1:1/")
        assert (ran.returncode, "EGRESS_DENIED" in ran.stderr) == (1, True), ran.stderr


def fetch(browsing, url, **more):
    with browsing.client(headers={"authorization": "Bearer fwk_one"}) as client:
        return client.post("/fetch", json={"url": url, **more})


def test_a_fetch_has_its_challenge_passed_and_goes_on_over_http(browsing):
    told = done(fetch(browsing, f"{LAB}/challenge/cup", render="on_evidence", session_id="eve"))
    assert (told["status"], told["attempts"]) == (200, 1)
    assert "<h1>cup</h1>" in told["body"]
    told = done(fetch(browsing, f"{LAB}/challenge/jug", render="never", session_id="eve"))
    assert "<h1>jug</h1>" in told["body"], "the session is known now"
    refused = fetch(browsing, f"{LAB}/challenge/jug", retries=0)
    assert (failure(refused)[1], refused.json()["context"]["outcome"]) == ("UPSTREAM_BLOCKED", "challenge")


def test_a_fetch_is_rendered_where_that_is_asked_for(browsing):
    assert "<h1>cup is one" in done(fetch(browsing, f"{LAB}/app/cup", render="always"))["body"]
    assert '<div id="root"></div>' in done(fetch(browsing, f"{LAB}/app/cup"))["body"]


def test_what_is_not_to_follow_redirects_is_no_browsers(browsing):
    url = f"{LAB}/redirect-to?url=/cookies"
    refused = fetch(browsing, url, render="always", follow_redirects=False)
    assert failure(refused) == (400, "VALIDATION_ERROR")
    assert refused.json()["context"]["fields"] == ["render", "follow_redirects"]
    plain = fetch(browsing, url, render="on_evidence", follow_redirects=False, expect={"status": [302]})
    assert done(plain)["status"] == 302
    assert done(fetch(browsing, url, render="always"))["url"] == f"{LAB}/cookies"


def test_a_session_is_minted(browsing):
    with browsing.client(headers={"authorization": "Bearer fwk_one"}) as client:
        told = client.post("/sessions/mia/mint", json={"url": f"{LAB}/challenge/"})
        assert done(told)["cookies"] == ["cleared"]
        assert told.text.count(".") < 2, "names, no values"
        failed = client.post("/sessions/mia/mint", json={})
        assert failure(failed) == (400, "VALIDATION_ERROR")
        assert failed.json()["context"]["fields"] == ["url"]
    assert "<h1>jug</h1>" in done(fetch(browsing, f"{LAB}/challenge/jug", session_id="mia"))["body"]
