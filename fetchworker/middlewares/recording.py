"""Makes artifacts of what went over the wire: WARC files of all of it, bundles of what failed. docs/artifacts.md.

Stats: ``fetchworker/artifacts/<kind>`` counts what is kept, ``fetchworker/artifacts/lost`` what could not be. An
artifact that cannot be kept never costs a request.
"""

from __future__ import annotations

import asyncio
import io
import logging
import secrets
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from fetchworker.artifacts import ArtifactContext
from fetchworker.artifacts.exchange import Exchange, bundle
from fetchworker.artifacts.warc import MEDIA_TYPE, WarcFile
from fetchworker.download.charging import operation_of
from fetchworker.download.wire import WIRE
from fetchworker.errors import FetchworkerError, StorageError
from fetchworker.exports.private import private_folder, private_opener

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from scrapy import Request
    from scrapy.http import Response

    from fetchworker.artifacts import Artifact
    from fetchworker.artifacts.model import Kind
    from fetchworker.download.wire import Wire
    from fetchworker.outcomes import Verdict
    from fetchworker.runtime import Runtime

logger = logging.getLogger(__name__)
_E = TypeVar("_E", bound=BaseException)

#: the meta key of the :class:`Volume` of a call of the service
ARCHIVE = "fw_archive"
#: the meta key of the service's name for the call, where that is not the request's own
CALL_ID = "fw_call_id"
#: the meta key of the workspace that the caller's artifacts belong to
WORKSPACE = "fw_workspace"
_HOUR = 3600.0
#: bytes that a record's heads have at most
_HEADS = 128 * 1024


class Recorder:
    """Keeps artifacts of one crawl."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._most = runtime.environment.artifacts_failures
        self._times: list[float] = []
        self._told = False

    async def failure(
        self, request: Request, error: _E, response: Response | None = None, verdict: Verdict | None = None
    ) -> _E:
        """Keep a bundle of a request that has failed, where that is wanted; the error, which is told its id."""
        if not self._wanted():
            return error
        exchange, told = exchange_of(request, response), self._told_of(request, error, verdict)
        content = await asyncio.to_thread(bundle, exchange, told)
        about = self.about(request, url=exchange.safe_url, more={"outcome": told["error"].get("outcome")})
        kept = await self.put("bundle", content, "application/json", about)
        if kept is not None and isinstance(error, FetchworkerError):
            error.context["artifact"] = kept.id
        return error

    def _wanted(self) -> bool:
        """Whether the hour has room for another one."""
        if not self._most:
            return False
        now = time.monotonic()
        self._times = [moment for moment in self._times if now - moment < _HOUR]
        if len(self._times) >= self._most:
            return False
        self._times.append(now)
        return True

    def about(self, request: Request, **more: Any) -> ArtifactContext:
        """Where an artifact of a request comes from."""
        runtime, meta = self._runtime, request.meta
        return ArtifactContext(
            site=runtime.site, operation=operation_of(request), request_id=_request_id(request),
            job_id=runtime.crawl_id, session=meta.get("fw_session"),
            workspace=meta.get(WORKSPACE), **more,
        )  # fmt: skip

    def _told_of(self, request: Request, error: BaseException, verdict: Verdict | None) -> dict[str, Any]:
        wire: Wire | None = request.meta.get(WIRE)
        proxy = wire.proxy if wire is not None else None
        context = dict(error.context) if isinstance(error, FetchworkerError) else {}
        context.pop("snippet", None)  # the body is here
        return {
            "site": self._runtime.site,
            "operation": operation_of(request),
            "request_id": _request_id(request),
            "crawl_id": self._runtime.crawl_id,
            "session": request.meta.get("fw_session"),
            "attempts": request.meta.get("fw_tries", 1),
            "profile": wire.session.profile if wire is not None else None,
            "proxy": None if proxy is None else {"provider": proxy.provider, "country": proxy.country},
            "error": {"type": getattr(error, "error_type", getattr(error, "type", type(error).__name__)), **context},
            "verdict": None if verdict is None else _verdict(verdict),
        }

    async def put(self, kind: Kind, content: bytes | Path, media_type: str, about: ArtifactContext) -> Artifact | None:
        """Keep an artifact; None where that fails, which is logged once."""
        try:
            kept = await self._runtime.artifacts.put(kind, content, media_type, about=about)
        except StorageError as exc:
            self.lost(exc.message)
            return None
        self._runtime.count(f"artifacts/{kind}")
        return kept

    def lost(self, why: str) -> None:
        """An artifact is lost: it is counted, and the first one told."""
        self._runtime.count("artifacts/lost")
        logger.log(logging.DEBUG if self._told else logging.ERROR, "an artifact cannot be kept: %s", why)
        self._told = True


def _request_id(request: Request) -> str | None:
    found = request.meta.get(CALL_ID) or request.meta.get("fw_request_id")
    return None if found is None else str(found)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": verdict.outcome.value,
        "vendor": verdict.vendor,
        "confidence": verdict.confidence,
        "evidence": list(verdict.evidence),
        "retry_after": verdict.retry_after,
    }


def exchange_of(request: Request, response: Response | None) -> Exchange:
    """What went over the wire for one try of a request."""
    wire: Wire | None = request.meta.get(WIRE)
    known = [] if wire is None else [*wire.session.secrets(), *(value for _, value in wire.secrets)]
    received = () if response is None else _lines(response.headers)
    return Exchange(
        url=request.url, method=request.method, sent=_sent(request, wire), sent_body=request.body,
        status=None if response is None else response.status,
        protocol=None if response is None else response.protocol,
        received=received, body=b"" if response is None else response.body, secrets=frozenset(known),
    )  # fmt: skip


def _sent(request: Request, wire: Wire | None) -> list[tuple[str, str]]:
    if wire is None or wire.headers is None:
        return _lines(request.headers)
    pairs = [line.decode("latin-1").partition(":") for line in wire.headers]
    found = [(name.rstrip(";"), value.strip()) for name, _, value in pairs]
    return [*found, ("Cookie", wire.cookie.decode("latin-1"))] if wire.cookie else found


def _lines(headers: Mapping[bytes, list[bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]


class Volume:
    """A WARC in the making.

    Args:
        file: where it is written.
        about: what it tells of itself.
    """

    def __init__(self, file: BinaryIO, about: dict[str, str]) -> None:
        self.file = file
        self._warc = WarcFile(file, about)
        self._lock = asyncio.Lock()

    @property
    def records(self) -> int:
        """How many there are."""
        return self._warc.records

    def room_for(self, size: int, most: int) -> bool:
        """Whether so many bytes more are still few enough."""
        return self._warc.size + size + _HEADS <= most

    async def add(self, exchange: Exchange) -> None:
        """Write an exchange.

        Raises:
            OSError: it is not written, and nothing of it is there.
        """
        async with self._lock:
            await asyncio.to_thread(self._add, exchange)

    def _add(self, exchange: Exchange) -> None:
        before = self._warc.size
        try:
            self._warc.add(exchange)
        except BaseException:
            with suppress(OSError):
                self.file.seek(before)
                self.file.truncate()
            raise


class CrawlVolumes:
    """The WARCs of a crawl, one after the other: each grows in the crawl's folder and then becomes an artifact."""

    def __init__(self, runtime: Runtime, recorder: Recorder) -> None:
        self._runtime = runtime
        self._recorder = recorder
        self._most = runtime.environment.artifacts_max_bytes
        self._path: Path | None = None
        self._volume: Volume | None = None
        self._turn = asyncio.Lock()

    async def add(self, exchange: Exchange) -> None:
        """Write an exchange; a volume that is full ends before."""
        async with self._turn:
            try:
                if self._volume is not None and not self._volume.room_for(len(exchange.body), self._most):
                    await self._end()
                if self._volume is None:
                    self._volume = await asyncio.to_thread(self._begin)
                await self._volume.add(exchange)
            except OSError as exc:
                self._recorder.lost(f"{self._path}: {exc.strerror or exc}")

    def _begin(self) -> Volume:
        private_folder(self._runtime.folder)
        self._path = self._runtime.folder / f"archive-{secrets.token_hex(4)}.warc.gz"
        file: Any = open(self._path, "wb", opener=private_opener)  # noqa: SIM115  # it is open as long as the volume
        return Volume(file, {"isPartOf": self._runtime.crawl_id})

    async def close(self) -> None:
        """End the last volume."""
        async with self._turn:
            await self._end()

    async def _end(self) -> None:
        volume, path, self._volume = self._volume, self._path, None
        if volume is None or path is None:
            return
        await asyncio.to_thread(volume.file.close)
        about = ArtifactContext(
            site=self._runtime.site, job_id=self._runtime.crawl_id, more={"records": volume.records}
        )
        if await self._recorder.put("warc", path, MEDIA_TYPE, about) is not None:
            await asyncio.to_thread(path.unlink)
        else:
            logger.error("the archive stays in %s", path)


@asynccontextmanager
async def archived(runtime: Runtime, about: ArtifactContext) -> AsyncIterator[dict[str, Any]]:
    """The meta by which the requests of a call go into a WARC of its own, where that is wanted.

    Args:
        runtime: of the site.
        about: the call.
    """
    if not runtime.environment.artifacts_warc:
        yield {}
        return
    file = io.BytesIO()
    volume = Volume(file, {"isPartOf": about.request_id or runtime.crawl_id})
    try:
        yield {ARCHIVE: volume}
    finally:
        if volume.records:
            await Recorder(runtime).put("warc", file.getvalue(), MEDIA_TYPE, about)
