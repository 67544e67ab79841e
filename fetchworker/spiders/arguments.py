"""What arguments of several sites have in common: numbers given as text, patterns, words to look for (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    found = " ".join(value.split()) if isinstance(value, str) else value
    if found == "":
        raise ValueError("must not be empty")
    return found
