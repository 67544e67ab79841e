"""Asks a provider's API, by the way that all requests of our own go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.download.direct import Direct, UnansweredError
from fetchworker.errors import BilledUsageError
from fetchworker.usage.billed import Answered

if TYPE_CHECKING:
    from fetchworker.config import Environment
    from fetchworker.usage.billed import Asked

#: seconds that an answer may take, and bytes that it may have
TIMEOUT, MOST = 30.0, 4 << 20


class Asking:
    """Makes the calls of one command, directly and not through a proxy."""

    def __init__(self, environment: Environment) -> None:
        self._direct = Direct(environment, timeout=TIMEOUT, most=MOST)

    async def __call__(self, asked: Asked) -> Answered:
        """The answer to a call.

        Raises:
            EgressDeniedError: it may not go there.
            BilledUsageError: there is none.
        """
        try:
            answer = await self._direct.send(asked.method, asked.url, asked.headers, asked.body)
        except UnansweredError as exc:
            raise BilledUsageError(str(exc)) from None
        return Answered(answer.status, answer.headers, answer.body)
