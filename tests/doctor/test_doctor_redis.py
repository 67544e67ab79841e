"""A Redis that answers may still be one that a crawl cannot use."""

from __future__ import annotations

import json

import pytest

from fetchworker.redis import connect_sync, release, resolve_redis_url, stop_embedded


@pytest.fixture
def server(project):
    """The project's Redis, for the test to spoil."""
    state = project.folder / "state"
    endpoint = resolve_redis_url(None, state, keep_running=False)
    client = connect_sync(endpoint)
    yield client
    client.close()
    release(endpoint)
    stop_embedded(state)


def redis_check(project, code: int) -> dict:
    done = project.scrapy("doctor")
    assert "Traceback" not in done.stderr
    assert done.returncode == code
    return next(check for check in map(json.loads, done.stdout.splitlines()) if check["check"] == "redis")


def test_a_good_one_is_left_as_it_was(project, server):
    assert redis_check(project, 0)["ok"]
    assert server.keys("*") == []


def test_a_replica_cannot_be_written(project, server):
    server.replicaof("127.0.0.1", "1")
    told = redis_check(project, 1)["told"]
    assert "replica" in told
    assert "REDIS_URL" in told


@pytest.mark.parametrize(("policy", "lost"), [("allkeys-lru", "requests and sessions"), ("volatile-lru", "sessions")])
def test_one_that_forgets_when_it_is_full(project, server, policy, lost):
    server.config_set("maxmemory-policy", policy)
    assert redis_check(project, 0)["ok"], "it has no limit, so it is never full"
    server.config_set("maxmemory", "100mb")
    told = redis_check(project, 1)["told"]
    assert f"it forgets {lost} ({policy}): set maxmemory-policy noeviction" in told


def test_a_user_that_may_not_ask_for_the_version(project, server):
    allowed = ("+@all", "-info", "-config")
    server.execute_command("acl", "setuser", "default", "on", "nopass", "~*", "&*", *allowed)
    check = redis_check(project, 0)
    assert check["ok"]
    assert "does not tell" in check["told"]
