"""A page's own state, or an answer of the site's interface, and where its parts are (pure).

Both hold the same objects: a page under ``props.pageProps.initialData``, an answer under ``data``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ContractError
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import dig, ident, mapping, sequence, text
from fetchworker.spiders.walmart import contract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.contracts import Page

_SCRIPT = re.compile(
    rf"""<script\b[^<>]{{0,2000}}?\bid=["']?{contract.DATA_SCRIPT}["'\s>][^<>]{{0,2000}}""", re.IGNORECASE
)
_END = re.compile(r"</script", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^<>]{0,500}>([^<]{0,2000})", re.IGNORECASE)
_LOCALE = re.compile(r"-[a-z]{2}-([A-Z]{2})\Z")


@dataclass(frozen=True)
class State:
    """What a page, or an answer, holds."""

    tree: Mapping[str, Any]
    source: str

    @cached_property
    def initial(self) -> Mapping[str, Any]:
        """``initialData`` of a page; of an answer its ``data``, which is shaped like it."""
        found = mapping(dig(self.tree, "props", "pageProps", "initialData"))
        return found or {**mapping(self.tree.get("data")), "data": mapping(self.tree.get("data"))}

    @property
    def search(self) -> Mapping[str, Any]:
        """The result of a search, empty when it is another page."""
        return mapping(self.initial.get("searchResult")) or mapping(dig(self.initial, "search", "searchResult"))

    @property
    def data(self) -> Mapping[str, Any]:
        """Product, texts (``idml``) and reviews of a listing."""
        return mapping(self.initial.get("data"))

    @property
    def of_listing(self) -> bool:
        """Whether it is a listing's own page, which shows its first reviews alone."""
        return str(self.tree.get("page") or "").startswith("/ip/")

    @cached_property
    def country(self) -> str | None:
        """The country whose shop the page is of."""
        locale = _LOCALE.search(text(self.tree.get("buildId")) or "")
        unit = text(dig(self.tree, "runtimeConfig", "tenantV2", "bu")) or ""
        return locale[1] if locale else unit.removeprefix("WALMART-") or None

    @property
    def currency(self) -> str | None:
        """The currency of prices that do not name theirs."""
        return contract.CURRENCIES.get(self.country or "")

    @property
    def domain(self) -> str:
        """The shop: what the site calls itself, for a saved page may have lost its address."""
        named = contract.domain_of(f"https://{text(dig(self.tree, 'props', 'pageProps', 'reqHost')) or ''}/")
        return named or ("walmart.ca" if self.country == "CA" else contract.DOMAIN)

    @property
    def visitor(self) -> dict[str, Any]:
        """How the site judged the visitor, and where it saw it."""
        props = mapping(dig(self.tree, "props", "pageProps"))
        seen = (text(dig(props, "countryRegion", key)) for key in ("countryCode", "regionCode"))
        return {
            "is_ip_level_bot": True if props.get("isIpLevelBot") is True else None,
            "country_region": "-".join(part for part in seen if part) or None,
        }

    @property
    def title(self) -> str | None:
        """The page's title."""
        match = _TITLE.search(self.source)
        return html.text_of(match[1]) if match else None

    @property
    def store(self) -> str | None:
        """The branch whose stock and prices are shown."""
        told = dig(self.initial, "pageMetadata", "location", "storeId")
        listed = sequence(dig(self.data, "product", "location", "storeIds"))
        return ident(told) or (ident(listed[0]) if listed else None)


def state_of(page: Page) -> State:
    """Find the state.

    Raises:
        ContractError: the page has none, or one of another generation than those known.
    """
    source = html.decoded(page)
    answer = source.lstrip()[:1] in ("{", "[")
    found = _json(source) if answer else _script(source)
    if found is None:
        raise ContractError("body" if answer else f"script#{contract.DATA_SCRIPT}")
    state = State(mapping(found), "" if answer else source)
    if not state.initial.get("data") and not state.search:
        raise ContractError("props.pageProps.initialData | data", "the page's state is of an unknown layout")
    return state


def _script(source: str) -> Any:
    start = _SCRIPT.search(source)
    begin = source.find(">", start.end()) if start else -1
    if begin < 0:
        return None
    end = _END.search(source, begin)
    return _json(source[begin + 1 : end.start() if end else len(source)])


def _json(content: str) -> Any:
    """JSON, quickly when it is whole, and as far as it goes when something stands behind it."""
    try:
        return orjson.loads(content)
    except ValueError:
        return html.parsed(content)
