"""Crawls whose documents are read: by the spider `document`, and of items that name or hold them."""

from __future__ import annotations

import base64
import hashlib
import json
import textwrap

import pytest

from tests.documents.conftest import INVOICE as ROWS
from tests.documents.conftest import _pdf
from tests.documents.modelserver import KEY, model_server

pytestmark = pytest.mark.slow
CDN = "https://cdn.example"
INVOICE = """<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>U-{number}</ID>
<IssueDate>2025-03-14</IssueDate><DocumentCurrencyCode>EUR</DocumentCurrencyCode>
<LegalMonetaryTotal><TaxInclusiveAmount>108.29</TaxInclusiveAmount></LegalMonetaryTotal></Invoice>"""
SPIDER = """
from fetchworker.items import Media, Post
from scrapy import Request, Spider

class Shop(Spider):
    name = "shop"
    start_urls = ["https://cdn.example/page"]

    def parse(self, response):
        yield Post.draft(
            item_id="1", site="shop", operation="post", url=response.url, fetched_at="2026-01-31T10:00:00Z",
            media=[Media.draft(type="document", url="https://cdn.example/media.xml")],
            extra={"document_urls": [f"https://cdn.example/{name}" for name in ("a.xml", "none.pdf", "page")],
                   "documents": [{"name": "own.xml", "body_base64": OWN}, "no base64!"]},
        )
"""


def invoice(number):
    return INVOICE.format(number=number).encode()


def number_of(told):
    return told["documents"][0]["fields"]["invoice_number"]["value"]


@pytest.fixture
def crawl(project, hosts):
    """Crawls in the test's own project: the items and the log."""
    project.use(hosts)

    def run(*arguments, code=0, **variables):
        project.env |= {f"FETCHWORKER_{name}": value for name, value in variables.items()}
        out = project.folder / "out.jsonl"
        done = project.scrapy(*arguments, "-O", str(out))
        assert done.returncode == code, done.stderr
        return project.lines("out.jsonl"), done.stderr

    return run


def test_the_spider_reads_an_address_and_a_database_remembers_it(crawl, hosts, project):
    url = hosts.picture(f"{CDN}/a.xml", invoice(1), kind="application/xml")
    (item,), log = crawl("crawl", "document", "-a", f"url={url}", STORE="true")
    assert (item["kind"], item["url"], item["error"], item["body_base64"]) == ("document", url, None, None)
    assert number_of(item) == "U-1"
    assert item["documents"][0]["kind"] == "invoice"
    assert item["bytes"] == len(invoice(1))
    assert "'fetchworker/documents/read': 1" in log
    other = hosts.picture(f"{CDN}/b.xml", invoice(1), kind="application/octet-stream")
    (again,), log = crawl("crawl", "document", "-a", f"url={other}")
    assert again["documents"] == item["documents"]
    assert "'fetchworker/documents/known': 1" in log
    assert "documents/read" not in log


def test_what_cannot_be_read_is_told_in_the_item(crawl, hosts):
    url = hosts.picture(f"{CDN}/a.pdf", b"just words", kind="application/pdf")
    (item,), log = crawl("crawl", "document", "-a", f"url={url}")
    assert item["documents"] == []
    assert item["error"]["reason"] == "not_a_document"
    assert (item["id"], item["bytes"]) == (hashlib.sha256(b"just words").hexdigest(), 10)
    assert "'fetchworker/documents/failed/not_a_document': 1" in log


def test_documents_that_items_name_or_hold_are_read(crawl, hosts, project, tmp_path):
    spider = tmp_path / "shop.py"
    own = base64.b64encode(invoice(7)).decode()
    spider.write_text(f"OWN = {own!r}\n" + textwrap.dedent(SPIDER))
    hosts.picture(f"{CDN}/page", b"<html>a page</html>", kind="text/html")
    hosts.picture(f"{CDN}/a.xml", invoice(2))
    hosts.picture(f"{CDN}/media.xml", invoice(3))
    (item,), _ = crawl("runspider", str(spider), DOCUMENTS="true")
    told = item["extra"]["document_readings"]
    assert [one.get("url") or one.get("name") for one in told] == [
        f"{CDN}/a.xml", f"{CDN}/none.pdf", f"{CDN}/page", f"{CDN}/media.xml", "own.xml", None,
    ]  # fmt: skip
    assert [number_of(told[place]) for place in (0, 3, 4)] == ["U-2", "U-3", "U-7"]
    assert [told[place]["error"] for place in (1, 2, 5)] == ["NOT_FOUND_UPSTREAM", "NOT_A_DOCUMENT", "NOT_A_DOCUMENT"]
    assert "documents" not in item["extra"], "the files themselves are not kept"
    (item,), _ = crawl("runspider", str(spider), DOCUMENTS="false")
    assert "document_readings" not in item["extra"]


def test_an_entry_that_is_no_address_is_told_and_not_lost(crawl, hosts, tmp_path):
    spider = tmp_path / "shop.py"
    entries = "[17, 'ftp://cdn.example/a.xml', 'https://cdn.example/a.xml']"
    source = textwrap.dedent(SPIDER).replace(
        '[f"https://cdn.example/{name}" for name in ("a.xml", "none.pdf", "page")]', entries
    )
    assert entries in source
    spider.write_text(f"OWN = ''\n{source}")
    hosts.picture(f"{CDN}/page", b"<html>a page</html>", kind="text/html")
    hosts.picture(f"{CDN}/a.xml", invoice(2))
    hosts.picture(f"{CDN}/media.xml", invoice(3))
    (item,), log = crawl("runspider", str(spider), DOCUMENTS="true")
    told = item["extra"]["document_readings"]
    wrong = [(one["url"], one["error"], one["message"]) for one in told if one.get("error") == "ARGUMENT_ERROR"]
    assert wrong == [
        (None, "ARGUMENT_ERROR", "an http or https address is wanted, not int"),
        ("ftp://cdn.example/a.xml", "ARGUMENT_ERROR", "an http or https address is wanted"),
    ]
    assert [number_of(one) for one in told if "documents" in one] == ["U-2", "U-3"]
    assert "'fetchworker/documents/failed/ARGUMENT_ERROR': 2" in log


def test_no_address_inside_is_fetched(crawl, hosts, project):
    project.env["FETCHWORKER_HOST_MAP"] = json.dumps({})
    items, _ = crawl("crawl", "document", "-a", "url=http://127.0.0.1:9/a.pdf", code=1)
    assert items == []
    assert project.records("failures")[0]["type"] == "EGRESS_DENIED"


def test_a_configured_language_model_has_its_part_and_its_failures_are_not_kept(crawl, hosts, project):
    url = hosts.picture(f"{CDN}/a.pdf", _pdf(ROWS), kind="application/pdf")
    arguments = ("crawl", "document", "-a", f"url={url}")
    with model_server() as server:
        project.env |= server.variables
        good, server.answers = server.answers, lambda _: (429, b"slow down")
        (alone,), log = crawl(*arguments, STORE="true")
        assert "'fetchworker/documents/llm/failed/status': 1" in log
        assert "status 429" in alone["documents"][0]["note"]
        server.answers = good
        (item,), log = crawl(*arguments)
        assert "'fetchworker/documents/llm/read': 1" in log
        assert item["documents"][0]["engine"].endswith("+llm")
        assert KEY not in log
        (again,), log = crawl(*arguments)
        assert again["documents"] == item["documents"]
        assert "'fetchworker/documents/known': 1" in log
    assert len(server.asked) == 2
    for name in server.variables:
        project.env.pop(name)
    (plain,), _ = crawl(*arguments)
    assert "+llm" not in plain["documents"][0]["engine"], "readings of a model are not taken for those of the rules"
