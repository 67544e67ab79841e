"""What a query may have: a name that nobody knows is told, as it would change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request  # noqa: TC002  # FastAPI reads it

from fetchworker.service.failures import ApiError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """See that there is no name but those that are known.

    Raises:
        ApiError: VALIDATION_ERROR, naming all others.
    """
    strange = [name for name in dict.fromkeys(given) if name not in known]
    if strange:
        takes = f"it takes {', '.join(known)}" if known else "it takes no parameters"
        told = f"{', '.join(map(repr, strange))}: unknown here; {takes}"
        raise ApiError("VALIDATION_ERROR", told, fields=strange)


async def check_query(request: Request) -> None:
    """The same for the query of a route, as a dependency of FastAPI."""
    route = request.scope["route"]
    check_names(request.query_params, [one.alias for one in route.dependant.query_params])
