"""What Instagram answers to, as data, and the requests made of it.

Every id below is a dated example: the site changes them every two to four weeks, so the ones that its own pages and
scripts tell (``doc:<QueryName>`` tokens) come first and the literals are the fallback. Two end points serve two
families of stored queries: ``/api/graphql`` those of the logged-out site, ``/graphql/query`` those of the logged-in
one, which answer guests too when every relay provider they declare is among the variables (2026-09).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson

from fetchworker.contracts import Fetch, Token

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOME = "https://www.instagram.com"
#: the web client's own id, unchanged 2018-2026
APP_ID = "936619743392459"
#: yt-dlp and guest scrapers, 2026
ASBD_ID = "359341"
#: ``comet_env`` of instagram's pages, 2024-2026
COMET_ENV = "7"
#: the server gives 12 posts a page whatever is asked (2026-09)
PAGE_SIZE = 12
#: comments: 24 a page are given (2026-09)
COMMENTS_SIZE = 50
_POLARIS = "PolarisLoggedOutDesktopWWW"
_PROVIDER = "__relay_internal__pv__{}relayprovider"


@dataclass(frozen=True, slots=True)
class Query:
    """A stored query: ``doc_id`` as seen at ``seen``, ``providers`` must be among its variables (all false)."""

    name: str
    doc_id: str
    seen: str
    source: str
    path: str = "/api/graphql"
    route: str | None = None
    providers: Sequence[str] = ()


PROFILE = Query(
    f"{_POLARIS}ProfileRootContentQuery", "27981003384861049", "2026-09",
    "expectedPreloaders of profile pages", route=f"comet.igweb.{_POLARIS}ProfileRoute",
)  # fmt: skip
POSTS = Query(
    f"{_POLARIS}ProfilePostsTabContentQuery", "27553725110923321", "2026-09",
    "expectedPreloaders of profile pages", route=f"comet.igweb.{_POLARIS}ProfileRoute",
)  # fmt: skip
POSTS_NEXT = Query(
    f"{_POLARIS}ProfilePostsTabContentQuery_connection", "27389614800735091", "2026-09",
    "requests of a logged-out browser while scrolling", route=f"comet.igweb.{_POLARIS}ProfileRoute",
)  # fmt: skip
REELS = Query(
    f"{_POLARIS}ProfileReelsTabContentQuery", "27838951732404191", "2026-09",
    "guest scrapers", route=f"comet.igweb.{_POLARIS}ProfileRoute",
)  # fmt: skip
POST = Query(
    f"{_POLARIS}PostRootContentQuery", "28309390568695038", "2026-09",
    "script bundles; 27130156389949648 in yt-dlp from 2026-06", route=f"comet.igweb.{_POLARIS}PostRoute",
)  # fmt: skip
COMMENTS = Query(
    f"{_POLARIS}PostCommentsPaginationQuery", "27659279553772821", "2026-09",
    "requests of a logged-out browser", route=f"comet.igweb.{_POLARIS}PostRoute",
)  # fmt: skip
POPULAR = Query(
    "PolarisLoggedOutPopularSearchPageQuery", "29032174876406682", "2026-09",
    "script bundles", route="comet.igweb.PolarisLoggedOutPopularSearchRoute",
)  # fmt: skip
PROFILE_BY_ID = Query(
    "PolarisProfilePageContentQuery", "28036671149327607", "2026-09", "script bundles", "/graphql/query",
    providers=(
        "PolarisCASB976ProfileEnabled", "PolarisCannesGuardianExperienceEnabled", "PolarisMultiCaptionCarouselEnabled",
        "PolarisReelsRecoDebugOverlayEnabled", "PolarisRepostsConsumptionEnabled", "PolarisShortDramaEnabled",
        "PolarisWebSchoolsEnabled",
    ),
)  # fmt: skip
_POSTS_PROVIDERS = (
    "PolarisMultiCaptionCarouselEnabled", "PolarisReelsRecoDebugOverlayEnabled", "PolarisShortDramaEnabled",
)  # fmt: skip
TIMELINE = Query(
    "PolarisProfilePostsQuery", "39740939532171951", "2026-09", "script bundles; 28534843459473863 on 2026-08-31",
    "/graphql/query", providers=_POSTS_PROVIDERS,
)  # fmt: skip
TIMELINE_NEXT = Query(
    "PolarisProfilePostsTabContentQuery_connection", "28489798657316487", "2026-09", "script bundles",
    "/graphql/query", providers=_POSTS_PROVIDERS,
)  # fmt: skip
POST_ROOT = Query(
    "PolarisPostRootQuery", "28210188581965596", "2026-09", "script bundles; 27128499623469141 in instagrapi",
    "/graphql/query", providers=("PolarisMultiCaptionCarouselEnabled", "PolarisShortDramaEnabled"),
)  # fmt: skip
CLIPS = Query(
    "PolarisProfileReelsTabContentQuery", "27234427476213202", "2026-09", "guest scrapers", "/graphql/query",
)  # fmt: skip
TOPSEARCH = Query(
    "PolarisSearchBoxRefetchableQuery", "24146980661639222", "2025", "scrapers with a session", "/graphql/query",
)  # fmt: skip
#: stored query of early 2024 that takes a numeric user id (instaloader ``structures.py``)
TIMELINE_BY_ID_DOC = "7950326061742207"

#: first generation of stored queries (2018-2022), GET ``/graphql/query/?query_hash=``; from instaloader
QUERY_HASHES = {
    "posts": "2b0673e0dc4580674a88d426fe00ea90",
    "comments": "97b41c52301f77ce508f55e66d17620e",
    "user": "7c16654f22c819fb63d1183034a5162f",
}

_APP_HEADER = {"X-IG-App-ID": Token("app_id", APP_ID)}
_REST_HEADERS = (("X-ASBD-ID", ASBD_ID), ("X-IG-WWW-Claim", "0"), ("X-Requested-With", "XMLHttpRequest"))

#: the page that gives a guest its cookies and tokens
WARMUP = Fetch("warmup", f"{HOME}/", harvest=True)


def profile_url(username: str | None) -> str | None:
    """Canonical address of an account."""
    return f"{HOME}/{quote(username, safe='')}/" if username else None


def post_url(shortcode: str | None, *, reel: bool = False) -> str | None:
    """Canonical address of a post."""
    return f"{HOME}/{'reel' if reel else 'p'}/{quote(shortcode, safe='')}/" if shortcode else None


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode()


def graphql(strategy: str, query: Query, variables: Mapping[str, Any], *, referer: str) -> Fetch:
    """A stored query as the web client sends it for a guest (observed 2026-09)."""
    providers = {_PROVIDER.format(name): False for name in query.providers}
    form = [("av", "0"), ("__d", "www"), ("__user", "0"), ("__a", "1"), ("__req", "1"), ("dpr", "1")]
    form += [("__ccg", "GOOD"), ("__comet_req", COMET_ENV)]
    form += [("__crn", query.route)] if query.route else []
    form += [("fb_api_caller_class", "RelayModern"), ("fb_api_req_friendly_name", query.name)]
    form += [("server_timestamps", "true"), ("variables", _json({**variables, **providers}))]
    return Fetch(
        strategy,
        HOME + query.path,
        "POST",
        "xhr",
        headers=(("X-FB-Friendly-Name", query.name), ("X-ASBD-ID", ASBD_ID), ("Origin", HOME)),
        form=tuple(form),
        referer=referer,
        token_headers={"X-FB-LSD": Token("lsd"), "X-CSRFToken": Token("csrf"), **_APP_HEADER},
        token_form={
            "__hs": Token("haste_session"),
            "__rev": Token("client_revision"),
            "__hsi": Token("hsi"),
            "lsd": Token("lsd"),
            "jazoest": Token("jazoest"),
            "__spin_r": Token("spin_r"),
            "__spin_b": Token("spin_b", "trunk"),
            "__spin_t": Token("spin_t"),
            "doc_id": Token(f"doc:{query.name}", query.doc_id),
        },
    )


def _page(strategy: str, url: str) -> Fetch:
    return Fetch(strategy, url, harvest=True)


def _rest(strategy: str, path: str, query: Mapping[str, str], *, referer: str) -> Fetch:
    url = f"{HOME}{path}?{urlencode(query)}"
    return Fetch(strategy, url, "GET", "xhr", _REST_HEADERS, referer=referer, token_headers=_APP_HEADER)


def _query_hash(name: str, variables: Mapping[str, Any], *, referer: str) -> Fetch:
    query = {"query_hash": QUERY_HASHES[name], "variables": _json(variables)}
    return _rest("query_hash", "/graphql/query/", query, referer=referer)


def profile_page(user: str) -> Fetch:
    """The account's page: data of two queries, 12 posts (2026); shells or ``sharedData`` before."""
    return _page("page", f"{HOME}/{user}/")


def web_profile_info(user: str) -> Fetch:
    """The classic answer with 12 posts; refused to more and more guests from 2026-07."""
    query = {"username": user}
    return _rest("web_profile_info", "/api/v1/users/web_profile_info/", query, referer=f"{HOME}/{user}/")


def profile_query(user: str) -> Fetch:
    """Facts of an account without posts."""
    return graphql("graphql", PROFILE, {"username": user}, referer=f"{HOME}/{user}/")


def profile_embed(user: str) -> Fetch:
    """The card for other sites: name, counts (that of posts too), a few posts."""
    return _page("embed", f"{HOME}/{user}/embed/")


def profile_by_id(number: str) -> Fetch:
    """Facts of an account by its numeric id."""
    return graphql("graphql", PROFILE_BY_ID, {"id": number, "enable_integrity_filters": True}, referer=f"{HOME}/")


def user_by_id(number: str) -> Fetch:
    """Name and picture of an account by its numeric id (2018-2022)."""
    wanted = {"user_id": number, "include_chaining": False, "include_reel": True, "include_suggested_users": False}
    wanted |= {"include_logged_out_extras": False, "include_highlight_reels": False}
    return _query_hash("user", wanted, referer=f"{HOME}/")


def posts_query(user: str, after: str | None = None) -> Fetch:
    """12 posts of an account, as its page holds them."""
    variables = {"first": PAGE_SIZE, "username": user} | ({"after": after} if after else {})
    return graphql("graphql", POSTS, variables, referer=f"{HOME}/{user}/")


def posts_next(user: str | None, scoped_id: str, after: str) -> Fetch:
    """The next 12 posts; takes the app-scoped id (17841…) that came with the page before."""
    variables = {"after": after, "first": PAGE_SIZE, "id": scoped_id}
    return graphql("graphql_next", POSTS_NEXT, variables, referer=f"{HOME}/{user}/" if user else f"{HOME}/")


def _timeline_data() -> dict[str, Any]:
    wanted = ("include_reel_media_seen_timestamp", "include_relationship_info", "latest_besties_reel_media")
    return {"count": PAGE_SIZE, **dict.fromkeys((*wanted, "latest_reel_media"), True)}


def timeline(user: str, after: str | None = None) -> Fetch:
    """Posts in the logged-in client's form, with likes and times."""
    variables: dict[str, Any] = {"data": _timeline_data(), "username": user}
    if after:
        variables |= {"after": after, "before": None, "first": PAGE_SIZE, "last": None}
    return graphql("timeline", TIMELINE_NEXT if after else TIMELINE, variables, referer=f"{HOME}/{user}/")


def timeline_by_id(number: str, after: str | None = None) -> Fetch:
    """Posts by numeric user id, graph form (2024)."""
    variables = {"id": number, "first": PAGE_SIZE, "after": after}
    query = {"doc_id": TIMELINE_BY_ID_DOC, "variables": _json(variables)}
    return _rest("timeline_by_id", "/graphql/query/", query, referer=f"{HOME}/")


def posts_by_hash(number: str, after: str | None = None) -> Fetch:
    """Posts by numeric user id, graph form (2018-2022)."""
    return _query_hash("posts", {"id": number, "first": PAGE_SIZE, "after": after}, referer=f"{HOME}/")


def post_page(shortcode: str) -> Fetch:
    """The post's page: the post and its first comments (2026), meta tags alone (2021-2025)."""
    return _page("page", f"{HOME}/p/{shortcode}/")


def post_query(number: str, shortcode: str) -> Fetch:
    """A post and its first comments by the media's number."""
    return graphql("graphql", POST, {"media_id": number}, referer=f"{HOME}/p/{shortcode}/")


def post_root(shortcode: str) -> Fetch:
    """A post in the logged-in client's form."""
    return graphql("post_root", POST_ROOT, {"shortcode": shortcode}, referer=f"{HOME}/p/{shortcode}/")


def post_embed(shortcode: str) -> Fetch:
    """The card for other sites."""
    return _page("embed", f"{HOME}/p/{shortcode}/embed/captioned/")


def comments_query(number: str, shortcode: str, after: str | None = None) -> Fetch:
    """Comments; ``after`` is the cursor as it came, which may itself be a JSON text."""
    variables = {"after": after, "first": COMMENTS_SIZE, "media_id": number}
    return graphql("graphql", COMMENTS, variables, referer=f"{HOME}/p/{shortcode}/")


def comments_by_hash(shortcode: str, after: str | None = None) -> Fetch:
    """Comments, graph form (2018-2022)."""
    variables = {"shortcode": shortcode, "first": PAGE_SIZE, "after": after}
    return _query_hash("comments", variables, referer=f"{HOME}/p/{shortcode}/")


def reels_page(user: str) -> Fetch:
    """The account's page of reels, with the numbers of plays."""
    return _page("page", f"{HOME}/{user}/reels/")


def reels_query(user: str, after: str | None = None) -> Fetch:
    """12 reels, as the page of reels holds them."""
    variables = {"first": PAGE_SIZE, "username": user} | ({"after": after} if after else {})
    return graphql("graphql", REELS, variables, referer=f"{HOME}/{user}/reels/")


def clips_query(number: str, after: str | None = None) -> Fetch:
    """Reels by numeric user id, the logged-in client's form."""
    data = {"include_feed_video": True, "page_size": PAGE_SIZE, "target_user_id": number}
    paging = {"after": after, "before": None, "first": PAGE_SIZE, "last": None} if after else {}
    return graphql("clips_query", CLIPS, {"data": data, **paging}, referer=f"{HOME}/")


def clips(number: str, max_id: str | None = None) -> Fetch:
    """Reels by numeric user id, the app's form (2021 on)."""
    form = [("target_user_id", number), ("page_size", str(PAGE_SIZE)), ("include_feed_video", "true")]
    form += [("max_id", max_id)] if max_id else []
    return Fetch(
        "clips",
        f"{HOME}/api/v1/clips/user/",
        "POST",
        "xhr",
        headers=(*_REST_HEADERS, ("Origin", HOME)),
        form=tuple(form),
        referer=f"{HOME}/",
        token_headers={"X-CSRFToken": Token("csrf"), **_APP_HEADER},
    )


def topsearch(query: str) -> Fetch:
    """Accounts, hashtags and places; guests often meet the login wall."""
    wanted = {"context": "blended", "query": query, "include_reel": "false"}
    return _rest("topsearch", "/web/search/topsearch/", wanted, referer=f"{HOME}/")


def topsearch_query(query: str) -> Fetch:
    """The same as a stored query (2024 on)."""
    data = {"context": "blended", "include_reel": "true", "query": query, "rank_token": ""}
    variables = {"data": {**data, "search_surface": "web_top_search"}, "hasQuery": True}
    return graphql("topsearch_query", TOPSEARCH, variables, referer=f"{HOME}/")


def popular(query: str, after: str | None = None) -> Fetch:
    """Reels that rank for words or a hashtag: what guests get for a search (2026)."""
    variables = {"keyword": query, "media_count": PAGE_SIZE, "related_keywords_count": 10, "debug": None}
    variables |= {"include_reel_experience_fields": True, "include_description": not after}
    variables |= {"include_trending_pills": False, "after": after}
    return graphql("popular", POPULAR, variables, referer=f"{HOME}/popular/{quote(query, safe='')}/")
