"""The data of a page or of an API's answer, whichever it is: its components and what it says of the visitor (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ContractError
from fetchworker.items import plain
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import dig, mapping, sequence, text
from fetchworker.spiders.tiktok_shop import contract

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.contracts import Page

_MARK = contract.DATA_SCRIPT.encode()
_ROUTE = f"{contract.DATA_SCRIPT} loaderData.*.page_config"
#: a script's tag is no longer than this
_TAG = 1_000
_MOST_MARKS = 20
#: what the site says of the visit: the path in the page's record, and our name for it in ``extra``
_VISIT = {
    "risk_level": ("basic_info", "risk_level"),
    "risk_reasons": ("basic_info", "risk_reasons"),
    "is_bot": ("bot_info", "is_bot"),
    "waf_type": ("waf_decision", "waf_type"),
    "sale_region": ("region_info", "sale_region"),
    "real_region": ("region_info", "real_region"),
}


@dataclass(frozen=True)
class Body:
    """A page's record (``page_config`` and what stands beside it) or the ``data`` of an answer."""

    record: Mapping[str, Any]

    @property
    def config(self) -> Mapping[str, Any]:
        """Where components stand: in the page's configuration, or in the answer itself."""
        return mapping(self.record.get("page_config")) or self.record

    @cached_property
    def components(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Names and data of the components that have data, in their order."""
        found = [(mapping(entry).get("component_name"), mapping(entry).get("component_data"))
                 for entry in sequence(self.config.get("components_map"))]  # fmt: skip
        return [(name, data) for name, data in found if isinstance(name, str) and isinstance(data, dict)]

    def named(self, name: str) -> Mapping[str, Any] | None:
        """The data of the component with this name."""
        return next((data for found, data in self.components if found == name), None)

    def holding(self, key: str) -> Iterator[Mapping[str, Any]]:
        """The data of the components that have this key, then the record itself when it has."""
        yield from (data for _, data in self.components if key in data)
        if key in self.record:
            yield self.record

    def visit(self) -> dict[str, Any]:
        """What the site says of the visitor: a cheap sign of how long it will go on serving this one."""
        found = {name: plain(dig(self.record, *path)) for name, path in _VISIT.items()}
        return {name: value for name, value in found.items() if value not in (None, "", [])}


def body(page: Page) -> Body:
    """The data of a page or of an answer.

    Raises:
        ContractError: there are none, or the answer is an error.
    """
    start = page.body[:64].lstrip()
    return _answer(page) if start.startswith((b"{", b"[")) else _page(page)


def _answer(page: Page) -> Body:
    try:
        found = orjson.loads(page.body)
    except orjson.JSONDecodeError:
        found = html.parsed(html.decoded(page))
    if not isinstance(found, dict):
        raise ContractError("body", "an answer that is no JSON object")
    if found.get("code") not in (None, 0):
        raise ContractError("code", f"the answer is an error: {found.get('code')} {text(found.get('message')) or ''}")
    return Body(mapping(found.get("data")) or found)


def _page(page: Page) -> Body:
    document = _script(page.body)
    if document is None:
        raise ContractError(f"script#{contract.DATA_SCRIPT}")
    for route in mapping(mapping(document).get("loaderData")).values():
        if isinstance(route, dict) and isinstance(route.get("page_config"), dict):
            return Body(route)
    raise ContractError(_ROUTE)


def _script(source: bytes) -> Any:
    """The JSON of the data script, found by its id: a page is half a megabyte, most of it that script."""
    position = 0
    for _ in range(_MOST_MARKS):
        mark = source.find(_MARK, position)
        if mark < 0:
            return None
        position = mark + len(_MARK)
        tag = source.rfind(b"<", max(0, mark - _TAG), mark)
        start = source.find(b">", mark, mark + _TAG) + 1
        if tag < 0 or not start or source[tag : tag + 7].lower() != b"<script":
            continue
        end = source.find(b"</script", start)
        return _loaded(source[start : end if end >= 0 else len(source)])
    return None


def _loaded(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:  # control characters, lone surrogates, or torn off
        return html.parsed(content.decode(errors="replace"))
