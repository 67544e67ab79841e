"""What a status says by itself, Retry-After, and which verdict wins."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.outcomes import Outcome, classify
from fetchworker.outcomes._http import LONGEST_WAIT, parse_retry_after

HTML = b"<html><title>A page</title><p>text</p></html>"
MOMENTS = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=0)
)


def verdict(status, body=HTML, **headers):
    return classify(
        Page("https://www.example.test/a", status, {k.replace("_", "-"): [v] for k, v in headers.items()}, body)
    )


@pytest.mark.parametrize(
    ("status", "outcome", "evidence"),
    [
        (401, Outcome.BLOCKED, "http_401"),
        (403, Outcome.BLOCKED, "http_403"),
        (404, Outcome.NOT_FOUND, "http_404"),
        (407, Outcome.ERROR, "proxy_auth"),
        (408, Outcome.TRANSIENT, "http_408"),
        (410, Outcome.GONE, "http_410"),
        (418, Outcome.BLOCKED, "http_418"),
        (425, Outcome.TRANSIENT, "http_425"),
        (429, Outcome.RATE_LIMITED, "http_429"),
        (451, Outcome.BLOCKED, "http_451"),
        (999, Outcome.BLOCKED, "ip_reputation"),
        (500, Outcome.TRANSIENT, "http_500"),
        (520, Outcome.TRANSIENT, "http_520"),
        (400, Outcome.ERROR, "http_400"),
        (100, Outcome.ERROR, "http_100"),
        (777, Outcome.ERROR, "http_777"),
    ],
)
def test_status_alone(status, outcome, evidence):
    for body in (HTML, b"", b"\n", b'{"detail": "no"}'):
        got = verdict(status, body)
        assert (got.outcome, got.evidence, got.vendor) == (outcome, (evidence,), None)


@pytest.mark.parametrize("status", [200, 204, 206, 247, 301, 304, None])
def test_other_statuses_are_ok(status):
    assert verdict(status).outcome is Outcome.OK


def test_a_body_without_its_status_is_a_less_sure_ok():
    assert verdict(None).confidence < verdict(200).confidence


def test_a_refusing_status_is_no_sure_block():
    assert verdict(403).confidence <= 0.5


def test_a_strong_signature_beats_the_status():
    got = verdict(429, b"", x_amzn_waf_action="captcha")
    assert got.outcome is Outcome.CHALLENGE


def test_a_sure_status_beats_a_weak_signature():
    captcha = b'<html><div class="h-captcha"></div></html>'
    assert verdict(200, captcha).evidence == ("captcha_page",)
    assert verdict(404, captcha).outcome is Outcome.NOT_FOUND


def test_evidence_lists_the_rules_that_agree():
    got = verdict(403, b"<script>window._pxUuid = '1'</script>", set_cookie="_pxhd=1")
    assert got.evidence == ("perimeterx_captcha", "perimeterx_refusal")


def test_retry_after_comes_with_the_verdict():
    assert verdict(429, retry_after="120").retry_after == 120.0
    assert verdict(503, retry_after="7").retry_after == 7.0


def test_retry_after_date_counts_from_the_response_date():
    got = verdict(429, retry_after="Fri, 02 Jan 2026 10:00:30 GMT", date="Fri, 02 Jan 2026 10:00:00 GMT")
    assert got.retry_after == 30.0


def test_retry_after_means_nothing_on_a_good_page():
    assert verdict(200, retry_after="120").retry_after is None


@given(st.integers(0, 10**9))
def test_retry_after_seconds(seconds):
    assert parse_retry_after(f" {seconds} ", now=0.0) == min(float(seconds), LONGEST_WAIT)


@given(MOMENTS, MOMENTS)
def test_retry_after_date(moment, now):
    wait = parse_retry_after(format_datetime(moment, usegmt=True), now=now.timestamp())
    assert wait == min(max(0.0, (moment - now).total_seconds()), LONGEST_WAIT)


@given(st.text() | st.from_regex(r"[0-9A-Za-z,:+. -]{0,40}", fullmatch=True))
def test_retry_after_of_anything_is_a_wait_or_none(value):
    wait = parse_retry_after(value, now=1_700_000_000.0)
    assert wait is None or 0.0 <= wait <= LONGEST_WAIT


@pytest.mark.parametrize("value", ["", "soon", "-5", "1e3", "nan", "inf", "٣", "Fri, 99 Jan 2026 10:00:00 GMT"])
def test_what_is_no_retry_after(value):
    assert parse_retry_after(value, now=0.0) is None
