"""The Threads spider: which requests to make for what, in order of preference."""

from collections.abc import Callable, Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.instagram.ids import pk_of, shortcode_of
from fetchworker.spiders.metafamily import bundles, tokens
from fetchworker.spiders.threads import contract, parse
from fetchworker.spiders.threads.params import LikersParams, PostParams, PostsParams, ProfileParams, RepliesParams

_SITE = r"https?://(?:www\.)?threads\.(?:com|net)/"
_USER = r"@(?P<user>[A-Za-z0-9._]{1,30})"
_CODE = r"(?P<shortcode>[A-Za-z0-9_-]{5,64})"
_END = r"/?(?:[?#].*)?$"


class ThreadsSpider(SiteSpider):
    """Accounts, posts and replies, as a guest sees them."""

    name = "threads"
    warmup = contract.WARMUP
    extract_tokens = staticmethod(tokens.extract)
    scripts = bundles.SCRIPTS

    @operation(parse=parse.profile, default_for=("user",), counts="profile", patterns=(_SITE + _USER + _END,))
    def profile(self, call: Call[ProfileParams]) -> Iterator[Fetch]:
        """Public profile, with its first posts where the page has them."""
        user, number = call.params.user, call.params.id or call.state.get("user_id")
        if user and not call.cursor:
            yield contract.profile_page(user)
        if number:
            yield contract.profile_query(number)
        if user and not call.cursor:
            yield contract.hovercard(user)
            yield contract.route(user)

    @operation(parse=parse.posts, counts="post")
    def posts(self, call: Call[PostsParams]) -> Iterator[Fetch]:
        """Posts of an account, newest first."""
        yield from _tab(call, contract.profile_page, contract.posts_query)

    @operation(
        parse=parse.post,
        default_for=("shortcode", "share"),
        patterns=(
            rf"{_SITE}(?:{_USER}/post|t)/{_CODE}(?:/media)?{_END}",
            rf"{_SITE}share/(?P<share>[A-Za-z0-9_-]{{5,64}}){_END}",
        ),
    )
    def post(self, call: Call[PostParams]) -> Iterator[Fetch]:
        """One post with the first replies to it."""
        if call.params.share:
            yield contract.shared_page(call.params.share)
        code, number = _post(call.params.shortcode, call.params.id)
        if code and number:
            yield contract.post_page(code, call.params.user)
            yield contract.post_query(number, code)

    @operation(parse=parse.replies, counts="post", patterns=(rf"{_SITE}{_USER}/replies{_END}",))
    def replies(self, call: Call[RepliesParams]) -> Iterator[Fetch]:
        """Replies that an account wrote, or the replies to a post."""
        code, number = _post(call.params.shortcode, call.params.post)
        if not code or not number:
            yield from _tab(call, contract.replies_page, contract.replies_query)
            return
        if not call.cursor:
            yield contract.post_page(code, call.params.user)
        yield contract.post_query(number, code, call.cursor)

    @operation(parse=parse.likers, counts="profile")
    def likers(self, call: Call[LikersParams]) -> Iterator[Fetch]:
        """Accounts that like a post."""
        code, number = _post(call.params.shortcode, call.params.id)
        if code and number:
            yield contract.likers(number, code)


def _post(code: str | None, number: str | None) -> tuple[str | None, str | None]:
    """Code and number of a post: either tells the other."""
    return code or shortcode_of(number), number or pk_of(code)


def _tab(
    call: Call[PostsParams] | Call[RepliesParams],
    page: Callable[[str], Fetch],
    query: Callable[[str, str | None, str | None], Fetch],
) -> Iterator[Fetch]:
    """Ways to a list of an account: its page, the query by its number, and what tells the number of a name."""
    user, number = call.params.user, call.params.id or call.state.get("user_id")
    if user and not call.cursor:
        yield page(user)
    if number:
        yield query(number, (call.cursor or "").removeprefix(parse.RESOLVED) or None, user)
    elif user:
        yield contract.hovercard(user)
        yield contract.route(user)
