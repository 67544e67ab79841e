"""``scrapy document-score``: how well documents are read, by their truth."""  # noqa: N999  # the command's name

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from fetchworker.commands import while_read

if TYPE_CHECKING:
    import argparse

    from fetchworker.documents.reader import DocumentReader
    from fetchworker.documents.scoring import Report

FAILED = 1
BAD_USE = 2


class Command(ScrapyCommand):
    """Score the reading of documents."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "FOLDER [options]"

    def short_desc(self) -> str:
        return "Score how invoices and receipts are read, by the truth beside each file"

    def long_desc(self) -> str:
        return (
            "Read each document of FOLDER that has its truth beside it (NAME.pdf, NAME.json: an object with kind, "
            "fields and not_printed) and print how many fields are right: exactly (case, punctuation and spaces do not "
            "count) and normalised (neither do accents and characters that print alike). Exit codes: 0, 1 when a "
            "document could not be read, 2 wrong arguments or truths."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        own = parser.add_argument_group(title="Score")
        own.add_argument("--json", action="store_true", help="print one JSON object, with what is wrong, for programs")
        own.add_argument("--plot", metavar="FILE.svg", type=Path, help="write the calibration curve")
        own.add_argument(
            "--kind",
            choices=("auto", "truth"),
            default="auto",
            help="find out each kind (default), or take the truth's",
        )
        own.add_argument(
            "--lines",
            metavar="FOLDER",
            type=Path,
            help="keep lines there, and take them from there: each document is read once however often it is scored",
        )

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.errors import ArgumentError, ConfigError  # noqa: PLC0415  # keeps `scrapy list` light

        if len(args) != 1:
            raise UsageError("give the folder of documents")
        try:
            report = self._report(Path(args[0]), opts)
        except (ArgumentError, ConfigError) as error:
            print(f"document-score: {error}", file=sys.stderr)
            self.exitcode = BAD_USE
            return
        _show(report, opts)
        self.exitcode = FAILED if report.failed else 0

    def _report(self, folder: Path, opts: argparse.Namespace) -> Report:
        from fetchworker.documents.scored import samples, score_folder  # noqa: PLC0415  # as above

        wanted = samples(folder)
        return asyncio.run(
            score_folder(wanted, self._reader, lines=opts.lines, told=opts.kind == "truth", progress=_progress)
        )

    def _reader(self) -> DocumentReader:
        from fetchworker.documents import DocumentReader  # noqa: PLC0415  # as above
        from fetchworker.runtime import document_settings, load_configuration  # noqa: PLC0415  # as above

        assert self.settings
        environment, _ = load_configuration(self.settings)
        return DocumentReader(document_settings(environment))


def _progress(done: int, count: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done}/{count}", end="\n" if done == count else "", file=sys.stderr)


def _show(report: Report, opts: argparse.Namespace) -> None:
    import orjson  # noqa: PLC0415  # keeps `scrapy list` light

    from fetchworker.documents.scoreboard import plot, table  # noqa: PLC0415  # as above

    if opts.plot:
        opts.plot.write_text(plot(report), encoding="utf-8")
    print(orjson.dumps(report.to_json()).decode() if opts.json else table(report))
