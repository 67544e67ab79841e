"""What Threads answers to, as data, and the requests made of it.

Every id of a stored query is a dated example: the site changes them every few weeks, so the ones that its own pages
tell (``doc:<QueryName>`` tokens) come first and the literals are the fallback. A query wants all the relay providers
that it declares among its variables; one that is missing gives an execution error (guest scrapers, 2026).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from fetchworker.contracts import Fetch, Token

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = "https://www.threads.com"
#: the web client's own id, unchanged 2023-2026
APP_ID = "238260118697367"
ASBD_ID = "359341"
#: ``comet_env`` of the pages: 29 in 2023, 122 in 2026
COMET_ENV = "122"
#: what the web client asks for (2026)
PAGE_SIZE = 11
REPLIES_SIZE = 10
_PROVIDER = "__relay_internal__pv__Barcelona{}relayprovider"


def _providers(*, on: str = "", off: str = "") -> dict[str, bool]:
    return dict.fromkeys(on.split(), True) | dict.fromkeys(off.split(), False)


#: posts as the logged-out client draws them (2026-06)
_POST = _providers(
    on="HasDearAlgoConsumption HasCommunities HasGameScoreShare HasPublicViewCountCard HasMusic HasViewerReplied "
    "OptionalCookiesEnabled",
    off="IsLoggedIn HasEventBadge GenAIRepliesEnabled IsSearchDiscoveryEnabled HasCommunityEntityCard "
    "HasScorecardCommunity HasNewspaperLinkStyle HasMessaging HasGhostPostEmojiActivation HasDearAlgoWebProduction "
    "HasWebFavicons IsCrawler HasCommunityTopContributors CanSeeSponsoredContent ShouldShowFediverseM075Features "
    "IsInternalUser",
)
_TAB = _POST | _providers(off="HasProfileSelfReplyContext")
_PERMALINK = _POST | _providers(
    on="HasPostAuthorNotifControls",
    off="HasPermalinkIndentation ShouldShowFediverseM1Features HasInlineReplyComposer",
)
_HOVERCARD = _providers(off="IsInternalUser IsLoggedIn HasMessaging ShouldShowFediverseM1Features HasEventBadge")
_ACCOUNT = _providers(
    on="IsLoggedOut HasCommunities",
    off="IsLoggedIn HasMessaging IsInternalUser HasEventBadge HasCommunityTopContributors "
    "ShouldShowFediverseM1Features",
)


@dataclass(frozen=True, slots=True)
class Query:
    """A stored query: ``doc_id`` as seen at ``seen``; ``root`` is the field asked for, ``providers`` are its flags."""

    name: str
    doc_id: str
    seen: str
    source: str
    root: str
    providers: Mapping[str, bool] = field(default_factory=dict)


HOVERCARD = Query(
    "BarcelonaUsernameHovercardImplDirectQuery", "26380219401627134", "2026-04", "requests of a logged-out browser",
    "xdt_text_app_user_by_username", _HOVERCARD,
)  # fmt: skip
PROFILE = Query(
    "BarcelonaProfilePageDirectQuery", "27315641728135541", "2026-07",
    "requests of a browser; 26973787138973936 in 2026-04", "xdt_text_app_user", _ACCOUNT,
)  # fmt: skip
POSTS = Query(
    "BarcelonaProfileThreadsTabRefetchableDirectQuery", "27545758055009868", "2026-06",
    "loozzi/meta-threads-scraper; 28437090222560814 in 2026-07 with a session",
    "xdt_api__v1__text_feed__user_id__profile__connection", _TAB,
)  # fmt: skip
REPLIES = Query(
    "BarcelonaProfileRepliesTabRefetchableDirectQuery", "38287806247476832", "2026-07",
    "requests of a browser with a session", "xdt_api__v1__text_feed__user_id__profile__replies__connection", _TAB,
)  # fmt: skip
POST = Query(
    "BarcelonaPostPageDirectQuery", "36010704751909445", "2026-06",
    "loozzi/meta-threads-scraper; 35009275178687016 in 2026-04",
    "xdt_api__v1__text_feed__media_id__replies__connection", _PERMALINK,
)  # fmt: skip
#: the one query of 2023 without a successor that guests are known to get (Danie1/threads-api, junhoyeo/threads-api)
LIKERS_DOC = "9360915773983802"

#: the page that gives a guest its cookies and tokens
WARMUP = Fetch("warmup", f"{HOME}/", harvest=True)

_COMMON = (("X-ASBD-ID", ASBD_ID), ("Origin", HOME))
_TOKENS = {"X-FB-LSD": Token("lsd"), "X-CSRFToken": Token("csrf"), "X-IG-App-ID": Token("app_id", APP_ID)}


def profile_url(username: str | None) -> str | None:
    """Canonical address of an account."""
    return f"{HOME}/@{quote(username, safe='')}" if username else None


def post_url(username: str | None, code: str | None) -> str | None:
    """Canonical address of a post; ``/t/<code>`` leads there when the author is not known."""
    if not code:
        return None
    path = f"@{quote(username, safe='')}/post" if username else "t"
    return f"{HOME}/{path}/{quote(code, safe='')}"


def profile_page(user: str) -> Fetch:
    """The account's page: posts where the server puts them in, a shell for scripts to fill elsewhere (2026)."""
    return Fetch("page", f"{HOME}/@{user}", harvest=True)


def replies_page(user: str) -> Fetch:
    """The account's page of replies."""
    return Fetch("page", f"{HOME}/@{user}/replies", harvest=True)


def post_page(code: str, user: str | None = None) -> Fetch:
    """The post's page; the name in the address is not checked by the site."""
    return Fetch("page", f"{HOME}/@{user}/post/{code}" if user else f"{HOME}/t/{code}", harvest=True)


def shared_page(share: str) -> Fetch:
    """A post by the code of a share link, which is another than the post's."""
    return Fetch("page", f"{HOME}/share/{share}", harvest=True)


def _graphql(strategy: str, query: Query, variables: Mapping[str, Any], *, referer: str) -> Fetch:
    """A stored query as the web client sends it for a guest (2026)."""
    flags = {_PROVIDER.format(name): value for name, value in query.providers.items()}
    form = [("av", "0"), ("__user", "0"), ("__a", "1"), ("dpr", "1"), ("__comet_req", COMET_ENV)]
    form += [("fb_api_caller_class", "RelayModern"), ("fb_api_req_friendly_name", query.name)]
    form += [("server_timestamps", "true"), ("variables", orjson.dumps({**variables, **flags}).decode())]
    return Fetch(
        strategy,
        f"{HOME}/graphql/query",
        "POST",
        "xhr",
        headers=(
            ("X-FB-Friendly-Name", query.name),
            ("X-Root-Field-Name", query.root),
            ("X-LOGGED-OUT-THREADS-MIGRATED-REQUEST", "true"),
            *_COMMON,
        ),
        form=tuple(form),
        referer=referer,
        token_headers=_TOKENS,
        token_form={
            "lsd": Token("lsd"),
            "jazoest": Token("jazoest"),
            "doc_id": Token(f"doc:{query.name}", query.doc_id),
        },
    )


def hovercard(user: str) -> Fetch:
    """The card of an account by its name: its number and its facts."""
    return _graphql("hovercard", HOVERCARD, {"username": user}, referer=f"{HOME}/@{user}")


def route(user: str) -> Fetch:
    """What the client's router asks for an address; the props of the account's page have its number."""
    form = [("route_urls[0]", f"/@{user}"), ("routing_namespace", "barcelona_web"), ("__user", "0"), ("__a", "1")]
    form += [("__comet_req", COMET_ENV)]
    return Fetch(
        "route",
        f"{HOME}/ajax/bulk-route-definitions/",
        "POST",
        "xhr",
        headers=_COMMON,
        form=tuple(form),
        referer=f"{HOME}/@{user}",
        token_headers=_TOKENS,
        token_form={"lsd": Token("lsd"), "jazoest": Token("jazoest")},
    )


def profile_query(number: str) -> Fetch:
    """The facts of an account by its number."""
    return _graphql("graphql", PROFILE, {"canSeeFeedsTab": True, "userID": number}, referer=f"{HOME}/")


def _tab(query: Query, number: str, after: str | None, user: str | None) -> Fetch:
    variables = {"after": after, "allow_page_info_for_lox_user": True, "before": None, "first": PAGE_SIZE}
    variables |= {"last": None, "userID": number}
    return _graphql("graphql", query, variables, referer=f"{HOME}/@{user}" if user else f"{HOME}/")


def posts_query(number: str, after: str | None = None, user: str | None = None) -> Fetch:
    """A page of an account's posts."""
    return _tab(POSTS, number, after, user)


def replies_query(number: str, after: str | None = None, user: str | None = None) -> Fetch:
    """A page of an account's replies."""
    return _tab(REPLIES, number, after, user)


def post_query(number: str, code: str, after: str | None = None) -> Fetch:
    """A post and a page of the replies to it."""
    variables = {"postID": number, "sort_order": "TOP", "after": after, "first": REPLIES_SIZE}
    return _graphql("graphql", POST, variables, referer=f"{HOME}/t/{code}")


def likers(number: str, code: str) -> Fetch:
    """Who likes a post (form of 2023)."""
    form = [("variables", orjson.dumps({"mediaID": number}).decode()), ("doc_id", LIKERS_DOC)]
    return Fetch(
        "graphql",
        f"{HOME}/api/graphql",
        "POST",
        "xhr",
        headers=_COMMON,
        form=tuple(form),
        referer=f"{HOME}/t/{code}",
        token_headers=_TOKENS,
        token_form={"lsd": Token("lsd")},
    )
