"""What arguments of several sites have in common: numbers given as text, patterns, words to look for, days (pure)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BeforeValidator

if TYPE_CHECKING:
    import re


def as_text(value: Any) -> Any:
    """Text without blanks around it; a number becomes text, anything else stays for its model to refuse."""
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else value


def matching(pattern: re.Pattern[str], told: str) -> Any:
    """A validator: text that matches ``pattern``, which is ``told`` in the error."""

    def check(value: Any) -> Any:
        found = as_text(value)
        if isinstance(found, str) and not pattern.match(found):
            raise ValueError(f"must be {told}")
        return found

    return BeforeValidator(check)


def words(value: Any) -> Any:
    """Words with single blanks between them; none are an error."""
    found = as_text(value)
    found = " ".join(found.split()) if isinstance(found, str) else found
    if found == "":
        raise ValueError("must not be empty")
    return found


def lower(value: Any) -> Any:
    """Text in lower case without blanks around it; anything else stays for its model to refuse."""
    return value.strip().lower() if isinstance(value, str) else value


def day(value: Any) -> Any:
    """A day as ``2026-01-31``; another form is an error, other values stay for the model to refuse."""
    try:
        return date.fromisoformat(value.strip()).isoformat() if isinstance(value, str) else value
    except ValueError:
        raise ValueError("must be a day, such as 2026-01-31") from None


def filters(name: re.Pattern[str], example: str, told: str) -> Any:
    """A validator: an object, or its JSON, of a site's own parameters.

    Args:
        name: what their names match.
        example: JSON, for the error.
        told: what a wrong name is, for the error.
    """

    def check(value: Any) -> Any:
        try:
            found = orjson.loads(value) if isinstance(value, str) else value
        except orjson.JSONDecodeError:
            raise ValueError(f"a JSON object is expected, such as {example}") from None
        wrong = [one for one in found if not name.match(str(one))] if isinstance(found, dict) else []
        if wrong:
            raise ValueError(f"{wrong[0]!r} is {told}")
        return found

    return BeforeValidator(check)
