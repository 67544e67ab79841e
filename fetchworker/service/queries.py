"""What a query may have: a name that nobody knows, or one that comes twice, is told, as it would change nothing.

Numbers are written as in JSON: ``5``, and neither ``+5``, `` 5``, ``5.0`` nor ``1_000``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request  # noqa: TC002  # FastAPI reads it

from fetchworker.service.failures import ApiError
from fetchworker.spiders.kinds import plain_kinds, text_fault_of

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
    """The same for the query of a route, as a dependency of FastAPI; each name once, numbers as in JSON."""
    known = {one.alias: one for one in request.scope["route"].dependant.query_params}
    given = request.query_params.multi_items()
    check_names([name for name, _ in given], list(known))
    seen: set[str] = set()
    for name, value in given:
        fault = "given twice" if name in seen else text_fault_of(value, plain_kinds(known[name].field_info.annotation))
        if fault is not None:
            raise ApiError("VALIDATION_ERROR", f"{name}: {fault}", fields=[name])
        seen.add(name)
