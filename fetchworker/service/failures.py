"""What a failed call answers: ``{type, message, context}``, and the one table of types and statuses (pure).

docs/api.md has the table too; a test compares them.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)

from fetchworker.errors import (
    ArtifactError,
    BrowserError,
    CredentialMissingError,
    DocumentError,
    FetchworkerError,
    OutcomeError,
    RedisUnavailableError,
    StorageError,
)
from fetchworker.telemetry.redaction import redact

#: type → status. A type means one thing, whatever route it comes from
STATUSES: dict[str, int] = {
    "VALIDATION_ERROR": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "EGRESS_DENIED": 403,
    "ROBOTS_DENIED": 403,
    "NOT_FOUND": 404,
    "NOT_FOUND_UPSTREAM": 404,
    "METHOD_NOT_ALLOWED": 405,
    "REQUEST_TIMEOUT": 408,
    "CONFLICT": 409,
    "SESSION_BUSY": 409,
    "SESSION_LOST": 409,
    "SESSION_NEWER": 409,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "OVERLOADED": 429,
    "RATE_LIMITED": 429,
    "HEADERS_TOO_LARGE": 431,
    "INTERNAL_ERROR": 500,
    "NOT_INSTALLED": 501,
    "FETCH_ERROR": 502,
    "CONTRACT_ERROR": 502,
    "UPSTREAM_BLOCKED": 503,
    "PROXY_EXHAUSTED": 503,
    "SESSION_EXHAUSTED": 503,
    "REDIS_UNAVAILABLE": 503,
    "ARTIFACT_ERROR": 503,
    "STORAGE_UNAVAILABLE": 503,
    "NODE_UNAVAILABLE": 503,
    "BROWSER_ERROR": 503,
    "DEADLINE": 504,
}
_NO_REDIS = "Redis does not answer: what has a name or an Idempotency-Key cannot be done now, calls without can"
#: such errors name the place, too
_NO_DATABASE = "the database does not answer, or takes nothing now: nothing is done, and it may be tried again"
_NO_STORAGE = "the database could not do it; the log has more"
#: context that an answer may have, in this order; evidence from a page stays in the log
_TOLD = (
    "site", "operation", "outcome", "vendor", "evidence", "status", "attempts", "elapsed_ms", "field", "fields", "path",
    "layer", "reason", "cap", "limit", "retry_after", "allowed", "scope", "session_id",
    "artifact", "run_id", "job", "job_id", "state",
)  # fmt: skip


class Failure(BaseModel):
    """The body of every answer that is none of 2xx."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="what went wrong, one of a fixed list", examples=["UPSTREAM_BLOCKED"])
    message: str = Field(description="the same in words", examples=["blocked (datadome: …) after 4 tries"])
    context: dict[str, Any] = Field(
        description="site, operation, outcome, vendor, attempts, elapsed_ms, as far as they are known",
        examples=[{"site": "fetch", "outcome": "blocked", "vendor": "datadome", "attempts": 4, "elapsed_ms": 5120.3}],
    )


class ApiError(Exception):
    """Ends a call with a failure of the table.

    Attributes:
        unread: whether a part of the call's body has not been read.
    """

    unread = False

    def __init__(self, type: str, message: str, *, headers: dict[str, str] | None = None, **context: Any) -> None:  # noqa: A002
        super().__init__(message)
        self.type = type
        self.status = STATUSES[type]
        self.message = message
        self.context = context
        self.headers = {**_pause(context), **(headers or {})}

    def body(self) -> dict[str, Any]:
        """The answer's JSON."""
        context = {name: self.context[name] for name in _TOLD if self.context.get(name) is not None}
        return {"type": self.type, "message": redact(self.message), "context": context}


def _pause(context: dict[str, Any]) -> dict[str, str]:
    """What a site asked to wait, for who calls to keep."""
    seconds = context.get("retry_after")
    return {} if not seconds else {"retry-after": str(math.ceil(seconds))}


def failure_of(error: BaseException) -> ApiError:  # noqa: PLR0911  # the table
    """The failure that an error of a call amounts to."""
    match error:
        case ApiError():
            return error
        case OutcomeError():
            return ApiError(error.error_type, error.message, **error.context)
        case RedisUnavailableError():
            return ApiError("REDIS_UNAVAILABLE", _NO_REDIS)  # the error names the place, which is in the log
        case FetchworkerError():
            return _ours(error)
        case TimeoutError():
            return ApiError("DEADLINE", "the call's time is over", layer="deadline")
        case DownloadCancelledError() if " larger than " in str(error) or "max size" in str(error):
            return ApiError("PAYLOAD_TOO_LARGE", str(error))
        case IgnoreRequest():
            return _ignored(error)
        case asyncio.CancelledError():
            told = "the service was ended before the call was done"
            return ApiError("INTERNAL_ERROR", told, headers={"connection": "close"}, reason="ended")
        case _ if isinstance(error, _TRANSPORT):
            return ApiError("FETCH_ERROR", f"{type(error).__name__}: {error}", reason=_REASONS.get(type(error)))
        case _:
            return ApiError("INTERNAL_ERROR", f"an error of our own ({type(error).__name__}); the log has it")


_TRANSPORT = (
    CannotResolveHostError, DownloadCancelledError, DownloadConnectionRefusedError, DownloadFailedError,
    DownloadTimeoutError, NotSupported, OSError, ResponseDataLossError, StopDownload, UnsupportedURLSchemeError,
)  # fmt: skip
_REASONS: dict[type[BaseException], str] = {
    CannotResolveHostError: "name",
    DownloadConnectionRefusedError: "connect",
    DownloadTimeoutError: "timeout",
    ResponseDataLossError: "data_loss",
}


#: why a document was not read → type; the others are faults of the file
_UNREAD = {
    "too_big": "PAYLOAD_TOO_LARGE",
    "timeout": "DEADLINE",
    "busy": "OVERLOADED",
    "engine": "INTERNAL_ERROR",
}


#: layer of a page that a browser could not have → type; the others are the browser's own
_BROWSER = {
    "deadline": "DEADLINE",
    "navigation": "FETCH_ERROR",
    "size": "PAYLOAD_TOO_LARGE",
    "target_policy": "EGRESS_DENIED",
}


def _unread(error: DocumentError) -> ApiError:
    kind = _UNREAD.get(error.reason, "VALIDATION_ERROR")
    headers = {"retry-after": "1"} if error.reason == "busy" else None
    return ApiError(kind, error.message, headers=headers, **error.context)


def _ours(error: FetchworkerError) -> ApiError:
    if isinstance(error, DocumentError):
        return _unread(error)
    if isinstance(error, CredentialMissingError):
        return ApiError("NOT_INSTALLED", error.message)
    if isinstance(error, BrowserError):
        return ApiError(_BROWSER.get(error.layer, error.type), error.message, **error.context)
    kind = error.type if error.type in STATUSES else "INTERNAL_ERROR"
    if isinstance(error, StorageError) and not isinstance(error, ArtifactError):
        return ApiError(kind, _NO_DATABASE if kind == "STORAGE_UNAVAILABLE" else _NO_STORAGE)
    return ApiError(kind, error.message, **error.context)


def _ignored(error: BaseException) -> ApiError:
    text = str(error)
    if "robots.txt" in text:
        return ApiError("ROBOTS_DENIED", "the site's robots.txt forbids it, and the site's entry says to obey it")
    if "exceeded DOWNLOAD_MAXSIZE" in text or "larger than" in text:
        return ApiError("PAYLOAD_TOO_LARGE", text)
    return ApiError("FETCH_ERROR", text or type(error).__name__)
