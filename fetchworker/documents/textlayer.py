"""From the letters of a PDF page to words and lines, and whether they are real text at all (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.documents.model import Line, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fetchworker.documents.model import Box

#: gaps, in heights of a letter: within a word at most, between the words of a line at most
_WORD_GAP, _LINE_GAP = 0.22, 0.9
#: two things are on one row when their base lines are this close, in heights of the lower one
_LEVEL = 0.35
#: how far letters reach above and below their base line, in sizes of the font
ASCENT, DESCENT = 0.78, 0.22
#: fewer words than this do not make a page of text
_FEW_WORDS = 4
_PLAUSIBLE = 0.55
_WORD = re.compile(r"[^\W\d_]{2,}|\d|[AIaiàéeoyYÀ&€$£₹:.,;%()|/*#+–—-]\Z")
_FOREIGN = re.compile("[\ufffd\ue000-\uf8ff\u25a0-\u25ff\x00-\x08\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter and its box, upright, in pixels of the page's raster."""

    text: str
    box: Box


def is_real(words: Sequence[Word]) -> bool:
    """Whether the words are text that people would read: neither signs without meaning nor words cut into letters."""
    texts = [word.text for word in words]
    if len(texts) < _FEW_WORDS or any(_CID.search(text) for text in texts):
        return False
    plausible = sum(bool(_WORD.match(text)) and not _FOREIGN.search(text) for text in texts)
    single = sum(len(text) == 1 and text.isalpha() for text in texts)
    return plausible >= _PLAUSIBLE * len(texts) and single <= _PLAUSIBLE * len(texts)


_CID = re.compile(r"\(cid:\d+\)")


def words_of(letters: Iterable[Letter]) -> list[Word]:
    """Letters in the order of the file as words; a space or a gap ends a word."""
    words: list[list[Letter]] = [[]]
    for letter in letters:
        word = words[-1]
        if letter.text.isspace() or (word and not _continues(word[-1].box, letter.box)):
            words.append([])
        if not letter.text.isspace() and not _doubled(words[-1], letter):
            words[-1].append(letter)
    return [
        Word("".join(letter.text for letter in word), around(letter.box for letter in word)) for word in words if word
    ]


def _continues(last: Box, following: Box) -> bool:
    height = max(last[3] - last[1], following[3] - following[1])
    return _on_one_row(last, following) and -height <= following[0] - last[2] <= _WORD_GAP * height


def _doubled(word: list[Letter], letter: Letter) -> bool:
    """Bold type is often the same letter twice, a little apart."""
    if not word or word[-1].text != letter.text:
        return False
    last = word[-1].box
    if last == letter.box and letter.text in "ft":  # one glyph for both, as in ffi
        return False
    return abs(last[0] - letter.box[0]) < 0.2 * (last[2] - last[0])  # less than letters could be apart


def lines_of_words(words: Iterable[Word], *, page: int, first_id: int) -> tuple[Line, ...]:
    """Words as lines from top to bottom; what stands in different columns of one row is different lines."""
    pieces = [piece for row in _rows(words) for piece in _pieces(row)]
    return tuple(
        Line(
            first_id + place,
            page,
            " ".join(word.text for word in piece),
            1.0,
            around(word.box for word in piece),
            tuple(piece),
        )
        for place, piece in enumerate(pieces)
    )


def _rows(words: Iterable[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    for word in sorted(words, key=_foot):
        row = next((row for row in reversed(rows[-6:]) if _on_one_row(row[-1].box, word.box)), None)
        if row is None:
            rows.append([word])
        else:
            row.append(word)
    return [sorted(row, key=lambda word: word.box[0]) for row in rows]


def _foot(word: Word) -> tuple[float, float]:
    x0, y0, _, y1 = word.box
    return y1 - DESCENT * (y1 - y0), x0


def _pieces(row: Sequence[Word]) -> Iterator[list[Word]]:
    piece = [row[0]]
    for word in row[1:]:
        height = max(word.box[3] - word.box[1], piece[-1].box[3] - piece[-1].box[1])
        if word.box[0] - piece[-1].box[2] > _LINE_GAP * height:
            yield piece
            piece = []
        piece.append(word)
    yield piece


def _on_one_row(one: Box, other: Box) -> bool:
    heights = one[3] - one[1], other[3] - other[1]
    feet = one[3] - DESCENT * heights[0], other[3] - DESCENT * heights[1]
    return abs(feet[0] - feet[1]) <= _LEVEL * min(heights)


def around(boxes: Iterable[Box]) -> Box:
    """The box around boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
