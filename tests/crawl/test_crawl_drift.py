"""A site that changed its pages: the crawl says so at its end, and what it kept is replayed."""

from __future__ import annotations

import json

import pytest

from fetchworker.demo.model import Reply

pytestmark = pytest.mark.slow
#: a link page whose account has moved
CHANGED = {"props": {"pageProps": {"viewer": {"username": "mira.k", "mail": "mira@kiln.example"}}}}
HEADERS = (("content-type", "text/html; charset=utf-8"), ("set-cookie", "sid=cookie-of-a-visitor; path=/"))


def changed(_request) -> Reply:
    data = json.dumps(CHANGED)
    looks = "<style>a{color:#123}</style>" * 400  # a page of a few bytes would be taken for a refusal
    body = (
        f'<html><title>mira.k</title>{looks}<script id="__NEXT_DATA__" type="application/json">{data}</script></html>'
    )
    return Reply(200, HEADERS, body.encode())


def test_a_page_that_lacks_its_data_is_told_kept_and_replayed(project, lab):
    lab.app = changed
    project.use(lab)
    done = project.scrapy("crawl", "linktree", "-a", "user=mira.k", "-O", str(project.folder / "m.jsonl"))
    assert done.returncode == 1, "the only call failed"
    assert "linktree profile: 1 of 1 pages (100%) lack __NEXT_DATA__ props.pageProps.account.username" in done.stderr
    (failure,) = project.records("failures")
    (kept,) = (project.folder / "state" / "crawls").glob("*/drift/manifest.jsonl")
    assert (failure["type"], kept.parent.parent / failure["evidence_file"]) == (
        "CONTRACT_ERROR", kept.parent / "profile-1.body"
    )  # fmt: skip
    assert f"scrapy parse-file --manifest {kept}" in done.stderr
    everything = kept.read_text() + (kept.parent / "profile-1.body").read_text()
    assert "cookie-of-a-visitor" not in everything
    assert "kiln.example" not in everything
    replayed = project.scrapy("parse-file", "--manifest", str(kept))
    (answer,) = map(json.loads, replayed.stdout.splitlines())
    assert (answer["outcome"], answer["items"]) == ("ok", [])
    assert "__NEXT_DATA__ props.pageProps.account.username" in answer["error"]
