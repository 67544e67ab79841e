"""How a pooled session stands, from what Redis has of it; what cannot be read is told as damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fetchworker.sessions.pool import Standing
from fetchworker.sessions.poolrules import START

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

#: of a whole number at most
_DIGITS = 16
_DAMAGED = "its entry in the pool cannot be read"


class Row(NamedTuple):
    """What Redis has of a session: its hash (or the error that came instead), and its scores in the pool's zsets."""

    fields: Any
    leased: float | None
    rests: float | None
    away: float | None
    born: float | None


def row_of(found: Sequence[Any]) -> Row:
    """Of replies; a score that was asked of another type's key is none."""
    fields, *scores = found
    return Row(fields, *(None if isinstance(score, Exception) else score for score in scores))


def standing(id_: str, jar: str, now: int, row: Row) -> Standing | None:
    """How the session stands at ``now`` (microseconds); None when it has gone meanwhile."""
    if row.born is None:
        return None
    try:
        return _read(id_, jar, now, row)
    except (ValueError, KeyError, AttributeError):
        return unreadable(id_, jar, row.born)


def unreadable(id_: str, jar: str, born: float) -> Standing:
    """One of which nothing can be read; ``born`` in microseconds."""
    born /= 1e6
    return Standing(id_, jar, "damaged", created_at=born, used_at=born, uses=0, score=0, reason=_DAMAGED)


def _read(id_: str, jar: str, now: int, row: Row) -> Standing:
    told = {text_of(name): text_of(value) for name, value in row.fields.items()}
    if told["jar"] != jar:
        raise ValueError("another jar's")
    for name, most in (("born", None), ("used", None), ("score", START), ("uses", None), ("blocks", None)):
        _check(told.get(name, "0"), most)
    until = next((at for at in (row.leased, row.rests, row.away) if at is not None), None)
    return Standing(
        id=id_,
        jar=jar,
        state=_state(row, quarantined=row.rests is not None and int(told.get("until", 0)) > now),
        created_at=int(told["born"]) / 1e6,
        used_at=int(told["used"]) / 1e6,
        uses=int(told.get("uses", 0)),
        score=int(told["score"]),
        blocks=int(told.get("blocks", 0)),
        until=None if until is None else until / 1e6,
        owner=told.get("owner"),
        reason=told.get("reason"),
        reason_at=int(told["at"]) / 1e6 if "at" in told else None,
    )


def _check(value: str, most: int | None) -> None:
    """A whole number, as ``pool_lib.lua`` reads them."""
    if not value.isascii() or not value.isdigit() or len(value) > _DIGITS or (most is not None and int(value) > most):
        raise ValueError("no number")


def _state(row: Row, *, quarantined: bool) -> Literal["idle", "resting", "quarantined", "leased", "waiting"]:
    if row.leased is not None:
        return "leased"
    if row.away is not None:
        return "waiting"
    return "quarantined" if quarantined else "resting" if row.rests is not None else "idle"


def text_of(value: Any) -> str:
    """A reply as text, whether the client decodes replies or not, and whatever is in it."""
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)
