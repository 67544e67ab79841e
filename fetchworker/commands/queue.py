"""``scrapy queue``: how the queues stand, their dead letters, and an end to them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from collections.abc import Coroutine

_EXAMPLES = """examples:
  scrapy queue                                    all sites that have something in their queues
  scrapy queue instagram --verbose                one site, with the depth of each priority
  scrapy queue instagram --crawl nightly-7        one private crawl
  scrapy queue instagram --json | jq '.namespaces[].queued'
  scrapy queue dlq list instagram                 the dead letters, the oldest first
  scrapy queue dlq list instagram 1207 --json     one of them, with all that its request holds
  scrapy queue dlq retry instagram 1207 1311      these again, as if they had never failed
  scrapy queue dlq retry instagram --all
  scrapy queue dlq drop instagram --all --yes
  scrapy queue purge instagram --crawl nightly-7 --yes
"""


class Command(ScrapyCommand):
    """Show and mend queues."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "[SITE ...] | dlq list|retry|drop SITE [ID ... | --all] | purge SITE   [--crawl ID] [--json]"

    def short_desc(self) -> str:
        return "Show queues in Redis: depth, leases, dead letters; retry, drop, purge"

    def long_desc(self) -> str:
        return (
            "Show how the queues in Redis stand: requests by tier, who has what on lease, what is delayed, seeds,\n"
            "dead letters. `dlq` lists dead letters, puts them back (retry) or drops them; `purge` empties a queue.\n"
            "Exit codes: 0 done (also where there is nothing), 1 no Redis, 2 wrong arguments or configuration, an id\n"
            "that no dead letter has, or a purge that is refused."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        parser.add_argument("--crawl", metavar="ID", help="the private queue of this crawl (default: the shared one)")
        parser.add_argument("--json", action="store_true", help="one JSON object (dlq list: one a line)")
        parser.add_argument("--verbose", action="store_true", help="the depth of each priority as well")
        parser.add_argument("--all", action="store_true", help="dlq: all dead letters")
        parser.add_argument("--yes", action="store_true", help="do it: purge, dlq drop --all")
        parser.add_argument("--force", action="store_true", help="purge while workers have requests on lease")
        parser.add_argument("--seeds", action="store_true", help="purge the seeds that wait as well")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ArgumentError, ConfigError, RedisUnavailableError  # noqa: PLC0415  # as above

        try:
            self.exitcode = asyncio.run(self._work(args, opts))
        except (ArgumentError, ConfigError) as exc:
            print(f"scrapy queue: {exc.message}", file=sys.stderr)
            self.exitcode = 2
        except RedisUnavailableError as exc:
            print(f"scrapy queue: {exc.message}", file=sys.stderr)
            self.exitcode = 1

    def _work(self, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, int]:
        """What is asked for, which gives the exit code.

        Raises:
            ArgumentError: it cannot be asked so.
        """
        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above
        from fetchworker.queueing import acts, place  # noqa: PLC0415  # as above

        assert self.settings
        if unknown := [arg for arg in args if arg.startswith("-")]:
            raise ArgumentError(f"unknown option {unknown[0]}")
        place.check_crawl(opts.crawl)
        if args[:1] == ["purge"]:
            place.check_sites(self.settings, _sites(args[1:], "purge SITE", most=1))
            options = {"yes": opts.yes, "force": opts.force, "seeds": opts.seeds, "as_json": opts.json}
            return acts.purge(self.settings, args[1], opts.crawl, **options)
        if args[:1] == ["dlq"]:
            what, sites, ids = args[1] if len(args) > 1 else "", _sites(args[2:3], "dlq list|retry|drop SITE"), args[3:]
            acts.check_dlq(what, ids, everything=opts.all, yes=opts.yes)
            place.check_sites(self.settings, sites)
            return acts.dlq(self.settings, what, sites[0], ids, opts.crawl, as_json=opts.json)
        place.check_sites(self.settings, args)
        return acts.show(self.settings, args, opts.crawl, verbose=opts.verbose, as_json=opts.json)


def _sites(args: list[str], usage: str, most: int | None = None) -> list[str]:
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if not args or (most is not None and len(args) > most):
        raise ArgumentError(f"write scrapy queue {usage}")
    return args
