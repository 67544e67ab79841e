"""The demo plays instagram for guests, with invented people: pages, the REST calls and the stored queries.

Tokens are bound to the cookie ``mid``: an lsd or csrf token that one identity harvested is worthless with the cookies
of another. What a client does wrong is answered as the site answers it:

* no or another ``X-IG-App-ID`` → 400 "useragent mismatch"; the host ``i.instagram.com`` always (web clients);
* ``X-CSRFToken`` not equal to the cookie ``csrftoken`` of this ``mid`` → 403 with an HTML body;
* lsd missing, or not this ``mid``'s, in header and form → 200, ``for (;;);`` error 1357004;
* an unknown doc_id → 200 with error 1675002; variables that make no sense → 200 "execution error".
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fetchworker.demo import pages, queries, shapes
from fetchworker.demo.model import Headers, Reply, RequestInfo
from fetchworker.demo.pages import Document, Preloaded, Tokens
from fetchworker.demo.paging import PAGE_SIZE, window
from fetchworker.demo.people import Person, Post, World, make_world
from fetchworker.demo.queries import QueryBook
from fetchworker.demo.scripts import INSTAGRAM as SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HOME = "https://www.instagram.com"
HOSTS = ("www.instagram.com", "i.instagram.com")
_YEAR = 31_536_000
_WORTH_PACKING = 1024
_FIELDS = "Path=/; Domain=.instagram.com; Secure; SameSite=None"
_HTML = ("content-type", 'text/html; charset="utf-8"')
_JSON = ("content-type", "application/json; charset=utf-8")
_GRAPHQL = ("/graphql/query", "/api/graphql")

MISMATCH = {"message": "useragent mismatch", "status": "fail"}
WAIT = {"message": "Please wait a few minutes before you try again.", "require_login": True, "igweb_rollout": True,
        "status": "fail"}  # fmt: skip
INCORRECT_QUERY = {"errors": [{"message": "execution error", "code": 1675002, "summary": "Incorrect Query",
                               "description": "The demo no longer knows this query.", "severity": "CRITICAL"}],
                   "status": "ok"}  # fmt: skip
EXECUTION_ERROR = {"errors": [{"message": "execution error", "severity": "CRITICAL"}], "data": None, "status": "ok"}
RELOAD = {"__ar": 1, "error": 1357004, "errorSummary": "Something went wrong", "errorDescription": "Please reload."}


class Instagram:
    """The app; ``queries`` may be rotated while it serves.

    Args:
        world: who there is.
        seed: tokens and query ids follow from it.
        accept: further doc_ids to take, id → query name.
    """

    def __init__(self, world: World | None = None, *, seed: int = 0, accept: Mapping[str, str] | None = None) -> None:
        self.world = world if world is not None else make_world(seed)
        self.queries = QueryBook(seed, accept)
        self._secret = f"demo-{seed}".encode()
        self._guests = 0

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        mid = request.cookies().get("mid")
        tokens = self.tokens(mid or self._new_mid())
        reply = self._route(request, tokens)
        reply.headers = [*reply.headers, *_cookies(request, tokens)]
        return _packed(request, reply)

    def tokens(self, mid: str) -> Tokens:
        """The tokens that go with a ``mid``."""
        return Tokens(mid, f"Ad{self._digest('lsd', mid)[:25]}", self._digest("csrf", mid)[:32])

    def _new_mid(self) -> str:
        self._guests += 1
        return f"demo{self._digest('mid', str(self._guests))[:24]}"

    def _digest(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    def _route(self, request: RequestInfo, tokens: Tokens) -> Reply:
        route = request.route
        if request.host == "i.instagram.com":
            return as_json(MISMATCH, 400)
        if route.rstrip("/") in _GRAPHQL:
            return self._graphql(request, tokens) if request.method == "POST" else as_json(WAIT, 401)
        for prefix, handler in _REST.items():
            if route.startswith(prefix):
                if request.header("x-ig-app-id") != pages.APP_ID:
                    return as_json(MISMATCH, 400)
                return handler(self, request)
        return self._page(route, tokens)

    # pages

    def _page(self, route: str, tokens: Tokens) -> Reply:
        if route == "/":
            return html(
                pages.render(
                    Document(
                        "Instagram",
                        tokens,
                        text="A demo.",
                        modules=self.queries.modules(),
                        scripts=self.queries.scripts(SCRIPTS),
                    )
                )
            )
        if route.startswith("/accounts/login"):
            return html(pages.login_page(tokens))
        if not route.endswith("/"):
            return Reply(301, (("location", f"{HOME}{route}/"),))
        match route.strip("/").split("/"):
            case [("p" | "reel"), code]:
                return self._post_page(code, tokens)
            case [name, *rest] if name.lower() in self.world.people and rest in ([], ["reels"]):
                return self._profile_page(self.world.people[name.lower()], tokens, reels=bool(rest))
        return html(pages.missing_page(tokens), 404)

    def _profile_page(self, person: Person, tokens: Tokens, *, reels: bool) -> Reply:
        tab = queries.REELS if reels else queries.POSTS
        variables = {"username": person.username}
        preloaded = [
            self._preload(queries.PROFILE, variables),
            self._preload(tab, {**variables, "first": PAGE_SIZE}),
        ]
        return html(pages.render(Document(
            f"{person.name} (@{person.username}) • Instagram photos and videos", tokens,
            f"{person.followers:,} Followers, {person.following:,} Following, {len(person.posts):,} Posts - "
            f"See Instagram photos and videos from {person.name} (@{person.username})",
            f"{HOME}/{quote(person.username)}/{'reels/' if reels else ''}", preloaded=preloaded,
            modules=self.queries.modules(), scripts=self.queries.scripts(SCRIPTS),
        )))  # fmt: skip

    def _post_page(self, code: str, tokens: Tokens) -> Reply:
        found = self.world.posts.get(code)
        if found is None or found[0].private:
            return html(pages.missing_page(tokens), 404)
        person, post = found
        preloaded = [self._preload(queries.POST, {"media_id": post.pk})]
        return html(pages.render(Document(
            f"{person.name} on Instagram" + (f': "{post.caption}"' if post.caption and not post.gated else ""), tokens,
            _summary(person, post), f"{HOME}/{'reel' if post.kind == 'reel' else 'p'}/{code}/", preloaded=preloaded,
            modules=self.queries.modules(), scripts=self.queries.scripts(SCRIPTS),
        )))  # fmt: skip

    def _preload(self, name: str, variables: Mapping[str, Any]) -> Preloaded:
        data = queries.answer(self.world, name, variables)
        return Preloaded(name, self.queries.doc_id(name), variables, data)

    # calls

    def _graphql(self, request: RequestInfo, tokens: Tokens) -> Reply:
        form = request.form()
        refusal = _refusal(request, form, tokens)
        if refusal is not None:
            return refusal
        name = self.queries.name(form.get("doc_id", ""))
        if name is None:
            return as_json(INCORRECT_QUERY)
        try:
            data = queries.answer(self.world, name, json.loads(form.get("variables", "")))
        except ValueError:
            return as_json(EXECUTION_ERROR)
        return as_json({"data": data, "extensions": {"is_final": True}, "status": "ok"})

    def web_profile_info(self, request: RequestInfo) -> Reply:
        """GET ``/api/v1/users/web_profile_info/?username=``."""
        person = self.world.people.get(request.query().get("username", "").lower())
        if person is None:
            return as_json({"status": "ok"}, 404)
        return as_json({"data": {"user": shapes.graph_user(person)}, "status": "ok"})

    def clips(self, request: RequestInfo) -> Reply:
        """POST ``/api/v1/clips/user/``."""
        form = request.form()
        person = self.world.users_by_pk.get(form.get("target_user_id", ""))
        reels = person.reels if person and not person.private else ()
        try:
            page = window(reels, "app-clips", form.get("max_id"))
        except ValueError:
            return as_json({"message": "Invalid max_id", "status": "fail"}, 400)
        items = [{"media": shapes.item(person, post)} for post in page.items if person]
        paging = {"max_id": page.cursor, "more_available": page.cursor is not None}
        return as_json({"items": items, "paging_info": paging, "status": "ok"})

    def topsearch(self, request: RequestInfo) -> Reply:
        """GET ``/web/search/topsearch/?query=``."""
        found = shapes.topsearch(self.world.search(request.query().get("query", "")))
        return as_json({**found, "has_more": False, "status": "ok"})

    def ruling(self, _request: RequestInfo) -> Reply:
        """GET ``/api/v1/web/get_ruling_for_content/``: nothing is ever ruled against."""
        return as_json({"title": None, "description": None, "ruling": None, "status": "ok"})

    def walled(self, _request: RequestInfo) -> Reply:
        """Calls that guests never get."""
        return as_json(WAIT, 401)


_REST: dict[str, Callable[[Instagram, RequestInfo], Reply]] = {
    "/api/v1/users/web_profile_info/": Instagram.web_profile_info,
    "/api/v1/clips/user/": Instagram.clips,
    "/api/v1/web/get_ruling_for_content/": Instagram.ruling,
    "/web/search/topsearch/": Instagram.topsearch,
    "/api/v1/": Instagram.walled,
}


def cdn_app(request: RequestInfo) -> Reply:
    """Pictures (one grey pixel) and films (an empty container) for every address of the demo's media."""
    if request.route.endswith(".mp4"):
        return Reply(200, (("content-type", "video/mp4"),), struct.pack(">I4s4sI4s", 20, b"ftyp", b"isom", 0, b"isom"))
    return Reply(200, (("content-type", "image/png"),), _PIXEL)


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_PIXEL = (
    b"\x89PNG\r\n\x1a\n"
    + _png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _png_chunk(b"IDAT", zlib.compress(b"\x00\x80"))
    + _png_chunk(b"IEND", b"")
)


def html(body: bytes, status: int = 200, headers: Headers = ()) -> Reply:
    """A page."""
    return Reply(status, (_HTML, *headers), body)


def as_json(value: Mapping[str, Any], status: int = 200) -> Reply:
    """An answer to a call."""
    return Reply(status, (_JSON,), json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _refusal(request: RequestInfo, form: Mapping[str, str], tokens: Tokens) -> Reply | None:
    """What a stored query's caller did wrong."""
    if request.header("x-ig-app-id") != pages.APP_ID:
        return as_json(MISMATCH, 400)
    if request.cookies().get("csrftoken") != tokens.csrf or request.header("x-csrftoken") != tokens.csrf:
        return html(pages.render(Document("Instagram", tokens, text="This page could not be loaded.")), 403)
    if request.header("x-fb-lsd") != tokens.lsd or form.get("lsd") != tokens.lsd:
        return Reply(200, (_JSON,), b"for (;;);" + json.dumps(RELOAD).encode())
    return None


def _cookies(request: RequestInfo, tokens: Tokens) -> list[tuple[str, str]]:
    """The cookies that a guest lacks."""
    held = request.cookies()
    wanted = {"csrftoken": tokens.csrf, "mid": tokens.mid, "ig_did": f"DEMO-{tokens.mid[4:16].upper()}"}
    missing = {name: value for name, value in wanted.items() if held.get(name) != value}
    return [("set-cookie", f"{name}={value}; Max-Age={_YEAR}; {_FIELDS}") for name, value in missing.items()]


def _summary(person: Person, post: Post) -> str:
    if post.gated:
        return ""
    likes = f"{post.likes:,} likes, " if post.likes is not None else ""
    return f"{likes}{len(post.comments):,} comments - {person.username}"


def _packed(request: RequestInfo, reply: Reply) -> Reply:
    """The reply gzipped, if the client takes that and it is worth it."""
    accepted = request.header("accept-encoding") or ""
    if isinstance(reply.body, bytes) and len(reply.body) > _WORTH_PACKING and "gzip" in accepted:
        reply.body = gzip.compress(reply.body, 1, mtime=0)
        reply.headers = [*reply.headers, ("content-encoding", "gzip"), ("vary", "Accept-Encoding")]
    return reply
