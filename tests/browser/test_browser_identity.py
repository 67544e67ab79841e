"""Who the browser says it is, on the wire and to scripts; the headless brand shows nowhere."""

from __future__ import annotations

import json

import pytest

from fetchworker.browser import ClientHints, ContextSpec
from fetchworker.browser.identity import languages_of, locale_of, overrides
from fetchworker.download.profiles import get_profile, profile_names

from .conftest import answer

WINDOWS = get_profile("chrome")
HINTS = ClientHints(WINDOWS.sec_ch_ua, WINDOWS.sec_ch_ua_mobile, WINDOWS.sec_ch_ua_platform)

TELL = """
const tell = name => fetch('/told?' + name, {method: 'POST', body: JSON.stringify({
  agent: navigator.userAgent, brands: navigator.userAgentData && navigator.userAgentData.brands.map(b => b.brand),
  platform: navigator.platform, languages: navigator.languages, driven: navigator.webdriver,
  number: (1234.5).toLocaleString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone})});
"""


def test_every_chromium_profile_is_told_whole():
    for name in profile_names():
        profile = get_profile(name)
        if profile.family != "chromium":
            continue
        hints = ClientHints(profile.sec_ch_ua, profile.sec_ch_ua_mobile, profile.sec_ch_ua_platform)
        said = overrides(ContextSpec(user_agent=profile.user_agent, hints=hints), 156)
        brands = said["userAgentMetadata"]["brands"]
        written = ", ".join(f'"{brand["brand"]}";v="{brand["version"]}"' for brand in brands)
        assert written == profile.sec_ch_ua, name
        assert profile.version in {brand["version"] for brand in brands}, name
        assert said["userAgentMetadata"]["mobile"] is ("Mobile" in profile.user_agent), name


def test_without_a_profile_it_is_a_chrome_with_a_window():
    said = overrides(ContextSpec(), 156)
    assert "Headless" not in json.dumps(said)
    assert "Chrome/156.0.0.0" in said["userAgent"]
    assert said["userAgentMetadata"]["platform"] == "Linux"


def test_languages():
    spec = ContextSpec(accept_language="de-DE,de;q=0.9,*;q=0.1")
    assert (languages_of(spec), locale_of(spec)) == (["de-DE", "de"], "de-DE")
    assert (languages_of(ContextSpec(locale="fr-FR")), locale_of(ContextSpec())) == (["fr-FR"], "")


@pytest.mark.browser
@pytest.mark.slow
async def test_the_page_its_frames_and_its_workers_agree(engine, within_spec, site):
    site.pages |= {
        "/": f"<script>{TELL} tell('page'); new Worker('/worker.js'); open('/popup')</script>"
        f"<iframe src='{site.url('/frame', 'other.example')}'></iframe><img src=/img>".encode(),
        "/frame": f"<script>{TELL} tell('frame')</script>".encode(),
    }

    async def worker(writer, asked):
        writer.write(answer(f"{TELL} tell('worker')".encode(), kind="text/javascript"))

    site.pages["/worker.js"] = worker
    spec = within_spec(
        user_agent=WINDOWS.user_agent, hints=HINTS, accept_language="de-DE,de;q=0.9,en;q=0.8", timezone="Asia/Tokyo"
    )

    async def visit(context):
        async with context.page() as page:
            await page.goto(site.url(host="app.localhost"))
            while len(site.to("/told")) < 3:
                site.came.clear()
                await site.came.wait()

    await engine.run(spec, visit)
    told = {asked.path.partition("?")[2]: json.loads(asked.body) for asked in site.to("/told")}
    assert told.keys() == {"page", "frame", "worker"}
    for name, said in told.items():
        assert said["agent"] == WINDOWS.user_agent, name
        assert said["zone"] == "Asia/Tokyo", name
        assert said.get("driven", False) is False, name
        brands = ["Chromium", "Not?A_Brand", "Google Chrome"]
        assert said.get("brands") == (None if name == "frame" else brands), name  # the frame is plain http
    for name in ("page", "frame"):
        assert told[name]["platform"] == "Win32"
        assert told[name]["languages"] == ["de-DE", "de", "en"]
        assert told[name]["number"] == "1.234,5"
    for asked in site.asked:
        assert asked["user-agent"] == WINDOWS.user_agent, asked.path
        assert asked["pragma"] is None, "a browser does not ask past caches by itself"
        assert asked["accept-language"] == "de-DE,de;q=0.9,en;q=0.8", asked.path
        assert asked["sec-ch-ua"] in (None, WINDOWS.sec_ch_ua), asked.path
    assert site.to("/")[0]["sec-ch-ua"] == site.to("/img")[0]["sec-ch-ua"] == WINDOWS.sec_ch_ua
    assert not site.to("/popup"), "windows that nobody asked for are not opened"
    assert not site.to("/sw.js")
