"""How each action is done with a Playwright page. Nothing here runs script of a caller's."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fetchworker.actions.extract import LackingError, extract
from fetchworker.artifacts.redact import is_secret_field

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from fetchworker.actions import models as m

    #: keeps an artifact (kind, bytes or file, media type) and gives its id
    Keep = Callable[[Any, bytes | Path, str], Awaitable[str]]

#: header of an answer that is the filtering proxy's own
REFUSED = "x-fetchworker-reason"
_STEP, _FAR = 800, 1_000_000
_INTERRUPTED, _INTERRUPTIONS = "is interrupted by another navigation", 3
#: the attributes of a field, or of that which a label names
_ATTRIBUTES = """found => {
  const field = found.matches("input, textarea, select") ? found : found.closest("label")?.control ?? found;
  return Object.fromEntries(Array.from(field.attributes, one => [one.name, one.value]));
}"""
#: seconds that a look at a field may take
_GLANCE = 1.0
#: seconds between two looks at what is asserted
_LOOK = 0.1


class AssertionFailedError(Exception):
    """What was asserted does not hold."""


class RefusedError(Exception):
    """The answer is the filtering proxy's own; the text is its reason."""


class Deeds:
    """Does the actions of one run.

    Args:
        page: Playwright's.
        keep: takes screenshots and the like.
        secrets: is told what was typed into fields for passwords and the like.
    """

    def __init__(self, page: Any, keep: Keep, secrets: set[str]) -> None:
        self._page = page
        self._keep = keep
        self._secrets = secrets

    async def do(self, action: Any) -> tuple[Any, str | None]:
        """Do one.

        Returns:
            What came of it, and the id of what was kept.

        Raises:
            AssertionFailedError: it does not hold.
            LackingError: a required field is not there.
            RefusedError: the filtering proxy did not let it through.
            ArtifactError: what it made cannot be kept.
            Exception: Playwright's own.
        """
        found = await getattr(self, f"_{action.type}")(action)
        return found if isinstance(found, tuple) else (found, None)

    def _found(self, selector: str) -> Any:
        return self._page.locator(selector).first

    async def _goto(self, action: m.Goto) -> dict[str, Any]:
        found = await self._went(action)
        if found is not None and REFUSED in found.headers:
            raise RefusedError(found.headers[REFUSED])
        return {"url": self._page.url, "status": found.status if found is not None else None}

    async def _went(self, action: m.Goto) -> Any:
        """Go there; once more where the end of a navigation that failed before came in between."""
        for _ in range(_INTERRUPTIONS):
            try:
                return await self._page.goto(action.url, wait_until=action.wait_until, timeout=_ms(action))
            except Exception as exc:
                if _INTERRUPTED not in str(exc):
                    raise
                await self._page.wait_for_load_state(timeout=_ms(action))
        return await self._page.goto(action.url, wait_until=action.wait_until, timeout=_ms(action))

    async def _click(self, action: m.Click) -> None:
        await self._found(action.selector).click(button=action.button, click_count=action.count, timeout=_ms(action))

    async def _fill(self, action: m.Fill) -> None:
        field = self._found(action.selector)
        await self._look(field, action.text)
        try:
            await field.fill(action.text, timeout=_ms(action))
        finally:  # it may have come only now, and before it may be gone by now
            await self._look(field, action.text)

    async def _look(self, field: Any, typed: str) -> None:
        """Know what is typed into a field as a secret, where the field, if it is there, is for one."""
        if not typed or typed in self._secrets:
            return
        with suppress(Exception):  # Playwright's, of many classes; what is wrong with the field, the action tells
            async with asyncio.timeout(_GLANCE):
                if await field.count() and is_secret_field(await field.evaluate(_ATTRIBUTES)):
                    self._secrets.add(typed)

    async def _press(self, action: m.Press) -> None:
        if action.selector is None:
            await self._page.keyboard.press(action.key)
        else:
            await self._found(action.selector).press(action.key, timeout=_ms(action))

    async def _select(self, action: m.Select) -> list[str]:
        wanted = {"value": action.value} if action.value is not None else {"label": action.label}
        found: list[str] = await self._found(action.selector).select_option(**wanted, timeout=_ms(action))
        return found

    async def _wait_for(self, action: m.WaitFor) -> None:
        if action.seconds is not None:
            await asyncio.sleep(action.seconds)
        elif action.url is not None:
            await self._page.wait_for_url(action.url, timeout=_ms(action), wait_until="commit")
        elif action.load is not None:
            await self._page.wait_for_load_state(action.load, timeout=_ms(action))
        elif action.text is not None:
            await self._page.get_by_text(action.text).first.wait_for(state="visible", timeout=_ms(action))
        else:
            await self._found(action.selector or "").wait_for(state=action.state, timeout=_ms(action))

    async def _scroll(self, action: m.Scroll) -> None:
        if action.selector is not None and await self._page.locator(action.selector).count():
            await self._found(action.selector).scroll_into_view_if_needed(timeout=_ms(action))
            return
        for _ in range(action.times):
            await self._page.mouse.wheel(0, {"bottom": _FAR, "top": -_FAR}.get(action.to or "", action.by or _STEP))
            await asyncio.sleep(action.pause)
            if action.selector is not None and await self._page.locator(action.selector).count():
                break
        if action.selector is not None:
            await self._found(action.selector).scroll_into_view_if_needed(timeout=_ms(action))

    async def _extract(self, action: m.Extract) -> dict[str, Any]:
        html = await self._page.content()
        try:
            return await asyncio.to_thread(extract, html, action.fields)
        except LackingError as exc:
            raise LackingError(f"the page has no {exc}") from None

    # ── assertions ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _assert(self, action: m.Assert) -> None:
        """Look until it holds; what was lacking last is told when the time is over."""
        loop = asyncio.get_running_loop()
        end = loop.time() + action.timeout
        while (lacking := await self._lacking(action)) is not None:
            if loop.time() >= end:
                raise AssertionFailedError(lacking)
            await asyncio.sleep(min(_LOOK, action.timeout))

    async def _lacking(self, action: m.Assert) -> str | None:
        if action.url_contains is not None and action.url_contains not in self._page.url:
            return f"the address is {self._page.url}"
        if action.title_contains is not None and action.title_contains not in await self._page.title():
            return f"the title is {await self._page.title()!r}"
        if action.selector is not None:
            return await self._lacking_there(action, action.selector)
        if action.text is not None and _plain(action.text) not in await self._text("body"):
            return "the page does not show the text"
        return None

    async def _lacking_there(self, action: m.Assert, selector: str) -> str | None:
        count = await self._page.locator(selector).count()
        if action.min_count is not None and count < action.min_count:
            return f"{selector} is there {count} times"
        if action.max_count is not None and count > action.max_count:
            return f"{selector} is there {count} times"
        counted = action.min_count is not None or action.max_count is not None
        state = action.state or (None if counted and action.text is None else "visible")
        if state is not None and not await self._is(selector, state, count):
            return f"{selector} is not {state}"
        if action.text is not None and _plain(action.text) not in await self._text(selector):
            return f"{selector} does not show the text"
        return None

    async def _is(self, selector: str, state: str, count: int) -> bool:
        if state in ("attached", "detached"):
            return bool(count) == (state == "attached")
        visible = bool(count) and bool(await self._found(selector).is_visible())
        return visible == (state == "visible")

    async def _text(self, selector: str) -> str:
        if not await self._page.locator(selector).count():
            return ""
        return _plain(await self._found(selector).inner_text(timeout=1000))

    # ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────────

    async def _screenshot(self, action: m.Screenshot) -> tuple[dict[str, Any], str]:
        wanted = {"type": action.format, "timeout": _ms(action)}
        if action.selector is not None:
            content = await self._found(action.selector).screenshot(**wanted)
        else:
            content = await self._page.screenshot(full_page=action.full_page, **wanted)
        return {"bytes": len(content)}, await self._keep("screenshot", content, f"image/{action.format}")

    async def _pdf(self, action: m.Pdf) -> tuple[dict[str, Any], str]:
        content = await self._page.pdf(
            format=action.format, landscape=action.landscape, print_background=action.background
        )
        return {"bytes": len(content)}, await self._keep("pdf", content, "application/pdf")

    async def _html(self, _: m.Html) -> tuple[dict[str, Any], str]:
        content = (await self._page.content()).encode()
        return {"bytes": len(content)}, await self._keep("html", content, "text/html; charset=utf-8")


def _ms(action: Any) -> float:
    return float(action.timeout * 1000)


def _plain(text: str) -> str:
    return " ".join(text.split())
