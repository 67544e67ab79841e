"""Scrapy's own tests for download handlers, passed by ours: without a browser profile, and with one.

docs/download.md explains the lists.
"""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(170)]

#: what fails → how; nothing else may, and none of these may pass unseen
BAD_HEADER = "Header without colon (curl 8)"
FAILURES = {
    None: {
        "TestHttp::test_download_bad_header": BAD_HEADER,
        "TestHttps::test_download_bad_header": BAD_HEADER,
    },
    "chrome": {
        "TestHttp::test_download_bad_header": BAD_HEADER,
        # a browser sends headers of its own, and no Accept-Charset
        "TestHttp::test_server_receives_no_extra_headers": "Sec-Ch-Ua",
        "TestHttp::test_server_receives_correct_request_headers": "",
        "TestHttps::test_server_receives_no_extra_headers": "Sec-Ch-Ua",
        "TestHttps::test_server_receives_correct_request_headers": "",
        # the GOAWAY counts the request in: the answer is waited for (RFC 9113, 6.8)
        "TestHttps::test_download_goaway": "took longer than",
    },
}
#: these ask nothing of a handler in their process: it refuses to start, or works in a process of its own
UNASKED = {
    "TestHttps::test_keylog",
    "TestHttpsTLSVersion::test_invalid_max_version_setting",
    "TestHttpsTLSVersion::test_invalid_min_version_setting",
}


@pytest.fixture(params=FAILURES, ids=lambda profile: profile or "no profile")
def profile(request):
    return request.param


@pytest.fixture
def run(run_suite, profile):
    return run_suite(profile)


def test_only_what_is_listed_fails(run, profile):
    assert not run.having("error"), run.output
    failed = {name: case.message for name, case in run.having("failure").items()}
    assert failed.keys() == FAILURES[profile].keys(), run.output
    assert all(why in failed[name] for name, why in FAILURES[profile].items()), failed
    assert len(run.having("passed")) >= 230


def test_what_is_skipped_has_a_reason(run, profile, mitmdump):
    reasons = {case.message for name, case in run.having("skipped").items()}
    expected = {"Unable to test on HTTPS", "Only applies to HTTPS"}
    expected.add("the check is Twisted-specific: Scrapy's other handlers skip it too")
    expected |= {f"{what} specific to HTTP/2" for what in ("Streams are", "GOAWAY frames are", "Frames are")}
    if profile:
        expected |= {"Header lines are specific to HTTP/1.x", "Chunked encoding is specific to HTTP/1.1"}
        expected.add("On HTTP/2 this triggers a Content-Length mismatch error instead.")
    if mitmdump is None:
        expected.add("mitmdump is not available")
    assert reasons == expected


def test_every_request_came_from_our_handler(run):
    """No other handler stood in: each request the servers saw came from a connection of ours."""
    assert {case.name for case in run.cases if case.outcome == "passed" and not case.asked} == UNASKED
    assert not [line for line in run.log if line["port"] not in run.ports]
    direct = [case for case in run.cases if not case.proxied]
    assert 0 < sum(case.answered for case in direct) <= len(run.log) <= sum(case.asked for case in direct) + 1


def test_every_request_behind_proxies_was_ours(run, mitmdump):
    if mitmdump is None:
        pytest.skip("mitmproxy cannot be had")
    answered = sum(case.answered for case in run.cases if case.proxied)
    assert answered == len(run.proxied_log) > 0


def test_a_profile_speaks_http_2(run, profile):
    spoken = {line["protocol"] for line in run.log}
    assert spoken == ({"HTTP/1.1", "HTTP/2"} if profile else {"HTTP/1.1"})
