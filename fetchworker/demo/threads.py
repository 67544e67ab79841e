"""The demo plays Threads for guests, with the invented people: pages with data and shells without, stored queries.

The stargazers' pages have their data in them, all others are shells for scripts to fill. Tokens are bound to the cookie
``mid``. A query whose id is none of today's is answered as retired, one without its relay providers with an execution
error; a guest sees so many posts of an account and no more.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from fetchworker.demo import pages, threads_shapes
from fetchworker.demo.instagram import EXECUTION_ERROR, INCORRECT_QUERY, MISMATCH, RELOAD, as_json, html
from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.pages import Document, Preloaded, Tokens
from fetchworker.demo.people import CLUB, Person, Post, World, make_world
from fetchworker.demo.queries import QueryBook
from fetchworker.demo.scripts import INSTAGRAM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fetchworker.demo.paging import Json

HOSTS = ("www.threads.com", "www.threads.net")
APP_ID = "238260118697367"
HOVERCARD = "BarcelonaUsernameHovercardImplDirectQuery"
PROFILE = "BarcelonaProfilePageDirectQuery"
POSTS = "BarcelonaProfileThreadsTabRefetchableDirectQuery"
REPLIES = "BarcelonaProfileRepliesTabRefetchableDirectQuery"
POST = "BarcelonaPostPageDirectQuery"
QUERIES = (HOVERCARD, PROFILE, POSTS, REPLIES, POST)
_PROVIDER = "__relay_internal__pv__BarcelonaIsLoggedInrelayprovider"
_YEAR = 31_536_000


class Threads:
    """The app; ``queries`` may be rotated while it serves.

    Args:
        world: who there is.
        seed: tokens and query ids follow from it.
    """

    def __init__(self, world: World | None = None, *, seed: int = 0) -> None:
        self.world = world if world is not None else make_world(seed)
        self.queries = QueryBook(seed, names=QUERIES)
        self._secret = f"threads-{seed}".encode()
        self._guests = 0

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        mid = request.cookies().get("mid")
        if not mid:
            self._guests += 1
        tokens = self.tokens(mid or f"demo{self._digest('mid', str(self._guests))[:24]}")
        reply = self._route(request, tokens)
        reply.headers = [*reply.headers, *_cookies(request, tokens)]
        return reply

    def tokens(self, mid: str) -> Tokens:
        """The tokens that go with a ``mid``."""
        return Tokens(mid, f"Th{self._digest('lsd', mid)[:20]}", self._digest("csrf", mid)[:32])

    def _digest(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    def _route(self, request: RequestInfo, tokens: Tokens) -> Reply:
        if request.host == "www.threads.net" and request.method == "GET":
            return Reply(301, (("location", f"https://www.threads.com{request.path}"),))
        handler = _CALLS.get(request.route.rstrip("/"))
        if handler is not None:
            return _refusal(request, tokens) or handler(self, request)
        return self._page(request.route, tokens)

    # pages

    def _page(self, route: str, tokens: Tokens) -> Reply:
        match route.strip("/").split("/"):
            case [""]:
                return self._html("Threads", tokens, modules=self.queries.modules())
            case ["accounts", "login"] | ["login"]:
                return self._html("Threads • Log in", tokens)
            case ["t", code]:
                person = self.world.posts[code][0].username if code in self.world.posts else "nobody"
                return Reply(302, (("location", f"https://www.threads.com/@{person}/post/{code}"),))
            case [name, "post", code] if name.startswith("@"):
                return self._post_page(code, tokens)
            case [name, *tab] if name.startswith("@") and tab in ([], ["replies"]):
                return self._profile_page(name[1:].lower(), tokens, replies=bool(tab))
        return self._html("Page not found • Threads", tokens, status=404)

    def _html(self, title: str, tokens: Tokens, *, status: int = 200, **more: Any) -> Reply:
        return html(
            pages.render(Document(title, tokens, app_id=APP_ID, scripts=self.queries.scripts(INSTAGRAM), **more)),
            status,
        )

    def _profile_page(self, name: str, tokens: Tokens, *, replies: bool) -> Reply:
        person = self.world.people.get(name)
        if person is None:
            return self._html("Page not found • Threads", tokens, status=404)
        tab = REPLIES if replies else POSTS
        title = f"{person.name} (@{name}) • Threads, say more"
        if name != CLUB:
            return self._html(title, tokens)
        number = {"userID": person.pk}
        data = [self._preload(PROFILE, number), self._preload(tab, {**number, "after": None})]
        return self._html(title, tokens, preloaded=data, canonical=f"https://www.threads.com/@{name}")

    def _post_page(self, code: str, tokens: Tokens) -> Reply:
        found = self.world.posts.get(code)
        if found is None or found[0].private:
            return Reply(302, (("location", "https://www.threads.com/?error=invalid_post"),))
        person, post = found
        title = f"{person.name} (@{person.username}) on Threads"
        if person.username != CLUB:
            return self._html(title, tokens)
        address = f"https://www.threads.com/@{person.username}/post/{code}"
        data = [self._preload(POST, {"postID": post.pk})]
        return self._html(title, tokens, description=post.caption or "", canonical=address, preloaded=data)

    def _preload(self, name: str, variables: Mapping[str, Any]) -> Preloaded:
        return Preloaded(name, self.queries.doc_id(name), variables, self._answer(name, variables))

    # calls

    def graphql(self, request: RequestInfo) -> Reply:
        """POST ``/graphql/query``: the stored queries."""
        form = request.form()
        name = self.queries.name(form.get("doc_id", ""))
        if name is None:
            return as_json(INCORRECT_QUERY)
        variables = json.loads(form.get("variables", "{}"))
        if _PROVIDER not in variables:
            return as_json(EXECUTION_ERROR)
        try:
            data = self._answer(name, variables)
        except (KeyError, ValueError):
            return as_json(EXECUTION_ERROR)
        return as_json({"data": data, "extensions": {"is_final": True}, "status": "ok"})

    def likers(self, request: RequestInfo) -> Reply:
        """POST ``/api/graphql``: the one query of 2023 that is left."""
        found = self._post(json.loads(request.form().get("variables", "{}")).get("mediaID"))
        people = [person for person in self.world.people.values() if found and person is not found[0]]
        users = [threads_shapes.user(person) for person in people if not person.private]
        return as_json({"data": {"likers": {"users": users} if found else None}, "extensions": {"is_final": True}})

    def routes(self, request: RequestInfo) -> Reply:
        """POST ``/ajax/bulk-route-definitions/``: where an address leads."""
        address = request.form().get("route_urls[0]", "")
        person = self.world.people.get(address.strip("/@").lower())
        props = {"user_id": person.pk} if person else {}
        exports = {"rootView": {"props": props}}
        body = {
            "__ar": 1,
            "payload": {"payloads": {address: {"error": person is None, "result": {"exports": exports}}}},
        }
        return Reply(200, (("content-type", "application/x-javascript"),), b"for (;;);" + json.dumps(body).encode())

    def _answer(self, name: str, variables: Mapping[str, Any]) -> Json:
        after = variables.get("after")
        if name == HOVERCARD:
            person = self.world.people.get(str(variables["username"]).lower())
            return {"xdt_text_app_user_by_username": threads_shapes.account(person) if person else None}
        if name == POST:
            found = self._post(variables["postID"])
            return {"data": threads_shapes.permalink(*found, after) if found else None}
        person = self.world.users_by_pk.get(str(variables["userID"]))
        if name == PROFILE:
            return {"user": threads_shapes.account(person) if person else None}
        return {"mediaData": self._tab(name, person, after)}

    def _tab(self, name: str, person: Person | None, after: str | None) -> Json | None:
        if person is None or person.private:
            return None
        if name == POSTS:
            return threads_shapes.posts(person, after)
        return threads_shapes.replies(person, self.world, after)

    def _post(self, number: Any) -> tuple[Person, Post] | None:
        found = self.world.by_pk.get(str(number))
        return None if found is None or found[0].private else found


_CALLS: dict[str, Callable[[Threads, RequestInfo], Reply]] = {
    "/graphql/query": Threads.graphql,
    "/api/graphql": Threads.likers,
    "/ajax/bulk-route-definitions": Threads.routes,
}


def _refusal(request: RequestInfo, tokens: Tokens) -> Reply | None:
    """What a caller did wrong."""
    if request.method != "POST" or request.header("x-ig-app-id") != APP_ID:
        return as_json(MISMATCH, 400)
    if request.cookies().get("csrftoken") != tokens.csrf or request.header("x-csrftoken") != tokens.csrf:
        return as_json({"message": "CSRF token missing or incorrect", "status": "fail"}, 403)
    if request.header("x-fb-lsd") != tokens.lsd or request.form().get("lsd") != tokens.lsd:
        return Reply(200, (("content-type", "application/json"),), b"for (;;);" + json.dumps(RELOAD).encode())
    return None


def _cookies(request: RequestInfo, tokens: Tokens) -> list[tuple[str, str]]:
    """The cookies that a guest lacks."""
    held, wanted = request.cookies(), {"csrftoken": tokens.csrf, "mid": tokens.mid}
    fields = "Path=/; Domain=.threads.com; Secure; SameSite=None"
    missing = {name: value for name, value in wanted.items() if held.get(name) != value}
    return [("set-cookie", f"{name}={value}; Max-Age={_YEAR}; {fields}") for name, value in missing.items()]
