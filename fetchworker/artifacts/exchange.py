"""One request and its answer, without credentials, as a bundle or as WARC records are made of it (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from fetchworker.artifacts.redact import headers, page, text
from fetchworker.telemetry.redaction import hide_userinfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: bytes of a body that a bundle shows
SHOWN = 256 * 1024


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was sent and what came back, as it went over the wire but for the body's encoding.

    ``status`` None: there was no answer. ``secrets`` are masked wherever they stand.
    """

    url: str
    method: str
    sent: Sequence[tuple[str, str]] = field(repr=False)
    sent_body: bytes = field(default=b"", repr=False)
    status: int | None = None
    protocol: str | None = None
    received: Sequence[tuple[str, str]] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def safe_url(self) -> str:
        """The address without credentials."""
        return text(hide_userinfo(self.url), self.secrets)

    def request_line(self) -> str:
        """``GET /path HTTP/1.1``."""
        parts = urlsplit(self.safe_url)
        return f"{self.method} {parts.path or '/'}{'?' * bool(parts.query)}{parts.query} HTTP/1.1"

    def request_head(self) -> list[tuple[str, str]]:
        """The request's headers."""
        host = urlsplit(self.url).netloc.rpartition("@")[2]
        named = any(name.lower() == "host" for name, _ in self.sent)
        return headers([*(() if named else (("Host", host),)), *self.sent], self.secrets)

    def answer_head(self) -> list[tuple[str, str]]:
        """The answer's headers."""
        return headers(self.received, self.secrets)

    def request_body(self) -> bytes:
        """What was sent."""
        return page(self.sent_body, self.secrets)

    def answer_body(self) -> bytes:
        """What came."""
        return page(self.body, self.secrets)


def bundle(exchange: Exchange, told: Mapping[str, Any]) -> bytes:
    """A failed fetch as JSON: the request, the answer, and what ``told`` says of both.

    Args:
        exchange: it.
        told: verdict, error and the like: plain JSON values.
    """
    made: dict[str, Any] = {
        "url": exchange.safe_url,
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **told,
        "request": {
            "line": exchange.request_line(),
            "headers": _pairs(exchange.request_head()),
            **_body(exchange.sent_body, exchange.secrets),
        },
        "answer": None,
    }
    if exchange.status is not None:
        made["answer"] = {
            "status": exchange.status,
            "protocol": exchange.protocol,
            "headers": _pairs(exchange.answer_head()),
            **_body(exchange.body, exchange.secrets),
        }
    return orjson.dumps(made, default=str, option=orjson.OPT_INDENT_2)


def _pairs(lines: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [[name, value] for name, value in lines]


def _body(content: bytes, secrets: frozenset[str]) -> dict[str, Any]:
    """The beginning of a text, masked before it is cut; of anything else the size."""
    told: dict[str, Any] = {"body_bytes": len(content), "body": None, "body_cut": False}
    if not content or b"\x00" in content[:1024]:
        return told
    shown = page(content[: 4 * SHOWN], secrets)[:SHOWN].decode("utf-8", "replace")
    return {**told, "body": shown, "body_cut": len(content) > SHOWN}
