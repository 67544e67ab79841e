"""What an engine and its contexts are made with (plain data)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fetchworker.egress import EgressPolicy
    from fetchworker.egress.filter_proxy import Upstream


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How the browser of a process is started, and what it may take. Engines with equal options are one engine.

    Attributes:
        program: a Chromium's path; None to find one.
        contexts: how many contexts there may be at once, those that are kept idle included.
        pages_per_context: how many pages a context may have open at once; 0 for no limit.
        recycle_contexts: a browser that has had so many contexts is replaced by a fresh one; 0 for never.
        recycle_bytes: one whose processes hold so much memory (resident) is replaced; 0 for never.
        wait: seconds that a context, or a place for one, is waited for.
        start: seconds that the browser has to start.
        ca_file: certificates (PEM) to trust beside the browser's own.
        host_map: ``host[:port]`` → ``ip:port``, for tests and demos.
        arguments: further options of Chromium's command line.
        launch: further options of Playwright's ``launch``, as pairs.
    """

    program: str | None = None
    contexts: int = 8
    pages_per_context: int = 0
    recycle_contexts: int = 200
    recycle_bytes: int = 2 * 1024**3
    wait: float = 120.0
    start: float = 60.0
    ca_file: str | None = None
    host_map: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    launch: tuple[tuple[str, Any], ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class ClientHints:
    """Who the browser says it is, beside its User-Agent: the values of the three headers, as they are sent."""

    sec_ch_ua: str
    mobile: str = "?0"
    platform: str = '"Windows"'


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """A browser context that is asked for.

    Attributes:
        key: a context of the same key is used again while it is kept; "" for a new one that is closed at the end.
        policy: where it may go; the strictest otherwise.
        upstream: the proxy that it goes by.
        user_agent: "" for Chromium's own, without the word Headless.
        hints: go with ``user_agent``.
        accept_language: the header's value; "" for the locale's.
        locale: such as ``de-DE``; "" for the first of ``accept_language``.
        timezone: such as ``Europe/Berlin``; "" for the machine's.
        viewport: width and height in pixels.
        mobile: whether it is a telephone's.
        cookies: in Playwright's form: the context has these and no others then; None leaves them alone.
        verify: whether certificates are verified.
        max_bytes: to and from targets in one use; None for no limit.
        deadline: seconds that one use may take from when the context stands.
        wait: seconds that the context is waited for; None for the engine's.
        har: the path of a HAR to record.
        trace: whether a trace is recorded; ``BrowserContext.save_trace`` writes it.
        extra: further arguments of Playwright's ``new_context``.
    """

    key: str = ""
    policy: EgressPolicy | None = None
    upstream: Upstream | None = None
    user_agent: str = ""
    hints: ClientHints | None = None
    accept_language: str = ""
    locale: str = ""
    timezone: str = ""
    viewport: tuple[int, int] = (1366, 768)
    mobile: bool = False
    cookies: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False)
    verify: bool = True
    max_bytes: int | None = None
    deadline: float = 60.0
    wait: float | None = None
    har: str | None = None
    trace: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
