"""Actions on real pages in a real Chromium, behind the filtering proxy."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import zipfile

import pytest

from fetchworker.actions import Runner, parse_actions
from fetchworker.artifacts.redact import redacted
from fetchworker.browser import run_of
from fetchworker.errors import ArtifactError, PageFailedError, PageTimeoutError

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHOP = """<!doctype html><title>Shop</title><h1>Shoes</h1>
<form onsubmit="event.preventDefault(); out.textContent = 'found ' + q.value + ' ' + size.value">
<input id=q><input id=pw type=password><select id=size><option value=s>Small</option><option value=l>Large</option>
</select><button>go</button></form><p id=out></p>
<button id=more onclick="setTimeout(() => list.innerHTML += '<li>two</li>', 50)">more</button>
<ul id=list><li>one</li></ul>
<div style="height: 4000px"></div><p id=end>the end</p>
<script>addEventListener('scroll', () => { if (!document.getElementById('late'))
document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>') })</script>
<script type="application/ld+json">{"@type": "Product", "name": "Shoe"}</script>""".replace("\n", " ").encode()


class Kept:
    """Keeps artifacts in memory."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}
        self.full = False

    async def __call__(self, kind, content, media_type):
        if self.full:
            raise ArtifactError("the disk is full")
        self.found[kind] = content if isinstance(content, bytes) else content.read_bytes()
        return f"id-{kind}"


@pytest.fixture
def kept():
    return Kept()


@pytest.fixture
def do(engine, within_spec, site, kept):
    """Runs actions on the shop and gives the report."""
    site.pages["/"] = SHOP

    async def run(*actions, path="/", deadline=30, **options):
        runner = Runner(
            parse_actions(list(actions)), kept, refusals=lambda page: list(run_of(page).refusals), **options
        )

        async def work(context):
            async with context.page() as page:
                await runner.begin(page)
                await page.goto(site.url(path))
                await runner.run(page)

        run.runner = runner
        await engine.run(within_spec(deadline=deadline), work)
        return runner.report

    return run


def told(report):
    return [(one.type, one.outcome, one.layer) for one in report.actions]


async def test_a_run_does_what_it_says(do, kept):
    heard = []
    report = await do(
        {"type": "fill", "selector": "#q", "text": "shoe"},
        {"type": "select", "selector": "#size", "label": "Large"},
        {"type": "press", "selector": "#q", "key": "Enter"},
        {"type": "wait_for", "text": "found shoe l"},
        {"type": "click", "selector": "#more"},
        {"type": "assert", "selector": "#list li", "min_count": 2, "max_count": 2},
        {"type": "scroll", "to": "bottom"},
        {"type": "wait_for", "selector": "#late", "state": "attached"},
        {"type": "extract", "name": "facts", "fields": {"items": {"css": "#list li::text", "many": True},
                                                         "shoe": {"json_ld": "Product"}}},
        {"type": "assert", "url_contains": "page.example", "title_contains": "Shop", "text": "the end"},
        {"type": "screenshot"},
        {"type": "pdf"},
        {"type": "html"},
        told=heard.append,
    )  # fmt: skip
    assert [one.outcome for one in report.actions] == ["ok"] * 13, [one.line() for one in report.actions]
    assert heard == report.actions
    assert report.extracted == {"items": ["one", "two"], "shoe": {"@type": "Product", "name": "Shoe"}}
    assert report.actions[1].value == ["l"]
    assert kept.found["screenshot"].startswith(b"\x89PNG")
    assert kept.found["pdf"].startswith(b"%PDF-")
    assert b"<li>two</li>" in kept.found["html"]
    assert [one.artifact for one in report.actions[-3:]] == ["id-screenshot", "id-pdf", "id-html"]
    assert all(one.ms is not None for one in report.actions)
    assert report.artifacts == {}


async def test_the_first_failure_ends_it_unless_told(do):
    report = await do(
        {"type": "click", "selector": "#nowhere", "timeout": 0.3, "on_failure": "continue"},
        {"type": "assert", "selector": "h1", "text": "Hats", "timeout": 0.3},
        {"type": "screenshot"},
    )
    assert told(report) == [
        ("click", "failed", "action"), ("assert", "failed", "assertion"), ("screenshot", "skipped", None)
    ]  # fmt: skip
    assert report.failed is report.actions[0]
    assert report.actions[1].error == "h1 does not show the text"
    assert report.actions[2].to_json() == {"index": 2, "type": "screenshot", "outcome": "skipped", "ms": None}


async def test_each_layer_is_told_apart(do, site, kept):
    async def hangs_up(writer, _):
        writer.close()

    site.pages["/gone"] = hangs_up
    kept.full = True
    inside = f"http://127.0.0.1:{site.port}/"
    quick = {"timeout": 5, "on_failure": "continue"}
    report = await do(
        {"type": "goto", "url": inside, **quick},
        {"type": "goto", "url": inside.replace("http:", "https:"), **quick},
        {"type": "goto", "url": site.url("/gone"), **quick},
        {"type": "goto", "url": site.url("/"), **quick},
        {"type": "extract", "fields": {"price": {"css": ".price", "required": True}}, **quick},
        {"type": "click", "selector": "]][", **quick},
        {"type": "screenshot", **quick},
    )
    assert told(report) == [
        ("goto", "failed", "target_policy"), ("goto", "failed", "target_policy"), ("goto", "failed", "navigation"),
        ("goto", "ok", None), ("extract", "failed", "schema"), ("click", "failed", "action"),
        ("screenshot", "failed", "artifact"),
    ], [one.line() for one in report.actions]  # fmt: skip
    assert "interrupted" not in report.actions[2].error
    assert report.actions[3].value == {"url": site.url("/"), "status": 200}
    assert report.actions[4].error == "the page has no price"
    assert "\n" not in report.actions[5].error
    assert [asked.path for asked in site.asked if asked["host"].startswith("127.")] == []


async def test_the_runs_own_time(do):
    with pytest.raises(PageTimeoutError):
        await do({"type": "click", "selector": "#more"}, {"type": "wait_for", "seconds": 30}, deadline=3)
    report = do.runner.report
    assert told(report) == [("click", "ok", None), ("wait_for", "failed", "deadline")]


async def test_a_browser_that_dies_is_replaced_once_and_the_run_begins_again(do, engine):
    killed = []

    def kill(outcome):
        if outcome.type == "click" and not killed:
            killed.append(engine.pid)
            os.kill(engine.pid, signal.SIGKILL)

    report = await do(
        {"type": "click", "selector": "#more"}, {"type": "wait_for", "selector": "#list li:nth-child(2)"}, told=kill
    )
    assert told(report) == [("click", "ok", None), ("wait_for", "ok", None)]
    assert engine.counts["repeated"] == 1


async def test_a_browser_that_dies_twice_ends_the_run(do, engine):
    def kill(outcome):
        if outcome.outcome == "ok":
            os.kill(engine.pid, signal.SIGKILL)

    with pytest.raises(PageFailedError):
        await do({"type": "click", "selector": "#more"}, {"type": "wait_for", "selector": "#never"}, told=kill)
    assert told(do.runner.report)[1][2] in ("browser_process", "deadline")


async def test_what_is_kept_of_a_run_that_failed(do, kept):
    kinds = ("screenshot", "html", "trace", "har")
    report = await do({"type": "assert", "text": "Hats", "timeout": 0.2}, on_failure=kinds)
    assert report.artifacts == {kind: f"id-{kind}" for kind in kinds}, report.problems
    with zipfile.ZipFile(io.BytesIO(kept.found["trace"])) as archive:
        assert "trace.trace" in archive.namelist()
    assert b"page.example" in kept.found["har"]


async def test_nothing_is_kept_of_a_run_that_went_well(do, kept):
    report = await do({"type": "assert", "text": "Shoes"}, on_failure=("screenshot", "html", "trace", "har"))
    assert (report.artifacts, report.problems, kept.found) == ({}, [], {})


async def test_a_secret_is_in_no_trace_and_no_har(do, kept, site):
    site.pages["/set"] = (
        b"<script>document.cookie = 'sid=abcdef0123456789'; fetch('/api?access_token=abcdef0123456789')</script>"
    )
    await do(
        {"type": "goto", "url": site.url("/set")},
        {"type": "goto", "url": site.url("/")},
        {"type": "fill", "selector": "#pw", "text": "hunter2-hunter2", "secret": True},
        always=("trace", "har", "html"),
    )
    secrets = ["hunter2-hunter2"]
    for kind in ("trace", "har", "html"):
        content = redacted(kind, kept.found[kind], secrets)
        members = [content]
        if kind == "trace":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [archive.read(name) for name in archive.namelist()]
                assert any(b"hunter2-hunter2" in zipfile.ZipFile(io.BytesIO(kept.found[kind])).read(name)
                           for name in archive.namelist())  # fmt: skip
        assert not [one for one in members if b"hunter2-hunter2" in one or b"abcdef0123456789" in one], kind


SIGN_IN = b"""<!doctype html><meta name=csrf-token content=meta-csrf-0123456789><form method=post action=/in>
<input name=user><label>Password<input name=word type=password></label><input name=pw>
<input type=hidden name=authenticity_token value=hidden-0123456789><textarea name=api_token>area-0123456789</textarea>
<button>go</button></form><script>document.cookie = "seen=script-set-0123456789";
document.body.append("it is " + document.cookie.split("=")[1])</script>"""


async def test_what_is_typed_into_fields_for_passwords_is_secret_whoever_says_so(do, kept, site):
    site.pages["/sign-in"] = SIGN_IN
    await do(
        {"type": "fill", "selector": "[name=user]", "text": "anna-anna"},
        {"type": "fill", "selector": "label", "text": "typed-0123456789"},
        {"type": "fill", "selector": "form > :nth-child(3)", "text": "short-name-0123456789"},
        {"type": "html"},
        {"type": "click", "selector": "button"},
        {"type": "wait_for", "url": "**/in"},
        path="/sign-in",
        always=("trace", "har"),
    )
    secrets = do.runner.secrets
    assert secrets == {"typed-0123456789", "short-name-0123456789", "script-set-0123456789"}
    assert b"typed-0123456789" in site.to("/in")[0].body
    for kind in ("trace", "har", "html"):
        members = [redacted(kind, kept.found[kind], secrets)]
        if kind == "trace":
            with zipfile.ZipFile(io.BytesIO(members[0])) as archive:
                members = [archive.read(name) for name in archive.namelist()]
        assert b"Password" in b"".join(members)
        assert not [found for one in members for found in re.findall(rb".{99}0123456789", one)], kind
        assert kind == "html" or [one for one in members if b"anna-anna" in one], "what is no secret stays"


async def test_recordings_leave_no_folder_behind(do, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    await do({"type": "assert", "text": "Shoes"}, on_failure=("trace",))
    assert list(tmp_path.glob("fetchworker-run-*")) == []


async def test_a_run_that_is_cancelled_ends(do):
    begun = asyncio.Event()
    actions = ({"type": "click", "selector": "#more"}, {"type": "wait_for", "seconds": 30})
    task = asyncio.ensure_future(do(*actions, told=lambda _: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
