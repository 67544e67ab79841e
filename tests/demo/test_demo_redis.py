"""Redis servers for tests: they come up, do what their kind does, and leave nothing behind."""

from __future__ import annotations

from contextlib import closing

import psutil
import pytest

from fetchworker.demo.redis import RedisSentinel, RedisServer

pytestmark = pytest.mark.slow


def test_a_server_keeps_its_files_over_a_kill_and_goes_with_them_at_the_end():
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as server:
        server.call("SET", "color", "green")
        server.kill()
        server.start()
        assert server.call("GET", "color") == b"green"
        pid, folder = server.pid, server.folder
    assert not psutil.pid_exists(pid)
    assert not folder.exists()


def test_a_server_that_cannot_start_says_why():
    with pytest.raises(RuntimeError, match="Bad directive"), RedisServer("--colour", "green"):
        pass


def test_the_fixtures_are_empty(redis_server, redis_cluster, redis_sentinel):
    for server in (redis_server, redis_sentinel.master, *redis_cluster.nodes):
        assert server.call("DBSIZE") == 0


def test_a_cluster_shares_its_keys(redis_cluster):
    owners = {redis_cluster.owner(key).port: key for key in "abcdefgh"}
    assert len(owners) == 3
    for node in redis_cluster.nodes:
        assert node.call("SET", owners[node.port], "1") is True
        node.call("FLUSHALL")


def test_a_failover():
    with RedisSentinel() as group:
        with closing(group.master.client(single_connection_client=True)) as client:  # WAIT is about its own writes
            client.set("color", "green")
            assert client.wait(1, 5000) == 1
        group.fail_over()
        assert group.master_port() == group.replica.port
        assert group.replica.call("GET", "color") == b"green"
