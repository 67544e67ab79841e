"""``scrapy parse-file``: pages from files through the rules and parsers that crawls use."""  # noqa: N999  # the command's name

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from fetchworker.commands import while_read

if TYPE_CHECKING:
    import argparse

BAD_USE = 2
NOT_OK = 1


class Command(ScrapyCommand):
    """Classify and parse files."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "SITE FILE [options]  |  --manifest FILE"

    def short_desc(self) -> str:
        return "Classify and parse saved pages, exactly as a crawl would"

    def long_desc(self) -> str:
        return (
            "Classify a saved page and parse it, with the rules and parsers that crawls use. Prints one JSON object "
            "per file: file, outcome, vendor, evidence, items, error. A manifest has one JSON object a line: file "
            "(relative to the manifest), site (`any`: classify only), operation, status, url, headers. FILE may be - "
            "for standard input. Exit codes: 0, 1 when a single file gave no items or a manifest has a malformed line, "
            "2 wrong arguments, or a file or manifest that cannot be read."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        own = parser.add_argument_group(title="Page")
        own.add_argument("--manifest", metavar="FILE", help="look at every file that the manifest names")
        own.add_argument(
            "--operation", help="the operation whose parser to use (default: by address, else the first that fits)"
        )
        own.add_argument("--url", help="the page's address")
        own.add_argument("--status", type=int, help="the HTTP status")
        own.add_argument(
            "--header", action="append", default=[], metavar="'Name: value'", help="a response header (repeatable)"
        )

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # keeps `scrapy list` light

        try:
            if opts.manifest:
                self._manifest(args, opts)
            elif len(args) == 2:  # noqa: PLR2004
                self._file(args[0], args[1], opts)
            else:
                raise UsageError("give SITE and FILE, or --manifest FILE")
        except ConfigError as exc:
            print(f"scrapy parse-file: {exc.message}", file=sys.stderr)
            self.exitcode = BAD_USE

    def _manifest(self, args: list[str], opts: argparse.Namespace) -> None:
        from pathlib import Path  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.offline import run_manifest  # noqa: PLC0415  # as above

        if args:
            raise UsageError("--manifest names the files by itself: leave SITE and FILE out")
        malformed: list[int] = []
        for answer in run_manifest(Path(opts.manifest), self._spiders(), malformed):
            _show(answer)
        self.exitcode = NOT_OK if malformed else 0

    def _file(self, site: str, file: str, opts: argparse.Namespace) -> None:
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # keeps `scrapy list` light
        from fetchworker.offline import Row, header_map, parse_row  # noqa: PLC0415  # as above

        pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in opts.header)]
        row = Row(file, site, opts.operation, opts.status, opts.url, header_map(pairs))
        try:
            body = _read(file)
        except OSError as exc:
            raise ConfigError(f"cannot read {file}: {exc.strerror}") from exc
        answer = parse_row(row, body, self._spiders())
        _show(answer)
        self.exitcode = 0 if answer["items"] else NOT_OK

    def _spiders(self) -> dict[str, Any]:
        from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.spiders.base import SiteSpider  # noqa: PLC0415  # as above

        assert self.settings
        loader = get_spider_loader(self.settings)
        found = {name: loader.load(name) for name in loader.list()}
        return {name: spider for name, spider in found.items() if issubclass(spider, SiteSpider)}


def _read(file: str) -> bytes:
    from pathlib import Path  # noqa: PLC0415  # keeps `scrapy list` light

    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _show(answer: dict[str, Any]) -> None:
    import orjson  # noqa: PLC0415  # keeps `scrapy list` light

    sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
    sys.stdout.buffer.flush()
