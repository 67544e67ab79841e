"""Arguments of the Linktree operations."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fetchworker.contracts import Params
from fetchworker.spiders.linktree import contract


def _username(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name = value.strip().removeprefix("@").lower()
    if not re.fullmatch(contract.USERNAME, name):
        raise ValueError("must be a name of 2 to 30 letters, digits, dots and underscores")
    if name in contract.RESERVED:
        raise ValueError(f"{name!r} is a page of the company, not a name")
    return name


class ProfileParams(Params):
    """Whose links."""

    user: Annotated[str, BeforeValidator(_username), Field(description="the name behind linktr.ee/")]
