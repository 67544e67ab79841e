"""``scrapy doctor``: checks what a crawl will need, before it does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    import argparse

    from fetchworker.doctor import Check


class Command(ScrapyCommand):
    """Check the installation and the configuration."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "[--destination HOST[:PORT]] [--json | --text]"

    def short_desc(self) -> str:
        return "Check all that a crawl needs: versions, configuration, proxies, Redis, disk, database"

    def long_desc(self) -> str:
        return (
            "Check all that a crawl needs, and say what to do about what is wrong: Python, packages, browser profiles, "
            "the egress guard, the environment and sites.yaml, the state folder, Redis (started when none is "
            "configured), the database where items are stored, and a connection through each proxy (ten seconds "
            "at most, nothing is sent to the destination). A line a check: ok, FAIL, or note for what is missing and "
            "not needed. Not on a terminal: JSON lines with check, ok, needed, told. "
            "Exit codes: 0 all that is needed is there, 1 something is not, 2 wrong arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--destination",
            metavar="HOST[:PORT]",
            help="where proxies are asked to connect (example.com:443)",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="one JSON object per check, on a terminal too")
        form.add_argument("--text", action="store_true", help="lines for people, not on a terminal too")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.doctor import run_checks  # noqa: PLC0415  # keeps `scrapy list` light

        wrong = "takes no arguments but its options" if args else _wrong_destination(opts.destination)
        if wrong:
            print(f"scrapy doctor: {wrong}", file=sys.stderr)
            self.exitcode = 2
            return
        assert self.settings
        show = _as_text if opts.text or (sys.stdout.isatty() and not opts.json) else _as_json
        bad = False
        for check in run_checks(self.settings, destination=opts.destination):
            bad = bad or (check.needed and not check.good)
            print(show(check), flush=True)
        self.exitcode = 1 if bad else 0
        if bad and show is _as_text:
            print("some checks failed; the lines above say what to do", file=sys.stderr)


def _wrong_destination(destination: str | None) -> str:
    """What is wrong with the option's value, whatever the configuration allows; it is not repeated."""
    from fetchworker.egress import is_place  # noqa: PLC0415  # keeps `scrapy list` light

    good = destination is None or is_place(destination)
    return "" if good else "--destination: write a host, or host:port, such as example.com:443"


def _as_text(check: Check) -> str:
    return f"{'ok  ' if check.good else 'FAIL' if check.needed else 'note'} {check.name}: {check.told}"


def _as_json(check: Check) -> str:
    import orjson  # noqa: PLC0415  # keeps `scrapy list` light

    told = {"check": check.name, "ok": check.good, "needed": check.needed, "told": check.told}
    return orjson.dumps(told).decode()
