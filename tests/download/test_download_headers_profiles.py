"""The profiles and the file they stand in."""

from __future__ import annotations

import subprocess
import sys

import pytest
from curl_cffi import Curl
from curl_cffi.requests.impersonate import REAL_TARGET_MAP

from fetchworker.download.profiles import get_profile, profile_names
from fetchworker.errors import ConfigError

KINDS = ("navigate", "xhr", "image", "script")


def test_chrome_is_the_newest_of_the_installed_curl_cffi():
    assert get_profile("chrome").name == REAL_TARGET_MAP["chrome"] == "chrome152"
    assert get_profile("firefox").name == REAL_TARGET_MAP["firefox"]
    assert get_profile("safari").name == REAL_TARGET_MAP["safari"]


def test_a_profile_is_made_once():
    assert get_profile("chrome") is get_profile("chrome152")


def test_an_unknown_name_is_refused_with_close_ones():
    with pytest.raises(ConfigError, match="'chrome1522'; near it: chrome152"):
        get_profile("chrome1522")
    with pytest.raises(ConfigError, match="near it: chrome, firefox, safari"):
        get_profile("zzz")


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_is_whole(name):
    profile = get_profile(name)
    assert Curl().impersonate(profile.curl_target, default_headers=False) == 0
    assert profile.version.split(".")[0] in profile.user_agent
    assert (profile.sec_ch_ua is None) == (profile.family != "chromium")
    if profile.sec_ch_ua:
        assert f'v="{profile.version}"' in profile.sec_ch_ua
        assert (profile.sec_ch_ua_mobile == "?1") == ("Mobile" in profile.user_agent)
    for kind in KINDS:
        order = profile.templates[kind].order
        assert len(order) == len(set(order))
        assert {"connection", "user-agent", "accept", "cookie", "referer", "sec-fetch-site"} <= {
            *order,
            *_blinks(order),
        }


def _blinks(order):
    return {"user-agent"} if "<blink>" in order else set()


def test_weights():
    chrome, firefox, safari = get_profile("chrome"), get_profile("firefox"), get_profile("safari")
    assert [chrome.weight(kind) for kind in KINDS] == [256, 220, 183, 147]
    assert [firefox.weight(kind) for kind in KINDS] == [42, 22, 14, 22]
    assert [safari.weight(kind) for kind in KINDS] == [None] * 4


def test_importing_reads_neither_the_file_nor_the_suffix_list():
    code = (
        "import sys; from fetchworker.download import profiles, headers; "
        "assert profiles._data.cache_info().currsize == 0; assert 'tldextract' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
