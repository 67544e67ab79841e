"""``scrapy seed``: checks seeds and pushes them to the shared queue of a site."""

from __future__ import annotations

import argparse
import sys
from typing import IO, TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from fetchworker.queueing.seeding import Seeder

_EXAMPLES = """examples:
  scrapy seed instagram users.txt
  echo '{"user": "nasa"}' | scrapy seed instagram
  scrapy seed instagram -a user=nasa -a operation=posts -a limit=50
  zcat urls.gz | scrapy seed fetch - --tier low
  scrapy seed instagram users.txt --dry-run       checks the lines, pushes nothing
  scrapy seed instagram users.txt --strict        all or nothing
"""


class Command(ScrapyCommand):
    """Push seeds."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "SITE [FILE | - | -a NAME=VALUE ...] [--tier high|normal|low] [--strict] [--dry-run]"

    def short_desc(self) -> str:
        return "Check seeds and push them to the shared queue of a site"

    def long_desc(self) -> str:
        return (
            "Read seeds from FILE or stdin, a line each: an address, or a JSON object with the arguments of a call.\n"
            "Blank lines and lines that begin with # are left out. Each is checked as the spider will read it; good\n"
            "ones are pushed to SITE:start_urls, the first line first, bad ones are named with their reason.\n"
            "Exit codes: 0 all are pushed, 1 no Redis, 2 a line was bad, or wrong arguments or configuration."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        parser.add_argument("-a", dest="spargs", action="append", metavar="NAME=VALUE", help="one seed, by arguments")
        parser.add_argument("--tier", choices=("high", "normal", "low"), help="of seeds that name none themselves")
        parser.add_argument("--strict", action="store_true", help="push nothing when a line is bad")
        parser.add_argument("--dry-run", action="store_true", help="check only")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ArgumentError, ConfigError, RedisUnavailableError  # noqa: PLC0415  # as above

        try:
            self._check_site(args)
            with _source(args, opts) as source:
                self.exitcode = asyncio.run(self._seed(args[0], source, opts))
        except (ArgumentError, ConfigError) as exc:
            print(f"scrapy seed: {exc.message}", file=sys.stderr)
            self.exitcode = 2
        except RedisUnavailableError as exc:
            print(f"scrapy seed: {exc.message}", file=sys.stderr)
            self.exitcode = 1

    def _check_site(self, args: list[str]) -> None:
        from fetchworker.queueing.place import check_sites  # noqa: PLC0415  # as above

        assert self.settings
        check_sites(self.settings, [arg for arg in args[:1] if not arg.startswith("-")])

    async def _seed(self, site: str, source: IO[bytes], opts: argparse.Namespace) -> int:
        from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # as above

        from fetchworker.queueing.seeding import Seeder, check_of  # noqa: PLC0415  # as above

        assert self.settings
        check = check_of(get_spider_loader(self.settings).load(site), self.settings)
        name = "-a" if opts.spargs else getattr(source, "name", "-")
        name = "stdin" if source is sys.stdin.buffer else name

        def tell(number: int, reason: str) -> None:
            print(f"{name}:{number}: {reason}", file=sys.stderr)

        seeder = Seeder(check, tell, opts.tier)
        if opts.dry_run:
            for _ in seeder.seeds(source):
                pass
            print(f"{seeder.good} good, {seeder.bad} bad (--dry-run: nothing is pushed)")
        else:
            await self._push(site, source, seeder, strict=opts.strict)
        return 2 if seeder.bad else 0

    async def _push(self, site: str, source: IO[bytes], seeder: Seeder, *, strict: bool) -> None:
        from contextlib import closing  # noqa: PLC0415  # as above

        from fetchworker.queueing.place import opened  # noqa: PLC0415  # as above
        from fetchworker.queueing.seeding import Kept, Pusher  # noqa: PLC0415  # as above

        assert self.settings
        pushed: Pusher | None = None
        try:
            async with opened(self.settings) as place:
                key = place.names(site).seeds
                pushed = Pusher(place.redis, key)
                await pushed.look()
                if strict:
                    with closing(Kept()) as kept:
                        kept.keep(seeder.seeds(source))
                        await pushed.push(kept if not seeder.bad else ())
                else:
                    await pushed.push(seeder.seeds(source))
        finally:
            if pushed is not None:
                print(f"{key}: {pushed.pushed} pushed, {seeder.bad} bad{' (--strict)' if strict else ''}")


def _source(args: list[str], opts: argparse.Namespace) -> IO[bytes]:
    """Where the lines come from.

    Raises:
        ArgumentError: what is written names nothing to read.
    """
    import io  # noqa: PLC0415  # as above
    import json  # noqa: PLC0415  # as above

    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if unknown := [arg for arg in args if arg.startswith("-") and arg != "-"]:
        raise ArgumentError(f"unknown option {unknown[0]}")
    if not args or len(args) > 2 or (len(args) == 2 and opts.spargs):  # noqa: PLR2004
        raise ArgumentError("write scrapy seed SITE [FILE | - | -a NAME=VALUE ...]")
    if opts.spargs:
        pairs = [pair.partition("=") for pair in opts.spargs]
        if wrong := [name for name, equals, _ in pairs if not equals]:
            raise ArgumentError(f"-a {wrong[0]}: NAME=VALUE is expected")
        return io.BytesIO(json.dumps({name: value for name, _, value in pairs}, ensure_ascii=False).encode())
    if args[1:] in ([], ["-"]):
        return sys.stdin.buffer
    try:
        return open(args[1], "rb")  # noqa: PTH123  # the caller closes it
    except OSError as exc:
        raise ArgumentError(f"{args[1]} cannot be read ({exc.strerror or exc})") from None
