"""Seller and buyer of an invoice: by labels, by position, by what is repeated (pure)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from fetchworker.documents.rules import columns, dates, heads, labels, near, repair
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.documents.rules.layout import Cell, Sheet

_LETTERS = re.compile(r"[^\W\d_]")
_FOOT = re.compile(r"\s[·•|—]\s|\s[-–]\s(?=\S+ \d)")
#: the end of a row whose name goes on in the next one
_OPEN = re.compile(r"(?:\s&|\s(?:and|und|et|e|y|en|dan)|[^\W\d_]-)\s*$")
_ATTENTION = re.compile(r"^(?:attn|attention|t\.?a\.?v\.?|z\.?\s?hd\.?|c/o|a/a)[\s:.]+", re.IGNORECASE)
#: a city with its code where the code is no five digits before a name
_CITY = re.compile(
    r"(?<!\d)\d{4} ?[A-Z]{2}(?![A-Za-z])|(?<![A-Za-z])[A-Z]{2},? \d{5}(?!\d)|(?<!\d)\d{4}-\d{3}\s[^\W\d_]"
    r"|^\W*(?:[A-Z]{1,2}-)?[1-9]\d{3}\s+[^\W\d_][^\d]{2,30}$|(?<![A-Za-z])[A-Z]{2,3},? \d{4}$|[A-Z]\d[A-Z] \d[A-Z]\d"
)
#: what is never somebody's name
_TITLES = ("title_invoice", "credit", "title_elsewhere", "title_other", "subtotal", "total", "tax", "salutation")
_TOP = 0.45  # the part of the first page where a seller's name is looked for without a label


def buyer(sheet: Sheet) -> Value | None:
    """Who has to pay: the first name under or behind a buyer's label."""
    found = [
        (chance + 0.01 * min(len(label), 9) - 0.3 * _is_weak(label, cells), name, cells)
        for chance, name, cells, label in near.captioned(sheet, "buyer", _name, reach=4.0)
    ]
    if not found:
        return None
    chance, name, cells = max(found, key=lambda entry: entry[0])
    return _whole(sheet, Value(name, cells, min(0.95, chance), seen=cells[-1].text))


def _is_weak(label: str, cells: tuple[Cell, ...]) -> bool:
    """Whether a label is one word with a text behind it that may go on with it: ``Client onboarding``."""
    text = cells[0].text
    place = labels.fold(text).find(label)
    rest = text[place + len(label) :].strip()
    return bool(rest) and " " not in label.strip() and not rest.startswith(":")


def _whole(sheet: Sheet, value: Value) -> Value:
    """A name with its legal form, where a narrow column put that into the next row."""
    cell = value.cells[-1]
    before = next((above for above in sheet.on_page[cell.page] if _over(above, cell)), None)
    if before and _OPEN.search(before.text) and _name(before.text) and value.text.startswith(cell.text.strip()[:4]):
        return replace(value, text=f"{before.text.strip()} {value.text}", cells=(before, *value.cells))
    after = next((below for below in sheet.below(cell, reach=1.0)), None)
    beside = after is not None and abs(after.box[0] - cell.box[0]) < 1.5 * cell.height
    if after is None or not beside or not value.text.endswith(cell.text.strip()[-4:]):
        return value
    if heads.only_form(after.text) or _OPEN.search(cell.text):
        return replace(value, text=f"{value.text} {after.text.strip(' ,')}", cells=(*value.cells, after))
    return value


def _over(above: Cell, cell: Cell) -> bool:
    """Whether a cell stands right over another one, at its indent."""
    return 0 <= cell.box[1] - above.box[3] < 0.6 * cell.height and abs(above.box[0] - cell.box[0]) < cell.height


def addressed(sheet: Sheet, issuer: Value | None) -> Value | None:
    """The buyer of an invoice without a label for it: in the envelope's window, or over a second address."""
    own = labels.compact(issuer.text) if issuer else ""
    line = _sender_line(sheet)
    if line is not None:
        for cell in sheet.below(line, reach=3.0)[:2]:
            name = _name(cell.text)
            if name and labels.compact(name) != own and abs(cell.box[0] - line.box[0]) < 3 * cell.height:
                return Value(name, (cell,), 0.85, seen=cell.text)
    for block in _address_blocks(sheet):
        head = block[-2] if labels.alone(block[-1].text, "salutation") and len(block) > 3 else block[-1]
        name = _name(_first_part(head.text))
        mine = issuer is not None and any(piece in issuer.cells for piece in block)
        if name and own and not mine and labels.compact(name) not in own and not _address_like(name):
            return Value(name, (head,), 0.7, seen=head.text)
    return None


def _sender_line(sheet: Sheet) -> Cell | None:
    """The small line over an envelope's window: ``Name · Street 1 · City``."""
    for cell in _top(sheet):
        parts = _FOOT.split(cell.text)
        if len(parts) > 2 and re.search(r"\d{4,5}", parts[-1]) and _name(parts[0]):
            return cell
    return None


def _address_blocks(sheet: Sheet) -> Iterator[list[Cell]]:
    """The addresses at the top of a page from their cities upwards, three rows and more."""
    tops = [cell for cell in _top(sheet) if not labels.begins(cell.text, "title_invoice", "credit")]
    for place, cell in enumerate(tops):
        if not _is_city(cell.text):
            continue
        block = [cell]
        for other in reversed(tops[:place]):
            near_ = block[-1].box[1] - other.box[3] < 1.2 * cell.height
            if abs(other.box[0] - cell.box[0]) < 2 * cell.height and near_:
                if _is_city(other.text):  # the end of another address
                    break
                block.append(other)
        if len(block) > 2:
            yield block


def seller(sheet: Sheet, other: Value | None) -> Value | None:
    """Who issued an invoice."""
    labelled = _labelled(sheet)
    best: tuple[float, Cell] | None = None
    taken = _buyers_cells(sheet)
    if other is not None:
        taken |= {(cell.line, cell.text) for cell in other.cells}
    tops = [cell for cell in _over_table(sheet) if (cell.line, cell.text) not in taken]
    for place, cell in enumerate(tops):
        score = _score(sheet, cell, place)
        if other is not None and labels.compact(cell.text) == labels.compact(other.text):
            continue
        if score is not None and (best is None or score > best[0]):
            best = (score, cell)
    line = _sender_line(sheet)
    if line is not None and (best is None or best[0] < 5):
        name = heads.stripped(_FOOT.split(line.text)[0])
        return Value(name, (line,), 0.9, seen=line.text)
    if labelled is not None and (best is None or best[0] < 7):
        return labelled
    if best is None or best[0] < 1.5:
        return _foot(sheet)
    score, cell = best
    text = heads.stripped(_without_address(_FOOT.split(cell.text)[0]))
    return _whole(sheet, Value(text, (cell,), 0.95 if score >= 5 else 0.85 if score >= 3.5 else 0.6, seen=cell.text))


def _name(text: str) -> str | None:
    """A text as a name, None when it is something else."""
    text = _ATTENTION.sub("", text).strip(" :,;·|•")
    if len(_LETTERS.findall(text)) < 3 or near.is_label(text) or dates.find(text) or "@" in text:
        return None
    if text.startswith("(") or (")" in text and "(" not in text) or labels.alone(text, *_TITLES):
        return None
    if labels.begins(text, "contact", "invoice_number", "invoice_date", "due_date", "ship_to"):
        return None
    text = _without_address(text)
    if _is_city(text) or len(text) >= 80:
        return None
    return heads.stripped(text)


def _without_address(text: str) -> str:
    """A name before the address that goes on in its row: ``Quinta do Freixo, S.A., Estrada Nacional 2``."""
    named = _first_part(text)
    ended = labels.longest(named, "company_form")
    formed = ended is not None and not labels.compact(named[ended.end() :])
    return named if formed or re.search(r"\d", text[len(named) :]) else text


def _first_part(text: str) -> str:
    """A text up to its first comma but for one before a legal form (``Quinta, S.A.``) or an associate."""
    parts = re.split(r"(?<=,)\s+", text)
    last = 0
    while last + 1 < len(parts) and (heads.only_form(parts[last + 1]) or "&" in parts[last + 1]):
        last += 1
    return " ".join(parts[: last + 1]).rstrip(", ")


def _labelled(sheet: Sheet) -> Value | None:
    found = [
        (chance + 0.2 * bool(labels.find(name, "company_form")), name, cells)
        for chance, name, cells, _ in near.captioned(sheet, "seller", _name, reach=3.0)
    ]
    if not found:
        return None
    chance, name, cells = max(found, key=lambda entry: entry[0])
    return _whole(sheet, Value(name, cells, 0.93 if chance > 1 else 0.8, seen=cells[-1].text))


def _buyers_cells(sheet: Sheet) -> set[tuple[int, str]]:
    """What stands under a buyer's or a delivery's label: never the seller."""
    taken: set[tuple[int, str]] = set()
    for cell in sheet.cells:
        match = labels.begins(cell.text, "buyer", "ship_to")
        short = match is not None and len(labels.compact(cell.text)) - len(labels.compact(match[0])) <= 3
        if not short and not labels.alone(cell.text, "buyer_alone"):
            continue
        last = cell
        taken.add((cell.line, cell.text))
        for other in sheet.below(cell, reach=9.0):
            if other.box[1] - last.box[3] > 1.6 * max(last.height, other.height):
                break
            if abs(other.box[0] - cell.box[0]) < 3 * cell.height:
                taken.add((other.line, other.text))
                last = other
    return taken


def _top(sheet: Sheet) -> list[Cell]:
    first = sheet.rows[0].page if sheet.rows else 1
    limit = sheet.sizes.get(first, (0.0, 0.0))[1] * _TOP
    return [cell for cell in sheet.cells if cell.page == first and cell.middle <= limit]


def _over_table(sheet: Sheet) -> list[Cell]:
    """The cells at the top of the first page over the table of items, if any are."""
    tops = _top(sheet)
    head = next((row for row in sheet.rows if columns.opened(row)), None)
    if head is None or head.page != sheet.rows[0].page:
        return tops
    return [cell for cell in tops if cell.middle < head.box[1]] or tops


def _score(sheet: Sheet, cell: Cell, place: int) -> float | None:
    """How much a cell of the head looks like the seller's name, None when it cannot be one."""
    text = cell.text
    if not heads.named_like(text) or near.is_label(text) or dates.find(text) or len(text) > 60:
        return None
    if labels.begins(text, "title_invoice", "credit", "buyer", "ship_to", "other_number", "invoice_date", "due_date"):
        return None
    if labels.begins(text, "column_description", "column_amount") and len(labels.compact(text)) < 16:
        return None
    if labels.alone(text, "title_elsewhere", "title_other", "title_receipt", "salutation") or heads.only_form(text):
        return None
    score = 1.2 * min(2.5, cell.height / sheet.height) + max(0.0, 1.2 - 0.1 * place)
    score += 2.5 if labels.find(text, "company_form") else 0.8 if labels.find(text, "trade") else 0.0
    name = labels.compact(heads.stripped(text))
    others = [other for other in sheet.on_page[cell.page] if other is not cell and _LETTERS.search(other.text)]
    score += 2.5 * any(_holds(other.text, name) for other in others)
    word = labels.compact(re.split(r"\W", text.strip())[0])
    if len(word) > 3 and any(_web(other.text) and word in labels.compact(other.text) for other in others):
        score += 1.0
    if _address_like(text):
        score -= 3
    if (
        text.rstrip().endswith((".", "!", "?"))
        and len(text.split()) > 3
        and not labels.find(text, "company_form", "trade")
    ):
        score -= 2  # a sentence
    return score


def _holds(text: str, name: str) -> bool:
    """Whether a text has a name in it, and not a longer word that begins or ends with it."""
    if name not in labels.compact(text):
        return False
    words = [labels.compact(word) for word in re.split(r"[^\w]+|_", text)]
    runs = ("".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1))
    return any(run == name for run in runs)


def _is_city(text: str) -> bool:
    plain = repair.unmarked(text)  # OCR sees marks on letters that have none
    return bool(heads.POSTCODE.search(plain) or _CITY.search(plain))


def _web(text: str) -> bool:
    return "@" in text or "www." in text.lower() or bool(re.search(r"\.[a-z]{2,3}\b", text))


def _address_like(text: str) -> bool:
    return bool(heads.POSTCODE.search(text)) or (
        bool(re.search(r"\d", text)) and bool(labels.find(text, "address") or re.search(r"\d{4,}|\d+[a-z]?$", text))
    )


def _foot(sheet: Sheet) -> Value | None:
    """The name at the beginning of a page's foot: ``Name · Street 1 · City``, ``Name SAS au capital de …``."""
    for cell in reversed(sheet.cells):
        parts = _FOOT.split(cell.text)
        if len(parts) > 1 and _name(parts[0]):
            return Value(heads.stripped(parts[0]), (cell,), 0.75, seen=cell.text)
    for cell in sheet.cells:
        match = labels.find(cell.text, "company_form")
        if match and 0 < match.start() < 40 and heads.named_like(cell.text):
            return Value(heads.stripped(cell.text[: match.end()]), (cell,), 0.55, seen=cell.text)
    return None
