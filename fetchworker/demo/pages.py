"""The HTML pages of the demo's instagram, with the blocks of JSON that a guest's browser would read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

APP_ID = "936619743392459"
_REVISION = 1_040_000_001
_SPIN_T = 1_793_500_000
_HASTE = "20758.HYP:instagram_web_pkg.2.1...0"
_HSI = "7560000000000000001"


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a page tells a guest: valid together with the cookie ``mid`` it was made for."""

    mid: str
    lsd: str
    csrf: str

    @property
    def jazoest(self) -> str:
        """The digit 2, then the sum of the lsd's character codes."""
        return f"2{sum(map(ord, self.lsd))}"


@dataclass(frozen=True, slots=True)
class Preloaded:
    """A query that the page ran for the browser: its id, what it was asked, and the answer."""

    name: str
    doc_id: str
    variables: Mapping[str, Any]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """What a page consists of; ``modules`` are ids of queries that only scripts name, ``app_id`` is the client's.

    ``scripts`` are addresses of script files: the first is in a tag, the others in the list of what may be loaded.
    """

    title: str
    tokens: Tokens
    description: str = ""
    canonical: str = ""
    text: str = ""
    preloaded: Sequence[Preloaded] = ()
    modules: Mapping[str, str] = field(default_factory=dict)
    app_id: str = APP_ID
    scripts: Sequence[str] = ()


def render(page: Document) -> bytes:
    """The page as bytes."""
    parts = ["<!DOCTYPE html>", '<html class="_9dls" lang="en" dir="ltr">', "<head>", '<meta charset="utf-8" />']
    parts += [f"<title>{escape(page.title)}</title>", *_meta(page), _eqmc(page.tokens), "</head>", "<body>"]
    parts += [f"<noscript>{escape(page.text)}</noscript>"] if page.text else []
    parts += [_config(page.tokens, page.app_id), *map(_answer, page.preloaded)]
    parts += [_preloaders(page.preloaded)] if page.preloaded else []
    parts += [f"<script>{module(name, doc_id)}</script>" for name, doc_id in page.modules.items()]
    parts += [f'<script src="{escape(address)}" async="1"></script>' for address in page.scripts[:1]]
    parts += [_later(page.scripts[1:])] if page.scripts else []
    return "\n".join([*parts, "</body>", "</html>", ""]).encode()


def _meta(page: Document) -> list[str]:
    told = {"og:title": page.title, "og:description": page.description, "og:url": page.canonical}
    lines = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in told.items() if value]
    return lines + ([f'<link rel="canonical" href="{escape(page.canonical)}" />'] if page.canonical else [])


def _eqmc(tokens: Tokens) -> str:
    address = f"/ajax/qm/?__a=1&__user=0&__comet_req=7&jazoest={tokens.jazoest}"
    block = {"u": address, "e": _HSI, "s": "XPolarisController", "w": 0, "f": "", "l": tokens.lsd}
    return f'<script id="__eqmc" type="application/json">{_json(block)}</script>'


def _config(tokens: Tokens, app_id: str) -> str:
    site = {
        "server_revision": _REVISION, "client_revision": _REVISION, "push_phase": "C3",
        "pkg_cohort": "HYP:instagram_web_pkg", "haste_session": _HASTE, "hsi": _HSI, "comet_env": 7,
        "__spin_r": _REVISION, "__spin_b": "trunk", "__spin_t": _SPIN_T,
    }  # fmt: skip
    defines = [
        ["SiteData", [], site, 317], ["LSD", [], {"token": tokens.lsd}, 323], ["DTSGInitialData", [], {}, 258],
        ["CurrentUserInitialData", [], {"ACCOUNT_ID": "0", "USER_ID": "0", "NAME": ""}, 270],
        ["RelayAPIConfigDefaults", [], {"customHeaders": {"X-IG-App-ID": app_id, "X-IG-D": "www"}}, 926],
        ["InstagramSecurityConfig", [], {"csrf_token": tokens.csrf}, 7467],
    ]  # fmt: skip
    return _sjs({"require": [["ScheduledServerJS", "handle", None, [{"__bbox": {"define": defines}}]]]})


def _answer(query: Preloaded) -> str:
    result = {"data": query.data, "extensions": {"is_final": True}}
    box = {"__bbox": {"complete": True, "result": result, "sequence_number": 0}}
    stream = ["RelayPrefetchedStreamCache", "next", [], [_preloader_id(query), box]]
    return _sjs({"require": [["ScheduledServerJS", "handle", None, [{"__bbox": {"require": [stream]}}]]]})


def _preloaders(queries: Sequence[Preloaded]) -> str:
    entries = [
        {"actorID": "0", "preloaderID": _preloader_id(q), "queryID": q.doc_id, "variables": q.variables}
        for q in queries
    ]
    return _sjs({"require": [["CometPlatformRootClient", "init", None, [{"expectedPreloaders": entries}]]]})


def _preloader_id(query: Preloaded) -> str:
    return f"adp_{query.name}RelayPreloader_{query.doc_id[-8:]}"


def _later(addresses: Sequence[str]) -> str:
    known = {f"h{number}": {"type": "js", "src": address} for number, address in enumerate(addresses)}
    return _sjs({"require": [["Bootloader", "handlePayload", None, [{"rsrcMap": known}]]]})


def module(name: str, doc_id: str, brand: str = "instagram") -> str:
    """A script's module that tells the id of a stored query."""
    return f'__d("{name}_{brand}RelayOperation",[],(function(t,n,r,o,a,i){{a.exports="{doc_id}"}}),null);'


def _sjs(value: Any) -> str:
    return f'<script type="application/json" data-content-len="0" data-sjs>{_json(value)}</script>'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("/", "\\/")


def login_page(tokens: Tokens) -> bytes:
    """Where guests end who looked at too much."""
    return render(
        Document(
            "Login • Instagram", tokens, "Log in to see more of the demo.", text="Log in to go on. There is no way to."
        )
    )


def missing_page(tokens: Tokens) -> bytes:
    """For what does not exist."""
    return render(Document("Page not found • Instagram", tokens, text="There is nothing here, and never was."))


def block_page(reference: str) -> bytes:
    """A vendor's refusal, in the demo's words with the marks that such pages carry."""
    return (
        "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n"
        "The demo does not let this address in on its first try.<P>\n"
        f"Reference&#32;&#35;18&#46;{reference}\n"
        f"<P>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;{reference}</P>\n</BODY>\n</HTML>\n"
    ).encode()
