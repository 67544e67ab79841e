"""The demo plays Google's Ads Transparency Center: its three calls, with invented advertisers.

A search without key ``7`` answers ``{}``, as the site's does; one that is no JSON gets the site's error message. The
first call of each exit may be sent to the captcha, and one advertiser's to the consent page.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.demo.model import Reply, RequestInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.demo.log import Log

HOST = "adstransparency.google.com"
CHALLENGE = "challenge"
_JSON = ("content-type", "application/json; charset=utf-8")
_FIRST_DAY, _DAY = 1_780_000_000, 86_400
_PREVIEW = "https://displayads-formats.googleusercontent.com/ads/preview/content.js"
_PICTURES = "https://tpc.googlesyndication.com/archive/simgad"
_UNITED_STATES, _NORWAY = 2840, 2578


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays for ads; ``ads`` is how many there are, in turn text, pictures and films."""

    number: str
    name: str
    country: str
    domain: str
    ads: int


PAYERS = (
    Payer("AR10000000000000000001", "Kiln House Ltd", "NO", "kilnhouse.example", 95),
    Payer("AR10000000000000000002", "Kiln and Ash", "US", "kilnash.example", 3),
    Payer("AR10000000000000000003", "Night Garden GmbH", "DE", "nightgarden.example", 0),
)
#: an advertiser whose ads the visitor has to consent for
WALLED = "AR10000000000000000009"


class AdsTransparency:
    """The app.

    Args:
        challenge_exits: the first call of each exit is sent to the captcha.
        log: gets an event of type ``behaviour`` for each of them.
    """

    def __init__(self, *, challenge_exits: bool = False, log: Log | None = None) -> None:
        self.challenge_exits = challenge_exits
        self._log, self._exits = log, set[str]()

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        if self.challenge_exits and request.peer not in self._exits:
            return self._challenge(request)
        method = request.route.removeprefix("/anji/_/rpc/")
        if method == request.route:
            page = b"<html><title>Ads Transparency Center</title></html>"
            return Reply(200 if request.route == "/" else 404, (("content-type", "text/html"),), page)
        try:
            told = json.loads(request.form()["f.req"])
        except (ValueError, KeyError):
            return _answer({"2": "demo.BadRequestException: f.req", "5": 400, "9": 3}, 400)
        return self._call(method, told)

    def _challenge(self, request: RequestInfo) -> Reply:
        self._exits.add(request.peer)
        if self._log is not None:
            self._log.event(
                "behaviour", what=CHALLENGE, peer=request.peer, connection=request.connection.id, path=request.path
            )
        return Reply(302, (("location", f"https://www.google.com/sorry/index?continue=https://{HOST}/"),))

    def _call(self, method: str, told: Mapping[str, Any]) -> Reply:
        if method == "SearchService/SearchSuggestions":
            return _answer(_suggestions(told))
        if method == "LookupService/GetCreativeById":
            return _answer(_creative(told))
        if _asked(told) == WALLED:
            return Reply(302, (("location", "https://consent.google.com/m?continue=demo"),))
        return _answer(_creatives(told))


def _answer(value: Mapping[str, Any], status: int = 200) -> Reply:
    return Reply(status, (_JSON,), json.dumps(value, separators=(",", ":")).encode())


def _suggestions(told: Mapping[str, Any]) -> dict[str, Any]:
    words = str(told.get("1", "")).lower()
    found = [payer for payer in PAYERS if words in payer.name.lower()]
    rows: list[dict[str, Any]] = [
        {"1": {"1": payer.name, "2": payer.number, "3": payer.country, "4": {"2": _bounds(payer.ads)}}}
        for payer in found
    ]
    return {"1": [*rows, *({"2": {"1": payer.domain}} for payer in found)], "3": "demo"} if found else {}


def _bounds(total: int) -> dict[str, str]:
    """Small numbers exactly, larger ones as a range."""
    low, high = (total, total) if total < 10 else (total // 10 * 10, total // 10 * 10 + 10)  # noqa: PLR2004  # one digit
    return {"1": str(low), "2": str(high)}


def _asked(told: Mapping[str, Any]) -> str:
    wanted = told.get("3", {})
    return str(wanted.get("1") or next(iter(wanted.get("13", {}).get("1", [])), ""))


def _creatives(told: Mapping[str, Any]) -> dict[str, Any]:
    wanted = told.get("3", {})
    domain = wanted.get("12", {}).get("1")
    payer = next((payer for payer in PAYERS if payer.number == _asked(told) or payer.domain == domain), None)
    if payer is None or not payer.ads or "7" not in told:
        return {}
    numbers = [number for number in range(payer.ads) if wanted.get("4") in (None, number % 3 + 1)]
    size, start = int(told.get("2", 40)), int(told.get("4", 0))
    rows = [_row(payer, number, with_domain=bool(domain)) for number in numbers[start : start + size]]
    bounds = _bounds(len(numbers))
    cursor = {"2": str(start + size)} if start + size < len(numbers) else {}
    return {"1": rows, **cursor, "4": bounds["1"], "5": bounds["2"]}


def _row(payer: Payer, number: int, *, with_domain: bool) -> dict[str, Any]:
    first = _FIRST_DAY + number * _DAY
    row = {
        "1": payer.number, "2": _number(payer, number), "3": _preview(number), "4": number % 3 + 1,
        "6": {"1": str(first), "2": 17}, "7": {"1": str(first + 3 * _DAY)}, "12": payer.name, "13": 4,
    }  # fmt: skip
    return {**row, "14": payer.domain} if with_domain else row


def _number(payer: Payer, number: int) -> str:
    return f"CR2{payer.number[-1]}{number:018d}"


def _preview(number: int) -> dict[str, Any]:
    """A picture for two of three, else a script with its words."""
    if number % 3 < 2:  # noqa: PLR2004  # text and image
        return {"3": {"2": f'<img src="{_PICTURES}/{9000 + number}" height="250" width="300">'}, "5": True}
    words = {"headline": f"Vase no {number}", "description": "Fired twice.", "visurl": "kilnhouse.example"}
    return {"1": {"4": f"{_PREVIEW}?client=demo&creativeId={number}&overlay=%3D{_overlay(words)}&sig=demo"}}


def _overlay(words: Mapping[str, str]) -> str:
    message = b"".join(_entry(9, _entry(1, name.encode()) + _entry(2, value.encode())) for name, value in words.items())
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(packer.compress(message) + packer.flush()).decode().rstrip("=")


def _entry(number: int, content: bytes) -> bytes:
    """A field of a protobuf message; its content is shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def _creative(told: Mapping[str, Any]) -> dict[str, Any]:
    payer = next((payer for payer in PAYERS if payer.number == told.get("1")), None)
    number = next((n for n in range(payer.ads) if _number(payer, n) == told.get("2")), None) if payer else None
    if payer is None or number is None:
        return {}
    last = _FIRST_DAY + number * _DAY + 3 * _DAY
    regions = [{"1": _UNITED_STATES, "5": 20260702}, {"1": _NORWAY, "5": 20260701, "2": "0", "3": "1000"}]
    return {
        "1": {
            "1": payer.number, "2": _number(payer, number), "4": {"1": str(last)}, "5": [_preview(number)] * 2,
            "8": number % 3 + 1, "17": regions, "22": {"1": payer.name},
        }
    }  # fmt: skip
