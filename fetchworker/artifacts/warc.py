"""WARC files (ISO 28500, version 1.1) by warcio, record by record."""

from __future__ import annotations

import io
from http import HTTPStatus
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, BinaryIO

from fetchworker.errors import ConfigError, how_to_install

if TYPE_CHECKING:
    from fetchworker.artifacts.exchange import Exchange

MEDIA_TYPE = "application/warc"
#: the body is kept decoded, and these spoke of it as it was sent
_OF_THE_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})


def check_installed() -> None:
    """See that WARCs can be written.

    Raises:
        ConfigError: what it takes is not installed.
    """
    if find_spec("warcio") is None:
        raise ConfigError(f"FETCHWORKER_ARTIFACTS_WARC needs warcio: {how_to_install('artifacts')}")


class WarcFile:
    """A WARC that grows; each record is a gzip member of its own, so that a file that was cut is whole up to there.

    Args:
        file: where it is written.
        about: what the file tells of itself.
    """

    def __init__(self, file: BinaryIO, about: dict[str, str]) -> None:
        from warcio.warcwriter import WARCWriter  # noqa: PLC0415  # optional

        self._file = file
        self._writer: Any = WARCWriter(file, gzip=True, warc_version="1.1")
        told = {"software": f"fetchworker {version('fetchworker')}", "format": "WARC File Format 1.1", **about}
        self._writer.write_record(self._writer.create_warcinfo_record(None, told))
        self.records = 0

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._file.tell()

    def add(self, exchange: Exchange) -> None:
        """Write an answer and the request that it answers; nothing where there was no answer."""
        if exchange.status is None:
            return
        body = exchange.answer_body()
        answer = self._record(exchange, "response", _answer(exchange, len(body)), body)
        self._writer.write_record(answer)
        request = self._record(exchange, "request", _request(exchange), exchange.request_body())
        request.rec_headers.add_header("WARC-Concurrent-To", answer.rec_headers.get_header("WARC-Record-ID"))
        self._writer.write_record(request)
        self._file.flush()
        self.records += 2

    def _record(self, exchange: Exchange, kind: str, head: Any, body: bytes) -> Any:
        return self._writer.create_warc_record(
            exchange.safe_url, kind, payload=io.BytesIO(body), length=len(body), http_headers=head
        )


def _answer(exchange: Exchange, size: int) -> Any:
    from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415  # optional

    assert exchange.status is not None
    kept = [(name, value) for name, value in exchange.answer_head() if name.lower() not in _OF_THE_WIRE]
    kept.append(("Content-Length", str(size)))
    try:
        reason = HTTPStatus(exchange.status).phrase
    except ValueError:
        reason = "Unknown"
    return StatusAndHeaders(f"{exchange.status} {reason}", kept, protocol="HTTP/1.1")


def _request(exchange: Exchange) -> Any:
    from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415  # optional

    return StatusAndHeaders(exchange.request_line(), exchange.request_head(), is_http_request=True)
