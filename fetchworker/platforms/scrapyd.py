"""Jobs on scrapyd nodes that run our extension (docs/scrapyd.md), asked over HTTP."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from fetchworker.errors import ConfigError, PlatformError
from fetchworker.jobs.checks import checked
from fetchworker.jobs.records import spec_to_json, status_from_json
from fetchworker.platforms.base import Chunk, JobSpec, JobState, JobStatus, NodeStatus, Placement
from fetchworker.platforms.placing import Placing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from fetchworker.platforms.base import Intend

#: seconds that a node has to take a connection, and to answer
CONNECT, ANSWER = 5.0, 10.0
#: seconds that a node has to say how it is; and for which one that did not answer in time is not asked to take jobs
WORD, SILENCE = 5.0, 30.0
#: seconds that a node has to answer that has not done so lately
BRIEF = 2.0
#: job ids of one call
IDS_MAX = 10_000
_NAME = re.compile(r"[A-Za-z0-9:][A-Za-z0-9._:-]{0,63}\Z")
_RANGE = re.compile(r"bytes (?:(\d{1,18})-\d{1,18}|\*)/(\d{1,18})\Z")
_OK, _PARTIAL, _WRONG, _UNAUTHORIZED, _NOT_FOUND, _BEYOND = 200, 206, 400, 401, 404, 416


class _UnsentError(PlatformError):
    """A node has not been asked: nothing was sent."""


class _LostAnswerError(PlatformError):
    """A node may have done what it was asked for."""


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """Where a node is; ``name`` is what it is called here, which its jobs are found by."""

    name: str
    url: str
    user: str = ""
    password: str = field(default="", repr=False)


def node_addresses(text: str) -> tuple[NodeAddress, ...]:
    """The nodes of ``FETCHWORKER_NODES`` (pure).

    Raises:
        ConfigError: naming the entry by its place, as it may hold a password.
    """
    nodes = tuple(_address(number, entry) for number, entry in enumerate(text.split(), 1))
    names = [node.name for node in nodes]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"FETCHWORKER_NODES: {', '.join(twice)} is there twice: give each node a name, name=http://…")
    return nodes


def _address(number: int, entry: str) -> NodeAddress:
    name, _, url = entry.partition("=") if re.match(r"[^/:]+=", entry) else ("", "", entry)
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(f"FETCHWORKER_NODES: entry {number} has to be [name=]http://user:password@host:port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    name = name or f"{parts.hostname}{port}"
    if not _NAME.match(name):
        raise ConfigError(f"FETCHWORKER_NODES: entry {number} needs a name of letters and digits: name=http://…")
    base = urlunsplit((parts.scheme, f"{host}{port}", parts.path.rstrip("/"), "", ""))
    return NodeAddress(name, base, unquote(parts.username or ""), unquote(parts.password or ""))


class ScrapydPlatform:
    """The port's adapter for scrapyd nodes.

    Args:
        nodes: where they are.
        concurrency: calls under way at once, of all nodes together.

    Raises:
        ConfigError: there is none.
    """

    def __init__(self, nodes: Iterable[NodeAddress], *, concurrency: int = 16) -> None:
        self._addresses = {node.name: node for node in nodes}
        if not self._addresses:
            raise ConfigError("FETCHWORKER_NODES: names no node")
        timeout = httpx.Timeout(ANSWER, connect=CONNECT)
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        #: node → until when it is not asked for more than it has, and why; monotonic
        self._silent: dict[str, tuple[float, str]] = {}
        self._placing = Placing()
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=False, follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def nodes(self) -> Sequence[NodeStatus]:
        """All nodes, also those that are down."""
        return await asyncio.gather(*(self._node(name) for name in self._addresses))

    async def spawn(
        self,
        spec: JobSpec,
        *,
        avoid: frozenset[str] = frozenset(),
        at: str | None = None,
        intend: Intend | None = None,
    ) -> Placement:
        """See :meth:`fetchworker.platforms.Platform.spawn`.

        A job that a node which answers has already is that one. One that is on a node which does not answer now is
        not seen: whoever spawns it anew knows where it was, and names that node in ``at`` or in ``avoid``.
        """
        checked(spec)
        told = intend or _nobody
        if at is not None:
            return await self._again(spec, at, told)
        asked = self._placing.now()
        nodes = await self.nodes()
        up = [node for node in nodes if node.up]
        if (there := await self._where(spec.job_id, up)) is not None:
            await told(there)
            await self._spawn(there, spec)  # says so when it is another job's id
            return Placement(spec.job_id, there, fresh=False)
        fitting = [node for node in up if spec.options.tags <= node.tags]
        if not fitting and len(up) == len(nodes):
            wanted = ", ".join(sorted(spec.options.tags))
            raise ConfigError(f"options.tags: no node has {wanted}", field="options.tags")
        return await self._place(spec, [node for node in fitting if node.name not in avoid], nodes, told, asked)

    async def statuses(self, node: str, job_ids: Sequence[str]) -> Mapping[str, JobStatus]:
        """See :meth:`fetchworker.platforms.Platform.statuses`; more than 10,000 ids are several calls."""
        wanted = list(dict.fromkeys(job_ids))
        found: dict[str, JobStatus] = {job_id: JobStatus(job_id, JobState.UNKNOWN) for job_id in wanted}
        for start in range(0, len(wanted), IDS_MAX):
            told = await self._json(node, "POST", "jobstatus.json", json={"jobs": wanted[start : start + IDS_MAX]})
            found |= {status.job_id: status for status in self._read(node, told)}
        return found

    async def items(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        """See :meth:`fetchworker.platforms.Platform.items`."""
        return await self._chunk(node, job_id, "items", offset, limit)

    async def log(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        """See :meth:`fetchworker.platforms.Platform.log`."""
        return await self._chunk(node, job_id, "log", offset, limit)

    async def cancel(self, node: str, job_id: str, *, grace: float) -> None:
        """See :meth:`fetchworker.platforms.Platform.cancel`."""
        told = await self._json(node, "POST", "cancel.json", data={"job": job_id, "grace": f"{grace:g}"})
        if told.get("status") != "ok":
            raise PlatformError(f"node {node}: {told.get('message')}")

    async def forget(self, node: str, job_id: str) -> None:
        """See :meth:`fetchworker.platforms.Platform.forget`."""
        await self._json(node, "POST", "forget.json", data={"job": job_id})

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _node(self, name: str) -> NodeStatus:
        if (silent := self._unheard(name)) is not None:
            return NodeStatus(name, up=False, error=silent)
        try:
            told = await self._json(name, "GET", "node.json", timeout=httpx.Timeout(WORD))
        except (PlatformError, ConfigError) as exc:
            return NodeStatus(name, up=False, error=exc.message)
        tags = frozenset(told.get("tags", ()))
        return NodeStatus(
            name, True, told.get("incarnation", ""), tags, told.get("slots", 0), told["running"], told["queued"]
        )

    async def _where(self, job_id: str, nodes: Iterable[NodeStatus]) -> str | None:
        """The node that has a job; one that does not answer any more is passed over."""
        names = [node.name for node in nodes]
        told = await asyncio.gather(*(self.statuses(name, [job_id]) for name in names), return_exceptions=True)
        for name, found in zip(names, told, strict=True):
            if not isinstance(found, BaseException) and found[job_id].state is not JobState.UNKNOWN:
                return name
            if isinstance(found, BaseException) and not isinstance(found, PlatformError):
                raise found
        return None

    async def _place(
        self, spec: JobSpec, fitting: Sequence[NodeStatus], nodes: Sequence[NodeStatus], intend: Intend, asked: float
    ) -> Placement:
        """Put the job on the node with the most room, or on the next one if that one surely has not taken it."""
        why = [f"{node.name}: {node.error}" for node in nodes if not node.up]
        refused: list[ConfigError] = []
        left = [*fitting]
        while left:
            node = min(left, key=lambda each: self._placing.load(each, spec.job_id, asked))
            left.remove(node)
            try:
                with self._placing.on(node.name):
                    await intend(node.name)
                    return Placement(spec.job_id, node.name, await self._spawn(node.name, spec))
            except _LostAnswerError:
                raise  # it may run there
            except PlatformError as exc:
                why.append(exc.message)
            except ConfigError as exc:  # another one may have the spider
                refused.append(exc)
        if fitting:
            await intend(None)
        if refused and not why:
            raise refused[0]
        raise PlatformError(f"no node takes the job now: {'; '.join(why) or _no_other(fitting)}")

    async def _again(self, spec: JobSpec, node: str, intend: Intend) -> Placement:
        """Ask the node once more that may have been asked before."""
        try:
            return Placement(spec.job_id, node, await self._spawn(node, spec))
        except (_UnsentError, _LostAnswerError):
            raise
        except (PlatformError, ConfigError):  # it has said that it does not
            await intend(None)
            raise

    async def _spawn(self, node: str, spec: JobSpec) -> bool:
        """Have a node take a job; whether it had it not before. An answer that is lost is asked for once more."""
        sent = spec_to_json(spec)
        try:
            told = await self._json(node, "POST", "spawn.json", json=sent)
        except _LostAnswerError:
            try:
                told = await self._json(node, "POST", "spawn.json", json=sent)
            except _UnsentError as exc:
                raise _LostAnswerError(exc.message) from exc
        return bool(told.get("fresh"))

    async def _chunk(self, node: str, job_id: str, kind: str, offset: int, limit: int) -> Chunk:
        if limit < 1:
            raise ValueError(f"limit {limit} is no number of bytes")
        if offset < 0:
            offset = max(0, (await self._chunk(node, job_id, kind, 0, 1)).size + offset)
        asked = f"bytes={offset}-{offset + limit - 1}"
        answer = await self._ask(node, "GET", f"files/{job_id}/{kind}", headers={"Range": asked})
        if answer.status_code == _NOT_FOUND:
            raise PlatformError(f"node {node}: no job {job_id[:80]!r} there")
        found = _RANGE.match(answer.headers.get("Content-Range", ""))
        if answer.status_code == _BEYOND and found:
            return Chunk(b"", offset, int(found[2]))
        if answer.status_code == _PARTIAL and found:
            return Chunk(answer.content[:limit], int(found[1]), int(found[2]))
        if answer.status_code == _OK:  # an empty file has no ranges
            return Chunk(answer.content[offset : offset + limit], offset, len(answer.content))
        raise PlatformError(f"node {node}: HTTP {answer.status_code} for {kind} of job {job_id}")

    async def _json(self, node: str, method: str, path: str, **sent: Any) -> dict[str, Any]:
        answer = await self._ask(node, method, path, **sent)
        try:
            told = answer.json()
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):  # a gateway's word says nothing of what the node behind it has done
            raise _LostAnswerError(f"node {node}: HTTP {answer.status_code}, no node of ours at {path}")
        if answer.status_code == _WRONG:
            raise ConfigError(str(told.get("message")), field=told.get("field"))
        if answer.status_code != _OK:
            raise PlatformError(f"node {node}: HTTP {answer.status_code}: {told.get('message')}")
        return told

    async def _ask(self, node: str, method: str, path: str, **sent: Any) -> httpx.Response:
        address = self._addresses.get(node)
        if address is None:
            raise PlatformError(f"no node {node[:80]!r}: known are {', '.join(self._addresses)}")
        auth = httpx.BasicAuth(address.user, address.password)
        if self._unheard(node) is not None:
            sent = {"timeout": httpx.Timeout(BRIEF), **sent}
        try:
            answer = await self._client.request(method, f"{address.url}/{path}", auth=auth, **sent)
        except httpx.HTTPError as exc:
            raise self._unanswered(node, exc) from exc
        self._silent.pop(node, None)
        if answer.status_code == _UNAUTHORIZED:
            raise PlatformError(f"node {node} refuses our user or password: correct its entry in FETCHWORKER_NODES")
        return answer

    def _unheard(self, node: str) -> str | None:
        """Why a node is not worth being asked now, if it is not."""
        until, why = self._silent.get(node, (0.0, ""))
        return why if time.monotonic() < until else None

    def _unanswered(self, node: str, exc: httpx.HTTPError) -> PlatformError:
        """What is told of a node that gives no answer; one that takes its time is remembered."""
        why = f"node {node} does not answer: {type(exc).__name__}"
        if isinstance(exc, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.UnsupportedProtocol):
            kind: type[PlatformError] = _UnsentError
        else:
            kind = _LostAnswerError
        if isinstance(exc, httpx.ConnectTimeout | httpx.ReadTimeout | httpx.WriteTimeout):
            self._silent[node] = time.monotonic() + SILENCE, why
        return kind(why)

    def _read(self, node: str, told: Mapping[str, Any]) -> list[JobStatus]:
        try:
            return [status_from_json(value) for value in told["jobs"]]
        except (KeyError, TypeError, ValueError) as exc:
            raise PlatformError(f"node {node}: its answer cannot be read: {exc}") from exc


def _no_other(fitting: Sequence[NodeStatus]) -> str:
    return "those that could refuse it" if fitting else "those that could are avoided"


async def _nobody(_node: str | None) -> None:
    """Whoever does not ask where a job may be."""
