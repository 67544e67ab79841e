from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.spiders.instagram import tokens

EQMC = (
    '<script id="__eqmc" type="application/json" nonce="n">{"u":"\\/ajax\\/qm\\/?__a=1&__comet_req=7&jazoest=2963",'
    '"e":"745414777","s":"XPolarisProfileController","l":"AdTok_en-1"}</script>'
)
SITE_DATA = (
    '["SiteData",[],{"server_revision":1,"client_revision":1019097561,"haste_session":"20087.HYP:instagram_web_pkg.2",'
    '"hsi":"7454147","__spin_r":1019097561,"__spin_b":"trunk","__spin_t":1735554024},317]'
)


def extract(text: str, **headers: list[str]) -> dict[str, str]:
    return tokens.extract(
        Page(None, 200, {key.replace("_", "-"): value for key, value in headers.items()}, text.encode())
    )


def test_tokens_of_a_page():
    page = '<script>["LSD", [], { "token": "AdTok_en-2" }, 323],' + SITE_DATA
    page += '["X",{"X-IG-App-ID": "936619743392459"}],{ "csrf_token": "pageCsrf" }</script>'
    assert extract(page) == {
        "lsd": "AdTok_en-2",
        "jazoest": tokens.jazoest("AdTok_en-2"),
        "csrf": "pageCsrf",
        "app_id": "936619743392459",
        "client_revision": "1019097561",
        "haste_session": "20087.HYP:instagram_web_pkg.2",
        "hsi": "7454147",
        "spin_r": "1019097561",
        "spin_b": "trunk",
        "spin_t": "1735554024",
    }


def test_the_short_block():
    found = extract(EQMC)
    assert found == {"lsd": "AdTok_en-1", "hsi": "745414777", "jazoest": tokens.jazoest("AdTok_en-1")}
    assert extract(EQMC.replace(',"l":"AdTok_en-1"', "")) == {"hsi": "745414777", "jazoest": "2963"}
    assert extract('<script id="__eqmc">{"u":}</script>') == {}


def test_the_cookie_is_the_csrf_token():
    found = extract('{"csrf_token":"page"}', set_cookie=["mid=1; Path=/", "csrftoken=cookie-1; Domain=.instagram.com"])
    assert found == {"csrf": "cookie-1"}


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60))
def test_jazoest_is_two_and_the_sum_of_codes(lsd):
    value = tokens.jazoest(lsd)
    assert value[0] == "2"
    assert int(value[1:]) == sum(lsd.encode())


def test_ids_of_preloaded_queries():
    entries = [
        {"actorID": "0", "preloaderID": "adp_PolarisPostsQueryRelayPreloader_6aa", "queryID": "27553725110923321"},
        {"queryID": "27981003384861049", "variables": {"deep": {"a": [1]}}, "queryName": "PolarisRootQuery"},
        {"variables": {"id": "5"}, "queryID": "11111111111111111", "preloaderID": "adp_LateQueryRelayPreloader_0"},
        {"queryID": "22222222222222222", "preloaderID": "1261139290936870337"},
    ]  # fmt: skip
    page = (
        f"<script data-sjs>{json.dumps({'require': [['RelayPreloader', 'init', None, [entries]]]}, indent=1)}</script>"
    )
    assert extract(page) == {
        "doc:PolarisPostsQuery": "27553725110923321",
        "doc:PolarisRootQuery": "27981003384861049",
        "doc:LateQuery": "11111111111111111",
    }


def test_ids_in_script_bundles():
    module = '__d("{}_instagramRelayOperation",[],(function(a,b,c,d,e,f){{{}exports = "{}"}}),null);'
    script = module.format("PolarisPostQuery", '"use strict";e.', "27130156389949648")
    script += module.format("Other", "f.", "28036671149327607") + '__d("NoId_instagramRelayOperation",[],null);'
    assert extract(script) == {"doc:PolarisPostQuery": "27130156389949648", "doc:Other": "28036671149327607"}


MARKS = [
    EQMC, SITE_DATA, '"LSD",[],{"token":"', '"queryID":"12345"', '{"queryID":"1234567"', "{" * 50, "}",
    '"csrf_token":"a"', '__d("Q_instagramRelayOperation"', 'exports="1', '"preloaderID":"adp_X',
]  # fmt: skip


@given(st.lists(st.sampled_from(MARKS) | st.text(max_size=8), max_size=12))
def test_anything_is_read_without_failing(parts):
    assert all(isinstance(value, str) for value in extract("".join(parts)).values())


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_failing(body):
    tokens.extract(Page(None, None, {}, body))


@pytest.mark.parametrize("mark", ['{"queryID":"1234567",', '<script id="__eqmc"', '__d("Q_instagramRelayOperation"'])
def test_hostile_pages_stay_cheap(mark):
    assert extract(mark * 20_000) == {}
