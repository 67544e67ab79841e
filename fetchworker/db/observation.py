"""Items as observations, and a batch of them folded into what one transaction writes (pure)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.db.fields import order
from fetchworker.db.merge import Known, join, known
from fetchworker.errors import ItemInvalidError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.items import Item

#: (site, kind, id)
Key = tuple[str, str, str]
_NUL = "\x00"


@dataclass(frozen=True, slots=True)
class Observation:
    """One item of one crawl.

    Attributes:
        item_id: the item's id; the same work done twice has the same one.
        round_id: within a round an ``item_id`` is stored once; empty where rounds are not told apart.
        key: what it is about, None when the site gives no id.
        text: the item as JSON, as it is in the lines of an export.
        told: what it tells.
    """

    item_id: str
    round_id: str
    key: Key | None
    site: str
    kind: str
    text: str
    told: Known


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction writes, in the order in which all processes take their locks."""

    states: dict[Key, Known]
    observations: list[Observation]


def observe(item: Item, *, crawl_id: str, round_id: str = "") -> Observation:
    """An item as an observation.

    Raises:
        ItemInvalidError: it has values that JSON cannot hold, or no time.
    """
    try:
        text = item.model_dump_json()
        values: dict[str, Any] = json.loads(text)
        told = known(values, crawl_id=crawl_id)
    except (ValueError, TypeError, RecursionError) as exc:  # pydantic's errors are ValueErrors
        raise ItemInvalidError(f"{item.kind}: cannot be stored: {exc}") from None
    own = values.get("id")
    key = None if own is None else (_plain(item.site), _plain(item.kind), _plain(str(own)))
    return Observation(_plain(item.item_id), round_id, key, _plain(item.site), _plain(item.kind), text, told)


def fold(observations: Iterable[Observation]) -> Batch:
    """Join what is about the same thing; of the same work the latest stays, as it does in the database."""
    states: dict[Key, Known] = {}
    latest: dict[tuple[str, str], Observation] = {}
    for each in observations:
        if each.key is not None:
            before = states.get(each.key)
            states[each.key] = join(before, each.told) if before else each.told
        work = (each.item_id, each.round_id)
        same = latest.get(work)
        if same is None or _age(each) > _age(same):
            latest[work] = each
    return Batch(dict(sorted(states.items())), [latest[work] for work in sorted(latest)])


def _age(each: Observation) -> tuple[str, str]:
    """What sorts observations of the same work; of two at the same time the text decides, whichever came first."""
    return order(each.told.last_seen), each.text


def _plain(text: str) -> str:
    """A text that a column can hold: PostgreSQL knows no NUL. The item's own JSON keeps it."""
    return text.replace(_NUL, "\ufffd") if _NUL in text else text
