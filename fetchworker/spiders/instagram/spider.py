"""The Instagram spider: which requests to make for what, in order of preference."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.instagram import contract, parse, tokens
from fetchworker.spiders.instagram.ids import pk_of, shortcode_of
from fetchworker.spiders.instagram.params import (
    RESERVED,
    CommentsParams,
    PostParams,
    PostsParams,
    ProfileParams,
    ReelsParams,
    SearchParams,
)
from fetchworker.spiders.metafamily import bundles

_SITE = r"https?://(?:www\.|m\.)?instagram\.com/"
_USER = rf"(?!(?:{'|'.join(RESERVED)})(?:[/?#]|$))(?P<user>[A-Za-z0-9._]{{1,30}})"
_END = r"/?(?:[?#].*)?$"


class InstagramSpider(SiteSpider):
    """Accounts, posts, comments, reels and searches, as a guest sees them."""

    name = "instagram"
    warmup = contract.WARMUP
    extract_tokens = staticmethod(tokens.extract)
    scripts = bundles.SCRIPTS

    @operation(parse=parse.profile, default_for=("user", "id"), patterns=(_SITE + _USER + _END,))
    def profile(self, call: Call[ProfileParams]) -> Iterator[Fetch]:
        """Public profile with its first posts."""
        user, number = call.params.user, call.params.id
        if user:
            yield contract.profile_page(user)
            yield contract.web_profile_info(user)
            yield contract.profile_query(user)
            yield contract.profile_embed(user)
        if number:
            yield contract.profile_by_id(number)
            yield contract.user_by_id(number)

    @operation(parse=parse.posts, counts="post")
    def posts(self, call: Call[PostsParams]) -> Iterator[Fetch]:
        """Posts of an account, newest first."""
        if call.cursor:
            yield from _posts_after(call, call.cursor)
            return
        user, number = call.params.user, call.params.id
        if user:
            yield contract.profile_page(user)
            yield contract.posts_query(user)
            yield contract.web_profile_info(user)
            yield contract.timeline(user)
            yield contract.profile_embed(user)
        if number:
            yield contract.timeline_by_id(number)
            yield contract.posts_by_hash(number)

    @operation(
        parse=parse.post,
        default_for=("shortcode",),
        patterns=(rf"{_SITE}(?:[A-Za-z0-9._]{{1,30}}/)?(?:p|tv|reels?)/(?P<shortcode>[A-Za-z0-9_-]{{5,64}}){_END}",),
    )
    def post(self, call: Call[PostParams]) -> Iterator[Fetch]:
        """One post with its first comments."""
        code, number = _post(call.params)
        # the page may be a shell with rounded counts: better than nothing, worse than the query's answer
        if code and number:
            yield contract.post_query(number, code)
        if code:
            yield contract.post_page(code)
            yield contract.post_root(code)
            yield contract.post_embed(code)

    @operation(parse=parse.comments, counts="comment")
    def comments(self, call: Call[CommentsParams]) -> Iterator[Fetch]:
        """Comments on a post."""
        code, number = _post(call.params)
        if code and not call.cursor:
            yield contract.post_page(code)
        if code and number:
            yield contract.comments_query(number, code, call.cursor)
        if code:
            yield contract.comments_by_hash(code, call.cursor)

    @operation(parse=parse.reels, counts="post", patterns=(rf"{_SITE}{_USER}/reels{_END}",))
    def reels(self, call: Call[ReelsParams]) -> Iterator[Fetch]:
        """Reels of an account, newest first."""
        user, number = _account(call)
        flavour = call.state.get("flavour")
        if user and not call.cursor:
            yield contract.reels_page(user)
        if user and flavour in (None, "polaris"):
            yield contract.reels_query(user, call.cursor)
        if number and flavour in (None, "xdt"):
            yield contract.clips_query(number, call.cursor)
        if number and flavour in (None, "app"):
            yield contract.clips(number, call.cursor)

    @operation(
        parse=parse.search,
        default_for=("query",),
        counts="search_result",
        patterns=(rf"{_SITE}(?:popular|explore/tags)/(?P<query>[^/?#]+){_END}",),
    )
    def search(self, call: Call[SearchParams]) -> Iterator[Fetch]:
        """Accounts, hashtags and places for words; for guests, the reels that rank for them."""
        query = call.params.query
        if not query:
            return
        if not call.cursor:
            yield contract.topsearch(query)
            yield contract.topsearch_query(query)
        yield contract.popular(query, call.cursor)


def _post(params: PostParams | CommentsParams) -> tuple[str | None, str | None]:
    """Shortcode and number of a post: either tells the other."""
    return params.shortcode or shortcode_of(params.id), params.id or pk_of(params.shortcode)


def _account(call: Call[PostsParams] | Call[ReelsParams]) -> tuple[str | None, str | None]:
    """Name and number of an account, as the call or an earlier page says."""
    return call.params.user or call.state.get("username"), call.params.id or call.state.get("user_id")


def _posts_after(call: Call[PostsParams], cursor: str) -> Iterator[Fetch]:
    """Ways to the next page; a cursor is understood by the generation that gave it alone."""
    user, number = _account(call)
    flavour, scoped = call.state.get("flavour"), call.state.get("scoped_id")
    if scoped and flavour in (None, "polaris"):
        yield contract.posts_next(user, scoped, cursor)
    if user and flavour in (None, "polaris"):
        yield contract.posts_query(user, cursor)
    if user and flavour in (None, "xdt", "app"):
        yield contract.timeline(user, cursor)
    if number and flavour in (None, "graph"):
        yield contract.timeline_by_id(number, cursor)
        yield contract.posts_by_hash(number, cursor)
