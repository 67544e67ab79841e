"""Redis servers of one's own on loopback ports, for tests and trials: one, a cluster, one under sentinels.

The program is the ``redis-server`` that fetchworker would run for a project. Each is a context manager; all of its
processes and files are gone afterwards.
"""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import redis

from fetchworker._redis_server import find_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_WAIT = 30.0  # seconds for anything to come about
_LOOK = 0.01  # seconds between looks
_SLOTS = 16_384
#: below the ports that outgoing connections take; a cluster's nodes talk on the port 10,000 above, which is as well
_PORTS = range(12_000, 22_000)
_BUS = 10_000
_LOCAL = "127.0.0.1"


class RedisServer:
    """A server in a temporary folder; without persistence unless the options ask for it.

    Args:
        options: of redis-server, such as ``"--appendonly", "yes"``.
        port: to listen on; a free one if none is given.
    """

    def __init__(self, *options: str, port: int | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fw-redis-"))
        self.port = port or _free_port()
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What REDIS_URL says to use it."""
        return f"redis://{_LOCAL}:{self.port}/0"

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start, and return when it takes connections; after :meth:`kill` with the files that there were."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log, cwd=self.folder)  # noqa: S603
        _until(self._answers, lambda: f"redis-server does not start: {(self.folder / 'log').read_text()[-2000:]}")

    def _command(self) -> list[str]:
        where = ("--port", str(self.port), "--bind", _LOCAL, "--dir", str(self.folder))
        return [str(find_binary().path), *where, "--save", "", *self.options]

    def _answers(self) -> bool:
        assert self._process
        if self._process.poll() is not None:
            raise RuntimeError(f"redis-server ended: {(self.folder / 'log').read_text()[-2000:]}")
        try:
            socket.create_connection((_LOCAL, self.port), 1).close()
        except OSError:
            return False
        return True

    def client(self, **options: Any) -> redis.Redis:
        """A plain client of this server."""
        return redis.Redis(host=_LOCAL, port=self.port, protocol=2, **options)

    def call(self, *command: str | int) -> Any:
        """What the server answers to one command."""
        with closing(self.client()) as client:
            return client.execute_command(*command)

    def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End it and remove all it had."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RedisCluster:
    """Three masters that share the slots. ``nodes``: the servers."""

    def __init__(self) -> None:
        names = ("--cluster-config-file", "nodes.conf", "--cluster-announce-ip", _LOCAL)
        options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", *names)
        self.nodes = [RedisServer(*options) for _ in range(3)]
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """What REDIS_URL says to use it."""
        return f"redis+cluster://{','.join(f'{_LOCAL}:{node.port}' for node in self.nodes)}"

    def owner(self, key: str) -> RedisServer:
        """The node that holds a key."""
        slot = int(self.nodes[0].call("CLUSTER", "KEYSLOT", key))
        return self.nodes[slot * len(self.nodes) // _SLOTS]

    def flush(self) -> None:
        """Forget all keys."""
        for node in self.nodes:
            node.call("FLUSHALL")

    def wait(self) -> None:
        """Return when all nodes say that the cluster is well."""
        _until(lambda: all(self._well(node) for node in self.nodes), lambda: "the cluster does not come up")

    @staticmethod
    def _well(node: RedisServer) -> bool:
        info = node.call("CLUSTER INFO")
        return bool(info["cluster_state"] == "ok" and info["cluster_known_nodes"] == "3")

    def __enter__(self) -> Self:
        with self._stack as stack:
            for number, node in enumerate(self.nodes):
                stack.enter_context(node)
                node.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                node.call("CLUSTER", "ADDSLOTS", *_share(number, len(self.nodes)))
            for node in self.nodes[1:]:
                node.call("CLUSTER", "MEET", _LOCAL, self.nodes[0].port)
            self.wait()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


class RedisSentinel:
    """A master with a replica, watched over by sentinels.

    Attributes:
        master, replica: the servers, as they began.
        sentinels: of which one is enough to declare the master dead, a second after its last sign of life.
    """

    SERVICE = "main"

    def __init__(self, sentinels: int = 1) -> None:
        self.master = RedisServer("--repl-diskless-sync-delay", "0")
        replicating = ("--replicaof", _LOCAL, str(self.master.port), "--repl-diskless-load", "on-empty-db")
        self.replica = RedisServer("--repl-diskless-sync-delay", "0", *replicating)
        self.sentinels = [_SentinelServer(self.SERVICE, self.master.port) for _ in range(sentinels)]
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """What REDIS_URL says to use it."""
        return self.url_of(self.SERVICE)

    def url_of(self, service: str) -> str:
        """The URL of a service, which may be one that there is not."""
        hosts = ",".join(f"{_LOCAL}:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/{service}/0"

    def master_port(self) -> int:
        """Where the first sentinel says that the master is."""
        return int(self.sentinels[0].call("SENTINEL GET-MASTER-ADDR-BY-NAME", self.SERVICE)[1])

    def fail_over(self) -> None:
        """Kill the master, and return when the sentinels have made the replica the master."""
        self.master.kill()
        _until(self._failed_over, lambda: "no failover")

    def _failed_over(self) -> bool:
        return self.master_port() == self.replica.port and _info(self.replica)["role"] == "master"

    def __enter__(self) -> Self:
        with self._stack as stack:
            stack.enter_context(self.master)
            stack.enter_context(self.replica)
            _until(lambda: _info(self.replica).get("master_link_status") == "up", lambda: "the replica does not follow")
            for sentinel in self.sentinels:
                stack.enter_context(sentinel)
            _until(self._known, lambda: "the sentinels do not find all servers")
            self._stack = stack.pop_all()
        return self

    def _known(self) -> bool:
        states = [sentinel.call("SENTINEL MASTER", self.SERVICE) for sentinel in self.sentinels]
        others = len(self.sentinels) - 1
        return all(state["num-slaves"] == 1 and state["num-other-sentinels"] == others for state in states)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


class _SentinelServer(RedisServer):
    def __init__(self, service: str, master_port: int) -> None:
        super().__init__()
        lines = (
            f"port {self.port}",
            f"bind {_LOCAL}",
            f"dir {self.folder}",
            f"sentinel monitor {service} {_LOCAL} {master_port} 1",
            f"sentinel down-after-milliseconds {service} 1000",
            f"sentinel failover-timeout {service} 5000",
        )
        self._configuration = self.folder / "sentinel.conf"
        self._configuration.write_text("\n".join(lines) + "\n")

    def _command(self) -> list[str]:
        return [str(find_binary().path), str(self._configuration), "--sentinel"]


def _info(server: RedisServer) -> dict[str, Any]:
    told: dict[str, Any] = server.call("INFO", "replication")
    return told


def _share(number: int, nodes: int) -> Iterable[int]:
    """The slots of one node."""
    return (slot for slot in range(_SLOTS) if slot * nodes // _SLOTS == number)


def _until(condition: Callable[[], bool], complaint: Callable[[], str]) -> None:
    deadline = time.monotonic() + _WAIT
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(complaint())
        time.sleep(_LOOK)


def _free_port() -> int:
    while True:
        port = random.choice(_PORTS)  # noqa: S311  # no secret
        if _free(port) and _free(port + _BUS):
            return port


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((_LOCAL, port))
        except OSError:
            return False
        return True
