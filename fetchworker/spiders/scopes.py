"""For whom a session is: one try, a call's pages, a chain, or the crawl (pure).

============ ======================================================================================================
``request``  each try has an identity of its own
``page``     a call's first page and what follows from it (next pages, other strategies, pictures) have one identity,
             until paging ends; where it is refused another one takes its place and the work goes on at that page
``chain``    the same, but the requests hang on their identity: where it is refused the chain begins again with another
``crawl``    all calls of the crawl, of one jar, have one identity
============ ======================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.errors import ArgumentError
from fetchworker.middlewares.pooled import BEGUN, EXCLUSIVE, JAR, LEASED, LEG, SCOPE
from fetchworker.sessions.poolkeys import MAIN
from fetchworker.spiders.requests import request_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.runtime import Identities
    from fetchworker.spiders.operation import Operation, Started

__all__ = ["BEGUN", "LEG", "identity_of", "kept_identity"]

_LONGEST = 128
_ENDS, _HELD = "fw_session_ends", "fw_held"
_KEPT = (SCOPE, JAR, EXCLUSIVE, LEASED, BEGUN, _ENDS)


def identity_of(operation: Operation, started: Started, site: str, crawl: Identities) -> dict[str, Any]:
    """The meta of a call's requests that says whose session they have.

    Raises:
        ArgumentError: the name of a session has no room for its jar.
    """
    owner = f"{crawl.crawl_id}-{request_id(site, started.call)}"[:_LONGEST]
    if started.session is not None:
        return _named(started.session, operation.jar, owner, exclusive=started.exclusive)
    scope = operation.session_scope
    if scope == "request" and not (crawl.pooled and crawl.media):  # pictures come after the try, by the same identity
        return {} if operation.jar == MAIN else {JAR: operation.jar}
    ends = {_ENDS: True}
    if scope == "crawl":
        owner, ends = f"{crawl.crawl_id}.{operation.jar}"[:_LONGEST], {}
    return {SCOPE: owner, JAR: operation.jar, **ends} if crawl.pooled else {"fw_session": owner, **ends}


def _named(name: str, jar: str, owner: str, *, exclusive: bool) -> dict[str, Any]:
    """A session that the caller named: one of each jar."""
    full = name if jar == MAIN else f"{name}:{jar}"
    if len(full) > _LONGEST:
        raise ArgumentError(
            f"session: {name} is too long for the jar {jar}: at most {_LONGEST - len(jar) - 1} characters"
        )
    return {"fw_session": full, **({EXCLUSIVE: True, SCOPE: owner, _ENDS: True} if exclusive else {})}


def kept_identity(meta: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """What a further request of a call has of this in its meta, and what is added to its priority.

    A call that holds a session goes before those that wait for one.
    """
    kept = {key: meta[key] for key in _KEPT if meta.get(key)}
    pooled = SCOPE in kept and EXCLUSIVE not in kept
    if not pooled and meta.get("fw_session") and not meta.get("fw_try"):
        kept["fw_session"] = meta["fw_session"]
    if SCOPE not in kept or meta.get(_HELD):
        return kept | ({_HELD: True} if meta.get(_HELD) else {}), 0
    return kept | {_HELD: True}, 1
