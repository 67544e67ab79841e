"""Pages from files through the same rules and parsers as crawls use (``scrapy parse-file``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ArgumentError, ConfigError, ContractError, ItemInvalidError, OutcomeError
from fetchworker.items import validate, without_contact
from fetchworker.outcomes import Outcome, classify
from fetchworker.sites import SiteConfig
from fetchworker.spiders.base import SiteSpider

if TYPE_CHECKING:
    from pathlib import Path

    from fetchworker.spiders.operation import Operation

#: a manifest's word for "classify only"
ANY_SITE = "any"

#: bytes; the answer of a crawl would have been given up beyond it, and each operation would read it anew
LARGEST: int = SiteConfig.model_fields["max_bytes"].default

Spiders = Mapping[str, type[SiteSpider]]


@dataclass(frozen=True, slots=True)
class Row:
    """One file to look at. ``headers`` names are lower-case; what is not known is None or empty."""

    file: str
    site: str
    operation: str | None = None
    status: int | None = None
    url: str | None = None
    headers: Mapping[str, tuple[str, ...]] | None = None


class BadRowError(Exception):
    """A line of a manifest that is no row; ``file`` is what it names, where it does."""

    def __init__(self, file: Any, message: str) -> None:
        super().__init__(message)
        self.file = file if isinstance(file, str) else None
        self.message = message


def parse_row(row: Row, body: bytes, spiders: Spiders, *, classify_only: bool = False) -> dict[str, Any]:
    """Classify a body and parse it when it is ``ok``.

    Returns:
        ``{file, outcome, vendor, evidence, items, error}``.
    """
    page = Page(url=row.url, status=row.status, headers=row.headers or {}, body=body)
    site = None if row.site == ANY_SITE else row.site
    verdict = classify(page, site=site, request_url=row.url)
    answer: dict[str, Any] = {
        "file": row.file,
        "outcome": verdict.outcome.value,
        "vendor": verdict.vendor,
        "evidence": list(verdict.evidence),
        "items": [],
        "error": None,
    }
    if site is None:
        return answer
    if site not in spiders:
        return answer | {"error": "unknown site"}
    if len(body) > LARGEST:
        return answer | {"error": f"body: {len(body)} bytes; crawls give up beyond {LARGEST} (`max_bytes`)"}
    if verdict.outcome is Outcome.OK and not classify_only:
        try:
            answer["items"] = list(_items(row, page, spiders[site]))
        except OutcomeError as exc:  # what only a parser can tell, such as a shell without data
            answer |= {"outcome": exc.outcome, "error": exc.message}
        except (ArgumentError, ContractError, ItemInvalidError) as exc:
            answer["error"] = exc.message
        except Exception as exc:  # noqa: BLE001  # a parser's bug is this page's answer, not the end of the others
            answer |= {"outcome": Outcome.ERROR.value, "error": f"the parser failed: {type(exc).__name__}: {exc}"}
    return answer


def _items(row: Row, page: Page, spider: type[SiteSpider]) -> Iterator[dict[str, Any]]:
    operation, parsed = _parsed(row, page, spider)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for place, draft in enumerate(parsed.items):
        stamp = {"item_id": f"file-{place}", "site": spider.name, "operation": operation.name, "fetched_at": now}
        draft.__dict__.update(stamp)
        if draft.__dict__.get("url") is None:
            draft.__dict__["url"] = row.url
        yield without_contact(validate(draft)).model_dump(mode="json")


def _parsed(row: Row, page: Page, spider: type[SiteSpider]) -> tuple[Operation, Parsed]:
    failed: list[str] = []
    for operation in _candidates(row, spider):
        call = Call(operation.name, operation.params.model_construct())
        try:
            return operation, operation.read(page, call)
        except ContractError as exc:
            failed.append(f"{operation.name}: {exc.message}")
    raise ContractError("operation", "; ".join(failed) or f"{spider.name} has no operations")


def _candidates(row: Row, spider: type[SiteSpider]) -> list[Operation]:
    """The operation that the row names, or that its address does; else all, in their order."""
    if row.operation is not None:
        if row.operation not in spider.operations:
            raise ArgumentError(
                f"{spider.name} has no operation {row.operation!r}; it has: {', '.join(spider.operations)}"
            )
        return [spider.operations[row.operation]]
    named = [op for op in spider.operations.values() if row.url and any(p.match(row.url) for p in op.patterns)]
    return named or list(spider.operations.values())


def run_manifest(path: Path, spiders: Spiders, malformed: list[int]) -> Iterator[dict[str, Any]]:
    """One answer per row of a manifest; paths are relative to it.

    A row without an operation is classified only. A line that is no row has an answer too, whose ``error`` names it;
    its number is added to ``malformed``.

    Raises:
        ConfigError: the manifest cannot be read.
    """
    for number, line in _manifest_lines(path):
        try:
            row = _row(line)
        except BadRowError as exc:
            malformed.append(number)
            yield {**_unread(exc.file), "error": f"line {number}: {exc.message}"}
            continue
        try:
            body = (path.parent / row.file).read_bytes()
        except (OSError, ValueError) as exc:
            reason = getattr(exc, "strerror", None) or exc
            yield {**_unread(row.file), "error": f"line {number}: cannot read {row.file}: {reason}"}
            continue
        yield parse_row(row, body, spiders, classify_only=row.operation is None)


def _unread(file: str | None) -> dict[str, Any]:
    return {"file": file, "outcome": None, "vendor": None, "evidence": [], "items": []}


def _manifest_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as exc:
        raise ConfigError(f"cannot read the manifest {path}: {exc.strerror}") from exc
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line


def _row(line: bytes) -> Row:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        raise BadRowError(None, f"no JSON: {exc}") from None
    file = value.get("file") if isinstance(value, dict) else None
    if not isinstance(file, str) or not isinstance(value.get("site"), str):
        raise BadRowError(file, "an object with the texts `file` and `site` is expected")
    for key, kind, told in _OPTIONAL:
        if not isinstance(value.get(key), kind | None):
            raise BadRowError(file, f"{key}: {told} is expected")
    try:
        headers = header_map(_header_pairs(value.get("headers")))
    except (TypeError, ValueError, AttributeError):
        raise BadRowError(file, "headers: an object of texts or lists, or a list of pairs is expected") from None
    return Row(file, value["site"], value.get("operation"), value.get("status"), value.get("url"), headers)


#: keys of a row that may be missing or null
_OPTIONAL: tuple[tuple[str, type, str], ...] = (
    ("operation", str, "a text"),
    ("status", int, "a number"),
    ("url", str, "a text"),
)


def _header_pairs(value: Any) -> Iterable[tuple[str, str]]:
    """Headers as a mapping of texts or lists, or as a list of pairs."""
    if isinstance(value, Mapping):
        return [
            (name, text) for name, given in value.items() for text in ([given] if isinstance(given, str) else given)
        ]
    return [(name, text) for name, text in value or ()]


def header_map(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Header lines by lower-case name, in their order."""
    headers: dict[str, tuple[str, ...]] = {}
    for name, text in pairs:
        headers[name.lower()] = (*headers.get(name.lower(), ()), str(text))
    return headers
