"""Links and forms that open windows: they lead where they say, in the page, and by the context's own name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fetchworker.browser import BrowserEngine, EngineOptions
from fetchworker.browser.program import find_program

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0"
LINKS = b"""<!doctype html><a id=blank href=/blank target=_blank><b>one</b></a>
<a id=named href=/named target=other>two</a>
<a id=plain href=/plain>three</a> <a id=framed href=/framed target=inner>four</a>
<form action=/form target=_blank><button id=form>five</button></form>
<button id=made onclick="const a = document.createElement('a'); a.href = '/made'; a.target = '_blank'; a.click()">six
</button><button id=sent onclick="document.forms[0].submit()">seven</button>
<iframe name=inner></iframe><script>
const unasked = document.createElement("a"); unasked.href = "/unasked"; unasked.target = "_blank"
document.body.append(unasked); unasked.click(); open("/opened")</script>"""


@pytest.fixture(params=["shell", "full"])
def program(request, shell):
    """The headless shell; and a Chromium with windows, where there is one."""
    found = shutil.which("chromium") if request.param == "full" else None
    return find_program(found) if found else shell


@pytest.fixture
async def engine(program, names, stack):
    engine = await BrowserEngine.of(EngineOptions(program=program, host_map=names))
    stack.push_async_callback(engine.release)
    return engine


async def test_links_that_open_windows_lead_there_in_the_page(engine, program, within_spec, site):
    site.pages["/"] = LINKS
    scripted = ["made", "sent"] if "headless" not in Path(program).name else []
    pages = ["blank", "named", "plain", "form", *scripted]

    async def work(context):
        async with context.page() as page:
            for name in pages:
                await page.goto(site.url("/"))
                await page.click(f"#{name}")
                await page.wait_for_url(f"**/{'form' if name == 'sent' else name}*")
            await page.goto(site.url("/"))
            await page.click("#plain", button="middle")
            await page.wait_for_url("**/plain")
            await page.goto(site.url("/"))
            async with page.expect_request("**/framed"):
                await page.click("#framed")
            assert page.url == site.url("/"), "a frame of that name is no window"
            assert await page.get_attribute("#blank", "target") == "_blank"
            return len(page.context.pages)

    assert await engine.run(within_spec(user_agent=AGENT), work) == 1
    assert not site.to("/unasked"), "what no user asked for is not opened"
    assert not site.to("/opened")
    assert {asked["user-agent"] for asked in site.asked} == {AGENT}
