"""The same visits by a real Chromium and by the profile, on one server: what it sees must be the same."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from fetchworker.demo.chromium import Chromium, chromium_version, spki_of
from fetchworker.demo.hello import is_grease
from fetchworker.demo.model import Reply
from fetchworker.download.profiles import get_profile, profile_names

pytestmark = [pytest.mark.chromium, pytest.mark.slow]

HOSTS = ("lab.example", "other.example")
HERE, THERE = "https://lab.example", "https://other.example"
ICON = '<link rel=icon href="data:,">'
START = f"""<!doctype html>{ICON}<title>start</title><body><img src="/image"><script>
addEventListener('load', async () => {{
  document.cookie = 'b=2; path=/';
  const get = (url, options) => fetch(url, options).then(answer => answer.text()).catch(() => 0);
  const xhr = (method, url, body) => new Promise(done => {{
    const request = new XMLHttpRequest();
    request.onloadend = done;
    request.open(method, url);
    if (body) request.setRequestHeader('Content-Type', 'application/x-www-form-urlencoded');
    request.send(body);
  }});
  await get('/fetch');
  await get('/fetch-custom', {{headers: {{'X-App-Id': '9', 'X-Requested-With': 'XMLHttpRequest'}}}});
  await get('/fetch-post', {{method: 'POST', body: '{{"a":1}}', headers: {{'Content-Type': 'application/json'}}}});
  await get('/fetch-empty', {{method: 'POST'}});
  await get('{THERE}/fetch-cross', {{credentials: 'omit'}});
  await xhr('GET', '/xhr');
  await xhr('POST', '/xhr-post', 'a=1');
  await new Promise(done => {{
    const script = document.createElement('script');
    script.onload = script.onerror = done;
    script.src = '/script';
    document.body.append(script);
  }});
  location.href = '/second?x=1';
}});
</script>"""
SECOND = f"""<!doctype html>{ICON}<title>second</title><body>
<form method=post action="/form"><input name=a value=1></form>
<script>addEventListener('load', () => setTimeout(() => document.forms[0].submit()));</script>"""
PAGE, FORM = f"{HERE}/start", "application/x-www-form-urlencoded"
JSON = {"Content-Type": "application/json"}
CUSTOM = {"X-App-Id": "9", "X-Requested-With": "XMLHttpRequest"}
#: what Chromium 156.0.8078 (Debian, seen 2026-11-30) names in its Accept; no profile of that version is to be had yet
JXL = "image/jxl,"
#: what the profile's session does: path → how
VISITS = {
    f"{HERE}/start": {},
    f"{HERE}/image": {"kind": "image", "referer": PAGE},
    f"{HERE}/fetch": {"kind": "xhr", "referer": PAGE, "cookies": {"b": "2"}},
    f"{HERE}/fetch-custom": {"kind": "xhr", "referer": PAGE, "headers": CUSTOM},
    f"{HERE}/fetch-post": {"kind": "xhr", "referer": PAGE, "headers": JSON, "method": "POST", "body": b'{"a":1}'},
    f"{HERE}/fetch-empty": {"kind": "xhr", "referer": PAGE, "method": "POST"},
    f"{THERE}/fetch-cross": {"kind": "xhr", "referer": PAGE},
    f"{HERE}/xhr": {"kind": "xhr", "referer": PAGE},
    f"{HERE}/xhr-post": {
        "kind": "xhr", "referer": PAGE, "headers": {"Content-Type": FORM}, "method": "POST", "body": b"a=1",
    },
    f"{HERE}/script": {"kind": "script", "referer": PAGE},
    f"{HERE}/second?x=1": {"referer": PAGE},
    f"{HERE}/form": {
        "referer": f"{HERE}/second?x=1", "headers": {"Content-Type": FORM}, "method": "POST", "body": b"a=1",
    },
}  # fmt: skip


class Pages:
    """Serves the visits to both, and tells when the browser's last one has come."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def __call__(self, request):
        html = ("content-type", "text/html")
        if request.route == "/start":
            return Reply(200, (html, ("set-cookie", "a=1; Path=/")), START.encode())
        if request.route == "/second":
            return Reply(200, (html,), SECOND.encode())
        if request.route == "/form":
            self.ended.set()
        return Reply(200, (html, ("access-control-allow-origin", HERE)), b"<!doctype html>" + ICON.encode())


def normal(name: str, value: str) -> str:
    """A value without what is the version's, the system's and headless mode's own."""
    if name == "user-agent":
        return re.sub(r"\([^()]*\)", "(system)", re.sub(r"(Headless)?Chrome/\d+", "Chrome/N", value), count=1)
    if name == "accept":
        return value.replace(JXL, "")
    if name == "sec-ch-ua":
        assert '"Chromium"' in value
        return "brands"
    return '"system"' if name == "sec-ch-ua-platform" else value


def told(request) -> dict:
    headers = [(name, normal(name, value)) for name, value in request.headers]
    # a script has sent the browser there and submitted its form: a click of somebody would have said this
    headers = [pair for pair in headers if pair != ("sec-fetch-user", "?1") or request.route == "/start"]
    return {"headers": headers, "priority": request.priority, "http2": request.h2_fingerprint()}


def visits(log) -> dict:
    return {f"https://{request.host}{request.path}": told(request) for request in log.requests}


async def browse(program, server, pages) -> None:
    spki = await asyncio.to_thread(spki_of, server.port)
    server.log.clear()
    browser = Chromium(f"{HERE}/start", hosts=HOSTS, port=server.port, spki=spki, program=program)
    with browser:
        try:
            async with asyncio.timeout(40):
                await pages.ended.wait()
        except TimeoutError:
            pytest.fail(f"Chromium did not come to the last page: {browser.log()}")


async def act(site) -> None:
    for url, how in VISITS.items():
        options = {name: how[name] for name in ("headers", "method", "body", "cookies") if name in how}
        meta = {"fw_destination": how.get("kind", "navigate"), "fw_referer": how.get("referer")}
        await site.get(url, session="ann", meta=meta, **options)


def hello_of(log):
    return next(connection.hello for connection in log.connections if connection.hello and connection.requests)


def facts(hello) -> dict:
    """The facts of a hello whose order is fixed, and as a set what the browser shuffles."""

    def plain(values):
        return [value for value in values if not is_grease(value)]

    return {
        "ja4": hello.ja4,
        "ciphers": plain(hello.ciphers),
        "extensions": sorted(plain(hello.extensions)),
        "grease": [sum(map(is_grease, values)) for values in (hello.ciphers, hello.extensions, hello.groups)],
        "groups": plain(hello.groups),
        "key_shares": plain(hello.key_shares),
        "signatures": plain(hello.signatures),
        "alpn": list(hello.alpn),
    }


async def test_every_kind_of_request_is_chromiums_byte_for_byte(drive, chromium):
    pages = Pages()
    async with drive(pages, profile="chrome") as site:
        await browse(chromium, site.server, pages)
        theirs = visits(site.server.log)
        site.server.log.clear()
        await act(site)
        ours = visits(site.server.log)
    assert set(theirs) == set(ours) == set(VISITS)
    for url in VISITS:
        assert ours[url] == theirs[url], url
    assert json.dumps(ours).count('"cookie", "b=2"') > 5, "cookies were compared"


async def test_the_hello_is_that_of_the_profiles_version(drive, chromium):
    """The installed Chromium's, and the profile of its version (or the newest before it)."""
    version = await asyncio.to_thread(chromium_version, chromium)
    named = (get_profile(name) for name in profile_names() if re.fullmatch(r"chrome\d+", name))
    profile = max((p for p in named if int(p.version) <= version), key=lambda p: int(p.version))
    pages = Pages()
    async with drive(pages, profile=profile.name) as site:
        await browse(chromium, site.server, pages)
        theirs = facts(hello_of(site.server.log))
        site.server.log.clear()
        await site.get(f"{HERE}/start", session="ann")
        assert facts(hello_of(site.server.log)) == theirs
