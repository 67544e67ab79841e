"""Seeds out of a file: read line by line, checked as the spider will, pushed in batches."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from fetchworker.errors import ArgumentError, ConfigError
from fetchworker.frontier.seedform import LARGEST, requests_of
from fetchworker.queueing.status import first_line
from fetchworker.runtime import load_configuration
from fetchworker.sites import SiteConfig
from fetchworker.spiders.base import SiteSpider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from fetchworker.redis import Client

    Check = Callable[[bytes], int]

#: seeds, and bytes of them, that one command pushes at most
BATCH, BATCH_BYTES = 1000, 4 * 1024 * 1024
_KINDS = ("none", "list", "set", "zset")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Seed:
    """A good line. ``priority`` is the one that its request will have."""

    raw: bytes
    priority: int


@dataclass(slots=True)
class Seeder:
    """Checks lines, and keeps count.

    Args:
        check: gives the priority of a seed's request; raises what is wrong with the seed.
        tell: takes the number and the fault of a bad line.
        tier: to write into seeds that name none.
    """

    check: Check
    tell: Callable[[int, str], None]
    tier: str | None = None
    good: int = field(default=0, init=False)
    bad: int = field(default=0, init=False)

    def seeds(self, source: IO[bytes]) -> Iterator[Seed]:
        """The good lines of a file."""
        for number, line in lines(source):
            seed = self._checked(number, line)
            if seed is not None:
                yield seed

    def _checked(self, number: int, line: bytes | None) -> Seed | None:
        if line is None:
            self._refuse(number, f"the line has more than {LARGEST} bytes")
            return None
        raw = line if self.tier is None else with_tier(line, self.tier)
        try:
            seed = Seed(raw, self.check(raw))
        except ArgumentError as exc:
            self._refuse(number, exc.message)
        except Exception as exc:  # noqa: BLE001  # a spider's own way to read seeds
            self._refuse(number, f"{type(exc).__name__}: {exc}")
        else:
            self.good += 1
            return seed
        return None

    def _refuse(self, number: int, reason: str) -> None:
        self.bad += 1
        self.tell(number, first_line(reason))


def lines(source: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers, without blank ones and comments; None for one that is too long."""
    number, inside = 0, False
    while line := source.readline(LARGEST + 1):
        ends = line.endswith(b"\n")
        rest_of_long, inside = inside, not ends and len(line) > LARGEST
        if rest_of_long:
            continue
        number += 1
        if inside:
            yield number, None
            continue
        text = (line.removeprefix(_MARK) if number == 1 else line).strip()
        if text and not text.startswith(b"#"):
            yield number, text


def with_tier(raw: bytes, tier: str) -> bytes:
    """The seed with a tier, where it names none; all else of it stays as it is written."""
    if raw[:4].lower() == b"http":
        try:
            return json.dumps({"url": raw.decode(), "tier": tier}, ensure_ascii=False).encode()
        except UnicodeDecodeError:
            return raw  # the check tells
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    if not isinstance(value, dict) or "tier" in value:
        return raw
    return b'{"tier": "%s"%s%s' % (tier.encode(), b", " if value else b"", raw[1:].lstrip())


def check_of(spider_class: type[Spider], settings: BaseSettings) -> Check:
    """How the seeds of a spider are checked: as it will read them.

    Raises:
        ConfigError: the configuration is wrong, or the spider cannot be made without arguments.
    """
    try:
        spider = spider_class()
    except Exception as exc:
        raise ConfigError(f"{spider_class.name} cannot be made to read seeds: {type(exc).__name__}: {exc}") from exc
    if isinstance(spider, SiteSpider):
        _, sites = load_configuration(settings)
        return _check_call(spider, sites.get(spider.name) or SiteConfig())
    return lambda raw: requests_of(raw, spider)[0].priority


def _check_call(spider: SiteSpider, config: SiteConfig) -> Check:
    def check(raw: bytes) -> int:
        started = spider.resolver.seed(raw)
        spider.check_call(started.call, config)
        spider.ways(started.call)
        return started.priority

    return check


# ── pushing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Pusher:
    """Pushes seeds so that they are read in their order, the first one first.

    Args:
        redis: a client that sends nothing twice.
        key: of the seeds.
    """

    def __init__(self, redis: Client, key: str) -> None:
        self._redis = redis
        self._key = key
        self._kind = "none"
        #: how many Redis has taken
        self.pushed = 0

    async def look(self) -> None:
        """See what the key holds.

        Raises:
            ConfigError: something that no seeds can be put into.
        """
        self._kind = _text(await self._redis.type(self._key))
        if self._kind not in _KINDS:
            raise ConfigError(f"{self._key} is a {self._kind} in Redis: seeds are a list, a set or a sorted set")

    async def push(self, seeds: Iterable[Seed]) -> None:
        """Push in batches."""
        batch: list[Seed] = []
        size = 0
        for seed in seeds:
            batch.append(seed)
            size += len(seed.raw)
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                await self._send(batch)
                batch, size = [], 0
        if batch:
            await self._send(batch)

    async def _send(self, batch: list[Seed]) -> None:
        client: Any = self._redis
        if self._kind == "set":
            await client.sadd(self._key, *(seed.raw for seed in batch))
        elif self._kind == "zset":
            await client.zadd(self._key, {seed.raw: seed.priority for seed in batch})
        else:
            await client.rpush(self._key, *(seed.raw for seed in batch))
        self.pushed += len(batch)


def _text(answer: Any) -> str:
    return answer.decode() if isinstance(answer, bytes) else str(answer)


class Kept:
    """Seeds on disk until it is known that all are good."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by close()

    def keep(self, seeds: Iterable[Seed]) -> None:
        """Write them down; a seed is one line."""
        for seed in seeds:
            self._file.write(b"%d %s\n" % (seed.priority, seed.raw))

    def __iter__(self) -> Iterator[Seed]:
        self._file.seek(0)
        for line in self._file:
            priority, _, raw = line.rstrip(b"\n").partition(b" ")
            yield Seed(raw, int(priority))

    def close(self) -> None:
        """Forget them."""
        self._file.close()
