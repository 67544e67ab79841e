"""Invoices of invented parties in nine locales, as lines on pages with the truth beside them, or as PDF files.

``python -m fetchworker.demo.invoices FOLDER --count 40`` writes ``NAME.pdf`` and ``NAME.json``; tests and scores take
:func:`invoices`, whose documents look like what OCR or a text layer gives. The same seed gives the same set.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from fetchworker.demo import invoice_pdf
from fetchworker.documents.model import Document, Line, Page, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.documents.model import Box

WIDTH, HEIGHT = 1240.0, 1754.0  # A4 at 150 dots per inch
_LEFT, _RIGHT = 100.0, 1140.0
_ROW = 34.0
_SIZE = 20.0
_ITEMS_A_PAGE = 24
_CENT = Decimal("0.01")
#: shares of credit notes, of invoices of several pages, of tables with rulings, of invoices with one rate
_CREDITS, _LONG, _RULED, _ONE_RATE = 0.15, 0.15, 0.5, 0.6


@dataclass(slots=True)
class Piece:
    """A piece of text with its left edge, its upper edge and its height."""

    text: str
    left: float
    top: float
    size: float = _SIZE

    @property
    def box(self) -> Box:
        return (self.left, self.top, self.left + width(self.text, self.size), self.top + self.size)


@dataclass(slots=True)
class Made:
    """An invoice: its pieces by page, rulings by page, and what it says."""

    name: str
    pages: list[list[Piece]] = field(default_factory=lambda: [[]])
    rulings: list[list[Box]] = field(default_factory=lambda: [[]])
    truth: dict[str, Any] = field(default_factory=dict)

    def document(self, *, layer: bool = False) -> Document:
        """The invoice as it is read: OCR's pieces, or a text layer's whole rows with their words."""
        pages = []
        count = 0
        for number, pieces in enumerate(self.pages, 1):
            lines = []
            for text, box, words in _rows(pieces) if layer else ((piece.text, piece.box, ()) for piece in pieces):
                lines.append(Line(count, number, text, 1.0 if layer else 0.995, box, words))
                count += 1
            source: Any = "text" if layer else "ocr"
            pages.append(Page(number, WIDTH, HEIGHT, tuple(lines), source, tuple(self.rulings[number - 1])))
        return Document(self.name, tuple(pages), len(pages), len(pages), "", "application/pdf")


def width(text: str, size: float) -> float:
    """The width of a text in a face of this height."""
    return sum(0.3 if char in " .,:;'il|!-()" else 0.56 for char in text) * size


def invoices(count: int, seed: int = 1) -> Iterator[Made]:
    """So many invoices; locales, layouts, rulings, rates, pages and credit notes take turns."""
    dice = random.Random(seed)  # noqa: S311  # a set of samples
    locales = sorted(_words())
    for number in range(count):
        locale = locales[number % len(locales)]
        yield _made(f"made_{number:03}_{locale}", _words()[locale], dice, number)


@cache
def _words() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((files(__package__) / "invoice_words.yaml").read_text(encoding="utf-8"))
    return data


def _made(name: str, words: dict[str, Any], dice: random.Random, number: int) -> Made:
    made = Made(name)
    credit = dice.random() < _CREDITS
    seller, buyer = dice.choice(words["sellers"]), dice.choice(words["buyers"])
    issued = date(2023, 1, 1) + timedelta(days=dice.randrange(900))
    due = issued + timedelta(days=dice.choice((14, 30, 45)))
    code = dice.choice(("INV-{:05}", "{:07}", "RE{:06}", "2024-{:04}", "F/{:04}/24")).format(dice.randrange(1, 9999))
    rows = _items(words, dice, sign=-1 if credit else 1, many=dice.random() < _LONG)
    made.truth = _truth(words, rows, dice)
    made.truth |= {
        "seller": seller[0],
        "buyer": buyer[0],
        "invoice_number": code,
        "invoice_date": issued.isoformat(),
        "due_date": due.isoformat(),
    }
    meta = [
        (words["labels"]["number"], code),
        (words["labels"]["date"], _day(issued, words)),
        (words["labels"]["due"], _day(due, words)),
    ]
    title = words["credit"] if credit else words["title"]
    top = _head(made, title, seller, (words["labels"]["buyer"], buyer), meta, layout=number // 9 % 3)
    _table(made, words, rows, top, ruled=dice.random() < _RULED)
    made.pages[-1].append(Piece(" · ".join(seller), _LEFT, HEIGHT - 90, 15))
    return made


def _items(words: dict[str, Any], dice: random.Random, *, sign: int, many: bool) -> list[dict[str, Any]]:
    rows = []
    for _ in range(dice.randrange(26, 44) if many else dice.randrange(1, 7)):
        quantity = sign * dice.choice((1, 1, 2, 3, 5, 10, 12))
        price = Decimal(dice.randrange(150, 49900)) * _CENT
        rows.append(
            {
                "description": dice.choice(words["items"]),
                "quantity": str(quantity),
                "unit_price": str(price),
                "amount": str(quantity * price),
                "rate": dice.choice(words["rates"]),
            }
        )
    return rows


def _truth(words: dict[str, Any], rows: list[dict[str, Any]], dice: random.Random) -> dict[str, Any]:
    """Sums of the rows; sometimes one rate for all of them."""
    if dice.random() < _ONE_RATE:
        for row in rows:
            row["rate"] = words["rates"][0]
    net = sum((Decimal(row["amount"]) for row in rows), Decimal(0))
    by_rate = {
        rate: (
            sum((Decimal(row["amount"]) for row in rows if row["rate"] == rate), Decimal(0))
            * Decimal(rate.replace(",", "."))
            / 100
        ).quantize(_CENT)
        for rate in dict.fromkeys(row["rate"] for row in rows)
    }
    tax = sum(by_rate.values(), Decimal(0))
    return {
        "currency": words["currency"],
        "subtotal": str(net),
        "tax": str(tax),
        "total": str(net + tax),
        "rates": {rate: str(value) for rate, value in by_rate.items()},
        "line_items": [{key: row[key] for key in ("description", "quantity", "unit_price", "amount")} for row in rows],
    }


def _head(
    made: Made, title: str, seller: list[str], buyer: tuple[str, list[str]], meta: list[tuple[str, str]], *, layout: int
) -> float:
    """Title, parties, number and days in one of three layouts; where the table begins."""
    page = made.pages[0]
    left, right = (_RIGHT, _LEFT) if layout == 1 else (_LEFT, _RIGHT)
    for place, text in enumerate(seller):
        size = 32 if place == 0 else _SIZE
        page.append(_at(text, left, 90 + (44 if place else 0) + 30 * place, size))
    page.append(_at(title, right, 92, 30))
    page += [Piece(text, _LEFT, 330 + _ROW * place) for place, text in enumerate((buyer[0], *buyer[1]))]
    for place, (label, value) in enumerate(meta):
        top = 330 + _ROW * place
        if layout == 0:  # label left, value at the right edge
            page += [Piece(label, 720, top), _at(value, _RIGHT, top, _SIZE)]
        elif layout == 1:  # columns with their values below
            x = 560 + 200 * place
            page += [Piece(label, x, 330), Piece(value, x, 330 + _ROW)]
        else:  # one text with a colon
            page.append(Piece(f"{label}: {value}", 720, top))
    return 560.0


def _at(text: str, edge: float, top: float, size: float) -> Piece:
    """A text at the left edge, or ending at the right one."""
    return Piece(text, edge if edge == _LEFT else edge - width(text, size), top, size)


def _table(made: Made, words: dict[str, Any], rows: list[dict[str, Any]], top: float, *, ruled: bool) -> None:
    edges = (_LEFT, 720.0, 920.0, _RIGHT)
    y = _columns(made, words, edges, top, ruled=ruled)
    for place, row in enumerate(rows):
        if place and place % _ITEMS_A_PAGE == 0:
            made.pages.append([])
            made.rulings.append([])
            y = _columns(made, words, edges, 120.0, ruled=ruled)
        texts = (row["quantity"], _money(row["unit_price"], words), _money(row["amount"], words))
        made.pages[-1].append(Piece(row["description"], _LEFT + 6, y))
        made.pages[-1] += [_ending(text, edge, y) for text, edge in zip(texts, edges[1:], strict=True)]
        y += _ROW
        if ruled:
            made.rulings[-1].append((_LEFT, y - 7, _RIGHT, y - 6))
    _sums(made, words, y + _ROW)


def _columns(made: Made, words: dict[str, Any], edges: tuple[float, ...], top: float, *, ruled: bool) -> float:
    names = words["columns"]
    made.pages[-1].append(Piece(names[0], _LEFT + 6, top))
    made.pages[-1] += [_ending(name, edge, top) for name, edge in zip(names[1:], edges[1:], strict=True)]
    if ruled:
        made.rulings[-1].append((_LEFT, top + _SIZE + 4, _RIGHT, top + _SIZE + 5))
    return top + 1.3 * _ROW


def _sums(made: Made, words: dict[str, Any], top: float) -> None:
    truth, labels = made.truth, words["sums"]
    rows = [(labels["net"], truth["subtotal"])]
    rows += [(labels["tax"].format(rate=rate), value) for rate, value in truth.pop("rates").items()]
    rows.append((labels["gross"], truth["total"]))
    for place, (label, value) in enumerate(rows):
        made.pages[-1] += [
            Piece(label, 700, top + _ROW * place),
            _ending(_money(value, words), _RIGHT, top + _ROW * place),
        ]


def _ending(text: str, edge: float, top: float) -> Piece:
    return Piece(text, edge - width(text, _SIZE), top)


def _money(value: str, words: dict[str, Any]) -> str:
    group, point = words["marks"]
    sign, digits = ("-", value[1:]) if value.startswith("-") else ("", value)
    text = f"{Decimal(digits):,.2f}".replace(",", "\0").replace(".", point).replace("\0", group)
    return sign + str(words["money"]).format(text)


def _day(day: date, words: dict[str, Any]) -> str:
    return day.strftime(words["date"])


def _rows(pieces: list[Piece]) -> Iterator[tuple[str, Box, tuple[Word, ...]]]:
    """Pieces of one height as one row with its words, as text layers have them."""
    for top in sorted({piece.top for piece in pieces}):
        row = sorted((piece for piece in pieces if piece.top == top), key=lambda piece: piece.left)
        words = [word for piece in row for word in _split(piece)]
        box = (row[0].left, top, row[-1].box[2], max(piece.box[3] for piece in row))
        yield " ".join(piece.text for piece in row), box, tuple(words)


def _split(piece: Piece) -> Iterator[Word]:
    left = piece.left
    for text in piece.text.split(" "):
        right = left + width(text, piece.size)
        yield Word(text, (left, piece.top, right, piece.top + piece.size))
        left = right + width(" ", piece.size)


def write(folder: Path, count: int, seed: int = 1) -> int:
    """Write invoices as PDF files with their truth beside them; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    for made in invoices(count, seed):
        texts = [[(piece.text, piece.left, piece.top, piece.size) for piece in page] for page in made.pages]
        (folder / f"{made.name}.pdf").write_bytes(invoice_pdf.pdf(texts, made.rulings, (WIDTH, HEIGHT)))
        truth = {"id": made.name, "kind": "invoice", "fields": made.truth, "not_printed": []}
        (folder / f"{made.name}.json").write_text(json.dumps(truth, ensure_ascii=False, indent=1), encoding="utf-8")
    return count


def main() -> None:
    """Write a set of invoices into a folder."""
    parser = argparse.ArgumentParser(description="Write invoices of invented parties as PDF files, truth beside them")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    print(f"{write(wanted.folder, wanted.count, wanted.seed)} invoices in {wanted.folder}")


if __name__ == "__main__":
    main()
