"""Receipts: company, date, address, total, tax, currency, payment (pure)."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from fetchworker.documents.rules import country, dates, heads, labels, money, repair, taxes, totals
from fetchworker.documents.rules.currency import currency
from fetchworker.documents.rules.value import Value

if TYPE_CHECKING:
    from fetchworker.documents.rules.layout import Cell, Sheet
    from fetchworker.documents.rules.totals import Told

_TIME = re.compile(r"(?<!\d)\d{1,2}:\d\d(?!\d)|\d:\d\d:\d\d")
_STRONG = re.compile(r"grand|payable|due|incl|inc|final|gross|after|nett|sales|apayer|ttc|besar|keseluruhan|zuzahlen")
#: what tills call the whole, and invoices the part before tax
_NET = frozenset({"nettotal", "totalnet", "netamount"})
_CENTS = Decimal("0.05")
#: what is left of the confidence in a total that its parts contradict
_AGAINST = 0.7
_ALONE = ("paid_card_alone", "paid_other_alone")
#: the number of a card, most of it hidden
_MASKED = re.compile(r"[Xx*]{2,}")
_PAYMENTS = {"paid_cash": "cash", "paid_card": "card"}


@dataclass(slots=True)
class _Candidate:
    weight: float = 0.0
    proofs: int = 0
    told: list[Told] = field(default_factory=list)


def read(sheet: Sheet) -> dict[str, Value | None]:
    """The fields of a receipt."""
    mark = money.decimal_mark(cell.text for cell in sheet.cells)
    told = totals.told(sheet, mark)
    rows = heads.head(sheet)
    unit = currency(sheet)
    company, place = heads.company(rows)
    total = _total(sheet, told, mark)
    owner, where = _owner(sheet) or company, heads.address(rows, place)
    if any(cell.score < 1 for cell in sheet.cells):  # what a text layer says was not misread
        marked = _is_marked(sheet)
        owner = owner and replace(owner, text=repair.name(owner.text, marked=marked))
        where = where and replace(where, text=repair.address(where.text, marked=marked))
    return {
        "company": owner,
        "date": day(sheet),
        "address": where,
        "total": total,
        "tax": taxes.tax(told, totals.summaries(sheet, mark), total),
        "currency": unit,
        "payment": _payment(told, total) or _named_payment(sheet, told),
    }


def _is_marked(sheet: Sheet) -> bool:
    """Whether a document's language has letters with marks: by its words, or by its labels; Malay has none."""
    foreign = country.is_foreign(sheet) and "MY" not in country.countries(sheet)
    return foreign or repair.is_marked([cell.text for cell in sheet.cells])


def day(sheet: Sheet) -> Value | None:
    """The day of a sale: labelled, with a time beside it, or the one that stands there most often."""
    found: list[tuple[float, int, Cell, dates.Found]] = []
    every = [day for cell in sheet.cells for day in dates.find(cell.text)]
    first, proved = country.order(sheet, every)
    for number, row in enumerate(sheet.rows):
        for place, cell in enumerate(row.cells):
            for day_ in dates.find(cell.text):
                iso = day_.iso(day_first=first)
                if iso and "1990" < iso < "2100":
                    found.append((_date_score(row.cells, place, day_), -number, cell, day_))
    if not found:
        return None
    isos = [entry[3].iso(day_first=first) for entry in found]
    ranked = [
        (weight + 0.3 * isos.count(iso), row, iso, cell, day_)
        for (weight, row, cell, day_), iso in zip(found, isos, strict=True)
    ]
    score, _, iso, cell, day_ = max(ranked, key=lambda entry: entry[:2])
    rivals = len(set(isos))
    match = 0.97 if score >= 1 or rivals == 1 else 0.8
    match *= dates.UNPROVED if day_.ambiguous and not proved else 1.0
    return Value(iso or "", (cell,), match, seen=cell.text)


def _date_score(cells: tuple[Cell, ...], place: int, day_: dates.Found) -> float:
    cell = cells[place]
    before = " ".join(other.text for other in cells[:place]) + " " + cell.text[: day_.start]
    score = 0.0
    other = labels.find(before, "other_date")
    if other:
        score -= 3
    elif labels.find(before, "invoice_date", "date"):
        score += 1.5
    if _TIME.search(cell.text) or any(_TIME.search(beside.text) for beside in cells):
        score += 1
    return score


def _owner(sheet: Sheet) -> Value | None:
    """A company that a receipt's foot says it belongs to: ``OWNED BY``, ``SOLD BY``."""
    for number, row in enumerate(sheet.rows):
        match = labels.begins(row.text, "seller")
        if match is None or labels.compact(match[0]) not in {"ownedby", "soldby"}:
            continue
        rest = row.text[match.end() :].strip(" :.")
        following = sheet.rows[number + 1] if number + 1 < len(sheet.rows) else None
        if labels.find(rest, "company_form"):
            return Value(heads.stripped(rest), row.cells, 0.9, seen=row.text)
        if following is not None and not rest and labels.find(following.text, "company_form"):
            return Value(heads.stripped(following.text), following.cells, 0.9, seen=following.text)
    return None


def _total(sheet: Sheet, told: list[Told], mark: str) -> Value | None:
    """What had to be paid: labels vote, arithmetic votes more."""
    plain = [entry for entry in told if not entry.summary and (entry.value >= 0 or _is_refund(told))]
    totals_ = [entry for entry in plain if entry.role in {"total", "rounded"} and entry.money]
    if not totals_:
        totals_ = [entry for entry in totals.loose(sheet, mark, "total") if not entry.summary]
    if not totals_:  # a till without cents
        totals_ = [entry for entry in plain if entry.role in {"total", "rounded"} and entry.value >= 1]
    candidates: dict[Decimal, _Candidate] = defaultdict(_Candidate)
    last = max((entry.row for entry in totals_), default=0)
    for entry in totals_:
        _vote(
            candidates,
            entry,
            (1.2 + bool(_STRONG.search(entry.words)))
            + (0.2 if entry.row == last else 0)
            + 1.5 * (entry.role == "rounded"),
        )
    for entry in plain:
        if entry.role == "subtotal" and entry.money:
            _vote(candidates, entry, 1.2 if entry.words in _NET else 0.4)
    _paid(candidates, plain)
    _added(candidates, plain)
    _summed(candidates, told)
    _tipped(candidates, sheet, mark)
    if not candidates:
        return _largest(sheet, mark)
    value, best = max(candidates.items(), key=lambda pair: (pair[1].weight, pair[0]))
    entry = next((entry for entry in best.told if entry.role in {"total", "rounded"}), best.told[0])
    labelled = entry.role in {"total", "rounded"}
    match = (0.97 if best.proofs else 0.92) if labelled else (0.85 if best.proofs else 0.6)
    match *= _AGAINST if not best.proofs and _is_against(plain, value) else 1.0
    return Value(money.printed(value), entry.cells, match, 1.01 if best.proofs else 1.0, seen=entry.cell.text)


def _is_refund(told: list[Told]) -> bool:
    """Whether money went back: every total is negative."""
    whole = [entry.value for entry in told if entry.role in {"total", "rounded"} and entry.money and entry.value]
    return bool(whole) and all(value < 0 for value in whole)


def _is_against(plain: list[Told], total: Decimal) -> bool:
    """Whether subtotal and tax, where a receipt tells both, make another total, and so do they without the tax."""
    base = [entry.value for entry in plain if entry.role == "subtotal" and entry.money]
    tax = [entry.value for entry in plain if entry.role == "tax" and entry.money]
    sums = {one + other for one in base for other in (*tax, Decimal(0))}
    return bool(base and tax) and all(abs(value - total) > _CENTS for value in sums)


def _vote(candidates: dict[Decimal, _Candidate], entry: Told, weight: float) -> None:
    candidates[entry.value].weight += weight
    candidates[entry.value].told.append(entry)


def _prove(candidates: dict[Decimal, _Candidate], value: Decimal, weight: float) -> None:
    if value in candidates:
        candidates[value].weight += weight
        candidates[value].proofs += 1


def _paid(candidates: dict[Decimal, _Candidate], plain: list[Told]) -> None:
    """Cash less change is the total; a card pays the total."""
    given = [entry for entry in plain if entry.role in {"paid_cash", "paid_card", "paid_other", "paid"} and entry.money]
    change = [entry for entry in plain if entry.role == "change" and entry.money]
    proved = False
    for entry in given:
        for back in change:
            total = entry.value - back.value
            if proved or entry.value <= 0 or total <= 0 or entry.row > back.row:
                continue
            if total not in candidates:  # the total's own row was misread, or its label
                _vote(candidates, replace(entry, value=total), 0.5)
            _prove(candidates, total, 2.2)
            proved = True
    for entry in given:
        if entry.value in candidates and not proved and entry.value > 0:
            _prove(candidates, entry.value, 1.2)
            proved = True


def _added(candidates: dict[Decimal, _Candidate], plain: list[Told]) -> None:
    """Subtotal and tax, with rounding and discount or without, are the total."""
    subtotals = {entry.value for entry in plain if entry.role == "subtotal" and entry.money}
    taxes = {entry.value for entry in plain if entry.role == "tax" and entry.money} | {Decimal(0)}
    roundings = {sign * entry.value for entry in plain if entry.role == "rounding" for sign in (1, -1)} | {Decimal(0)}
    roundings = {value for value in roundings if abs(value) <= _CENTS}
    sums = {base + tax + part for base in subtotals for tax in taxes for part in roundings if tax}
    for value in list(candidates):
        if value in sums:
            _prove(candidates, value, 1.0)
        if any(part and value - part in candidates and candidates[value - part].weight > 0 for part in _signed(plain)):
            _prove(candidates, value, 1.0)


def _signed(plain: list[Told]) -> set[Decimal]:
    return {entry.value for entry in plain if entry.role == "rounding" and abs(entry.value) <= _CENTS}


def _summed(candidates: dict[Decimal, _Candidate], told: list[Told]) -> None:
    """A summary's net and tax are the total before rounding."""
    for entry in told:
        pair = entry.beside[-2:]
        if entry.summary and len(pair) == 2:  # net and tax
            for value in list(candidates):
                if value and abs(sum(pair) - value) <= _CENTS:
                    _prove(candidates, value, 0.8)
                    return


def _tipped(candidates: dict[Decimal, _Candidate], sheet: Sheet, mark: str) -> None:
    """A total and a tip are the total that was paid."""
    for row in sheet.rows:
        if labels.begins(row.text, "tip"):
            tips = [amount.value for cell in row.cells for amount in money.amounts(cell.text, mark) if amount.money]
            for value in [value for value in candidates if tips and tips[-1] > 0 and value - tips[-1] in candidates]:
                _prove(candidates, value, candidates[value - tips[-1]].weight)


def _largest(sheet: Sheet, mark: str) -> Value | None:
    """The largest amount with cents, where no label was read."""
    found = [
        (amount.value, cell)
        for cell in sheet.cells
        for amount in money.amounts(cell.text, mark)
        if amount.money and not labels.find(cell.text, "contact")
    ]
    if not found:
        return None
    value, cell = max(found, key=lambda pair: pair[0])
    return Value(money.printed(value), (cell,), 0.4, seen=cell.text)


def _payment(told: list[Told], total: Value | None) -> Value | None:
    """How it was paid: cash, card, or what else the row names."""
    after = min((entry.row for entry in told if entry.role in {"total", "rounded"}), default=0)
    paid = [entry for entry in told if not entry.summary and not (entry.row < after and _is_alone(entry.words))]
    for name in ("paid_card", "paid_cash", "paid_other"):
        for entry in paid:
            if entry.role == name:
                agreed = total is not None and money.printed(entry.value) == total.text
                match = 0.95 if agreed or name == "paid_cash" else 0.88
                return Value(_PAYMENTS.get(name) or entry.words, entry.cells, match, seen=entry.label.text)
    return None


def _named_payment(sheet: Sheet, told: list[Told]) -> Value | None:
    """How it was paid, where a row behind the total says so without an amount: ``VISA XXXX1182``, ``Paid by UPI``."""
    after = min((entry.row for entry in told if entry.role in {"total", "rounded"}), default=len(sheet.rows))
    for row in sheet.rows[after + 1 :]:
        for place, cell in enumerate(row.cells):
            opened = labels.begins(cell.text, "paid_by")
            text = cell.text[opened.end() :].strip(" :") if opened else cell.text
            beside = row.cells[place + 1 : place + 2] if opened and not text else ()
            way = _way(beside[0].text if beside else text, told=opened is not None)
            if way is not None:
                return Value(way, (cell, *beside), 0.88, seen=cell.text)
    return None


def _way(text: str, *, told: bool) -> str | None:
    """The way to pay that a text names, and nothing else unless it is told that it does."""
    kind = totals.role(text)
    if kind is None or kind[0] not in {*_PAYMENTS, "paid_other"}:
        return None
    more = any(char.isalpha() for char in _MASKED.sub("", text[kind[1] :]))
    begun = len(labels.compact(text[: kind[1]])) == len(kind[2])
    return (_PAYMENTS.get(kind[0]) or kind[2]) if begun and (told or not more) else None


def _is_alone(words: str) -> bool:
    """Whether a label means a payment only where payments stand: goods may be called so."""
    return any(words == labels.compact(word) for name in _ALONE for word in labels.words(name))
