"""What is seen on a document's pages, and what was understood of it."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1 in pixels of the page as it was read (turned upright, deskewed); the origin is top left."""

Kind: TypeAlias = Literal["invoice", "receipt", "other"]
Wanted: TypeAlias = Literal["auto", "invoice", "receipt"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text layer."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text; `id` is unique in its document, `page` counts from 1, `score` is 1.0 for a text layer."""

    id: int
    page: int
    text: str
    score: float
    box: Box
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its size in pixels, its lines from top to bottom, and the thin boxes of ruled lines."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    source: Literal["text", "ocr"]
    rulings: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file: its pages, or the XML of an electronic invoice."""

    sha256: str
    pages: tuple[Page, ...]
    pages_total: int
    pages_read: int
    engine: str
    media_type: str
    xml: bytes | None = None
    xml_kind: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A value with the chance that it is right (0..1) and where it stands; `lines` are ids of `Line`."""

    value: str | None
    confidence: float
    page: int | None = None
    box: Box | None = None
    lines: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Field":
        """The field that :meth:`to_json` told."""
        box = tuple(told["box"]) if told["box"] else None
        return cls(told["value"], told["confidence"], told["page"], box, tuple(told["lines"]))

    def to_json(self) -> dict[str, Any]:
        """The field as JSON has it."""
        box = [round(edge, 1) for edge in self.box] if self.box else None
        confidence = round(self.confidence, 3)
        return {
            "value": self.value,
            "confidence": confidence,
            "page": self.page,
            "box": box,
            "lines": list(self.lines),
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """What a document says: dates are ISO, money is a decimal string, a value that is not printed is None."""

    kind: Kind
    kind_confidence: float
    fields: dict[str, Field] = field(default_factory=dict)
    line_items: list[dict[str, Field]] = field(default_factory=list)
    engine: str = ""
    note: str | None = None
    """What a reader should know: that rows were left out, or that a language model was to be asked and of no use."""

    def noted(self, note: str) -> "Reading":
        """The reading with one note more."""
        return replace(self, note=f"{self.note}; {note}" if self.note else note)

    def shortened(self, rows: int) -> "Reading":
        """The reading with so many rows of items at most, and a note of those that were left out."""
        if len(self.line_items) <= rows:
            return self
        told = f"{rows} of {len(self.line_items)} rows of items are told (FETCHWORKER_DOCUMENTS_ROWS)"
        return replace(self, line_items=self.line_items[:rows]).noted(told)

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Reading":
        """The reading that :meth:`to_json` told."""
        fields = {name: Field.from_json(found) for name, found in told["fields"].items()}
        rows = [{name: Field.from_json(cell) for name, cell in row.items()} for row in told["line_items"]]
        return cls(told["kind"], told["kind_confidence"], fields, rows, told["engine"], told.get("note"))

    def to_json(self, file: str | None = None, error: dict[str, Any] | None = None) -> dict[str, Any]:
        """The object that the command, the service and the pipeline give for one document."""
        return {
            "file": file,
            "kind": self.kind,
            "kind_confidence": round(self.kind_confidence, 3),
            "fields": {name: found.to_json() for name, found in self.fields.items()},
            "line_items": [{name: cell.to_json() for name, cell in row.items()} for row in self.line_items],
            "engine": self.engine,
            "error": error,
            **({"note": self.note} if self.note else {}),
        }
