"""Crawls leave behind what was fetched and what failed, and nothing secret; the command shows it."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import random
import threading
import zlib

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from fetchworker.demo.model import Reply
from tests.media.conftest import CDN, SITE, Hosts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SECRET = "abcdef0123456789abcdef"
BLOCK = f'<title>Access Denied</title><script>var csrfToken = "{SECRET}"</script><p>{SECRET}</p>'


@pytest.fixture(scope="module")
def hosts():
    made = Hosts()
    yield made
    made.close()


@pytest.fixture
def archive(project, hosts):
    """Crawls in a project that keeps everything."""
    project.use(hosts)
    project.env |= {
        "FETCHWORKER_ARTIFACTS_WARC": "true", "FETCHWORKER_ARTIFACTS_FAILURES": "5", "FETCHWORKER_FRONTIER": "memory"
    }  # fmt: skip
    path = project.folder / "sites.yaml"
    sites = json.loads(path.read_text())["sites"]
    sites["linktree"] |= {"allowed_hosts": ["linktr.ee"], "retries": 0, "proxy": "none"}
    path.write_text(json.dumps({"sites": sites}))
    return project


def listed(project, *options):
    done = project.scrapy("artifacts", "list", "--json", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_block_can_be_looked_at(archive, hosts):
    headers = (("content-type", "text/html"), ("set-cookie", f"sid={SECRET}; Path=/"), ("content-encoding", "gzip"))
    hosts.answers[f"{SITE}/blocked"] = Reply(403, headers, gzip.compress(BLOCK.encode()))
    done = archive.scrapy("crawl", "linktree", "-a", "user=blocked")
    assert "'fetchworker/artifacts/bundle': 1" in done.stderr
    assert "'fetchworker/artifacts/warc': 1" in done.stderr
    (bundle,) = listed(archive, "--kind", "bundle")
    (failure,) = archive.records("failures")
    assert failure["artifact"] == bundle["id"]
    assert (bundle["site"], bundle["operation"], bundle["url"]) == ("linktree", "profile", f"{SITE}/blocked")
    assert bundle["request_id"] == failure["request_id"]

    target = archive.folder / "block.json"
    got = archive.scrapy("artifacts", "get", bundle["id"], "-o", str(target))
    assert got.returncode == 0, got.stderr
    told = json.loads(target.read_bytes())
    assert SECRET not in target.read_text()
    assert (told["verdict"]["outcome"], told["attempts"]) == ("blocked", 1)
    assert told["verdict"]["evidence"]
    assert (told["answer"]["status"], told["answer"]["body"]) == (403, BLOCK.replace(SECRET, "***"))
    assert ["set-cookie", "sid=***; Path=/"] in [[name.lower(), value] for name, value in told["answer"]["headers"]]
    assert told["request"]["line"] == "GET /blocked HTTP/1.1"
    assert "User-Agent" in dict(told["request"]["headers"])

    dropped = archive.scrapy("artifacts", "drop", bundle["id"], f"{bundle['id'][:-8]}00000000")
    assert dropped.returncode == 2
    assert "00000000" in dropped.stderr
    assert not list((archive.folder / "state" / "artifacts" / "meta").glob(f"*/{bundle['id']}_*"))


def test_what_a_crawl_fetched_is_a_warc(archive, hosts):
    page = hosts.page("one")
    assert archive.scrapy("crawl", "linktree", "-a", "user=one").returncode == 0
    (kept,) = listed(archive, "--kind", "warc")
    assert kept["media_type"] == "application/warc"
    done = archive.scrapy("artifacts", "get", kept["id"], "-o", str(archive.folder / "a.warc.gz"))
    assert done.returncode == 0, done.stderr
    content = (archive.folder / "a.warc.gz").read_bytes()
    records = [
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(content), check_digests="raise")
    ]
    assert ("response", page, hosts.answers[page].body) in records
    assert ("request", page, b"") in records
    assert not list((archive.folder / "state" / "crawls").glob("*/*.warc.gz"))


def warcs(project, *paths):
    """The addresses of the answers in WARC files, as far as their records are whole."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            try:
                for record in ArchiveIterator(file):
                    record.content_stream().read()
                    if record.rec_type == "response":
                        found.append(record.rec_headers.get_header("WARC-Target-URI"))
            except (ArchiveLoadFailed, EOFError, zlib.error):
                continue
    return found


def test_a_long_crawl_has_several_warcs(archive, hosts):
    pictures = [
        hosts.picture(f"{CDN}/{n}.png", b"\x89PNG\r\n\x1a\n" + random.Random(n).randbytes(60_000)) for n in range(3)
    ]
    page = hosts.page("one", *pictures)
    archive.env |= {"FETCHWORKER_MEDIA": "true", "FETCHWORKER_ARTIFACTS_MAX_BYTES": "200000"}
    assert archive.scrapy("crawl", "linktree", "-a", "user=one").returncode == 0
    kept = listed(archive, "--kind", "warc")
    assert len(kept) >= 2
    assert all(one["size"] <= 200_000 for one in kept)
    objects = archive.folder / "state" / "artifacts" / "objects"
    paths = [objects / one["sha256"][:2] / one["sha256"] for one in kept]
    assert {page, *pictures} <= set(warcs(archive, *paths))


def test_what_a_killed_crawl_had_fetched_can_be_read(archive, hosts):
    asked, over = threading.Event(), threading.Event()

    async def never() -> Reply:
        asked.set()
        await asyncio.to_thread(over.wait, 30)
        return Reply(404, (), b"")

    hosts.answers[f"{CDN}/never.png"] = lambda _: never()
    page = hosts.page("one", f"{CDN}/never.png")
    archive.env["FETCHWORKER_MEDIA"] = "true"
    with archive.start("crawl", "linktree", "-a", "user=one") as crawl:
        assert asked.wait(60)
        crawl.kill()
        crawl.stderr.read()
    over.set()
    (left,) = (archive.folder / "state" / "crawls").glob("*/archive-*.warc.gz")
    assert page in warcs(archive, left)
    torn = archive.folder / "torn.warc.gz"
    torn.write_bytes(left.read_bytes()[:-20])
    assert page in warcs(archive, torn)


def test_nothing_is_kept_unless_asked_for(archive, hosts):
    hosts.answers[f"{SITE}/blocked"] = Reply(403, (), BLOCK.encode())
    archive.env |= {"FETCHWORKER_ARTIFACTS_WARC": "false", "FETCHWORKER_ARTIFACTS_FAILURES": "0"}
    archive.scrapy("crawl", "linktree", "-a", "user=blocked")
    assert not (archive.folder / "state" / "artifacts").exists()
    assert listed(archive) == []


def test_a_store_that_is_full_costs_no_item(archive, hosts):
    hosts.page("one")
    archive.env["FETCHWORKER_ARTIFACTS_STORE"] = str(archive.folder / "store")
    archive.env["FETCHWORKER_ARTIFACTS_MAX_BYTES"] = "1024"
    out = archive.folder / "out.jsonl"
    (archive.folder / "store").mkdir()
    (archive.folder / "store" / "objects").write_text("in the way")
    done = archive.scrapy("crawl", "linktree", "-a", "user=one", "-O", str(out))
    assert done.returncode == 0
    assert len(archive.lines("out.jsonl")) == 1
    assert "an artifact cannot be kept: " in done.stderr
    assert "'fetchworker/artifacts/lost': 1" in done.stderr
    (left,) = (archive.folder / "state" / "crawls").glob("*/*.warc.gz")
    assert f"the archive stays in {left}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "write scrapy artifacts list"),
        (("get",), "write scrapy artifacts get ID"),
        (("drop",), "write scrapy artifacts drop ID"),
        (("list", "x"), "list takes no ids"),
        (("list", "--kind", "film"), "--kind: one of screenshot"),
        (("list", "--before", "../x"), "--before the id of an artifact"),
        (("get", "../../etc/passwd"), "there is no artifact ../../etc/passwd"),
    ],
)
def test_wrong_arguments(arguments, told, tmp_path, capsys):
    """In this process: nothing of it needs one of its own."""
    import asyncio

    from scrapy.settings import Settings

    from fetchworker.artifacts import ArtifactStore
    from fetchworker.commands import artifacts as command
    from fetchworker.config import Environment
    from fetchworker.errors import ArgumentError

    made = command.Command()
    made.settings = Settings()
    import argparse

    parser = argparse.ArgumentParser()
    made.add_options(parser)
    opts, args = parser.parse_known_args(list(arguments))
    store = ArtifactStore.of(Environment(state_dir=tmp_path))
    acts = {"list": command._list, "get": command._get, "drop": command._drop}
    try:
        if not args:
            asyncio.run(made._work(args, opts))
        else:
            assert asyncio.run(acts[args[0]](store, args[1:], opts)) == 2
        found = capsys.readouterr().err
    except ArgumentError as exc:
        found = exc.message
    assert told in found


def test_expire_tells_what_is_gone(archive, hosts):
    hosts.page("one")
    archive.env["FETCHWORKER_ARTIFACTS_TOTAL_BYTES"] = "1"
    assert archive.scrapy("crawl", "linktree", "-a", "user=one").returncode == 0
    done = archive.scrapy("artifacts", "expire", "--json")
    assert json.loads(done.stdout)["artifacts"] == 1
