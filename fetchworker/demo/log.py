"""The demo's memory: everything the server and the proxies saw, in lists and (if wanted) as JSON lines."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import orjson

from fetchworker.demo.model import Connection, RequestInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Record = dict[str, Any]


class Log:
    """Connections, requests and events (of behaviours and proxies) in the order they happened.

    Args:
        path: a file that gets each as a line of JSON, at once.
        keep: hold everything in the lists; False counts requests only, for long runs.
        write: write them to the file; False writes events alone, for benchmarks.
    """

    def __init__(self, path: Path | str | None = None, *, keep: bool = True, write: bool = True) -> None:
        self.connections: list[Connection] = []
        self.requests: list[RequestInfo] = []
        self.events: list[Record] = []
        self.request_count = 0
        self._keep, self._traffic = keep, write and path is not None
        self._next_id = 0
        self._file: BinaryIO | None = Path(path).open("ab", buffering=0) if path is not None else None  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; later records stay in memory only."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def new_connection(self, peer: tuple[str, int], *, secure: bool) -> Connection:
        """A connection with the next id; :meth:`opened` writes it down once the handshake is over."""
        self._next_id += 1
        return Connection(self._next_id, peer[0], peer[1], secure)

    def opened(self, connection: Connection) -> None:
        """Note a connection (also one whose handshake failed)."""
        if self._keep:
            self.connections.append(connection)
        if self._traffic:
            self._write(connection.record())

    def request(self, request: RequestInfo) -> None:
        """Note a request, before it is answered."""
        self.request_count += 1
        request.connection.requests += 1
        if self._keep:
            self.requests.append(request)
        if self._traffic:
            self._write(request.record())

    def event(self, kind: str, **facts: Any) -> None:
        """Note anything else."""
        record = {"type": kind, "at": time.time(), **facts}
        if self._keep:
            self.events.append(record)
        self._write(record)

    def records(self) -> list[Record]:
        """Everything as the plain records that the file holds."""
        made = [*(c.record() for c in self.connections), *(r.record() for r in self.requests), *self.events]
        return sorted(made, key=lambda record: float(record["at"]))

    def clear(self) -> None:
        """Forget what was seen so far (the file stays)."""
        self.connections.clear()
        self.requests.clear()
        self.events.clear()

    def _write(self, record: Record) -> None:
        if self._file is not None:
            self._file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def read_log(path: Path | str) -> list[Record]:
    """The records of a log file; a last line that is still being written is left out."""
    lines = Path(path).read_bytes().split(b"\n")
    return [orjson.loads(line) for line in lines[:-1]]


def shared_between_identities(records: Iterable[Record], identity: Callable[[Record], str]) -> list[str]:
    """What ties identities together: a connection used by two, or a ticket issued to one and offered by another.

    ``identity`` names the identity of a request record (from its peer and cookies, say). An empty list is the proof
    that none was tied; connections without requests belong to nobody and are left out.
    """
    records = list(records)
    owners: defaultdict[int, set[str]] = defaultdict(set)
    for record in records:
        if record["type"] == "request":
            owners[record["connection"]].add(identity(record))
    findings = [f"connection {c} served {sorted(names)}" for c, names in owners.items() if len(names) > 1]
    connections = [record for record in records if record["type"] == "connection"]
    issued_to = {ticket: c["connection"] for c in connections for ticket in c["tickets"]}
    for connection in connections:
        findings += _foreign_tickets(connection, issued_to, owners)
    return findings


def _foreign_tickets(connection: Record, issued_to: Mapping[str, int], owners: Mapping[int, set[str]]) -> list[str]:
    here = owners.get(connection["connection"], set())
    findings = []
    for ticket in connection["offered"]:
        origin = issued_to.get(ticket)
        there = owners.get(origin, set()) if origin is not None else set()
        if here and there and here != there:
            findings.append(
                f"connection {connection['connection']} of {sorted(here)} offered a ticket of {sorted(there)}"
            )
    return findings
