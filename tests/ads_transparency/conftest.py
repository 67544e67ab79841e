"""Small answers in the forms of the site, with invented advertisers."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.ads_transparency.spider import AdsTransparencySpider

KILN = "AR10000000000000000001"
FIRST = "CR20000000000000000001"


class Site:
    """Builds answers and reads them with the site's parsers."""

    kiln, first = KILN, FIRST

    def call(self, operation: str, *, cursor=None, **values: Any) -> Call[Any]:
        model = AdsTransparencySpider.operations[operation].params
        return Call(operation, model(**values) if values else model.model_construct(), cursor)

    def parsed(self, operation: str, answer: Any, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        page = Page(None, 200, {"content-type": ["application/json"]}, body)
        found = AdsTransparencySpider.operations[operation].parse(page, self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "ads_transparency", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def advertiser(self, **more: Any) -> dict[str, Any]:
        """A suggestion of an advertiser."""
        return {"1": {"1": "Kiln House Ltd", "2": KILN, "3": "NO", "4": {"2": {"1": "200", "2": "300"}}, **more}}

    def picture(self, number: int = 77, size: str = 'height="250" width="300"') -> dict[str, Any]:
        return {"3": {"2": f'<img src="https://tpc.example/archive/simgad/{number}" {size}>'}, "5": True}

    def script(self, query: str = "") -> dict[str, Any]:
        return {"1": {"4": f"https://preview.example/content.js?client=x{query}&sig=s"}}

    def overlay(self, *entries: bytes) -> str:
        """The parameter that carries these entries of field 9."""
        message = b"".join(bytes([9 << 3 | 2, len(entry)]) + entry for entry in entries)
        packed = base64.urlsafe_b64encode(gzip.compress(message)).decode().rstrip("=")
        return f"&overlay=%3D{packed}"

    def words(self, name: str, value: str) -> bytes:
        parts = ((1, name.encode()), (2, value.encode()))
        return b"".join(bytes([number << 3 | 2, len(text)]) + text for number, text in parts)

    def row(self, **more: Any) -> dict[str, Any]:
        """An advertisement of a list."""
        return {
            "1": KILN, "2": FIRST, "3": self.picture(), "4": 1, "6": {"1": "1780000000", "2": 5},
            "7": {"1": "1780172800"}, "12": "Kiln House Ltd", "13": 3, **more,
        }  # fmt: skip

    def single(self, **more: Any) -> dict[str, Any]:
        """An advertisement by itself."""
        return {
            "1": {
                "1": KILN, "2": FIRST, "4": {"1": "1780172800"}, "5": [self.picture(), self.picture()], "8": 3,
                "17": [{"1": 2578, "5": 20260702}], "22": {"1": "Kiln House Ltd"}, **more,
            }
        }  # fmt: skip


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
