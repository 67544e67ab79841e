"""``scrapy doctor``: checks what a crawl will need, before it does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Check the installation and the configuration."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def short_desc(self) -> str:
        return "Check versions, configuration, proxies, Redis and the state folder"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="one JSON object per check")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002
        from fetchworker.doctor import run_checks  # noqa: PLC0415  # keeps `scrapy list` light

        assert self.settings
        bad = False
        for check in run_checks(self.settings):
            bad = bad or not check.good
            if opts.json:
                import orjson  # noqa: PLC0415  # as above

                print(orjson.dumps({"check": check.name, "ok": check.good, "told": check.told}).decode())
            else:
                print(f"{'ok  ' if check.good else 'FAIL'} {check.name}: {check.told}")
        self.exitcode = 1 if bad else 0
        if bad and not opts.json:
            print("some checks failed; the lines above say what to do", file=sys.stderr)
