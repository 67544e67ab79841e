"""Runs actions on a Playwright page: each with its own outcome and time, and the layer of what failed."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from fetchworker.actions.deeds import AssertionFailedError, Deeds, RefusedError
from fetchworker.actions.extract import LackingError
from fetchworker.actions.models import Fill
from fetchworker.actions.outcome import ActionOutcome, Report
from fetchworker.browser.faults import refusal_of, translated
from fetchworker.egress import REASONS
from fetchworker.errors import ArtifactError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fetchworker.actions.deeds import Keep
    from fetchworker.actions.models import Action
    from fetchworker.actions.outcome import Layer
    from fetchworker.egress.filter_proxy import Refusal

logger = logging.getLogger(__name__)

#: seconds beyond an action's own in which Playwright has to say that its time is over
_BEYOND = 2.0
#: what the filtering proxy says when a run has had its bytes
_CAP = "byte_cap"
#: seconds that a recording or a last picture may take
_KEEPING = 15.0
_MEDIA = {"screenshot": "image/png", "html": "text/html; charset=utf-8", "trace": "application/zip",
          "har": "application/json"}  # fmt: skip


class Runner:
    """One run of actions.

    Args:
        actions: what is to be done.
        keep: takes artifacts.
        always: kinds of artifacts that are kept of the whole run: ``screenshot``, ``html``, ``trace``, ``har``.
        on_failure: kinds that are kept when an action fails.
        told: hears of each action when it is over.
        refusals: what the way out has refused for a page so far.

    Attributes:
        report: what has become of it; begun anew when the browser died and the run is repeated.
        secrets: what must stand in no artifact: texts that are told to be secret, what was typed into fields for
            passwords, and the values of the browser's cookies; ``keep`` finds all of them when it is called.
    """

    def __init__(
        self,
        actions: Sequence[Action],
        keep: Keep,
        *,
        always: Iterable[str] = (),
        on_failure: Iterable[str] = (),
        told: Callable[[ActionOutcome], None] = lambda _: None,
        refusals: Callable[[Any], Sequence[Refusal]] = lambda _: (),
    ) -> None:
        self._actions = actions
        self._keep = keep
        self._always, self._on_failure = frozenset(always), frozenset(on_failure)
        self._told = told
        self._refusals = refusals
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.report = Report()
        self.secrets = {one.text for one in actions if isinstance(one, Fill) and one.secret}

    # ── recordings ───────────────────────────────────────────────────────────────────────────────────────────────

    async def begin(self, page: Any, *_: Any) -> None:
        """Begin what is recorded, before the page goes anywhere."""
        wanted = self._always | self._on_failure
        if not wanted & {"trace", "har"}:
            return
        self._folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="fetchworker-run-")
        if "trace" in wanted:
            await page.context.tracing.start(screenshots=True, snapshots=True)
        if "har" in wanted:
            await page.context.tracing.start_har(f"{self._folder.name}/run.har", content="embed")

    async def _end(self, page: Any) -> None:
        """Keep what was asked for; what cannot be kept is told, and nothing fails for it."""
        wanted = self._always | (self._on_failure if self.report.failed else frozenset())
        for kind in ("screenshot", "html", "trace", "har"):
            if kind not in self._always | self._on_failure:
                continue
            try:
                async with asyncio.timeout(_KEEPING):
                    await self._last(page, kind, keep=kind in wanted)
            except StorageError as exc:
                self.report.problems.append(exc.message)
            except Exception as exc:  # noqa: BLE001  # Playwright's, of many classes
                self.report.problems.append(f"{kind}: {_line(str(exc))}")
        if self._folder is not None:
            await asyncio.to_thread(self._folder.cleanup)
            self._folder = None

    async def _last(self, page: Any, kind: str, *, keep: bool) -> None:
        content: bytes | Path | None = None
        if kind == "trace":
            content = await self._recorded(page.context.tracing.stop, "run.zip", keep=keep)
        elif kind == "har" and self._folder is not None:
            await page.context.tracing.stop_har()
            content = Path(self._folder.name, "run.har")
        elif keep:
            content = await page.screenshot() if kind == "screenshot" else (await page.content()).encode()
        if keep and content is not None:
            self.report.artifacts[kind] = await self._kept(page, kind, content, _MEDIA[kind])

    async def _kept(self, page: Any, kind: Any, content: bytes | Path, media_type: str) -> str:
        """Keep something once the cookies are known that scripts may have set."""
        for cookie in await page.context.cookies():
            self.secrets |= {cookie["value"], unquote(cookie["value"])} - {""}
        return await self._keep(kind, content, media_type)

    async def _recorded(self, stop: Callable[..., Any], name: str, *, keep: bool) -> Path | None:
        if not keep or self._folder is None:
            await stop()
            return None
        path = Path(self._folder.name, name)
        await stop(path=str(path))
        return path

    # ── actions ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(self, page: Any) -> None:
        """Do the actions, one after the other; the first that fails ends it, unless it says otherwise.

        Raises:
            Exception: Playwright's, when the browser is gone: the rest cannot be done here.
            asyncio.CancelledError: the run's own time is over; the action under way has failed by that.
        """
        self.report = Report([ActionOutcome(n, one.type, one.name) for n, one in enumerate(self._actions)])
        deeds = Deeds(page, partial(self._kept, page), self.secrets)
        for action, outcome in zip(self._actions, self.report.actions, strict=True):
            await self._one(page, deeds, action, outcome)
            self._told(outcome)
            if outcome.outcome == "failed" and action.on_failure == "stop":
                break
        await self._end(page)

    async def _one(self, page: Any, deeds: Deeds, action: Action, outcome: ActionOutcome) -> None:
        started = time.monotonic()
        before = len(self._refusals(page))  # those before are not this action's
        longest = max(action.timeout, getattr(action, "seconds", None) or 0) + _BEYOND
        try:
            async with asyncio.timeout(longest):
                outcome.value, outcome.artifact = await deeds.do(action)
            outcome.outcome = "ok"
        except asyncio.CancelledError:
            outcome.outcome, outcome.layer, outcome.error = "failed", "deadline", "the time of the run is over"
            raise
        except Exception as exc:
            outcome.outcome = "failed"
            outcome.layer, outcome.error = judged(exc, action, self._refusals(page)[before:])
            if outcome.layer == "browser_process":
                self._told(outcome)
                raise
        finally:
            outcome.ms = round((time.monotonic() - started) * 1000, 1)

    async def drop(self) -> None:
        """Forget recordings of a run that did not come to its end."""
        folder, self._folder = self._folder, None
        if folder is not None:
            with suppress(OSError):
                await asyncio.to_thread(folder.cleanup)


def judged(error: Exception, action: Action, refusals: Sequence[Refusal]) -> tuple[Layer, str]:  # noqa: PLR0911
    """The layer of what failed, and why in one line (pure).

    Args:
        error: what the action ended with.
        action: it.
        refusals: what the way out has refused meanwhile.
    """
    match error:
        case AssertionFailedError():
            return "assertion", str(error)
        case LackingError():
            return "schema", str(error)
        case RefusedError():
            return _refused(str(error))
        case ArtifactError() | StorageError():
            return "artifact", error.message
    navigates = action.type == "goto"
    ours = translated(error, layer="navigation" if navigates else "action")
    if ours is not None and ours.layer == "browser_process":
        return "browser_process", _line(ours.message)
    if any(refusal.reason == _CAP for refusal in refusals):
        return _refused(_CAP)
    refusal = refusal_of(urlsplit(action.url).hostname or "", refusals) if action.type == "goto" else None
    if refusal is not None and refusal.reason in REASONS:
        return "target_policy", f"{refusal.target} may not be reached ({REASONS[refusal.reason]})"
    if ours is not None:
        return ("navigation" if ours.layer == "navigation" else "action"), _line(ours.message)
    told = (
        f"not done in {action.timeout:g} s" if isinstance(error, TimeoutError) else f"{type(error).__name__}: {error}"
    )
    return ("navigation" if navigates else "action"), _line(told)


def _refused(reason: str) -> tuple[Layer, str]:
    if reason in REASONS:
        return "target_policy", REASONS[reason]
    if reason == _CAP:
        return "size", "the page, with what belongs to it, has more bytes than it may have"
    return "navigation", f"the site cannot be reached ({reason})"


def _line(text: str) -> str:
    return " ".join(text.partition("Call log:")[0].split())[:500]
