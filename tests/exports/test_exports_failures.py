"""The files of failures, rejected items and kept pages: for their owner alone, and a lost line is told."""

from __future__ import annotations

import json
import stat

import orjson
import pytest
from scrapy import Request

from fetchworker.contracts import Page
from fetchworker.exports.failures import CrawlRecords
from fetchworker.runtime.failures import failure_record


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_is_its_owners_alone(tmp_path):
    records = CrawlRecords(tmp_path / "crawls" / "c1", lost=pytest.fail)
    page = Page(200, "https://site.example/", {}, b"<html>")
    records.drift.keep(page, site="x", operation="o", lacks="y")
    records.failure({"url": "x"})
    records.reject({"reason": "y"})
    records.close()
    for path in records.folder.rglob("*"):
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path
    assert mode(records.folder) == 0o700


def test_a_folder_that_others_could_read_is_closed_to_them(tmp_path):
    folder = tmp_path / "c1"
    folder.mkdir(mode=0o755)
    records = CrawlRecords(folder, lost=pytest.fail)
    records.failure({"url": "x"})
    records.close()
    assert mode(folder) == 0o700


@pytest.mark.parametrize("place", ["/dev/full", "/proc/x"])
def test_a_line_that_is_not_written_is_told_and_not_counted(tmp_path, place):
    (tmp_path / "failures.jsonl").symlink_to(place)
    lost = []
    records = CrawlRecords(tmp_path, lost=lost.append)
    records.failure({"url": "x"})
    records.reject({"reason": "y"})
    records.close()
    assert len(lost) >= 1
    assert "failures.jsonl" in lost[0].message
    assert (records.failures, records.rejects) == (0, 1)


def test_a_crawl_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "crawls").write_text("in the way")
    lost = []
    CrawlRecords(tmp_path / "crawls" / "c1", lost=lost.append).failure({"url": "x"})
    assert "cannot write" in lost[0].message


@pytest.mark.parametrize("url", ["https://ann:word@site.example/a?b=c@d", "https://ann@site.example/a?b=c@d"])
def test_a_failure_line_holds_no_password_of_its_address(url):
    record = failure_record(Request(url), ValueError("no"), "x", downloaded=False)
    assert record["url"] == "https://***@site.example/a?b=c@d"
    assert b"word" not in orjson.dumps(record)


def test_an_at_sign_elsewhere_stays():
    record = failure_record(Request("https://site.example/@ann"), ValueError("no"), "x", downloaded=False)
    assert record["url"] == "https://site.example/@ann"


@pytest.mark.parametrize("odd", ["half a character \ud800", 1 << 80, {"\udcff": [object]}])
def test_a_failure_with_odd_values_has_its_line(tmp_path, odd):
    records = CrawlRecords(tmp_path, lost=pytest.fail)
    records.failure({"url": "x", "message": odd})
    records.close()
    [line] = records.failures_path.read_bytes().splitlines()
    assert json.loads(line)["url"] == "x"
    assert records.failures == 1
