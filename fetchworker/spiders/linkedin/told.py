"""Facts of posts and comments that JSON-LD and ids tell (pure)."""

from __future__ import annotations

from typing import Any

from fetchworker.items import Author
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.linkedin.nodes import unmasked
from fetchworker.spiders.reading.values import count, dig, instant, text


def time_of(activity: str | None) -> str | None:
    """When a post or comment was made, by its id."""
    return instant(contract.milliseconds(activity))


def author_of(told: Any) -> Author | None:
    """A JSON-LD person or organization."""
    first = told[0] if isinstance(told, list) and told else told
    name = unmasked(text(dig(first, "name")))
    return Author.draft(username=contract.slug_of(text(dig(first, "url"))), name=name) if name else None


def interactions(node: Any, action: str) -> int | None:
    """The count of one kind of interaction; a kind that is not told of is unknown."""
    told = dig(node, "interactionStatistic")
    for counter in told if isinstance(told, list) else [told]:
        if (text(dig(counter, "interactionType")) or "").rpartition("/")[2] == action:
            return count(dig(counter, "userInteractionCount"))
    return None
