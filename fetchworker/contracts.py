"""What site code is made of: plain data that knows neither Scrapy nor the network.

A site describes the requests it would make (:class:`Fetch`), and pure parsers turn a downloaded :class:`Page` into
:class:`Parsed`. Spiders translate between these and Scrapy's requests and responses; ``scrapy parse-file`` and tests
use them as they are.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fetchworker.items import Item

Destination = Literal["navigate", "xhr"]
"""What a browser would be doing: loading a page, or a script's fetch()."""

Render = Literal["never", "on_evidence", "always"]
"""Whether a browser loads a page: not at all, when its answer shows that it takes one, or each time."""

#: how a paged call ends: the site has no more, it has more but gives no more, ``-a limit=`` is reached, pages repeat
END, CAP, LIMIT, REPEATS = "site_end", "site_cap", "limit", "repeats"


#: the most items that ``limit`` may ask for
MOST = 1_000_000_000
_BITS = 63


#: arguments that are the two ends of a range
_RANGES = (("price_min", "price_max"), ("start", "end"), ("since", "until"))
#: those of them that begin with a point in time
_TIMES = ("start", "since")


class Params(BaseModel):
    """Base of an operation's parameters: an unknown name is an error, and so is a value that no queue can hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _ranges: ClassVar[tuple[tuple[str, str], ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Which ranges there are is known here, and asked for each request."""
        super().__pydantic_init_subclass__(**kwargs)
        cls._ranges = tuple(ends for ends in _RANGES if cls.model_fields.keys() >= set(ends))

    @field_validator("*", mode="after")
    @classmethod
    def _fits_json(cls, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > _BITS:
            raise ValueError("a whole number of at most 64 bits is expected")
        if isinstance(value, str) and not _is_text(value):
            raise ValueError("it is no UTF-8 text")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for low, high in self._ranges:
            first, last = getattr(self, low), getattr(self, high)
            if first is not None and last is not None and _after(first, last):
                more = "after" if low in _TIMES else "greater than"
                raise ValueError(f"{low} ({first}) is {more} {high} ({last})")
        return self


def _after(first: Any, last: Any) -> bool:
    """Whether a range is empty; amounts may be texts."""
    if isinstance(first, str) and isinstance(last, str):
        with suppress(ArithmeticError):
            return Decimal(first) > Decimal(last)
    return bool(first > last)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half a character
        return False
    return True


def agree(address: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    """See that no argument says otherwise than the address that is given beside it.

    Raises:
        ValueError: naming both.
    """
    for name, value in told.items():
        if value is not None and name in address and str(value).strip() != str(address[name]):
            raise ValueError(f"{name}={value} contradicts url, which says {name}={address[name]}: give one of them")


def alone(params: Params, *beside: str) -> None:
    """See that an address which is taken as it is stands alone; ``beside`` it may be the limit, say.

    Raises:
        ValueError: naming the address and what would be ignored.
    """
    values = vars(params)
    ignored = [name for name in params.model_fields_set - {"url", *beside} if values[name] not in (None, False, {})]
    if values["url"] and ignored:
        raise ValueError(f"url is taken as it is: leave it out, or {', '.join(sorted(ignored))}")


class Paged(Params):
    """Parameters of an operation that turns pages."""

    limit: int | None = Field(
        default=None, ge=1, le=MOST, description="stop after so many items (default: all that the site gives)"
    )
    cursor: str | None = Field(default=None, description="go on from a `next_cursor` of an earlier crawl")

    @field_validator("cursor")
    @classmethod
    def _may_be_one(cls, value: str | None) -> str | None:
        if value and not (value.isprintable() and any(char.isalnum() for char in value)):
            raise ValueError("this is no `next_cursor`: one has letters or digits, and no line breaks")
        return value


P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True)
class Call(Generic[P]):
    """One use of an operation, at one of its pages.

    ``cursor`` is None on the first page (unless the caller gave one), ``page`` counts from 1, ``seen`` is how many
    counted items earlier pages gave, ``state`` what an earlier page told that later ones need (a user id, say; plain
    JSON values only).
    """

    operation: str
    params: P
    cursor: str | None = None
    page: int = 1
    seen: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)

    def then(self, *, cursor: str | None, seen: int, state: Mapping[str, Any]) -> Self:
        """The call for the next page."""
        merged = {**self.state, **state}
        return replace(self, cursor=cursor, page=self.page + 1, seen=self.seen + seen, state=merged)


@dataclass(frozen=True, slots=True)
class Token:
    """A value that lives in the session (lsd, csrf, a harvested query id), put into the request just before it is sent.

    Without a ``default`` the session is warmed up first when it has none.
    """

    name: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """A credential of the operator, by the name of its variable without ``FETCHWORKER_`` and in lower case.

    It is no part of the request: a header has it, behind ``prefix``, only on the wire and only to the fetch's own host.
    """

    name: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request that a site's operation would make.

    ``strategy`` names the way (shown in logs, stats and failures). ``form`` is sent urlencoded in this order;
    ``cookies`` join those of the session. ``token_headers`` and ``token_form`` are filled from the session at the last
    moment and are not part of the request's fingerprint, ``secret_headers`` from the environment. ``harvest``: run the
    site's token extractor over the answer. ``render``: whether a browser loads it, None for what the site says.
    """

    strategy: str
    url: str
    method: str = "GET"
    destination: Destination = "navigate"
    headers: Sequence[tuple[str, str]] = ()
    form: Sequence[tuple[str, str]] | None = None
    body: bytes | None = None
    referer: str | None = None
    cookies: Sequence[tuple[str, str]] = ()
    token_headers: Mapping[str, Token] = field(default_factory=dict)
    token_form: Mapping[str, Token] = field(default_factory=dict)
    secret_headers: Mapping[str, Secret] = field(default_factory=dict)
    harvest: bool = False
    render: Render | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A downloaded page, as a parser or the classifier sees it. ``headers`` names are lower-case, values in order."""

    url: str | None
    status: int | None
    headers: Mapping[str, Sequence[str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header (``name`` in lower case), or None."""
        values = self.headers.get(name)
        return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Scripts:
    """How a site's script files tell the ids of its stored queries (all pure).

    ``find`` gives the addresses of the scripts that a page loads, the likeliest first; ``read`` the tokens that a
    script tells, by name. ``prefix`` is what names of such tokens begin with; ``signs`` are the classifier's evidence
    that an id is retired (other stale contracts have nothing to do with ids).
    """

    find: Callable[[Page], Sequence[str]]
    read: Callable[[bytes], Mapping[str, str]]
    prefix: str
    signs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parser found.

    ``items`` are drafts in the page's order, the page item last. ``cursor`` is what the next page needs, None when
    there is none. ``state`` is merged into the next call's. ``capped``: the site has more and gives no cursor to it.
    ``held``: the next page completes these items, and they are given only when it fails.
    """

    items: Sequence[Item]
    cursor: str | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    capped: bool = False
    held: bool = False
