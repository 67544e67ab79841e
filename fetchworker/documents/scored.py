"""A folder of documents with their truth beside them, read and scored."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import TypeAdapter, ValidationError

from fetchworker.documents.model import Document
from fetchworker.documents.rules import read
from fetchworker.documents.scoring import Report, score
from fetchworker.documents.truths import checked
from fetchworker.errors import ArgumentError, DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fetchworker.documents.model import Reading
    from fetchworker.documents.reader import DocumentReader


@dataclass(frozen=True, slots=True)
class Sample:
    """A file and its truth."""

    name: str
    path: Path
    truth: dict[str, Any]


def samples(folder: Path) -> list[Sample]:
    """The documents of a folder, and of those in it, that have a truth of the same name beside them.

    Raises:
        ArgumentError: the folder has none, or a truth is no JSON or not what a truth is (:mod:`.truths`).
    """
    found = list(_samples(folder))
    if not found:
        raise ArgumentError(f"{folder}: no document here has a truth NAME.json beside it")
    return found


async def score_folder(
    wanted: list[Sample],
    reader: Callable[[], DocumentReader],
    *,
    lines: Path | None = None,
    told: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Read documents and score what was read.

    Args:
        wanted: the documents.
        reader: makes the reader; called only if a document has to be read.
        lines: a folder where lines are kept and taken from, so that a document is read once whatever becomes of the
            rules.
        told: tell the reader each document's kind instead of letting it find out.
        progress: told the number of documents done and of all.
    """
    pairs = []
    async with AsyncExitStack() as stack:
        opened: DocumentReader | None = None
        for number, sample in enumerate(wanted):
            document = _kept(lines, sample)
            if document is None:
                opened = opened or await stack.enter_async_context(reader())
            reading = await _reading(sample, document, opened, lines, told=told)
            pairs.append((sample.name, reading, sample.truth))
            if progress:
                progress(number + 1, len(wanted))
    return score(pairs)


def _samples(folder: Path) -> Iterator[Sample]:
    for path in sorted(folder.rglob("*.json")):
        beside = [other for other in sorted(path.parent.glob(f"{path.stem}.*")) if other.suffix != ".json"]
        if not beside:
            continue
        try:
            truth = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise ArgumentError(f"{path}: not JSON: {error}") from None
        yield Sample(str(beside[0].relative_to(folder)), beside[0], checked(truth, str(path)))


async def _reading(
    sample: Sample, document: Document | None, reader: DocumentReader | None, lines: Path | None, *, told: bool
) -> Reading | None:
    kind: Any = sample.truth.get("kind", "auto") if told else "auto"
    if document is not None:
        return read(document, kind)
    assert reader is not None
    content = await asyncio.to_thread(sample.path.read_bytes)
    try:
        examined = await reader.examine(content, kind=kind, patient=True, lines=lines is not None)
    except DocumentError:
        return None
    if lines is not None and examined[0].document is not None and examined[0].document.pages:
        _keep(lines, sample, examined[0].document)
    return examined[0].reading


def _place(lines: Path, sample: Sample) -> Path:
    return lines / f"{sample.path.name}.json"


def _kept(lines: Path | None, sample: Sample) -> Document | None:
    """The lines that were kept of a document; None when there are none, or they are no document."""
    place = _place(lines, sample) if lines else None
    if place is None or not place.is_file():
        return None
    try:
        return TypeAdapter(Document).validate_json(place.read_bytes())
    except ValidationError as error:
        raise ArgumentError(f"{place}: not the lines of a document ({error.error_count()} faults); delete it") from None


def _keep(lines: Path, sample: Sample, document: Document) -> None:
    lines.mkdir(parents=True, exist_ok=True)
    _place(lines, sample).write_bytes(orjson.dumps(asdict(replace(document, xml=None))))
