"""Every signature against the page it is for, and every vendor's mark on a good page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fetchworker.contracts import Page
from fetchworker.outcomes import Outcome, Verdict, classify
from fetchworker.outcomes.signatures import load_signatures
from fetchworker.outcomes.taxonomy import REFUSALS

PAGES = yaml.safe_load(Path(__file__).with_name("pages.yaml").read_text("utf-8"))
SIGNATURES = load_signatures()


def judge(case: dict[str, Any]) -> Verdict:
    body = case["latin1"].encode("latin-1") if "latin1" in case else case["body"].encode()
    page = Page(case.get("url"), case.get("status"), case.get("headers", {}), body)
    return classify(page, site=case.get("site"), request_url=case.get("requested"))


@pytest.mark.parametrize("case", PAGES["blocks"], ids=lambda case: case["evidence"])
def test_signature_decides(case):
    verdict = judge(case)
    assert verdict.evidence[:1] == (case["evidence"],)
    assert verdict.outcome == Outcome(case["outcome"])
    assert verdict.vendor == case.get("vendor")


def test_every_signature_has_a_page():
    assert {signature.evidence for signature in SIGNATURES} == {case["evidence"] for case in PAGES["blocks"]}


@pytest.mark.parametrize("case", PAGES["good"], ids=lambda case: case["name"])
def test_good_page_is_ok(case):
    verdict = judge(case)
    assert verdict.outcome is Outcome.OK, verdict
    assert verdict.evidence == ()


@pytest.mark.parametrize("case", PAGES["soft"], ids=lambda case: case["name"])
def test_a_refusal_beside_the_data_is_no_block(case):
    verdict = judge(case)
    assert (verdict.outcome, verdict.soft) == (Outcome.OK, True), verdict
    assert (verdict.evidence[0], verdict.vendor) == (case["evidence"], case.get("vendor"))
    assert verdict.confidence < 1
    assert 0 < verdict.trust < 1


@pytest.mark.parametrize("case", [case for case in PAGES["soft"] if "site" in case], ids=lambda case: case["name"])
def test_without_its_data_the_same_page_is_a_refusal(case):
    bare = case["body"].partition('{"initialData"')[0].replace("srp-results", "").replace("data-listingid", "")
    bare = bare.replace('"xig_user_by_username":{', '"none":{').replace("edge_followed_by", "none")
    assert judge({**case, "body": bare}).outcome in REFUSALS


@pytest.mark.parametrize("case", PAGES["blocks"], ids=lambda case: case["evidence"])
def test_site_rules_stay_with_their_site(case):
    signature = next(s for s in SIGNATURES if s.evidence == case["evidence"])
    if signature.sites is not None:
        assert case["evidence"] not in judge({**case, "site": "example"}).evidence


@pytest.mark.parametrize("case", [case for case in PAGES["blocks"] if case.get("body")], ids=lambda c: c["evidence"])
@pytest.mark.parametrize(
    ("before", "after"), [(b"\xef\xbb\xbf\r\n  ", b""), (b"", b"\n\xe9\xff")], ids=["bom", "old charset"]
)
def test_signature_decides_whatever_the_encoding(case, before, after):
    if case["body"].startswith(("{", "for")):
        after = b""  # JSON is UTF-8
    altered = {**case, "latin1": (before + case["body"].encode() + after).decode("latin-1")}
    assert judge(altered).evidence[:1] == (case["evidence"],)
