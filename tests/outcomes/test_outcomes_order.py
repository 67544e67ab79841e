"""Which sign counts first, and that a page with its data is never a refusal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.errors import ConfigError
from fetchworker.outcomes import Outcome, classify
from fetchworker.outcomes._rules import arrange
from fetchworker.outcomes._steps import Step, step_of
from fetchworker.outcomes._view import View
from fetchworker.outcomes.signatures import load_rules, read_rules, read_signatures
from fetchworker.outcomes.taxonomy import REFUSALS

HEAD = "signatures:\n  - evidence: one\n    outcome: blocked\n    confidence: 0.95\n    when: "
EXPECTED = "expected:\n  - sites: [shop]\n    requested: /item/\n    when: {body: price-tag}\n"
CLOUDFLARE = b"<html><script>window._cf_chl_opt = {cvId: '3'};</script></html>"
BANNED = b"<html><script>var dd={'t':'bv','host':'geo.captcha-delivery.com'}</script></html>"
CAPTCHA = b'<html><div class="g-recaptcha"></div></html>'


def first(body: bytes, *, url=None, status=200, site=None, **headers) -> str | None:
    page = Page(url, status, {name.replace("_", "-"): [value] for name, value in headers.items()}, body)
    return next(iter(classify(page, site=site, request_url="https://shop.test/item/7").evidence), None)


class TestOrder:
    def test_where_the_request_ended_comes_before_what_stands_there(self):
        assert first(CLOUDFLARE, url="https://validate.perfdrive.com/x") == "radware_captcha"
        assert first(CLOUDFLARE) == "cloudflare_challenge"

    def test_a_vendors_header_comes_before_a_marker_that_is_surer(self):
        assert first(BANNED) == "datadome_banned"
        assert first(BANNED, cf_mitigated="challenge") == "cloudflare_mitigated"

    def test_where_the_request_ended_comes_before_a_header(self):
        wall = "https://validate.perfdrive.com/x"
        assert first(b"", url=wall, cf_mitigated="challenge") == "radware_captcha"

    def test_a_strong_marker_comes_before_weak_signs(self):
        both = CLOUDFLARE + CAPTCHA
        assert first(CAPTCHA, status=403) == "captcha_refusal"
        assert first(both, status=403, server="cloudflare") == "cloudflare_challenge"

    @pytest.mark.parametrize(
        ("when", "page", "step"),
        [
            ("{url: /blocked}", {"url": "https://a.test/blocked"}, Step.ADDRESS),
            ("{url: /blocked, requested: /item}", {"url": "https://a.test/blocked?/item"}, Step.ADDRESS),
            ("{status: 405, header: {x-waf: null}}", {"status": 405, "headers": {"x-waf": ["1"]}}, Step.ANSWER),
            ("{cookie: guard}", {"headers": {"set-cookie": ["guard=1"]}}, Step.ANSWER),
            ("{body: stop}", {}, Step.MARKER),
            ("{title: stop, size: {max: 99}}", {}, Step.MARKER),
            ("{status: 403, body: stop}", {"status": 403}, Step.MARKER),
            ("{any: [{body: stop}, {url: /blocked}]}", {"url": "https://a.test/blocked"}, Step.ADDRESS),
            ("{any: [{body: stop}, {url: /blocked}]}", {}, Step.MARKER),
            ("{body: stop, none: [{body: price}]}", {}, Step.MARKER),
        ],
    )
    def test_a_rule_speaks_at_the_step_of_what_made_it_hold(self, when, page, step):
        signature = read_signatures(HEAD + when, "x.yaml")[0]
        view = View(Page(page.get("url"), page.get("status", 200), page.get("headers", {}), b"<title>stop</title>"))
        assert signature.when.holds(view)
        assert step_of(signature, view) is step

    def test_a_weak_rule_speaks_last_whatever_it_looks_at(self):
        signature = read_signatures(HEAD.replace("0.95", "0.89") + "{url: /blocked}", "x.yaml")[0]
        assert step_of(signature, View(Page("https://a.test/blocked", 200, {}, b""))) is Step.PAGE


class TestData:
    def rules(self, when: str = "{data: missing}"):
        rules = read_rules(EXPECTED + HEAD + when, "x.yaml")
        return arrange(rules.signatures, rules.expected)

    @pytest.mark.parametrize(
        ("requested", "status", "body", "missing"),
        [
            ("https://shop.test/item/7", 200, b"<p>no</p>", True),
            ("https://shop.test/item/7", None, b"<p>no</p>", True),
            ("https://shop.test/item/7", 200, b'<p class="price-tag">', False),
            ("https://shop.test/item/7", 302, b"<p>no</p>", False),
            ("https://shop.test/item/7", 404, b"<p>no</p>", False),
            ("https://shop.test/help", 200, b"<p>no</p>", False),
            (None, 200, b"<p>no</p>", False),
        ],
    )
    def test_missing_is_what_a_page_that_ought_to_have_it_lacks(self, requested, status, body, missing):
        rules = self.rules()
        view = View(Page(None, status, {}, body), requested, rules.expected)
        assert bool(rules.matching(view)) is missing

    def test_a_site_that_says_nothing_misses_nothing(self):
        rules = arrange(read_signatures(HEAD + "{data: missing}", "x.yaml"))
        assert rules.matching(View(Page(None, 200, {}, b"<p>"), "https://shop.test/item/7", ())) == []

    def test_present_may_be_asked_for_too(self):
        rules = self.rules("{body: dialog, data: present}")
        for body, found in ((b"<p>dialog price-tag", True), (b"<p>dialog", False)):
            assert bool(rules.matching(View(Page(None, 200, {}, body), None, rules.expected))) is found

    @pytest.mark.parametrize(
        ("text", "key"),
        [
            (EXPECTED.replace("    when: {body: price-tag}\n", ""), "expected[0].when"),
            (EXPECTED.replace("sites: [shop]", "note: x"), "expected[0].sites"),
            (EXPECTED.replace("/item/", "'('"), "expected[0].requested"),
            (EXPECTED.replace("body:", "bodies:"), "expected[0].when.bodies"),
            (EXPECTED.replace("when", "if"), "expected[0].if"),
            ("expected: []\n" + HEAD + "{body: a}", "expected"),
            (HEAD + "{data: gone}", "signatures[0].when.data"),
            (HEAD + "{body: a}\n    soft_if: {bodies: b}", "signatures[0].soft_if.bodies"),
        ],
    )
    def test_a_broken_expectation_is_refused_with_its_key(self, text, key):
        with pytest.raises(ConfigError) as caught:
            read_rules(text, "shop.yaml")
        assert caught.value.context == {"file": "shop.yaml", "key": key}

    def test_a_sites_own_file_need_not_repeat_its_name(self):
        rules = read_rules("sites: [shop]\nexpected:\n  - when: {body: price-tag}\n", "shop.yaml")
        assert rules.signatures == ()
        assert rules.expected[0].sites == {"shop"}


MARKS = [
    CLOUDFLARE, BANNED, CAPTCHA, b'<div id="px-captcha"></div>', b"<script>window.KPSDK={}</script>/ips.js",
    b"<title>Access to this page has been denied</title>", b'<iframe src="/_Incapsula_Resource?incident_id=1">',
    b'"routePath":"\\/"', b'{"require_login":true,"message":"wait"}', b"<title>Login \xe2\x80\xa2 Instagram</title>",
]  # fmt: skip
DATA = {
    "instagram": b'{"data":{"user":{"edge_followed_by":{"count":3}}}}',
    "walmart": b'<script>{"initialData":{"data":{"product":{"usItemId":"1"}}}}</script>',
    "ebay": b'<li data-listingid="1">',
    "linktree": b'<script id="__NEXT_DATA__">{"account":{"id":1}}</script>',
}


@settings(max_examples=200)
@given(
    site=st.sampled_from(sorted(DATA)),
    before=st.lists(st.sampled_from(MARKS), max_size=4),
    after=st.lists(st.sampled_from(MARKS), max_size=4),
    status=st.sampled_from([None, 200, 202, 401, 403, 405, 429, 503, 999]),
    headers=st.dictionaries(
        st.sampled_from(["cf-mitigated", "x-datadome", "server"]), st.just(["challenge"]), max_size=2
    ),
    url=st.sampled_from([None, "https://x.test/accounts/login/", "https://x.test/blocked?url=1", "https://x.test/p/1"]),
)
def test_a_page_with_its_data_is_never_a_refusal(*, site, before, after, status, headers, url):
    body = b"<html>" + b"".join(before) + DATA[site] + b"".join(after)
    verdict = classify(Page(url, status, headers, body), site=site, request_url="https://x.test/p/1")
    assert verdict.outcome not in REFUSALS, verdict
    if verdict.soft:
        assert verdict.confidence < 1
        assert 0 < verdict.trust < 1


def test_what_is_no_refusal_stays_what_it_is_beside_data():
    body = b'{"errors":[{"code":1675002}],"data":{"user":{"edge_followed_by":{"count":3}}}}'
    assert classify(Page(None, 200, {}, body), site="instagram").outcome is Outcome.STALE_CONTRACT


def test_expectations_of_the_package_are_for_sites_that_exist_in_no_other_spelling():
    named = {site for expectation in load_rules().expected for site in expectation.sites}
    assert {"instagram", "ebay", "linktree", "walmart"} <= named
    assert all(site == site.lower() and site.replace("_", "").isalnum() for site in named)
