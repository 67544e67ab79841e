"""Pages that take a script: a challenge that computes a cookie and reloads, and an application that fills its page in.

``/challenge/<name>`` answers 403 with a script until a request has the cookie that the script computes; then it is a
page (``/challenge/api/<name>``: JSON). ``/app/<name>`` is the shell of an application; its script asks
``/app/data/<name>`` for what it shows.
"""

from __future__ import annotations

import json
import secrets

from fetchworker.demo.model import Reply, RequestInfo

_HTML = ("content-type", "text/html; charset=utf-8")
_JSON = ("content-type", "application/json")
COOKIE = "cleared"
_BASE = 9973

_CHALLENGE = """<!doctype html><title>One moment</title><p>Your browser is being checked.</p><script>
const seed = %d;
let value = 7;
for (let step = 0; step < 1000; step++) value = (value * 31 + seed) %% 9973;
setTimeout(() => { document.cookie = `cleared=${seed}.${value}; path=/; secure`; location.reload(); }, 100);
</script>"""
_SHELL = """<!doctype html><title>Shop</title><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><script>
fetch("/app/data/%s").then((answer) => answer.json()).then((found) => {
  const made = document.createElement("h1");
  made.textContent = found.name + " " + "is one of many good things ".repeat(12);
  document.getElementById("root").append(made);
});
</script>"""


def challenge(request: RequestInfo, rest: str) -> Reply:
    """A page, or the challenge in its place; JSON where the path begins with ``api``."""
    if not _is_cleared(request.cookies().get(COOKIE, "")):
        page = _CHALLENGE % secrets.randbelow(_BASE)
        return Reply(403, (_HTML, ("x-amzn-waf-action", "challenge")), page.encode())
    if rest.startswith("api"):
        return Reply(200, (_JSON,), json.dumps({"name": rest.removeprefix("api/")}).encode())
    return Reply(200, (_HTML,), f"<!doctype html><title>{rest}</title><h1>{rest}</h1>".encode())


def app(_request: RequestInfo, rest: str) -> Reply:
    """The shell of an application, and the data that it shows."""
    if rest.startswith("data/"):
        return Reply(200, (_JSON,), json.dumps({"name": rest.removeprefix("data/")}).encode())
    return Reply(200, (_HTML,), (_SHELL % rest).encode())


def answer_to(seed: int) -> int:
    """What the script of the challenge computes."""
    value = 7
    for _ in range(1000):
        value = (value * 31 + seed) % _BASE
    return value


def _is_cleared(cookie: str) -> bool:
    seed, _, value = cookie.partition(".")
    return seed.isdecimal() and value == str(answer_to(int(seed)))
