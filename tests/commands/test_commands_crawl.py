"""`scrapy crawl`: what is wrong is refused at the start by name, and the exit code tells how it ended."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import yaml

from fetchworker.commands.crawl import _succeeded
from fetchworker.redis import connect_sync, release, resolve_redis_url, stop_embedded

ROOT = Path(__file__).parents[2]
NAMES = yaml.safe_load((ROOT / "sites.yaml").read_text())["sites"]
OTHERS = ", ".join(f"{name}: {{}}" for name in NAMES if name != "instagram")
WRONG_SITES = [
    ("sites: {instagram: {prxy: none}, fetch: {}}", ["sites.yaml, line 1", "prxy", "did you mean proxy?"]),
    ("sites: {instagram: {}, fetch: {}, instagrem: {}}", ["instagrem", "did you mean instagram?"]),
    ("sites: {instagram: {}}", ["fetch"]),
    (
        f"sites: {{instagram: {{profile: chrom}}, {OTHERS}}}",
        ["profile", "chrome"],
    ),
    ("sites: {instagram: {retries: many}, fetch: {}}", ["sites.instagram.retries", "'many'"]),
    ("sites: {instagram: {backoff: {first: 9, max: 1}}, fetch: {}}", ["first (9) is greater than max (1)"]),
    ("sites: [", ["sites.yaml, line"]),
]
WRONG_VARIABLES = [
    ({"FETCHWORKER_PROXYS": "x"}, ["FETCHWORKER_PROXYS", "did you mean FETCHWORKER_PROXIES?"]),
    ({"FETCHWORKER_SESSION_TTL": "a day"}, ["FETCHWORKER_SESSION_TTL", "'a day'"]),
    ({"FETCHWORKER_PROXIES": "@no-such-file.txt"}, ["FETCHWORKER_PROXIES", "no-such-file.txt"]),
    ({"FETCHWORKER_SITES_FILE": "no-such-file.yaml"}, ["FETCHWORKER_SITES_FILE", "no-such-file.yaml"]),
    ({"FETCHWORKER_PROXIES": "http://u:secretword@"}, ["FETCHWORKER_PROXIES"]),
    ({"REDIS_URL": "http://:secretword@127.0.0.1"}, ["REDIS_URL"]),
]


def refused(done, told: list[str]) -> None:
    assert done.returncode == 2, done.stderr
    for words in told:
        assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "secretword" not in done.stderr
    assert "Spider opened" not in done.stderr


@pytest.mark.parametrize(("text", "told"), WRONG_SITES)
def test_a_wrong_sites_file_is_refused_by_file_key_and_nearest_word(project, text, told):
    (project.folder / "sites.yaml").write_text(text)
    refused(project.scrapy("crawl", "instagram", "-a", "user=nasa"), [*told, str(project.folder / "sites.yaml")])


@pytest.mark.parametrize(("variables", "told"), WRONG_VARIABLES)
def test_a_wrong_variable_is_refused_by_its_name(project, variables, told):
    project.env.update(variables)
    refused(project.scrapy("crawl", "instagram", "-a", "user=nasa"), told)


@pytest.mark.parametrize(
    ("options", "entry", "told"),
    [
        (["-s", "USER_AGENT=Mozilla/5.0"], {}, "USER_AGENT contradicts the impersonation profile"),
        (["-s", "DOWNLOAD_TLS_MAX_VERSION=TLSv1.2"], {}, "DOWNLOAD_TLS_MAX_VERSION changes the TLS hello"),
        ([], {"fetch": {"accept_language": "de-DE,de;q=0.8"}}, "sites.fetch.accept_language: "),
        ([], {"facebook": {"accept_language": "de-DE,de;q=0.8"}}, "sites.facebook.accept_language: "),
        ([], {"facebook": {"profile": "chrom"}}, "sites.facebook.profile: unknown profile 'chrom'"),
    ],
)
def test_settings_that_contradict_are_refused_in_a_line(project, options, entry, told):
    (project.folder / "sites.yaml").write_text(json.dumps({"sites": {name: {} for name in project.names} | entry}))
    done = project.scrapy("crawl", "fetch", "-a", "url=https://a.example/", *options)
    refused(done, [told])
    assert "never retrieved" not in done.stderr
    assert sum(told in line for line in done.stderr.splitlines()) == 1


BROKEN = """
from fetchworker.errors import ConfigError

class Broken:
    @classmethod
    def from_crawler(cls, crawler):
        raise {}("the part is set wrong")
"""


@pytest.mark.parametrize(("fault", "code"), [("ConfigError", 2), ("KeyError", 1)])
def test_what_is_wrong_with_a_part_of_the_crawl_is_told_once(project, fault, code):
    (project.folder / "broken_part.py").write_text(BROKEN.format(fault))
    project.env["PYTHONPATH"] = f"{project.folder}:{ROOT}"
    options = ("-s", 'EXTENSIONS={"broken_part.Broken": 0}')
    done = project.scrapy("crawl", "fetch", "-a", "url=https://a.example/", *options)
    assert done.returncode == code, done.stderr
    assert "never retrieved" not in done.stderr
    assert done.stderr.count("scrapy crawl fetch: the part is set wrong\n") == (code == 2)
    assert ("Traceback" in done.stderr) == (code == 1)


@pytest.mark.parametrize(
    ("spider", "arguments", "told"),
    [
        ("instagram", {"user": "nasa", "operation": "posts", "limit": "9" * 23}, "limit: Input should be less than"),
        ("instagram", {"user": "nasa", "priority": "9" * 20}, "priority: a whole number from"),
        ("instagram", {"user": "other", "url": "https://www.instagram.com/nasa/"}, "user=other contradicts url="),
        ("instagram", {"query": "\udcff", "operation": "search"}, "query: it is no UTF-8 text"),
        (
            "fetch",
            {"url": "https://a.example/", "headers": '{"X-A": "1\\r\\n2"}'},
            "line break or NUL in the header x-a",
        ),
        ("fetch", {"url": "https://a.example/", "headers": '{"X\\nA": "1"}'}, "is no header name"),
        ("fetch", {"url": "https://a.example/", "headers": '{"user-agent": "x"}'}, "user-agent contradicts the"),
    ],
)
def test_arguments_that_name_no_call_are_refused(project, spider, arguments, told):
    pairs = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
    refused(project.scrapy("crawl", spider, *pairs), [told])


def test_a_worker_is_refused_like_a_crawl(project):
    project.env["FETCHWORKER_PROXYS"] = "x"
    refused(project.scrapy("crawl", "instagram"), ["FETCHWORKER_PROXYS"])
    assert not (project.folder / "state").exists()


def test_secrets_on_the_command_line_are_refused(project):
    secret = "FETCHWORKER_PROXIES=http://u:secretword@127.0.0.1:9"
    refused(project.scrapy("crawl", "instagram", "-a", "user=nasa", "-s", secret), ["must not be given with -s"])


def test_an_unknown_spider_is_named_with_the_nearest(project):
    refused(project.scrapy("crawl", "instagrm"), ["did you mean 'instagram'?", "fetch, instagram"])


@pytest.fixture
def silent():
    """A server that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(30)
        yield server


def address(server) -> str:
    return f"http://127.0.0.1:{server.getsockname()[1]}/"


def told_to_wait(project, server) -> None:
    """`fetch` goes straight to the server, once, and waits for its answer for long."""
    entry = {"proxy": "none", "robots": "ignore", "retries": 0, "timeout": 60}
    project.env["FETCHWORKER_EGRESS_ALLOW"] = "127.0.0.0/8"
    (project.folder / "sites.yaml").write_text(
        json.dumps({"sites": {name: {} for name in project.names} | {"fetch": entry}})
    )


def listeners(process: psutil.Process) -> list:
    family = [process, *process.children(recursive=True)]
    sockets = [entry for member in family for entry in member.net_connections(kind="inet")]
    assert [entry for entry in sockets if entry.raddr], "it is at work"
    return [entry for entry in sockets if entry.status == psutil.CONN_LISTEN or not entry.raddr]


def test_a_crawl_opens_no_port(project, silent):
    told_to_wait(project, silent)
    crawl = project.start("crawl", "fetch", "-a", f"url={address(silent)}")
    with closing(silent.accept()[0]):
        assert listeners(psutil.Process(crawl.pid)) == []
    log = crawl.communicate(timeout=60)[1].decode()
    assert crawl.returncode == 1, "the only request failed"
    assert "Traceback" not in log


@pytest.fixture
def redis(project):
    endpoint = resolve_redis_url(None, project.folder / "state", keep_running=False)
    with connect_sync(endpoint) as client:
        yield client
    release(endpoint)
    stop_embedded(project.folder / "state")


def test_a_worker_opens_no_port_either(project, silent, redis):
    told_to_wait(project, silent)
    redis.rpush("fetch:start_urls", address(silent))
    worker = project.start("crawl", "fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
    with closing(silent.accept()[0]):
        assert listeners(psutil.Process(worker.pid)) == []
    assert "Traceback" not in worker.communicate(timeout=60)[1].decode()


ONE_FAILED = {"fetchworker/failed/x/FETCH_ERROR": 1}


@pytest.mark.parametrize(
    ("stats", "good"),
    [
        ({"finish_reason": "finished", "item_scraped_count": 3}, True),
        ({"finish_reason": "finished"}, True),
        ({"finish_reason": "finished", "item_scraped_count": 3, "fetchworker/failed/x/FETCH_ERROR": 2}, True),
        ({"finish_reason": "finished", "fetchworker/failed/x/FETCH_ERROR": 2}, False),
        ({"finish_reason": "finished", "fetchworker/failed/x/NOT_FOUND_UPSTREAM": 2}, True),
        (
            {
                "finish_reason": "finished",
                "fetchworker/failed/x/NOT_FOUND_UPSTREAM": 2,
                "fetchworker/failed/x/FETCH_ERROR": 1,
            },
            False,
        ),
        ({"finish_reason": "closespider_itemcount", "item_scraped_count": 3}, True),
        ({"finish_reason": "shutdown", "item_scraped_count": 3}, False),
        ({"finish_reason": "export_error", "item_scraped_count": 3}, False),
        ({"finish_reason": "start_error"}, False),
        ({"finish_reason": "closespider_errorcount", "item_scraped_count": 3}, False),
        ({}, False),
    ],
)
def test_how_a_crawl_ended(stats, good):
    crawler = SimpleNamespace(stats=SimpleNamespace(get_stats=lambda: stats))
    assert _succeeded(crawler) is good
