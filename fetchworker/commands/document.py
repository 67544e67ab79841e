"""``scrapy document``: reads invoices and receipts from files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import UNWRITABLE, while_read

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from fetchworker.config import Environment
    from fetchworker.documents import DocumentReader, Examined, ReaderSettings
    from fetchworker.documents.second import SecondEngine
    from fetchworker.errors import DocumentError

BAD_USE, UNREADABLE = 2, 3
#: why a document was not read → exit code
EXIT_CODES = {
    "empty": 10, "not_a_document": 11, "encrypted": 12, "truncated": 13, "too_big": 14, "timeout": 15, "engine": 16,
    "busy": 17,
}  # fmt: skip
_STDIN = "-"


class Command(ScrapyCommand):
    """Read documents."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "FILE… [--kind auto|invoice|receipt] [--json] [--overlay OUT.png]"

    def short_desc(self) -> str:
        return "Read invoices and receipts: PDFs, pictures, electronic invoices"

    def long_desc(self) -> str:
        return (
            "Read invoices and receipts from PDFs, pictures (JPEG, PNG, TIFF, HEIC, AVIF, WebP …) and electronic "
            "invoices (Factur-X, ZUGFeRD, XRechnung, UBL). No network is used, unless a language model is configured "
            "(FETCHWORKER_DOCUMENTS_LLM_URL), which is told the lines of text. Prints what each document says, or with "
            "--json one object a document; several documents in one file are told apart by their page numbers. FILE "
            "may be - for standard input. Exit codes: 0, 2 wrong arguments or configuration, 3 a file cannot be "
            "opened, 10 empty, 11 not a document, 12 encrypted, 13 damaged or cut, 14 over a cap, 15 out of time, "
            "16 the engine failed, 17 too many files wait; of several files that failed, that of the first one. 4 the "
            "output cannot be written, on standard output or as an overlay; 130 at Ctrl-C. docs/documents.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--kind", choices=("auto", "invoice", "receipt"), default="auto", help="what the files are (default: auto)"
        )
        shown = parser.add_mutually_exclusive_group()
        shown.add_argument("--json", action="store_true", help="one JSON object a document, a line each")
        shown.add_argument(
            "--overlay",
            metavar="OUT.png",
            help="draw lines, fields and confidences over the pages; several: OUT-2.png …",
        )

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ConfigError  # noqa: PLC0415  # as above
        from fetchworker.runtime import document_settings, load_configuration  # noqa: PLC0415  # as above

        assert self.settings
        self.exitcode = BAD_USE
        if not args:
            print("scrapy document: name a file, or several", file=sys.stderr)
            return
        try:
            environment, _ = load_configuration(self.settings)
            settings = document_settings(environment)
            self.exitcode = asyncio.run(_read_all(args, settings, _second(environment), opts))
        except ConfigError as exc:
            print(f"scrapy document: {exc.message}", file=sys.stderr)


def _second(environment: Environment) -> SecondEngine | None:
    if environment.documents_llm_url is None:
        return None
    from fetchworker.download.languagemodel import second_engine  # noqa: PLC0415  # curl, and hardly anybody asks

    return second_engine(environment)


async def _read_all(
    files: list[str], settings: ReaderSettings, second: SecondEngine | None, opts: argparse.Namespace
) -> int:
    from fetchworker.documents import DocumentReader  # noqa: PLC0415  # as above
    from fetchworker.errors import DocumentError  # noqa: PLC0415  # as above

    code = 0
    show = _Show(opts)
    with show:
        async for file, found in _each(files, DocumentReader(settings, second), opts, show.progress):
            if isinstance(found, list):
                drawn = show.documents(file, found)
                code = code or drawn
                continue
            show.failure(file, found)
            code = code or (EXIT_CODES[found.reason] if isinstance(found, DocumentError) else UNREADABLE)
    return code


async def _each(
    files: list[str], reader: DocumentReader, opts: argparse.Namespace, progress: Callable[[str, int, int], None]
) -> AsyncIterator[tuple[str, list[Examined] | DocumentError | OSError]]:
    """Each file and what came of it, in the order of the command line; as many at once as there are workers."""
    import asyncio  # noqa: PLC0415  # as above

    from fetchworker.errors import DocumentError  # noqa: PLC0415  # as above

    at_once = asyncio.Semaphore(reader.settings.workers)

    async def one(file: str) -> list[Examined] | DocumentError | OSError:
        async with at_once:
            try:
                content = await asyncio.to_thread(_bytes_of, file, reader.settings)
                return await reader.examine(
                    content,
                    kind=opts.kind,
                    progress=lambda done, total: progress(file, done, total),
                    patient=True,
                    overlay=opts.overlay is not None,
                )
            except (DocumentError, OSError) as exc:
                return exc

    async with reader, asyncio.TaskGroup() as group:
        tasks = [(file, group.create_task(one(file))) for file in files]
        for file, task in tasks:
            yield file, await task


def _bytes_of(file: str, settings: ReaderSettings) -> bytes:
    from pathlib import Path  # noqa: PLC0415  # as above

    most = settings.caps.bytes + 1
    if file == _STDIN:
        return sys.stdin.buffer.read(most)
    with Path(file).open("rb") as opened:
        return opened.read(most)


class _Show:
    """What people or programs see: results on standard output, a bar on a terminal's standard error."""

    def __init__(self, opts: argparse.Namespace) -> None:
        self._opts = opts
        self._drawn = 0
        self._bar: Any = None

    def __enter__(self) -> None:
        from tqdm import tqdm  # noqa: PLC0415  # of an extra

        # None: no bar where standard error is no terminal
        self._bar = tqdm(total=0, unit="page", file=sys.stderr, disable=None, leave=False)
        self._pages: dict[str, tuple[int, int]] = {}

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def progress(self, file: str, done: int, total: int) -> None:
        """So many pages of a file are read."""
        self._pages[file] = done, total
        self._bar.n, self._bar.total = map(sum, zip(*self._pages.values(), strict=True))
        self._bar.set_postfix_str(file[-40:])

    def documents(self, file: str, found: list[Examined]) -> int:
        """What a file says; an exit code, 0 unless a picture of it cannot be written."""
        code = 0
        for one in found:
            told = one.to_json(file)
            if self._opts.json:
                _print_json(told)
            else:
                print("\n".join(_lines(told)))
            if self._opts.overlay is not None:
                code = self._draw(file, one) or code
            sys.stdout.flush()
        return code

    def failure(self, file: str, error: DocumentError | OSError) -> None:
        """Why a file says nothing."""
        from fetchworker.errors import DocumentError  # noqa: PLC0415  # keeps `scrapy list` light

        if isinstance(error, DocumentError):
            told: dict[str, Any] = error.to_json()
        else:
            told = {"type": "FILE_ERROR", "message": error.strerror or str(error), "reason": "unreadable"}
        if self._opts.json:
            empty: dict[str, Any] = {"kind": None, "kind_confidence": 0, "fields": {}, "line_items": [], "engine": None}
            _print_json({"file": file, **empty, "error": told})
        print(f"scrapy document: {file}: {told['reason']}: {told['message']}", file=sys.stderr)

    def _draw(self, file: str, one: Examined) -> int:
        from pathlib import Path  # noqa: PLC0415  # as above

        if one.overlay is None:
            print("  (no page to draw on: an electronic invoice)")
            return 0
        self._drawn += 1
        path = _numbered(Path(self._opts.overlay), self._drawn)
        try:
            _write_whole(path, one.overlay)
        except OSError as exc:
            print(f"scrapy document: {file}: {path} cannot be written: {exc.strerror or exc}", file=sys.stderr)
            return UNWRITABLE
        print(f"  drawn: {path}")
        return 0


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file, or leave what was there."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _numbered(path: Path, number: int) -> Path:
    return path if number == 1 else path.with_stem(f"{path.stem}-{number}")


def _print_json(told: dict[str, Any]) -> None:
    import json  # noqa: PLC0415  # keeps `scrapy list` light

    print(json.dumps(told, ensure_ascii=False))


def _lines(told: dict[str, Any]) -> list[str]:
    """A document for people."""
    pages = f"{told['pages_read']} of {told['pages_total']} pages, " if told["pages_read"] else ""
    lines = [f"{told['file']}: {told['kind']} ({told['kind_confidence']:.2f}), {pages}{told['engine']}"]
    lines += [f"  ({told['note']})"] if told.get("note") else []
    for name, field in told["fields"].items():
        value = "–" if field["value"] is None else field["value"]
        lines.append(f"  {name:<15} {value}  ({field['confidence']:.2f})")
    rows = ([cell["value"] for cell in row.values() if cell["value"] is not None] for row in told["line_items"])
    return lines + ["  · " + "  ".join(row) for row in rows]
