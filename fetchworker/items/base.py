"""What every item has, and the types of its values."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


def _utc(value: str) -> str:
    if not _TIME.match(value):
        raise ValueError("must be UTC ISO-8601 such as 2026-01-31T10:00:00Z")
    return value


Time = Annotated[str, AfterValidator(_utc)]
"""UTC instant, ISO-8601 with ``Z``."""
Date = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d$")]
Money = Annotated[str, StringConstraints(pattern=r"^-?\d+(\.\d+)?$")]
"""Decimal string."""
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
#: what 64 bits hold, as readers of JSON and databases take numbers
LARGEST = 2**63 - 1
Count = Annotated[int, Field(ge=0)]
Availability = Literal["in_stock", "out_of_stock", "preorder", "ended", "unknown"]
ListingType = Literal["auction", "fixed", "both"]


@cache
def _default_values(cls: type[BaseModel]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The defaults of a model, and which of them are containers of which each draft needs its own."""
    values = {name: field.default for name, field in cls.model_fields.items() if not field.is_required()}
    return values, tuple(name for name, value in values.items() if isinstance(value, list | dict))


def _defaults(cls: type[BaseModel]) -> dict[str, Any]:
    values, containers = _default_values(cls)
    fresh = values.copy()
    for name in containers:
        fresh[name] = fresh[name].copy()
    return fresh


class Part(BaseModel):
    """A value inside an item (an author, a medium, a link)."""

    model_config = ConfigDict(extra="forbid", revalidate_instances="always", strict=False, allow_inf_nan=False)

    @classmethod
    def draft(cls, **values: Any) -> Self:
        """Make the object unchecked; unknown names are kept, so that :func:`validate` can name them."""
        made = cls.__new__(cls)
        # what pydantic's model_construct does, without asking each field for its default: pages hold many items
        fields = _defaults(cls)
        fields.update(values)
        set_attribute = object.__setattr__
        set_attribute(made, "__dict__", fields)
        set_attribute(made, "__pydantic_fields_set__", set(values))
        set_attribute(made, "__pydantic_extra__", None)
        set_attribute(made, "__pydantic_private__", None)
        return made


class Item(Part):
    """Fields of every item."""

    kind: str
    item_id: Annotated[str, StringConstraints(min_length=1)]
    site: str
    operation: str
    url: str | None = None
    fetched_at: Time
    partial: str | None = None
    """Why the site gave less than it has, such as ``logged_out_limit``; ``None`` when nothing says so."""
    extra: dict[str, Any] = {}
    """What the site gives beyond the model, under the site's own names."""


class Link(Part):
    """A link with its title."""

    title: str | None = None
    url: str | None = None


class Media(Part):
    """A picture or a film; ``duration`` in seconds, sizes in pixels."""

    type: Literal["image", "video", "audio", "document"] | None = None
    url: str | None = None
    width: Count | None = None
    height: Count | None = None
    duration: float | None = None
    alt: str | None = None


#: where in ``extra`` parsers put mail addresses and telephone numbers that a page shows as such
CONTACT = "contact"


def contact(**found: Any) -> dict[str, Any]:
    """Contact data for ``extra``: ``email``, ``phone``, ``links``; empty when the page shows none."""
    told = {name: value for name, value in found.items() if value not in (None, "", [])}
    return {CONTACT: told} if told else {}


def without_contact(item: Item) -> Item:
    """The item without contact data: they are personal, and nobody asked for them."""
    if CONTACT not in item.extra:
        return item
    return item.model_copy(update={"extra": {name: value for name, value in item.extra.items() if name != CONTACT}})


def _written(told: str | float | None) -> str | float | None:
    if isinstance(told, str):
        return told.encode(errors="replace").decode()
    return str(told) if isinstance(told, int) and abs(told) > LARGEST else told


def plain(value: Any) -> Any:
    """A draft, a part or what they hold as values that JSON has; what JSON has no word for becomes text.

    That is so with numbers beyond 64 bits too; lone surrogates, which no file could hold, become ``?``.
    """
    match value:
        case dict():
            return {_written(str(key)): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case None | bool() | int() | float() | str():
            return _written(value)
        case _ if hasattr(value, "__dict__"):
            return plain(vars(value))
        case _:
            return str(value)
