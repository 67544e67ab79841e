"""The company and its address at the head of a receipt (pure)."""

from __future__ import annotations

import re
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING

from fetchworker.documents.rules import dates, labels, repair
from fetchworker.documents.rules.layout import Row, overlap
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Sheet

#: a company's own number behind or under its name: (519537-X), 002043319-W, (139386 X), (JM0325955-V)
_REGISTRATION = re.compile(
    r"\s*[(\[{]?\s*(?:co(?:mpany)?\.?\s*)?(?:reg(?:istration)?\.?\s*)?(?:no\.?\s*)?[:#.]?\s*"
    r"(?:[A-Z]{1,3}\s?)?\d{4,}[\dOoSIl]*\s*[-–]?\s*[A-Z]{0,2}\s*[)\]}]?\s*$",
    re.IGNORECASE,
)
POSTCODE = re.compile(
    r"[A-Za-z]{4,}[ ,\-–]{1,3}[1-9]\d{5}\W*$|(?<!\d)\d{5}(?!\d)\W*\s?[A-Za-z]"
    r"|(?<![A-Za-z\d])[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?![A-Za-z])"
)
_HOUSE = re.compile(
    r"^\W{0,3}(?:no|lot|unit|blok|block|level|suite|g|gf|p\.?t|site|ptd|d|a|b|c|km)?[\s.:,#]{0,4}[A-Z]{0,2}[-\s]?\d[\w/\-&,]*",
    re.IGNORECASE,
)
#: a street with its house, as most of Europe writes it: Hauptstr. 5, Am Markt 11 a
_STREET = re.compile(r"\W*[^\W\d_][^\d]{2,40}\s\d{1,4}\s?[a-zA-Z]?(?:\s?[-/]\s?\d{1,4}\s?[a-zA-Z]?)?\W*$")
#: a town behind its code: 8701 AB Bolsward, 3765 Oberwil, 7000-501 Évora, CH-3600 Thun
_TOWN = re.compile(r"\W*(?:[A-Z]{1,2}-)?\d{4,5}(?:-\d{3})?(?: ?[A-Z]{2})?\s+[^\W\d_][^\d]{2,30}$")
#: an amount at a row's end: goods
_PRICED = re.compile(r"(?:[$€£₹]\s?[\d.,]+|(?<![\d.,])\d{1,6}[.,]\d\d)\s?(?:[A-Z]{1,3}|[€$])?\W*$")
#: words that companies' names end with
_SECOND = re.compile(r"(?i)(?:enterprise|trading|industries|holdings|marketing|services|supply)s?\b")
#: signs and handwriting are read with such scores
_DOUBTFUL = 0.85
#: an address ends with its country
_COUNTRY = re.compile(r"(?i)\bmalaysia\W*$")
_DEEP = 14  # rows of a receipt that may be its head
_LETTERS = re.compile(r"[^\W\d_]")


def head(sheet: Sheet) -> list[Row]:
    """The rows of the first page before its body: columns' heads and amounts."""
    rows = [row for row in sheet.rows if row.page == sheet.rows[0].page] if sheet.rows else []
    return [_without_dirt(row) for row in rows[: _DEEP + 4]]


def _without_dirt(row: Row) -> Row:
    """A row without a sign or two that stand far from the rest: what OCR sees in a page's edge."""
    widest = max(row.cells, key=lambda cell: len(cell.text))
    kept = [cell for cell in row.cells if len(cell.text) > 2 or -overlap(cell.box, widest.box) < widest.height]
    named = [cell for cell in kept if not _beside_name(cell.text)]
    return Row(tuple(named or kept))


def _beside_name(text: str) -> bool:
    """Whether a piece of a head is a title, a label or a day that happens to stand in a name's row."""
    return bool(labels.begins(text, "title_invoice", "credit", "invoice_number", "date", "contact") or dates.find(text))


def company(rows: list[Row]) -> tuple[Value | None, int]:
    """The company that issued a receipt, and the row it stands in."""
    best, place = 0.0, -1
    last = _body(rows)
    top = max((_height(row) for row in rows[:last]), default=1.0)
    seen = 0
    for number, row in enumerate(rows[:last]):
        if not named_like(row.text):
            continue
        score = _company_score(rows, number, seen, top)
        seen += 1
        if score > best:
            best, place = score, number
    if place < 0:
        return None, -1
    return _joined(rows, place, best), place


def address(rows: list[Row], place: int) -> Value | None:
    """The address under a company's name."""
    following = rows[place + 1 :]
    start = _first(following)
    if start is None:
        return None
    taken = [following[start]]
    rest = following[start + 1 :]
    for row, after in zip_longest(rest, rest[1:]):
        if (
            ends(row.text) or _COUNTRY.search(taken[-1].text) or _gap(taken[-1], row) > 2.2 * _height(row)
        ):  # another block
            break
        if (
            _like(row.text)
            or taken[-1].text.rstrip().endswith((",", "&", "-"))
            or (after is not None and _like(after.text) and not ends(after.text))
        ):
            taken.append(row)
        else:
            break
    while len(taken) > 1 and not _like(taken[-1].text) and not taken[-2].text.rstrip().endswith(","):
        taken.pop()
    text = " ".join(_cut_contact(row.text) for row in taken).strip()
    cells = tuple(cell for row in taken for cell in row.cells)
    strong = bool(POSTCODE.search(text)) and 2 <= len(taken) <= 5
    return Value(text, cells, 0.92 if strong else 0.7, seen=text)


def stripped(text: str) -> str:
    """A company's name without the number it is registered under."""
    contact = labels.find(text, "contact")
    if contact and contact.start() > 5:  # a name stands before it
        text = text[: contact.start()].rstrip(" (-:,")
    short = _REGISTRATION.sub("", text)
    return (short if len(_LETTERS.findall(short)) > 2 else text).strip(" *:;-=~_,")


def named_like(text: str) -> bool:
    """Whether a row may be a company's name: letters, and nothing that says it is something else."""
    bare = stripped(text)
    letters = len(_LETTERS.findall(bare))
    if letters < 3 or "@" in text or letters < 0.45 * len(bare.replace(" ", "")):
        return False
    title = labels.begins(text, "title_invoice", "title_receipt", "credit", "date", "other_number")
    if title and len(labels.compact(text)) - len(labels.compact(title[0])) < 5:
        return False
    return labels.begins(text, "contact", "invoice_number", "invoice_date", "due_date") is None


def ends(text: str) -> bool:
    """Whether a row ends an address: contacts, titles, labels, days."""
    if labels.begins(
        text, "contact", "title_invoice", "credit", "buyer", "invoice_number", "paid_cash", "column_description"
    ):
        return True
    found = labels.find(text, "contact")
    if found and found.start() < 14 and re.search(r"[:.#]|\d{5}", text[found.end() :]):
        return True
    if labels.begins(text, "title_receipt", "date", "receipt_sign") or _PRICED.search(text):
        return True
    if bool(dates.find(text)) or "@" in text or bool(re.match(r"\W*\+?\(?\d[\d\s()\-]{8,}$", text)):
        return True
    return bool(_REGISTRATION.fullmatch(text)) and not re.fullmatch(r"\W*\d{5}[ ,]+[A-Za-z]{2}\W*", text)


def _cut_contact(text: str) -> str:
    """A row of an address before the telephone number that shares it."""
    found = labels.find(text, "contact")
    if found and found.start() > 10 and re.match(r"\W*(?:no)?\W*\d{2,}", text[found.end() :]):
        return text[: found.start()].rstrip(" (")
    return text


def _like(text: str) -> bool:
    """Whether a row looks like a part of an address."""
    if re.fullmatch(r"\W*\(.*\)\W*", text) and "," not in text:  # a branch, a number
        return False
    if labels.find(repair.address(text, marked=True), "address") or POSTCODE.search(text):
        return True
    if re.match(r"(?i)\W{0,2}(?:no|lot|unit)[\s.:]{1,3}\d", text):
        return True
    return bool("," in text and _LETTERS.search(text)) or bool(_HOUSE.match(text) and len(_LETTERS.findall(text)) > 3)


def _first(rows: list[Row]) -> int | None:
    """Where the address begins: its first row with a number, or a row before it that runs on into it."""
    reach = rows[:_DEEP]
    for number, row in enumerate(reach):
        text = row.text
        if _like(text) and re.search(r"\d", text) and not ends(text):
            while number and not ends(reach[number - 1].text) and _leads(reach[number - 1].text, reach[number].text):
                number -= 1  # noqa: PLW2901
            return number
    found = [number for number, row in enumerate(reach) if _like(row.text) and not ends(row.text)]
    return found[0] if found else None


def _leads(text: str, after: str) -> bool:
    """Whether a row of an address goes on into the one after it: by its comma, or as a street before a town."""
    if _like(text) and text.rstrip().endswith(","):
        return True
    return bool(_STREET.match(text) and (POSTCODE.search(after) or _TOWN.match(after)))


def _body(rows: list[Row]) -> int:
    """The number of rows before a receipt's items or amounts."""
    return len(list(takewhile(lambda row: not _is_body(row), rows[:_DEEP])))


def _is_body(row: Row) -> bool:
    columns = sum(
        bool(labels.begins(cell.text, "column_quantity", "column_amount", "column_unit_price", "column_description"))
        for cell in row.cells
    )
    return columns >= 2  # a table's head


def _company_score(rows: list[Row], number: int, seen: int, top: float) -> float:
    text = repair.name(rows[number].text, marked=True)
    score = max(0.0, 2.0 - 0.6 * seen)
    if labels.find(text, "company_form"):
        score += 3
    elif labels.find(text, "trade"):
        score += 1.3
    score -= 1.0 * (min(cell.score for cell in rows[number].cells) < _DOUBTFUL)
    score += 0.8 * _height(rows[number]) / top
    if _REGISTRATION.search(text) or (number + 1 < len(rows) and _registers(rows[number + 1].text)):
        score += 0.8
    before = rows[number - 1].text if number else ""
    if labels.find(before, "buyer") or re.search(r"(?i)formerly|licen[cs]ee|known as|bill to", before):
        score -= 5
    score -= 2.0 * text.startswith("(")  # a branch, or what the company was called before
    if POSTCODE.search(stripped(text)) or (
        _like(text) and re.search(r"\d", text) and not labels.find(text, "company_form")
    ):
        score -= 2.5
    if (
        any(
            labels.find(row.text, "buyer", "title_invoice", "invoice_number", "date")
            for row in rows[max(0, number - 3) : number]
        )
        and seen > 1
    ):
        score -= 2.5
    return score


def _registers(text: str) -> bool:
    return bool(_REGISTRATION.fullmatch(text)) or bool(
        re.search(r"(?i)\b(?:co|company|roc)\b.{0,12}\bno\b|co\.? ?reg", text)
    )


def _joined(rows: list[Row], place: int, score: float) -> Value:
    """A name with the row before or after it that belongs to it."""
    taken = [rows[place]]
    for before in reversed(rows[max(0, place - 2) : place]):
        if not _tail(taken[0].text) or not named_like(before.text):
            break
        taken.insert(0, before)
    if len(taken) == 1 and place + 1 < len(rows) and _tail(rows[place + 1].text):
        taken.append(rows[place + 1])
    text = stripped(" ".join(row.text for row in taken))
    cells = tuple(cell for row in taken for cell in row.cells)
    return Value(text, cells, 0.95 if score >= 5 else 0.93 if score >= 3 else 0.8, seen=text)


def _tail(text: str) -> bool:
    """Whether a row is the end of a name: its legal form alone, or begun with what never begins one."""
    form = labels.find(repair.name(text, marked=True), "company_form", "trade")
    begun = re.match(r"\([^()]*\)\s*\w", text) or text.count(")") > text.count("(") or _SECOND.match(text)
    return only_form(text) or bool(form and begun)


def only_form(text: str) -> bool:
    """Whether a text is a legal form and nothing else."""
    short = stripped(text)
    match = labels.find(short, "company_form")
    return match is not None and len(labels.compact(short)) - len(labels.compact(match[0])) <= 2


def _height(row: Row) -> float:
    return max(cell.height for cell in row.cells)


def _gap(above: Row, below: Row) -> float:
    return below.box[1] - above.box[3]
