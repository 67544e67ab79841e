"""``scrapy usage``: bytes on the wire by day, provider, site …, and how they compare with what is billed."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from collections.abc import Coroutine

_EXAMPLES = """examples:
  scrapy usage                                       today, all sites, by provider, tier and site
  scrapy usage instagram --by operation,outcome      what was it for, and what came of it?
  scrapy usage --since 2026-11-01 --by day,provider
  scrapy usage --day 2026-11-30 --json | jq '.total'
  scrapy usage reconcile --provider evomi --since 2026-11-27
"""


class Command(ScrapyCommand):
    """Show usage."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "[SITE ...] [--day DAY | --since DAY --until DAY] [--by PART,...] [--json] | reconcile --provider NAME"

    def short_desc(self) -> str:
        return "Show bytes on the wire by day, provider, site ...; compare them with what is billed"

    def long_desc(self) -> str:
        return (
            "Show the bytes that the wire carried, both ways, of today or of other days (UTC), of all sites or of\n"
            "some. `reconcile` asks a provider's own API what it billed and shows both side by side.\n"
            "Exit codes: 0 done (also where there is nothing), 1 no Redis, or the provider does not tell,\n"
            "2 wrong arguments or configuration."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        parser.add_argument("--day", metavar="DAY", help="this day only, as 2026-11-30 (default: today)")
        parser.add_argument("--since", metavar="DAY", help="from this day on")
        parser.add_argument("--until", metavar="DAY", help="up to and with this day (default: today)")
        parser.add_argument(
            "--by",
            metavar="PART,...",
            help="any of day, provider, tier, site, operation, session, outcome (default: provider,tier,site)",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object, sizes in bytes")
        parser.add_argument("--provider", metavar="NAME", help="reconcile: evomi or decodo")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ArgumentError, ConfigError, FetchworkerError  # noqa: PLC0415  # as above

        try:
            self.exitcode = asyncio.run(self._work(args, opts))
        except FetchworkerError as exc:
            print(f"scrapy usage: {exc.message}", file=sys.stderr)
            self.exitcode = 2 if isinstance(exc, ArgumentError | ConfigError) else 1

    def _work(self, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, int]:
        """What is asked for, which gives the exit code.

        Raises:
            ArgumentError: it cannot be asked so.
        """
        from fetchworker.accounts.show import show  # noqa: PLC0415  # as above
        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

        assert self.settings
        if unknown := [arg for arg in args if arg.startswith("-")]:
            raise ArgumentError(f"unknown option {unknown[0]}")
        period = {"day": opts.day, "since": opts.since, "until": opts.until}
        if args[:1] == ["reconcile"]:
            if args[1:] or opts.by:
                raise ArgumentError("reconcile takes no sites and no --by: a provider's figures are by day and tier")
            from fetchworker.accounts.reconcile import reconcile  # noqa: PLC0415  # as above

            return reconcile(self.settings, opts.provider, **period, json=opts.json)
        if opts.provider is not None:
            raise ArgumentError("--provider is for reconcile")
        return show(self.settings, args, **period, by=opts.by or "provider,tier,site", json=opts.json)
