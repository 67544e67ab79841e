"""``Idempotency-Key``: a call that was carried out once is answered again and not done again.

In Redis, where all processes of a service share the answers: ``fw:once:{<digest>}``, a string, expires after a day; the
digest is of the caller, the path and the key. While the first call is under way it holds ``pending`` and the body's
digest, for as long as a call may take. In a stateless service the answers are kept in the process, so many at most.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
import time
from collections import OrderedDict
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import orjson
from redis.exceptions import RedisError
from starlette.responses import Response

from fetchworker.errors import RedisUnavailableError
from fetchworker.service.failures import ApiError
from fetchworker.service.responses import INCOMPLETE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from starlette.requests import Request

    from fetchworker.redis import Client

logger = logging.getLogger(__name__)

#: seconds that an answer is kept
KEPT = 86_400
_PREFIX = "fw:once"
#: answers that a process keeps at most, and their bytes
_MOST, _MOST_BYTES = 1000, 64 * 1024 * 1024
#: as the OpenAPI document has it
_KEY = re.compile(r"[!-~]{1,255}")
#: statuses from here on are no answers: the call may be made again
_FAILED = 500
_TOO_MANY = 429
_SECONDS_MORE = 30
#: seconds that Redis may take for one step: no call's time is over it
_STEP = 3.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered; ``done`` False: the call is under way."""

    digest: str
    done: bool = False
    status: int = 0
    content_type: str = ""
    body: bytes = b""
    incomplete: str | None = None

    def dump(self) -> bytes:
        """As bytes."""
        told = [self.digest, self.done, self.status, self.content_type, base64.b64encode(self.body).decode()]
        told += [self.incomplete] if self.incomplete else []
        return orjson.dumps(told)

    @classmethod
    def load(cls, data: bytes) -> Answer:
        """What :meth:`dump` wrote."""
        digest, done, status, content_type, body, *more = orjson.loads(data)
        return cls(digest, done, status, content_type, base64.b64decode(body), *more)


class Answers(Protocol):
    """Where answers are kept."""

    async def begin(self, key: str, answer: Answer, seconds: float, /) -> Answer | None:
        """Note that a call begins, for so many seconds; the answer that is there already, which then stays."""

    async def keep(self, key: str, answer: Answer, /) -> None:
        """Keep the answer of a call that began."""

    async def drop(self, key: str, /) -> None:
        """The call came to no answer."""


class LocalAnswers:
    """In this process, lost with it; the oldest go first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._bytes = 0

    async def begin(self, key: str, answer: Answer, seconds: float, /) -> Answer | None:
        """See :class:`Answers`."""
        found = self._kept.get(key)
        if found is not None and found[0] > self._clock():
            return found[1]
        self._put(key, answer, seconds)
        return None

    async def keep(self, key: str, answer: Answer, /) -> None:
        """See :class:`Answers`."""
        self._put(key, answer, KEPT)

    async def drop(self, key: str, /) -> None:
        """See :class:`Answers`."""
        _, answer = self._kept.pop(key, (0.0, None))
        self._bytes -= len(answer.body) if answer is not None else 0

    def _put(self, key: str, answer: Answer, seconds: float) -> None:
        _, old = self._kept.pop(key, (0.0, None))
        self._bytes += len(answer.body) - (len(old.body) if old is not None else 0)
        self._kept[key] = (self._clock() + seconds, answer)
        while len(self._kept) > _MOST or self._bytes > _MOST_BYTES:
            _, (_, oldest) = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body)


class RedisAnswers:
    """In Redis; a step of it ends, whatever becomes of that."""

    def __init__(self, redis: Callable[[], Awaitable[Client]]) -> None:
        self._redis = redis

    async def begin(self, key: str, answer: Answer, seconds: float, /) -> Answer | None:
        """See :class:`Answers`."""
        async with self._client() as client:
            for _ in range(2):  # it may expire between the two commands
                if await client.set(key, answer.dump(), nx=True, px=int(seconds * 1000)):
                    return None
                found = await client.get(key)
                if found is not None:
                    return Answer.load(found if isinstance(found, bytes) else found.encode())
        raise ApiError("CONFLICT", "others make calls with this Idempotency-Key", reason="pending")

    async def keep(self, key: str, answer: Answer, /) -> None:
        """See :class:`Answers`."""
        async with self._client() as client:
            await client.set(key, answer.dump(), ex=KEPT)

    async def drop(self, key: str, /) -> None:
        """See :class:`Answers`."""
        async with self._client() as client:
            await client.delete(key)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        with _translated():
            async with asyncio.timeout(_STEP):
                yield await self._redis()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as exc:  # TimeoutError is one of these
        told = f"no Redis to keep answers of calls: {type(exc).__name__}: {exc}"
        raise RedisUnavailableError(told) from exc


class Idempotency:
    """Answers calls that bear a key."""

    def __init__(self, answers: Answers, *, longest: float) -> None:
        self._answers = answers
        self._longest = longest + _SECONDS_MORE

    async def once(
        self, request: Request, run: Callable[[], Awaitable[Response]], *, stands_for: str | None = None
    ) -> Response:
        """Carry out the call of ``request``, or answer as before.

        Args:
            request: the call.
            run: carries it out.
            stands_for: a digest of what is asked for, where the body's bytes differ from call to call.

        Raises:
            ApiError: CONFLICT: the key stands for another body or query, or its call is still under way.
        """
        given = key_of(request)
        if given is None:
            return await run()
        key = _key(request, given)
        asked = stands_for.encode() if stands_for is not None else await request.body()
        digest = hashlib.sha256(request.url.query.encode() + b"\0" + asked).hexdigest()
        before = await self._answers.begin(key, Answer(digest), self._longest)
        if before is not None:
            return _again(before, digest)
        try:
            response = await run()
        except ApiError as exc:
            await self._settle(key, Answer(digest, True, exc.status, "application/json", orjson.dumps(exc.body())))
            raise
        except BaseException:
            await self._settle(key, None)
            raise
        await self._settle(key, _answer(digest, response))
        return response

    async def _settle(self, key: str, answer: Answer | None) -> None:
        """Keep the answer, or nothing where it is none; a call that is done is done, whether that can be or not."""
        try:
            if answer is None or answer.status >= _FAILED or answer.status == _TOO_MANY:
                await self._answers.drop(key)
            else:
                await self._answers.keep(key, answer)
        except RedisUnavailableError as exc:
            told = "the answer to a call with an Idempotency-Key is not kept, for %g s it counts as under way: %s"
            logger.warning(told, self._longest, exc)


def key_of(request: Request) -> str | None:
    """The key of a call, None where it has none.

    Raises:
        ApiError: VALIDATION_ERROR.
    """
    given = request.headers.get("idempotency-key")
    if given is not None and not _KEY.fullmatch(given):
        told = "Idempotency-Key: 1 to 255 visible ASCII characters are expected, without blanks"
        raise ApiError("VALIDATION_ERROR", told, fields=["Idempotency-Key"])
    return given


def _answer(digest: str, response: Response) -> Answer:
    kind = response.headers.get("content-type", "")
    return Answer(digest, True, response.status_code, kind, bytes(response.body), response.headers.get(INCOMPLETE))


def _key(request: Request, given: str) -> str:
    parts = orjson.dumps([request.scope["state"]["caller"], request.method, str(request.url.path), given])
    return f"{_PREFIX}:{{{hashlib.sha256(parts).hexdigest()}}}"


def _again(before: Answer, digest: str) -> Response:
    if before.digest != digest:
        raise ApiError("CONFLICT", "this Idempotency-Key stands for a call with another body or query", reason="body")
    if not before.done:
        after = {"retry-after": "1"}
        raise ApiError("CONFLICT", "the call with this Idempotency-Key is under way", headers=after, reason="pending")
    headers = {"idempotency-replayed": "true"} | ({INCOMPLETE: before.incomplete} if before.incomplete else {})
    return Response(before.body, before.status, headers, before.content_type or None)
