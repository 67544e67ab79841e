"""Work on a stored session that changes nothing unless it goes well."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fetchworker.errors import FetchworkerError, SessionDamagedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.runtime.identities import IdentitiesOfCrawl
    from fetchworker.sessions import Session

logger = logging.getLogger(__name__)


@asynccontextmanager
async def undone_on_failure(runtime: IdentitiesOfCrawl, name: str) -> AsyncIterator[bool]:
    """Leave a stored session as it was, or not there, when the block does not come to its end.

    Args:
        runtime: of the site.
        name: the session's, which nobody else uses meanwhile.

    Yields:
        Whether it was there, and could be read.

    Raises:
        RedisUnavailableError: the store cannot be asked.
        SessionNewerError: a newer version wrote it.
    """
    store = await runtime.session_store()
    try:
        before = await store.load(runtime.site, name)
    except SessionDamagedError:
        before = None
    try:
        yield before is not None
    except BaseException:
        await asyncio.shield(_put_back(runtime, name, before))
        raise


async def _put_back(runtime: IdentitiesOfCrawl, name: str, before: Session | None) -> None:
    try:
        await (await runtime.sessions()).put_back(runtime.site, name, before)
    except FetchworkerError as exc:
        logger.warning("session %s of %s cannot be put back as it was: %s", name, runtime.site, exc)
