"""Pages that broke their contract: what is kept of them, and what is not."""

from __future__ import annotations

import json

import pytest

from fetchworker.contracts import Page
from fetchworker.exports.drift import BODY_MAX, KEPT_ALIKE, KEPT_MAX, DriftRecords, presentable
from fetchworker.summary import drift, summary
from fetchworker.telemetry.redaction import forget_secrets, register_secret


@pytest.fixture
def registered():
    register_secret("proxy-password")
    yield
    forget_secrets()


def page(body: bytes = b"{}", **headers: str) -> Page:
    return Page(
        "https://shop.example/a", 200, {name.replace("_", "-"): [value] for name, value in headers.items()}, body
    )


def rows(folder) -> list[dict]:
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_bytes().splitlines()]


def test_a_row_is_what_a_manifest_needs(tmp_path):
    records = DriftRecords(tmp_path / "drift")
    sent = page(b"<html>", content_type="text/html", set_cookie="sid=1234567")
    kept = records.keep(sent, site="shop", operation="item", lacks="offer.price")
    assert kept == "drift/item-1.body"
    assert (tmp_path / kept).read_bytes() == b"<html>"
    assert rows(tmp_path / "drift") == [
        {
            "file": "item-1.body",
            "site": "shop",
            "operation": "item",
            "status": 200,
            "url": "https://shop.example/a",
            "headers": {"content-type": ["text/html"]},
            "cut": False,
            "lacks": "offer.price",
        }
    ]


def test_a_few_of_each_kind_are_enough(tmp_path):
    records = DriftRecords(tmp_path)
    kept = [records.keep(page(), site="shop", operation="item", lacks="price") for _ in range(KEPT_ALIKE + 2)]
    assert [bool(name) for name in kept] == [True] * KEPT_ALIKE + [False] * 2
    others = [records.keep(page(), site="shop", operation="item", lacks=f"field {n}") for n in range(KEPT_MAX)]
    assert sum(map(bool, others)) == KEPT_MAX - KEPT_ALIKE
    assert len(rows(tmp_path)) == KEPT_MAX


def test_secrets_and_addresses_are_masked_and_the_rest_is_still_json(registered):
    body = json.dumps({"token": "abc-DEF-123", "mail": "mira@kiln.example", "via": "proxy-password", "n": 1234567890})
    found = json.loads(presentable(body.encode(), ["abc-DEF-123", "n"]))
    assert found == {"token": "***", "mail": "***", "via": "***", "n": 1234567890}


def test_what_is_no_text_stays_as_it_is_and_what_is_long_is_cut(tmp_path):
    assert presentable(bytes(range(256))) == bytes(range(256))
    DriftRecords(tmp_path).keep(page(b"x" * (BODY_MAX + 5)), site="shop", operation="item", lacks="a")
    assert (tmp_path / "item-1.body").stat().st_size == BODY_MAX
    assert rows(tmp_path)[0]["cut"] is True


def test_the_report_names_operation_path_and_share():
    stats = {
        "fetchworker/parsed/shop/item": 6,
        "fetchworker/drift/shop/item/offers/0/price": 3,
        "fetchworker/drift/shop/item/(KeyError)": 1,
        "fetchworker/parsed/shop/search": 9,
    }
    assert drift(stats) == [
        "shop item: 1 of 10 pages (10%) lack (KeyError)",
        "shop item: 3 of 10 pages (30%) lack offers/0/price",
    ]


def test_the_report_says_how_pages_ended():
    stats = {"item_scraped_count": 5, "fetchworker/outcome/shop/ok": 2, "fetchworker/ended/shop/search/limit": 1}
    assert summary(stats) == "5 items; answers: ok 2; pages ended: search at the limit (1)"
