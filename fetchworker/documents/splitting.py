"""Which pages of one file belong together (pure): page numbers say it, or else the number of the invoice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.documents.model import Page

#: how a page tells its number: "Page 1 of 3", "Seite 1/3", "Página 1 de 3", "1 / 3" alone in its line
_OF = r"\s{0,3}(?:/|of|von|de|di|van|sur|dari)\s{0,3}"
_NUMBERED = re.compile(
    rf"(?:\b(?:page|seite|blatt|p[aá]gina|pagina|pág|halaman|muka\s?surat|p|s)\b\.?\s{{0,3}}:?\s{{0,3}}"
    rf"(\d{{1,3}})(?:{_OF}(\d{{1,3}}))?)|^\s{{0,3}}(\d{{1,3}}){_OF}(\d{{1,3}})\s{{0,3}}$",
    re.IGNORECASE,
)
#: the label of an invoice's number, in the languages of the rules
_NUMBER = re.compile(
    r"(?:(?:invoice|inv|bill|receipt|credit\s?note)\s{0,2}(?:no|number|num|nr|#|id)"
    r"|(?:rechnungs?|beleg|gutschrifts?)\s{0,2}-?\s{0,2}(?:nr|nummer)|(?:num[eé]ro\s(?:de\s)?)?facture\s{0,2}(?:n[o°º]|num[eé]ro)"
    r"|factura\s{0,2}(?:n[o°ºú.]|n[uú]m(?:ero)?)|(?:numero\s)?fattura\s{0,2}(?:n[o°º.]|numero)|fatura\s{0,2}(?:n[o°º.])"
    r"|factuur\s{0,2}(?:nr|nummer)|no\.?\s?(?:invois|resit))[^\w]{0,6}([A-Z0-9][A-Z0-9/_.-]{2,30})",
    re.IGNORECASE,
)
#: lines at either end of a page in which its number may stand
_MARGIN = 6
#: lines that tell a page from others, and the part of them that makes it a copy
_ENOUGH, _SAME = 8, 0.8


def together(pages: Sequence[Page]) -> list[list[Page]]:
    """The pages of each document, in their order."""
    groups: list[list[Page]] = []
    for page in pages:
        if groups and not _begins(groups[-1][-1], page):
            groups[-1].append(page)
        else:
            groups.append([page])
    return groups


def _begins(last: Page, page: Page) -> bool:
    """Whether a page begins another document than the page before it is of."""
    before, here = _place(last), _place(page)
    if before and here:
        return here[0] == 1 or here[0] != before[0] + 1 or before[1] != here[1]
    if here:
        return here[0] == 1
    if (before and before[1] == before[0]) or _is_copy(last, page):  # the last page of its document, or the same again
        return True
    numbers, these = _numbers(last), _numbers(page)
    return bool(numbers and these and not numbers & these)


def _is_copy(last: Page, page: Page) -> bool:
    """Whether a page says what the one before it says: it goes on with nothing."""
    before, here = ({line.text.casefold() for line in each.lines} for each in (last, page))
    return len(here) >= _ENOUGH and len(before & here) >= _SAME * len(before | here)


def _place(page: Page) -> tuple[int, int | None] | None:
    """The number that a page gives itself, and of how many."""
    texts = [line.text for line in page.lines]
    for text in [*texts[-_MARGIN:], *texts[:_MARGIN]]:
        found = _NUMBERED.search(text)
        if found:
            number, total = found[1] or found[3], found[2] or found[4]
            if total is None or 0 < int(number) <= int(total):
                return int(number), int(total) if total else None
    return None


def _numbers(page: Page) -> frozenset[str]:
    found = (match[1] for line in _joined(page) for match in _NUMBER.finditer(line))
    return frozenset(number.upper() for number in found if any(map(str.isdigit, number)))


def _joined(page: Page) -> Iterable[str]:
    """Each line, and with it what stands right of it: labels and values are often apart."""
    for line in page.lines:
        x1, y0, y1 = line.box[2], line.box[1], line.box[3]
        right = [
            other for other in page.lines
            if other.box[0] >= x1 and y0 < (other.box[1] + other.box[3]) / 2 < y1
        ]  # fmt: skip
        nearest = min(right, key=lambda other: other.box[0], default=None)
        yield f"{line.text} {nearest.text}" if nearest else line.text
