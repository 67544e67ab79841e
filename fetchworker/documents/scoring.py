"""What was read beside what is true: right fields by name, rows of items, and confidences that keep their word (pure).

Two measures for each field. ``exact`` is the one of SROIE (ICDAR 2019): equal when case, punctuation and spaces do not
count; days and amounts are compared as what they are. ``normalised`` also forgives accents and the letters and digits
that print alike (O and 0, l and 1, S and 5, B and 8). Fields that the truth does not know, or that are not printed, do
not count.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from fetchworker.documents.rules import dates, labels, money

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fetchworker.documents.model import Reading

#: other names of fields in the truth of an invoice
ALIASES = {"date": "invoice_date"}
DAYS = frozenset({"date", "invoice_date", "due_date"})
MONEY = frozenset({"total", "subtotal", "tax"})
_ALIKE = str.maketrans("0158", "oisb")
#: a field at or above this is given as sure
SURE = 0.9
_BINS = 10
_CENT = Decimal("0.005")


@dataclass(slots=True)
class Count:
    """How many there are, and how many of them are right by each measure."""

    fields: int = 0
    exact: int = 0
    normalised: int = 0

    def add(self, *, exact: bool, normalised: bool) -> None:
        self.fields += 1
        self.exact += exact
        self.normalised += normalised

    def to_json(self) -> dict[str, Any]:
        shares = {
            "exact_share": _share(self.exact, self.fields),
            "normalised_share": _share(self.normalised, self.fields),
        }
        return {"fields": self.fields, "exact": self.exact, "normalised": self.normalised, **shares}


@dataclass(slots=True)
class Report:
    """The score of a set of documents."""

    documents: int = 0
    failed: int = 0
    kinds: Count = field(default_factory=Count)
    #: by kind of the document and field's name
    fields: dict[tuple[str, str], Count] = field(default_factory=lambda: defaultdict(Count))
    rows: Count = field(default_factory=Count)
    #: confidence of each field that counts, and whether it is right
    told: list[tuple[float, bool]] = field(default_factory=list)
    #: what is wrong: document, field, truth, value
    wrong: list[tuple[str, str, str, str | None]] = field(default_factory=list)

    @property
    def all(self) -> Count:
        """All fields of all kinds."""
        found = self.fields.values()
        return Count(*(sum(getattr(count, name) for count in found) for name in ("fields", "exact", "normalised")))

    @property
    def sure(self) -> tuple[int, int]:
        """How many fields are given as sure, and how many of them are right."""
        right = [good for confidence, good in self.told if confidence >= SURE]
        return len(right), sum(right)

    def curve(self) -> list[tuple[float, float, int]]:
        """The calibration: for each tenth of confidence its mean, the share of right fields, and their number."""
        bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
        for confidence, good in self.told:
            bins[min(_BINS - 1, int(confidence * _BINS))].append((confidence, good))
        return [
            (sum(c for c, _ in found) / len(found), sum(good for _, good in found) / len(found), len(found))
            for _, found in sorted(bins.items())
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        sure, right = self.sure
        return {
            "documents": self.documents,
            "failed": self.failed,
            "kind": self.kinds.to_json(),
            "fields": {f"{kind}.{name}": count.to_json() for (kind, name), count in sorted(self.fields.items())},
            "all": self.all.to_json(),
            "line_items": self.rows.to_json(),
            "sure": {
                "fields": sure,
                "right": right,
                "share": _share(sure, len(self.told)),
                "precision": _share(right, sure),
            },
            "calibration": [
                {"confidence": round(mean, 3), "right": round(good, 3), "fields": count}
                for mean, good, count in self.curve()
            ],
            "wrong": [
                {"document": name, "field": key, "truth": truth, "value": value}
                for name, key, truth, value in self.wrong
            ],
        }


def score(pairs: Iterable[tuple[str, Reading | None, Mapping[str, Any]]]) -> Report:
    """The score of readings.

    Args:
        pairs: name, reading (None: the document could not be read, all its fields are wrong), and truth: ``kind``,
            ``fields`` (with ``line_items``) and ``not_printed`` as the files beside documents have them.
    """
    report = Report()
    for name, reading, truth in pairs:
        _add(report, name, reading, truth)
    return report


def same(name: str, truth: str, value: str | None) -> tuple[bool, bool]:
    """Whether a value is right: exactly, and with what prints alike forgiven."""
    if value is None:
        return False, False
    if name in DAYS:
        days = dates.find(truth)
        right = bool(days) and days[0].iso(day_first=True) == value
        return right, right
    if name in MONEY:
        one, other = amount(truth), amount(value)
        right = one is not None and other is not None and abs(one - other) < _CENT
        return right, right
    one_text, other_text = _bare(truth), _bare(value)
    alike = labels.compact(truth).translate(_ALIKE) == labels.compact(value).translate(_ALIKE)
    return one_text == other_text, alike


def _add(report: Report, name: str, reading: Reading | None, truth: Mapping[str, Any]) -> None:
    report.documents += 1
    report.failed += reading is None
    kind = str(truth.get("kind", "invoice"))
    right = reading is not None and reading.kind == kind
    report.kinds.add(exact=right, normalised=right)
    hidden = set(truth.get("not_printed") or ())
    for key, wanted in truth["fields"].items():
        if key == "line_items" or wanted is None or key in hidden:
            continue
        field_ = ALIASES.get(key, key) if kind == "invoice" else key
        told = reading.fields.get(field_) if reading else None
        value = told.value if told else None
        exact, alike = same(field_, str(wanted), value)
        report.fields[kind, field_].add(exact=exact, normalised=alike)
        report.told.append((told.confidence if told else 0.0, exact))
        if not exact:
            report.wrong.append((name, field_, str(wanted), value))
    _add_rows(report, reading, truth["fields"].get("line_items") or [])


def _add_rows(report: Report, reading: Reading | None, wanted: list[dict[str, Any]]) -> None:
    """Rows of items: exact with the description, normalised by their numbers alone."""
    rows = [{key: cell.value for key, cell in row.items()} for row in reading.line_items] if reading else []
    rest, loose = list(rows), list(rows)
    for row in wanted:
        exact = next((other for other in rest if _same_row(row, other, described=True)), None)
        alike = next((other for other in loose if _same_row(row, other, described=False)), None)
        if exact is not None:
            rest.remove(exact)
        if alike is not None:
            loose.remove(alike)
        report.rows.add(exact=exact is not None, normalised=alike is not None)


def _same_row(wanted: dict[str, Any], row: dict[str, str | None], *, described: bool) -> bool:
    for key in ("quantity", "unit_price", "amount"):
        one, other = wanted.get(key), row.get(key)
        if one is not None and (other is None or amount(str(one)) != amount(other)):
            return False
    return not described or _bare(str(wanted.get("description") or "")) == _bare(row.get("description") or "")


def amount(text: str) -> Decimal | None:
    """A truth's or a field's number, None where it is none."""
    try:
        return Decimal(text)
    except InvalidOperation:
        found = money.amounts(text)
        return found[0].value if found else None


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
