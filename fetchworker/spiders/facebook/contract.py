"""What Facebook answers to for guests, as data, and the requests made of it.

Pages come first: the server runs their queries and puts the results into the page. ``/api/graphql/`` answers guests too
when every relay provider that a stored query declares is among its variables (public guest clients, 2025-2026). Every
id below is a dated example; the ones that pages tell (``doc:<QueryName>`` tokens) come before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson

from fetchworker.contracts import Fetch, Token
from fetchworker.spiders.facebook.ids import HOME, MOBILE, story_id

if TYPE_CHECKING:
    from collections.abc import Mapping

#: browsers and public clients, 2025-2026
ASBD_ID = "359341"
#: ``comet_env`` of www pages, 2023-2026
COMET_ENV = "15"
#: posts of one answer, as the web client asks (2025); the server gives no more
PAGE_SIZE = 3


@dataclass(frozen=True, slots=True)
class Query:
    """A stored query: ``doc_id`` as seen at ``seen``."""

    name: str
    doc_id: str
    seen: str
    source: str


_CLIENTS = "public guest clients"
HEADER = Query("ProfileCometHeaderQuery", "24637479539185522", "2025", f"{_CLIENTS}; 26107618495520051 in 2024-08")
TIMELINE = Query(
    "ProfileCometTimelineFeedQuery", "24130362143235169", "2025",
    f"{_CLIENTS}; 8120769664682086 in 2024-08, 5773984002695921 in 2023-01",
)  # fmt: skip
TIMELINE_NEXT = Query("ProfileCometTimelineFeedRefetchQuery", "28591463417151325", "2026", "scrapers, 2026")
POST = Query("CometSinglePostDialogContentQuery", "30329081383349461", "2025", _CLIENTS)
PHOTO = Query("CometPhotoRootContentQuery", "26168653472729001", "2026", "scrapers, 2026; 23916701474613206 in 2025")
REEL = Query("FBReelsRootWithEntrypointQuery", "30094271533520445", "2025", _CLIENTS)
GROUP = Query("CometGroupRootQuery", "24726713260250827", "2025", _CLIENTS)
GROUP_NEXT = Query(
    "GroupsCometFeedRegularStoriesPaginationQuery", "27489248654050164", "2026",
    "scrapers, 2026; 9755367644572581 in 2025",
)  # fmt: skip

_PROVIDER = "__relay_internal__pv__{}relayprovider"
#: what stored queries of posts and profiles declared in 2025; a missing one is an execution error
PROVIDERS = {
    "CometImmersivePhotoCanUserDisable3DMotion": False, "CometUFIReactionsEnableShortName": False,
    "CometUFIShareActionMigration": True, "CometUFI_dedicated_comment_routable_dialog_gk": False,
    "FBReelsIFUTileContent_reelsIFUPlayOnHover": False, "FBReelsMediaFooter_comet_enable_reels_ads_gk": False,
    "FBReels_deprecate_short_form_video_context_gk": False, "GHLShouldChangeAdIdFieldName": False,
    "GHLShouldChangeSponsoredDataFieldName": False, "GroupsCometGroupChatLazyLoadLastMessageSnippet": False,
    "GroupsCometLazyLoadFeaturedSection": False, "IsMergQAPolls": False, "IsWorkUser": False,
    "ProfileCometHeaderPrimaryActionBar_passesCometProfileDirectoryGK": False,
    "StoriesArmadilloReplyEnabled": False, "WorkCometIsEmployeeGKProvider": False,
}  # fmt: skip
_FEED: dict[str, Any] = {
    "feedLocation": "TIMELINE", "feedbackSource": 0, "focusCommentID": None, "omitPinnedPost": False,
    "privacySelectorRenderLocation": "COMET_STREAM", "renderLocation": "timeline", "scale": 1, "stream_count": 1,
    "useDefaultActor": False,
}  # fmt: skip

#: the page that gives a guest cookies and tokens
WARMUP = Fetch("warmup", f"{HOME}/login/", harvest=True)


def graphql(strategy: str, query: Query, variables: Mapping[str, Any], *, referer: str) -> Fetch:
    """A stored query as the web client sends it for a guest (``fb_dtsg`` is left out)."""
    providers = {_PROVIDER.format(name): value for name, value in PROVIDERS.items()}
    form = [("av", "0"), ("__user", "0"), ("__a", "1"), ("__req", "1"), ("dpr", "1"), ("__ccg", "GOOD")]
    form += [("__comet_req", COMET_ENV), ("fb_api_caller_class", "RelayModern")]
    form += [("fb_api_req_friendly_name", query.name), ("server_timestamps", "true")]
    form += [("variables", orjson.dumps({**variables, **providers}).decode())]
    return Fetch(
        strategy,
        f"{HOME}/api/graphql/",
        "POST",
        "xhr",
        headers=(("X-FB-Friendly-Name", query.name), ("X-ASBD-ID", ASBD_ID), ("Origin", HOME)),
        form=tuple(form),
        referer=referer,
        token_headers={"X-FB-LSD": Token("lsd")},
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


def _page(strategy: str, path: str, query: Mapping[str, str] | None = None, *, host: str = HOME) -> Fetch:
    url = f"{host}/{quote(path, safe='/')}"
    return Fetch(strategy, f"{url}?{urlencode(query)}" if query else url, harvest=host == HOME)


def _profile_path(user: str | None, number: str | None) -> tuple[str, dict[str, str]]:
    return (user, {}) if user else ("profile.php", {"id": number or ""})


def profile_page(user: str | None, number: str | None) -> Fetch:
    """The account's page: header, introduction and one post (2023-2026)."""
    return _page("page", *_profile_path(user, number))


def profile_query(number: str) -> Fetch:
    """Facts of an account by its number."""
    variables = {"scale": 1, "selectedID": number, "selectedSpaceType": "community",
                 "shouldUseFXIMProfilePicEditor": False, "userID": number}  # fmt: skip
    return graphql("graphql", HEADER, variables, referer=profile_page(None, number).url)


def profile_mobile(user: str | None, number: str | None) -> Fetch:
    """The account's page of the mobile site; today mostly a log-in page."""
    return _page("mobile", *_profile_path(user, number), host=MOBILE)


def posts_query(number: str) -> Fetch:
    """The first post of an account by its number."""
    variables = {**_FEED, "count": 1, "userID": number}
    return graphql("graphql", TIMELINE, variables, referer=profile_page(None, number).url)


def posts_next(number: str, cursor: str) -> Fetch:
    """The next posts of an account."""
    variables = {**_FEED, "afterTime": None, "beforeTime": None, "count": PAGE_SIZE, "cursor": cursor, "id": number,
                 "memorializedSplitTimeFilter": None, "postedBy": None, "privacy": None, "taggedInOnly": None,
                 "trackingCode": None}  # fmt: skip
    return graphql("graphql_next", TIMELINE_NEXT, variables, referer=profile_page(None, number).url)


def posts_mobile(user: str) -> Fetch:
    """Posts of a page on the mobile site (2020-2021)."""
    return _page("mobile", f"{user}/posts/", host=MOBILE)


def mobile_next(path: str) -> Fetch:
    """The next page of the mobile site; ``path`` is the cursor."""
    return Fetch("mobile_next", MOBILE + path, destination="xhr" if "/more/" in path else "navigate")


def post_page(number: str, user: str | None, group: str | None) -> Fetch:
    """The post's page."""
    if group:
        return _page("page", f"groups/{group}/posts/{number}/")
    if user and not user.isdigit():
        return _page("page", f"{user}/posts/{number}")
    if user:
        return _page("page", "permalink.php", {"story_fbid": number, "id": user})
    return _page("page", number)


def post_query(number: str, owner: str) -> Fetch:
    """A post by its number and that of its owner."""
    variables = {"feedbackSource": 2, "feedLocation": "PERMALINK", "focusCommentID": None,
                 "privacySelectorRenderLocation": "COMET_STREAM", "renderLocation": "permalink", "scale": 1,
                 "storyID": story_id(owner, number), "useDefaultActor": False}  # fmt: skip
    return graphql("graphql", POST, variables, referer=post_page(number, owner, None).url)


def post_mobile(number: str, user: str | None, group: str | None) -> Fetch:
    """The post's page of the mobile site."""
    if group:
        return _page("mobile", f"groups/{group}", {"view": "permalink", "id": number}, host=MOBILE)
    if user and not user.isdigit():
        return _page("mobile", f"{user}/posts/{number}", host=MOBILE)
    query = {"story_fbid": number, "id": user} if user else {"story_fbid": number}
    return _page("mobile", "story.php", query, host=MOBILE)


def photo_page(number: str) -> Fetch:
    """The photo's page."""
    return _page("page", "photo/", {"fbid": number})


def photo_query(number: str) -> Fetch:
    """A photo by its number."""
    variables = {"feedbackSource": 65, "feedLocation": "COMET_MEDIA_VIEWER", "focusCommentID": None, "isMediaset": True,
                 "mediasetToken": "", "nodeID": number, "privacySelectorRenderLocation": "COMET_MEDIA_VIEWER",
                 "renderLocation": "comet_media_viewer", "scale": 1, "useDefaultActor": False}  # fmt: skip
    return graphql("graphql", PHOTO, variables, referer=photo_page(number).url)


def photo_mobile(number: str) -> Fetch:
    """The photo's page of the mobile site."""
    return _page("mobile", "photo.php", {"fbid": number}, host=MOBILE)


def video_page(number: str) -> Fetch:
    """The video's page."""
    return _page("page", "watch/", {"v": number})


def reel_page(number: str) -> Fetch:
    """The reel's page."""
    return _page("reel", f"reel/{number}/")


def reel_query(number: str) -> Fetch:
    """A reel, or another video, by its number."""
    variables = {"count": 0, "group_id_list": [], "initial_node_id": number,
                 "isAggregationProfileViewerOrShouldShowReelsForPage": True, "page_id": "", "recent_vpvs_v2": [],
                 "renderLocation": "fb_shorts_profile_video_deep_dive", "root_video_id": number,
                 "root_video_tracking_key": "", "scale": 1, "shouldIncludeInitialNodeFetch": True,
                 "shouldShowReelsForPage": False, "surface_type": "FEED_VIDEO_DEEP_DIVE",
                 "useDefaultActor": False}  # fmt: skip
    return graphql("graphql", REEL, variables, referer=reel_page(number).url)


def video_mobile(number: str, user: str | None) -> Fetch:
    """The video's page of the mobile site."""
    if user:
        return _page("mobile", f"{user}/videos/{number}/", host=MOBILE)
    return _page("mobile", "watch/", {"v": number}, host=MOBILE)


def group_page(group: str) -> Fetch:
    """The group's page: its facts and first posts."""
    return _page("page", f"groups/{group}/")


def group_query(number: str) -> Fetch:
    """Facts of a group by its number."""
    variables = {"groupID": number, "inviteShortLinkKey": None, "isChainingRecommendationUnit": False, "scale": 1}
    return graphql("graphql", GROUP, variables, referer=group_page(number).url)


def group_next(number: str, cursor: str) -> Fetch:
    """The next posts of a group."""
    variables = {"count": PAGE_SIZE, "cursor": cursor, "feedLocation": "GROUP", "feedType": "DISCUSSION",
                 "feedbackSource": 0, "focusCommentID": None, "id": number,
                 "privacySelectorRenderLocation": "COMET_STREAM", "renderLocation": "group", "scale": 1,
                 "sortingSetting": "RECENT_ACTIVITY", "stream_initial_count": 1, "useDefaultActor": False}  # fmt: skip
    return graphql("graphql_next", GROUP_NEXT, variables, referer=group_page(number).url)


def group_mobile(group: str) -> Fetch:
    """The group's page of the mobile site (2020)."""
    return _page("mobile", f"groups/{group}/", host=MOBILE)


def events_pages(user: str | None, number: str | None, group: str | None, *, past: bool) -> list[Fetch]:
    """The pages that list events: a tab of each profile (2025-2026), one page of a group."""
    if group:
        return [_page("page", f"groups/{group}/events")]
    tab = "past_hosted_events" if past else "upcoming_hosted_events"
    if user:
        return [_page("page", f"{user}/{tab}"), _page("tab", f"{user}/events")]
    return [_page("page", "profile.php", {"id": number or "", "sk": tab}),
            _page("tab", "profile.php", {"id": number or "", "sk": "events"})]  # fmt: skip


def event_page(number: str) -> Fetch:
    """The event's page."""
    return _page("page", f"events/{number}/")
