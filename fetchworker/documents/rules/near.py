"""Values beside labels: in the same cell, to the right, or below (pure)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from fetchworker.documents.rules import columns, labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fetchworker.documents.rules.layout import Cell, Row, Sheet

Read = TypeVar("Read")

#: chance, value, cells, label
Place: TypeAlias = "tuple[float, Read, tuple[Cell, ...], str]"

#: what makes a cell a label whatever stands below it
_LABELS = (
    "invoice_number",
    "invoice_date",
    "due_date",
    "date",
    "other_date",
    "other_number",
    "buyer",
    "ship_to",
    "seller",
    "number_alone",
    "buyer_alone",
    "seller_alone",
    "total",
    "subtotal",
    "tax",
)
#: labels of heads, several of which may stand in one cell
_HEADS = ("invoice_number", "invoice_date", "due_date", "other_number", "other_date")
#: labels that begin as a party's
_NO_PARTIES = ("other_number", "invoice_number", "invoice_date", "due_date", "other_date")
#: what stands so many heights away from a caption in its row is another block
_FAR = 6
_MARKS = re.compile(r"^[\s:;.#,()\-–]+")


def beside(
    sheet: Sheet, names: tuple[str, ...], read: Callable[[str], Read | None], *, reach: float = 3.0
) -> Iterator[Place[Read]]:
    """What ``read`` makes of the places beside each label of these names: chance, value, cells, the label."""
    for written in sheet.rows:
        row = columns.spread(written, *_HEADS)
        for place, cell in enumerate(row.cells):
            match = labels.begins(cell.text, *names) or labels.find(cell.text, *names)
            if match is not None:
                yield from _places(sheet, row, place, match, read, reach=reach)


def captioned(
    sheet: Sheet, name: str, read: Callable[[str], Read | None], *, reach: float = 3.0
) -> Iterator[Place[Read]]:
    """What ``read`` makes of the places beside captions: a label at the beginning of a cell, or before a colon.

    A word of the text that happens to be a label (``Fietsbel koper``) is none, and short ones (``Van``, in
    ``NAME_alone``) only where they are all of a cell or have a colon behind them.
    """
    for row in sheet.rows:
        for place, cell in enumerate(row.cells):
            match = _caption(cell.text, name)
            if match is not None and not columns.opened(row):
                yield from _places(sheet, row, place, match, read, reach=reach, down=_is_over(sheet, row, place))


def _is_over(sheet: Sheet, row: Row, place: int) -> bool:
    """Whether a caption belongs to what stands right under it, and not to what is far away in its row."""
    cell = row.cells[place]
    below = next(iter(sheet.below(cell, reach=1.0)), None)
    under = below is not None and abs(below.box[0] - cell.box[0]) < cell.height and not is_label(below.text)
    far = row.cells[place + 1].box[0] - cell.box[2] > _FAR * cell.height if place + 1 < len(row.cells) else False
    return under and far


@lru_cache(maxsize=8192)
def _caption(text: str, name: str) -> re.Match[str] | None:
    short = f"{name}_alone"
    begun = labels.begins(text, name)
    if begun and labels.longest(text, *_NO_PARTIES) and not _follows(text, begun):  # Kundennummer, Client n°
        begun = None
    opened = labels.begins(text, short)
    colon = opened is not None and text[opened.end() :].lstrip().startswith(":")
    lone = opened if colon else labels.alone(text, short)
    phrase = labels.find(text, name)  # Goods are sold by …
    return begun or lone or labels.caption(text, name) or (phrase if phrase and " " in phrase[0].strip() else None)


def _follows(text: str, match: re.Match[str]) -> bool:
    """Whether a label ends where a caption does: before a colon, or at the end."""
    rest = text[match.end() :].strip()
    return not rest or rest.startswith(":")


def is_label(text: str) -> bool:
    """Whether a text is a label and nothing else, or anything before a colon."""
    if text.rstrip().endswith(":"):
        return True
    match = labels.begins(text, *_LABELS)
    return match is not None and len(labels.compact(text)) - len(labels.compact(match[0])) <= 1


def _places(
    sheet: Sheet,
    row: Row,
    place: int,
    match: re.Match[str],
    read: Callable[[str], Read | None],
    *,
    reach: float,
    down: bool = False,
) -> Iterator[Place[Read]]:
    cell = row.cells[place]
    begins = match.start() < 8  # a number or a mark may stand before a label
    factor = 1.0 if begins else 0.9
    label = match[0]
    rest = _MARKS.sub("", cell.text[match.end() :])
    if rest:
        value = read(rest)
        if value is not None:
            yield 0.98 * factor, value, (cell,), label
            return
    if len(labels.compact(rest)) > 14 or (rest and not begins):  # a sentence, no label
        return
    yield from _around(sheet, row, place, label, read, reach=reach, down=down)


def _around(
    sheet: Sheet, row: Row, place: int, label: str, read: Callable[[str], Read | None], *, reach: float, down: bool
) -> Iterator[Place[Read]]:
    """The cells to the right of a label and below it."""
    cell = row.cells[place]
    following = row.cells[place + 1] if place + 1 < len(row.cells) else None
    if following is not None and not down and not is_label(following.text):
        value = read(_MARKS.sub("", following.text))
        if value is not None:
            yield 0.97, value, (cell, following), label
            return
        if not labels.compact(following.text) and place + 2 < len(row.cells):
            value = read(row.cells[place + 2].text)
            if value is not None:
                yield 0.95, value, (cell, row.cells[place + 2]), label
                return
    for below in sheet.below(cell, reach=reach)[:3]:
        if is_label(below.text):
            return
        value = read(_MARKS.sub("", _under(cell, below)))
        if value is not None:
            yield 0.94, value, (cell, below), label
            return


def _under(label: Cell, below: Cell) -> str:
    """The text below a label: of a cell that two columns share, the part that begins under the label."""
    width = (below.box[2] - below.box[0]) / max(1, len(below.text))
    if abs(below.box[2] - label.box[2]) < label.height:  # a column whose right edges are aligned
        return below.text
    start = int((label.box[0] - below.box[0]) / max(width, 0.1))
    if start < 4:
        return below.text
    return below.text[below.text.rfind(" ", 0, start + 2) + 1 :]
