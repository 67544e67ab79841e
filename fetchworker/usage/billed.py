"""What a provider of proxies says that it billed: the port, and what all adapters have in common."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from fetchworker.errors import BilledUsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

_OK, _TOO_MANY = 200, 429
_REFUSED = frozenset({401, 403})
_KB = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a provider's API; ``headers`` hold its key and are never shown."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


if TYPE_CHECKING:
    Ask = Callable[[Asked], Awaitable[Answered]]
    Billed = dict[tuple[str, str], int]


class BilledUsage(Protocol):
    """A provider's own figures.

    Attributes:
        provider: its name, as proxy lists have it.
        tiers: those of which it can tell the figures.
    """

    provider: str
    tiers: tuple[str, ...]

    async def billed(self, days: Sequence[str], tiers: Sequence[str], /) -> Billed:
        """Billed bytes, both ways, by day (``yyyy-mm-dd``) and tier; what is not there is nothing.

        Raises:
            ArgumentError: it does not tell these days.
            BilledUsageError: it does not tell now; says why and what to do.
        """

    def notes(self) -> tuple[str, ...]:
        """What its figures are known to count otherwise than the wire, a sentence each."""


def read_json(provider: str, variable: str, answer: Answered) -> dict[str, Any]:
    """The object that an API answered with (pure).

    Raises:
        BilledUsageError: it answered otherwise.
    """
    if answer.status in _REFUSED:
        raise BilledUsageError(
            f"{provider} refuses the key in {variable} ({answer.status}): see whether it is whole and yours"
        )
    if answer.status == _TOO_MANY:
        wait = answer.headers.get("retry-after", "")
        raise BilledUsageError(
            f"{provider} is asked too often (429): try again {f'in {wait} s' if wait.isdigit() else 'later'}"
        )
    if answer.status != _OK:
        raise BilledUsageError(f"{provider}'s usage API answers with status {answer.status}: try again later")
    try:
        found = json.loads(answer.body)
    except ValueError:
        raise malformed(provider, "no JSON") from None
    if not isinstance(found, dict):
        raise malformed(provider, f"a JSON {type(found).__name__} where an object is due")
    return found


def malformed(provider: str, what: str) -> BilledUsageError:
    """The error for an answer that is not as documented."""
    return BilledUsageError(
        f"{provider}'s usage API answers otherwise than documented ({what}): its API may have changed"
    )


def whole(provider: str, value: object, place: str, *, unit: int = 1) -> int:
    """A number that is not negative, in ``unit`` bytes, as whole bytes.

    Raises:
        BilledUsageError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 63:
        raise malformed(provider, f"{place} is no number of bytes")
    return round(value * unit)


def at(provider: str, found: Any, *path: str) -> Any:
    """What stands at a path of keys.

    Raises:
        BilledUsageError: nothing does.
    """
    for number, key in enumerate(path):
        if not isinstance(found, dict) or key not in found:
            raise malformed(provider, f"no {'.'.join(path[: number + 1])}")
        found = found[key]
    return found
