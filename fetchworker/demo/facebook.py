"""The demo plays Facebook for guests: Comet pages with the results of their queries, and ``/api/graphql/``.

Timelines go on with answers in several documents, one post each. An lsd token belongs to the cookie ``datr`` that it
came with; without it an answer is ``for (;;);`` error 1357004. An unknown doc_id is error 1675002. What is walled off
leads to the log-in page.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fetchworker.demo import facebook_shapes as shapes
from fetchworker.demo.facebook_shapes import Account, Json
from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.paging import window

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from fetchworker.demo.log import Log
    from fetchworker.demo.model import App
    from fetchworker.demo.paging import Window

HOSTS = ("www.facebook.com", "m.facebook.com")
BLOCKED, WALLED = "temporarily_blocked", "login_wall"
_HTML = ("content-type", "text/html; charset=utf-8")
_HEADER, _TIMELINE = "ProfileCometHeaderQuery", "ProfileCometTimelineFeedQuery"
_INTRO = "ProfilePlusCometLoggedOutRootQuery"
_TIMELINE_NEXT, _GROUP_NEXT = "ProfileCometTimelineFeedRefetchQuery", "GroupsCometFeedRegularStoriesPaginationQuery"
_PHOTO, _REEL = "CometPhotoRootContentQuery", "FBReelsRootWithEntrypointQuery"
_POST = "CometSinglePostDialogContentQuery"
_GROUP, _GROUP_FEED = "CometGroupRootQuery", "CometGroupDiscussionRootSuccessQuery"
_NAMES = (_HEADER, _TIMELINE, _INTRO, _TIMELINE_NEXT, _GROUP_NEXT, _PHOTO, _REEL, _POST, _GROUP, _GROUP_FEED)
_EVENTS = re.compile(r"/(?P<user>[\w.]+)/(?:events|upcoming_hosted_events|past_hosted_events)/?$")
_POSTS = re.compile(r"/(?:groups/)?(?P<where>[\w.]+)/posts/(?P<post>\d+)/?$")
#: a post that its author has taken back
DELETED_POST = "8100000000000999"
#: the picture whose page is closed: its facts come from the stored query alone
CLOSED_PHOTO = next(iter(shapes.PHOTOS))
#: a film without data in its pages, whose stored query has another id than anybody knows: the mobile site has it
CLOSED_VIDEO = "8400000000000103"


_Found = tuple[str, list[tuple[str, Json]]] | None
"""Title and results of a page."""


class Facebook:
    """The app.

    Args:
        seed: tokens and query ids follow from it.
        block_exits: the first request of each exit is told to come back later.
        wall_after: an identity's hits after so many lead to the log-in page.
        log: gets an event of type ``behaviour`` for each refusal.
    """

    def __init__(
        self, *, seed: int = 0, block_exits: bool = False, wall_after: int | None = None,
        log: Log | None = None,
    ) -> None:  # fmt: skip
        self.block_exits, self.wall_after = block_exits, wall_after
        self._seed, self._log = f"facebook-{seed}", log
        self._exits, self._hits, self._guests = set[str](), dict[str, int](), 0

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        refused = self._refused(request)
        if refused is not None:
            return refused
        datr = request.cookies().get("datr") or self._new_guest()
        reply = self._graphql(request, datr) if request.route == "/api/graphql/" else self._page(request, datr)
        if request.cookies().get("datr") != datr:
            reply.headers = [*reply.headers, ("set-cookie", f"datr={datr}; Path=/; Domain=.facebook.com; Secure")]
        return reply

    def doc_id(self, name: str) -> str:
        """The id of a stored query."""
        return f"9{int(self._digest(name)[:14], 16) % 10**16:016d}"

    def lsd(self, datr: str) -> str:
        """The token that goes with a ``datr``."""
        return f"AV{self._digest(datr)[:10]}"

    def _digest(self, text: str) -> str:
        return hashlib.sha256(f"{self._seed}:{text}".encode()).hexdigest()

    def _new_guest(self) -> str:
        self._guests += 1
        return f"demo{self._digest(str(self._guests))[:20]}"

    # refusals

    def _refused(self, request: RequestInfo) -> Reply | None:
        if request.route.startswith("/login"):
            return None
        fresh = request.peer not in self._exits
        self._exits.add(request.peer)
        if self.block_exits and fresh:
            return self._refuse(
                request, BLOCKED, _document("You’re Temporarily Blocked", "It seems that was too fast.")
            )
        datr = request.cookies().get("datr")
        if datr and self.wall_after is not None:
            self._hits[datr] = self._hits.get(datr, 0) + 1
            if self._hits[datr] > self.wall_after:
                return self._refuse(request, WALLED, _login(request))
        walled = request.host == "m.facebook.com" and request.query().get("v") != CLOSED_VIDEO
        return self._refuse(request, WALLED, _login(request)) if walled else None

    def _refuse(self, request: RequestInfo, what: str, reply: Reply) -> Reply:
        if self._log is not None:
            self._log.event(
                "behaviour", what=what, peer=request.peer, connection=request.connection.id, path=request.path
            )
        return reply

    # pages

    def _page(self, request: RequestInfo, datr: str) -> Reply:
        if request.route.startswith("/login"):
            return self._render("Log in to Facebook", [], datr)
        if request.host == "m.facebook.com":
            return _mobile_film()
        if request.route.rstrip("/").endswith(f"/{DELETED_POST}"):
            return _document("Facebook", "<h2>This content isn't available right now</h2>")
        found = _results(request)
        if found is None:
            return self._render("Facebook", [], datr, route="CometErrorRoot.react")
        title, results = found
        return self._render(title, results, datr)

    def _render(
        self, title: str, results: Sequence[tuple[str, Json]], datr: str, *, route: str = "DemoRoot.react"
    ) -> Reply:
        lsd = self.lsd(datr)
        block = {"u": f"/ajax/qm/?__comet_req=15&jazoest=2{sum(map(ord, lsd))}", "e": "7451", "l": lsd}
        site = {"client_revision": 1027, "haste_session": "20700.HYP:comet_loggedout_pkg.2.1..0.0", "hsi": "7451",
                "comet_env": 15, "__spin_r": 1027, "__spin_b": "trunk", "__spin_t": 1_790_000_000}  # fmt: skip
        parts = [f'<script id="__eqmc" type="application/json">{_json(block)}</script>']
        parts.append(f"<script>requireLazy([{_json(['SiteData', [], site, 317])}])</script>")
        parts.append(f"<script>{_json({'rootView': {'allResources': [{'__dr': route}]}})}</script>")
        parts += [_sjs(name, data) for name, data in results]
        told = {name: self.doc_id(name) for name in _NAMES if name != _REEL}
        parts += [f"<script>{_module(name, number)}</script>" for name, number in told.items()]
        return _document(title, "".join(parts), _meta(title, results))

    # stored queries

    def _graphql(self, request: RequestInfo, datr: str) -> Reply:
        form = request.form()
        if request.header("x-fb-lsd") != self.lsd(datr) or form.get("lsd") != self.lsd(datr):
            return _answer('for (;;);{"__ar":1,"error":1357004,"errorSummary":"Please reload."}')
        name = {self.doc_id(name): name for name in _NAMES}.get(form.get("doc_id", ""))
        if name is None:
            return _answer(_json({"errors": [{"message": "Incorrect Query", "code": 1675002, "severity": "CRITICAL"}]}))
        try:
            documents = _ANSWERS[name](json.loads(form["variables"]))
        except (KeyError, ValueError):
            documents = [{"errors": [{"message": "execution error", "severity": "CRITICAL"}], "data": None}]
        return _answer("\r\n".join(map(_json, documents)))


def beside(library: App, site: App) -> App:
    """One app of the Ad Library's and the rest of the site, which share a host and ``/api/graphql/``."""

    def choose(request: RequestInfo) -> Reply | Awaitable[Reply]:
        asked = request.form().get("fb_api_req_friendly_name", "") if request.route == "/api/graphql/" else ""
        ads = request.route.startswith(("/ads/", "/__rd_verify")) or asked.startswith("AdLibrary")
        return library(request) if ads and request.host == HOSTS[0] else site(request)

    return choose


def _results(request: RequestInfo) -> _Found:
    """Title and results of the page at an address, None where there is nothing."""
    route, query = request.route, request.query()
    for pattern, page in _PAGES:
        match = pattern.match(route)
        if match:
            return page(match, query)
    return None


def _account_page(match: re.Match[str], query: Mapping[str, str]) -> _Found:
    name = query.get("id", "") if match["name"] == "profile.php" else match["name"]
    account = shapes.ACCOUNTS.get(name.lower()) or shapes.BY_NUMBER.get(name)
    if account is None:
        return None
    posts = _timeline(account, None, 1)
    feed = {"edges": [{"node": shapes.story(post)} for post in posts.items], "page_info": _info(posts)}
    first = {"user": {"id": account.number, "timeline_list_feed_units": feed}}
    return f"{account.name} | Facebook", [
        (_HEADER, shapes.header(account)), (_TIMELINE, first), (_INTRO, shapes.introduction(account))
    ]  # fmt: skip


def _post_page(match: re.Match[str], _query: Mapping[str, str]) -> _Found:
    post = shapes.POSTS.get(match["post"])
    if post is None:
        return None
    return f"{post.account.name} | Facebook", [(_POST, {"node": shapes.story(post, group=post in shapes.FEED)})]


def _photo_page(_match: re.Match[str], query: Mapping[str, str]) -> _Found:
    number = query.get("fbid", "")
    post = shapes.PHOTOS.get(number) if number != CLOSED_PHOTO else None
    return None if post is None else (f"{post.account.name} | Facebook", [(_PHOTO, shapes.viewed(post))])


def _film_page(match: re.Match[str], query: Mapping[str, str]) -> _Found:
    number = match["number"] or query.get("v", "")
    known = (shapes.VIDEO,) if match["number"] is None else (shapes.REEL,)
    if number == CLOSED_VIDEO:
        return "Facebook", []
    return ("A kiln is opened | Facebook", [("CometVideoQuery", shapes.film(number))]) if number in known else None


def _group_page(match: re.Match[str], _query: Mapping[str, str]) -> _Found:
    if match["name"] not in (shapes.GROUP, shapes.GROUP_VANITY):
        return None
    posts = window(shapes.FEED, "group", None, 1)
    feed = {"edges": [{"node": shapes.story(post, group=True)} for post in posts.items], "page_info": _info(posts)}
    first = {"group": {"id": shapes.GROUP, "group_feed": feed}}
    return f"{shapes.GROUP_NAME} | Facebook", [(_GROUP, shapes.group()), (_GROUP_FEED, first)]


def _event_page(match: re.Match[str], _query: Mapping[str, str]) -> _Found:
    if match["number"] != shapes.EVENT:
        return ("Facebook", [("EventCometPermalinkHeaderQuery", {"event": None})])
    about = ("PublicEventCometAboutRootQuery", shapes.event_about())
    return "Open kiln | Facebook", [("EventCometPermalinkHeaderQuery", shapes.event_header()), about]


def _events_page(match: re.Match[str], _query: Mapping[str, str]) -> _Found:
    known = match["user"].lower() == shapes.MOSS.vanity
    return ("Events | Facebook", [("ProfileCometTopAppSectionQuery", shapes.event_list())]) if known else None


_PAGES = (
    (re.compile(r"/events/(?P<number>\d+)/?$"), _event_page),
    (_EVENTS, _events_page),
    (_POSTS, _post_page),
    (re.compile(r"/photo/?$"), _photo_page),
    (re.compile(r"/(?:watch/?|reel/(?P<number>\d+)/?)$"), _film_page),
    (re.compile(r"/groups/(?P<name>[\w.]+)/?$"), _group_page),
    (re.compile(r"/(?P<name>[\w.]+)/?$"), _account_page),
)


def _timeline(account: Account, cursor: str | None, size: int) -> Window[shapes.Post]:
    return window(shapes.TIMELINES[account.number], f"timeline-{account.number}", cursor, size)


def _info(posts: Window[Any]) -> Json:
    return {"has_next_page": posts.cursor is not None, "end_cursor": posts.cursor}


def _streamed(holder: str, name: str, posts: Window[shapes.Post], *, group: bool = False) -> list[Json]:
    """One document for the first post, one for each further, one for where the list goes on."""
    drawn = [shapes.story(post, group=group) for post in posts.items]
    first = {"data": {"node": {"__typename": holder, name: {"edges": [{"node": one} for one in drawn[:1]]}}}}
    label = f"Demo_{name}$stream"
    rest = [{"label": label, "path": ["node", name, "edges", n], "data": {"node": one, "cursor": str(n)}}
            for n, one in enumerate(drawn[1:], 1)]  # fmt: skip
    last = {"label": f"Demo_{name}$defer", "path": ["node", name], "data": {"page_info": _info(posts)}}
    return [first, *rest, {**last, "extensions": {"is_final": True}}]


def _timeline_next(variables: Json) -> list[Json]:
    account = shapes.BY_NUMBER[variables["id"]]
    return _streamed("User", "timeline_list_feed_units", _timeline(account, variables["cursor"], 3))


def _group_next(variables: Json) -> list[Json]:
    posts = window(shapes.FEED, "group", variables["cursor"], 3)
    return _streamed("Group", "group_feed", posts, group=True)


def _viewer(variables: Json) -> list[Json]:
    post = shapes.PHOTOS.get(variables["nodeID"])
    return [{"data": shapes.viewed(post) if post else {"currMedia": None}}]


def _header(variables: Json) -> list[Json]:
    account = shapes.BY_NUMBER.get(variables["userID"])
    return [{"data": shapes.header(account) if account else {"user": None}}]


def _reel(variables: Json) -> list[Json]:
    known = variables["initial_node_id"] in (shapes.REEL, shapes.VIDEO)
    return [{"data": shapes.film(variables["initial_node_id"]) if known else {"video": None}}]


_ANSWERS: dict[str, Callable[[Json], list[Json]]] = {
    _TIMELINE_NEXT: _timeline_next, _GROUP_NEXT: _group_next, _PHOTO: _viewer, _HEADER: _header, _REEL: _reel,
}  # fmt: skip


def _mobile_film() -> Reply:
    """A film's page of the mobile site: JSON-LD."""
    film = {
        "@type": "VideoObject", "name": "The last kiln | Facebook", "description": "From the other site.",
        "uploadDate": "2026-09-21T07:13:20-07:00", "duration": "T1M5S", "contentUrl": "https://scontent.example/3.mp4",
        "interactionStatistic": [{"interactionType": {"@type": "http://schema.org/WatchAction"},
                                  "userInteractionCount": 512}],
    }  # fmt: skip
    address = f"{shapes.HOME}/mossandmortar/videos/the-last-kiln/{CLOSED_VIDEO}/"
    head = f'<link rel="canonical" href="{address}"/><meta property="og:title" content="The last kiln"/>'
    return _document("The last kiln", f'<script type="application/ld+json">{_json(film)}</script>', head)


def _login(request: RequestInfo) -> Reply:
    return Reply(302, (("location", f"https://{request.host}/login/?next={quote(request.path, safe='')}"),))


def _meta(title: str, results: Sequence[tuple[str, Json]]) -> str:
    number = next((data["user"]["id"] for name, data in results if name == _HEADER), "")
    account = shapes.BY_NUMBER.get(number)
    if account is None:
        return ""
    line = f"{account.name}. {account.likes:,} likes · 3 talking about this. {account.about}"
    return f'<meta property="og:title" content="{title}"/><meta property="og:description" content="{line}"/>'


def _module(name: str, number: str) -> str:
    return f'__d("{name}_facebookRelayOperation",[],(function(t,n,r,o,a,i){{a.exports="{number}"}}),null);'


def _sjs(name: str, data: Json) -> str:
    box = {"__bbox": {"complete": True, "result": {"data": data}, "sequence_number": 0}}
    stream = ["RelayPrefetchedStreamCache", "next", [], [f"adp_{name}RelayPreloader_6c1", box]]
    inner = {"require": [["ScheduledServerJS", "handle", None, [{"__bbox": {"require": [stream]}}]]]}
    return f'<script type="application/json" data-sjs>{_json(inner)}</script>'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


def _document(title: str, body: str, head: str = "") -> Reply:
    page = f'<!DOCTYPE html><html lang="en"><head><title>{title}</title>{head}</head><body>{body}</body></html>'
    return Reply(200, (_HTML,), page.encode())


def _answer(body: str) -> Reply:
    return Reply(200, (_HTML,), body.encode())
