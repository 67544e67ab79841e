"""Every error that fetchworker raises on purpose.

::

    FetchworkerError
    ├── ConfigError                 settings, sites.yaml, environment: the start is refused
    │   ├── ProxyConfigError        an entry of a proxy list
    │   └── ProxyRefusedError       proxies refuse our credentials before a crawl has begun
    ├── ArgumentError               spider arguments or a seed that name no call
    ├── UnqueueableError            a request holds a value that has no place in the queue
    ├── CorruptEntryError           an entry of the queue that is no request of the spider
    ├── RedisUnavailableError       no Redis to be had
    ├── SessionError                a stored session cannot be read or written
    │   ├── SessionExhaustedError   no session of the pool came free in time (SESSION_EXHAUSTED)
    │   ├── SessionBusyError        somebody else has the session to itself (SESSION_BUSY)
    │   ├── SessionDamagedError     what is stored of a session is no session (INTERNAL_ERROR)
    │   ├── SessionNewerError       a newer version wrote the session (SESSION_NEWER)
    │   └── LeaseLostError          the lease of a session is over, or somebody else's (SESSION_LOST)
    ├── ProxyExhaustedError         a proxy is required and none is left (PROXY_EXHAUSTED)
    ├── ProxyFailedError            the proxy cannot be reached, or refuses the tunnel
    ├── ProxyAuthError              the proxy refused our credentials (407)
    ├── EgressDeniedError           the request would have led where none may go (EGRESS_DENIED)
    │   └── SchemeDeniedError       by its scheme: neither http nor https
    ├── BrowserError                a page that needed a browser was not had (BROWSER_ERROR); ``layer`` says where
    │   ├── PageFailedError         its navigation failed, or the browser under it
    │   ├── PageTimeoutError        its time was over
    │   ├── PageSizeError           it is larger than it may be
    │   └── PageDeniedError         it would have led where none may go (EGRESS_DENIED)
    ├── ContractError               an ``ok`` page lacks what its contract promises (CONTRACT_ERROR)
    ├── ItemInvalidError            an item breaks the item contract
    ├── BrokenChainError            the identity of a chain was refused: the chain begins again
    ├── UnfinishedError             the crawl was ended before the call was done (UNFINISHED)
    ├── BilledUsageError            a provider of proxies does not tell what it billed
    ├── ExportError                 an output file cannot be written
    ├── StorageError                the database cannot be opened or written
    │   ├── RefusedError            the database works, and will not take these values
    │   ├── ArtifactError           an artifact cannot be kept or read (ARTIFACT_ERROR)
    │   └── StorageAwayError        the database does not answer; it may pass (STORAGE_UNAVAILABLE)
    ├── PlatformError               a node that runs jobs cannot be asked (NODE_UNAVAILABLE)
    ├── RunNotFoundError            there is no such run, or it is somebody else's (NOT_FOUND)
    ├── RunStateError               the state of a run does not allow it (CONFLICT)
    ├── DocumentError               an invoice or a receipt cannot be read; ``reason`` says why
    ├── AnswerRejectedError         a language model says nothing of a document that could be used; ``reason`` says why
    └── OutcomeError                the last try ended, and not with ``ok``

The classes that the download path raises are also members of Scrapy's families of errors
(``scrapy.exceptions``), so that stock components treat them as what they are. Errors of libraries are
translated where we call them; the text of an error never holds a secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    UnsupportedURLSchemeError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def field_path(parts: Iterable[str | int]) -> str:
    """A field as errors name it: ``actions[3].selector``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


def how_to_install(extra: str = "") -> str:
    """What to type in a checkout for a part that is missing."""
    return f"pip install -c constraints.txt -e '.[{extra}]'" if extra else "pip install -c constraints.txt -e ."


class FetchworkerError(Exception):
    """Base of the tree.

    ``type`` is the stable name that API answers, failure lines and docs use; ``context`` holds plain JSON values and
    never a secret.
    """

    type: ClassVar[str] = "INTERNAL_ERROR"

    def __init__(self, message: str, **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.context: dict[str, Any] = context


class ConfigError(FetchworkerError):
    """A setting is wrong: the message names the source (file or variable), the key and what to write instead."""

    type = "CONFIG_ERROR"


class CredentialMissingError(ConfigError):
    """A request needs a credential that the operator has not put into the environment: it was not sent."""


class ContradictionError(ConfigError):
    """A header of a request says something else than the browser it is dressed as: nothing was sent."""

    type = "VALIDATION_ERROR"


class ProxyConfigError(ConfigError):
    """A proxy entry cannot be read: the message names its place in the list and hides its credentials."""


class ProxyRefusedError(ConfigError):
    """Proxies refuse our user name or password: seen before a crawl began, which does not begin."""


class ArgumentError(FetchworkerError):
    """Spider arguments or a seed do not name a call of the spider."""

    type = "VALIDATION_ERROR"


class UnqueueableError(FetchworkerError, ValueError):
    """A request holds a value that has no place in the queue; the message names its path.

    A ``ValueError`` as well, which is Scrapy's word for a request that cannot be serialized.
    """

    type = "VALIDATION_ERROR"


class CorruptEntryError(FetchworkerError):
    """An entry of the queue is no request, or none of this spider."""

    type = "INTERNAL_ERROR"


class RedisUnavailableError(FetchworkerError):
    """No Redis answers, and none could be started."""

    type = "INTERNAL_ERROR"


class LimitReachedError(FetchworkerError):
    """As much is under way, or was sent, as the global limit allows, and no permit came in time: nothing was sent."""

    type = "RATE_LIMITED"


class SessionError(FetchworkerError):
    """A stored session cannot be read or written."""

    type = "INTERNAL_ERROR"


class SessionDamagedError(SessionError):
    """What is stored of a session is no session that this version could read."""


class SessionNewerError(SessionError):
    """A newer version of fetchworker wrote the session: this one leaves it alone."""

    type = "SESSION_NEWER"


class SessionExhaustedError(SessionError):
    """All sessions of the pool are in use or at rest, and none came free in time: nothing was sent."""

    type = "SESSION_EXHAUSTED"


class SessionBusyError(SessionError):
    """Somebody else has the named session to itself, and did not give it back in time: nothing was sent."""

    type = "SESSION_BUSY"


class SessionCountryError(SessionError):
    """A session was asked for in another country than that of its exit, which it keeps: nothing was sent."""

    type = "CONFLICT"


class LeaseLostError(SessionError):
    """The lease of a session was over, or somebody else's, when it was to be used or given back."""

    type = "SESSION_LOST"


class ProxyExhaustedError(FetchworkerError, DownloadConnectionRefusedError):
    """The site requires a proxy and none is left: the request was not sent."""

    type = "PROXY_EXHAUSTED"


class TierSpentError(ProxyExhaustedError):
    """The budget of the exit's tier was spent while the request waited for its turn: it was not sent."""


class ProxyFailedError(FetchworkerError, DownloadConnectionRefusedError):
    """The proxy cannot be reached or would not open the tunnel: the site has seen nothing."""

    type = "FETCH_ERROR"


class ProxyAuthError(FetchworkerError, DownloadFailedError):
    """The proxy answered 407: its credentials are wrong, the site is not to blame."""

    type = "FETCH_ERROR"


class EgressDeniedError(FetchworkerError, IgnoreRequest):
    """The request would have led where none may go (docs/egress.md): nothing was sent, and no other try is made.

    ``context["layer"]`` is ``url``, ``address`` or ``proxy``: by what it was found out; ``context["reason"]`` a slug.
    """

    type = "EGRESS_DENIED"


class SchemeDeniedError(EgressDeniedError, UnsupportedURLSchemeError):
    """Neither http nor https: a refusal like the others, and Scrapy's own word for it."""


class BrowserError(FetchworkerError):
    """A page that needed a browser was not had.

    Args:
        layer: what failed: ``browser_process`` (Chromium, its driver, a place in it), ``navigation``, ``action``,
            ``assertion``, ``target_policy``, ``deadline`` or ``size``.
    """

    type = "BROWSER_ERROR"

    def __init__(self, layer: str, message: str, **context: Any) -> None:
        super().__init__(message, **{"layer": layer, **context})
        self.layer = layer


class PageFailedError(BrowserError, DownloadFailedError):
    """The navigation failed, or the browser under it: another try may do."""


class PageTimeoutError(BrowserError, DownloadTimeoutError):
    """The page was not done in its time."""


class PageSizeError(BrowserError, DownloadCancelledError):
    """The page, with what belongs to it, is larger than it may be."""


class PageDeniedError(BrowserError, EgressDeniedError):
    """The page would have led where none may go.

    As with every refusal ``context["layer"]`` tells by what it was found out; the attribute is ``target_policy``.
    """

    type = "EGRESS_DENIED"

    def __init__(self, message: str, *, found_by: str, reason: str) -> None:
        super().__init__("target_policy", message, reason=reason)
        self.context["layer"] = found_by


class ContractError(FetchworkerError):
    """A page judged ``ok`` lacks what its contract promises; ``path`` says what was looked for."""

    type = "CONTRACT_ERROR"

    def __init__(self, path: str, message: str = "", **context: Any) -> None:
        super().__init__(message or f"not found in the page: {path}", path=path, **context)
        self.path = path


class ItemInvalidError(FetchworkerError):
    """An item breaks the item contract; the message lists the fields."""

    type = "CONTRACT_ERROR"


class BrokenChainError(FetchworkerError):
    """The identity that a chain of requests hangs on was refused: the spider begins the chain again."""

    type = "UPSTREAM_BLOCKED"


class UnfinishedError(FetchworkerError):
    """The crawl was ended from outside, or gave up, before a call was done: nothing is wrong with the call."""

    type = "UNFINISHED"


class BilledUsageError(FetchworkerError):
    """A provider's usage API cannot be reached, refuses our key, asks to wait, or answers otherwise than documented."""


class ExportError(FetchworkerError):
    """An output file cannot be opened, repaired or written."""


class StorageError(FetchworkerError):
    """The database cannot be opened or written: what was to be stored is not, and no half of it is."""


class RefusedError(StorageError):
    """The database works and will not take these values."""


class ArtifactError(StorageError):
    """An artifact cannot be kept or read; what it was made of goes on. ``context["reason"]`` is ``too_big`` or none."""

    type = "ARTIFACT_ERROR"


class StorageAwayError(StorageError):
    """The database does not answer, for longer than it was waited for: nothing is done, and it may be tried again."""

    type = "STORAGE_UNAVAILABLE"


class RunNotFoundError(FetchworkerError):
    """There is no such run or job, or it belongs to a workspace that the caller does not see."""

    type = "NOT_FOUND"


class RunStateError(FetchworkerError):
    """The state of a run, or an earlier call with the same key, does not allow what is asked."""

    type = "CONFLICT"


class PlatformError(FetchworkerError):
    """A node that runs jobs cannot be asked, or does not take one now."""

    type = "NODE_UNAVAILABLE"


class DocumentError(FetchworkerError):
    """A document cannot be read; the next one can.

    Args:
        reason: ``empty``, ``not_a_document``, ``encrypted``, ``truncated``, ``too_big`` (``context["cap"]`` names the
            cap), ``timeout``, ``busy`` (as many documents wait as may), or ``engine`` (the reader itself failed).
    """

    type = "DOCUMENT_ERROR"

    def __init__(self, reason: str, message: str, **context: Any) -> None:
        super().__init__(message, reason=reason, **context)
        self.reason = reason

    def to_json(self) -> dict[str, Any]:
        """The error as it stands beside a document's result."""
        return {"type": self.type, "message": self.message, **self.context}


#: outcome → stable error type (REST answers and failure lines use it)
OUTCOME_ERROR_TYPES: dict[str, str] = {
    "blocked": "UPSTREAM_BLOCKED",
    "challenge": "UPSTREAM_BLOCKED",
    "login_wall": "UPSTREAM_BLOCKED",
    "rate_limited": "RATE_LIMITED",
    "not_found": "NOT_FOUND_UPSTREAM",
    "gone": "NOT_FOUND_UPSTREAM",
    "private": "NOT_FOUND_UPSTREAM",
    "stale_contract": "CONTRACT_ERROR",
    "transient": "FETCH_ERROR",
    "error": "FETCH_ERROR",
}


class OutcomeError(FetchworkerError):
    """The last try of a request ended with an outcome other than ``ok``."""

    type = "FETCH_ERROR"

    def __init__(self, outcome: str, message: str, **context: Any) -> None:
        super().__init__(message, outcome=outcome, **context)
        self.outcome = outcome
        self.error_type = OUTCOME_ERROR_TYPES.get(outcome, "FETCH_ERROR")


class AnswerRejectedError(FetchworkerError):
    """A language model's answer about a document is not used, or there is none; ``context`` never holds its text.

    Args:
        reason: ``timeout``, ``unreachable``, ``egress``, ``status`` (with ``context["status"]``), ``no_completion``,
            ``too_long`` (what would be asked, or the answer), ``schema``, ``not_backed`` (``context["field"]``: its
            lines do not hold it), or ``other_kind``.
    """

    type = "ANSWER_REJECTED"

    def __init__(self, reason: str, message: str, **context: Any) -> None:
        super().__init__(message, reason=reason, **context)
        self.reason = reason
