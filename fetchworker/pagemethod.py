"""What is done with a page before it is read, in scrapy-playwright's words."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from fetchworker.errors import BrowserError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: the key of a page method in a queue
_MARK = "fw_page_method"


class PageMethod:
    """A call of a method of Playwright's ``Page``, or of a function that takes the page first.

    The same as ``scrapy_playwright.page.PageMethod``, which may be used as well. ``result`` is what it returned.
    """

    def __init__(self, method: Any, *args: Any, **kwargs: Any) -> None:
        self.method, self.args, self.kwargs = method, args, kwargs
        self.result: Any = None

    def __eq__(self, other: object) -> bool:
        return is_method(other) and _parts(self) == _parts(other)

    __hash__ = None  # type: ignore[assignment]  # its arguments may change

    def __repr__(self) -> str:
        return f"<PageMethod for method '{self.method}'>"


def is_method(thing: Any) -> bool:
    """Whether it is a page method, ours or scrapy-playwright's (whose package need not be here)."""
    return type(thing).__name__ in ("PageMethod", "PageCoroutine") and hasattr(thing, "kwargs")


def methods_of(value: Any) -> list[Any]:
    """The page methods of ``meta["playwright_page_methods"]``: a list, or the values of a mapping.

    Raises:
        BrowserError: one of them is none.
    """
    found = list(value.values()) if isinstance(value, dict) else list(value or ())
    for place, thing in enumerate(found):
        if not is_method(thing):
            told = f"playwright_page_methods[{place}] is a {type(thing).__name__}: use fetchworker.browser.PageMethod"
            raise BrowserError("action", told, place=place)
    return found


def written(value: Any) -> Any:
    """Page methods as plain values, for a queue; what is none stays as it is, for the queue to refuse."""
    if isinstance(value, dict):
        return {name: _written(each) for name, each in value.items()}
    return [_written(each) for each in value] if isinstance(value, list | tuple) else value


def read(value: Any) -> Any:
    """What :func:`written` wrote."""
    if isinstance(value, dict) and _MARK not in value:
        return {name: _read(each) for name, each in value.items()}
    return [_read(each) for each in value] if isinstance(value, list) else value


def _written(each: Any) -> Any:
    return {_MARK: [each.method, list(each.args), dict(each.kwargs)]} if is_method(each) else each


def _read(each: Any) -> Any:
    found = each.get(_MARK) if isinstance(each, dict) else None
    if not (isinstance(found, list) and [type(part) for part in found] == [str, list, dict]):
        return each
    method, arguments, named = found
    return PageMethod(method, *arguments, **named)


async def apply(page: Any, methods: Iterable[Any]) -> None:
    """Call them one after the other and keep what they return.

    Raises:
        BrowserError: the page has no such method, or it failed; ``context["place"]`` says which.
    """
    for place, each in enumerate(methods):
        call = each.method if callable(each.method) else getattr(page, each.method, None)
        if call is None:
            raise BrowserError("action", f"a page has no method {each.method!r}", place=place)
        arguments = (page, *each.args) if callable(each.method) else each.args
        result = call(*arguments, **each.kwargs)
        each.result = await result if inspect.isawaitable(result) else result


def _parts(method: Any) -> tuple[Any, ...]:
    return method.method, tuple(method.args), dict(method.kwargs)
