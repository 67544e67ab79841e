"""The Facebook spider: which requests to make for what, in order of preference."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.facebook import contract, parse
from fetchworker.spiders.facebook.params import (
    RESERVED,
    EventParams,
    EventsParams,
    GroupParams,
    PhotoParams,
    PostParams,
    PostsParams,
    ProfileParams,
    VideoParams,
)
from fetchworker.spiders.metafamily import bundles, tokens

_SITE = r"https?://(?:[a-z-]+\.)?facebook\.com/"
_RESERVED = "|".join(name.replace(".", r"\.") for name in RESERVED)
_USER = rf"(?!(?:{_RESERVED})(?:[/?#]|$))(?P<user>[\w.%-]{{1,200}})"
_ID, _POST = r"(?P<id>\d{1,25})", r"(?P<id>\d{1,25}|pfbid[A-Za-z0-9]{10,120})"
_GROUP = r"groups/(?P<group>[\w.%-]{1,200})"
_END = r"/?(?:[?#].*)?$"


class FacebookSpider(SiteSpider):
    """Profiles, posts, photos, videos, groups and events, as a guest sees them."""

    name = "facebook"
    warmup = contract.WARMUP
    extract_tokens = staticmethod(tokens.extract)
    scripts = bundles.SCRIPTS

    @operation(
        parse=parse.profile,
        default_for=("user",),
        patterns=(
            rf"{_SITE}profile\.php\?(?:[^#]*&)?id={_ID}(?:[&#].*)?$",
            rf"{_SITE}(?:people|pages)/[^/?#]+/{_ID}{_END}",
            rf"{_SITE}p/(?:[^/?#]+-)?{_ID}{_END}",
            rf"{_SITE}{_USER}{_END}",
        ),
    )
    def profile(self, call: Call[ProfileParams]) -> Iterator[Fetch]:
        """Public profile or page, with its first post."""
        user, number = call.params.user, _number(call.params.user, call.params.id)
        yield contract.profile_page(user, number)
        if number:
            yield contract.profile_query(number)
        yield contract.profile_mobile(user, number)

    @operation(parse=parse.posts, counts="post", patterns=(rf"{_SITE}{_USER}/posts{_END}",))
    def posts(self, call: Call[PostsParams]) -> Iterator[Fetch]:
        """Posts of a profile or page, newest first."""
        user = call.params.user
        number = _number(user, call.params.id) or call.state.get("user_id")
        if call.cursor and call.cursor.startswith("/"):
            yield contract.mobile_next(call.cursor)
        elif call.cursor:
            if number:
                yield contract.posts_next(number, call.cursor)
        else:
            yield contract.profile_page(user, number)
            if number:
                yield contract.posts_query(number)
            yield contract.posts_mobile(user or number or "")

    @operation(
        parse=parse.post,
        patterns=(
            rf"{_SITE}{_USER}/posts/(?:[^/?#]+/)?{_POST}{_END}",
            rf"{_SITE}{_GROUP}/(?:posts|permalink)/{_POST}{_END}",
            rf"{_SITE}(?:permalink|story)\.php\?(?:[^#]*&)?story_fbid={_POST}(?:&(?:[^#]*&)?id=(?P<user>\d+))?",
        ),
    )
    def post(self, call: Call[PostParams]) -> Iterator[Fetch]:
        """One post with the comments that its page brings."""
        number, user, group = call.params.id, call.params.user, call.params.group
        yield contract.post_page(number, user, group)
        if number.isdigit() and user and user.isdigit():
            yield contract.post_query(number, user)
        yield contract.post_mobile(number, user, group)

    @operation(
        parse=parse.photo,
        patterns=(
            rf"{_SITE}photo(?:\.php|/)?\?(?:[^#]*&)?fbid={_ID}(?:[&#].*)?$",
            rf"{_SITE}[^/?#]+/photos/(?:[^/?#]+/)?{_ID}{_END}",
        ),
    )
    def photo(self, call: Call[PhotoParams]) -> Iterator[Fetch]:
        """One photo."""
        yield contract.photo_page(call.params.id)
        yield contract.photo_query(call.params.id)
        yield contract.photo_mobile(call.params.id)

    @operation(
        parse=parse.video,
        patterns=(
            rf"{_SITE}(?:watch/?(?:live/?)?|video\.php)\?(?:[^#]*&)?v={_ID}(?:[&#].*)?$",
            rf"{_SITE}{_USER}/videos/(?:[^/?#]+/)?{_ID}{_END}",
            rf"{_SITE}(?P<reel>reel)/{_ID}{_END}",
        ),
    )
    def video(self, call: Call[VideoParams]) -> Iterator[Fetch]:
        """One video or reel."""
        number = call.params.id
        pages = [contract.video_page(number), contract.reel_page(number)]
        yield from reversed(pages) if call.params.reel else pages
        yield contract.reel_query(number)
        yield contract.video_mobile(number, call.params.user)

    @operation(parse=parse.group, default_for=("group",), counts="post", patterns=(rf"{_SITE}{_GROUP}{_END}",))
    def group(self, call: Call[GroupParams]) -> Iterator[Fetch]:
        """Public group with its posts, latest activity first."""
        group = call.params.group
        number = group if group.isdigit() else call.state.get("group_id")
        if call.cursor and call.cursor.startswith("/"):
            yield contract.mobile_next(call.cursor)
        elif call.cursor:
            if number:
                yield contract.group_next(number, call.cursor)
        else:
            yield contract.group_page(group)
            if number:
                yield contract.group_query(number)
            yield contract.group_mobile(group)

    @operation(
        parse=parse.events,
        patterns=(
            rf"{_SITE}{_USER}/(?:events|upcoming_hosted_events|(?P<past>past)_hosted_events){_END}",
            rf"{_SITE}{_GROUP}/events{_END}",
        ),
    )
    def events(self, call: Call[EventsParams]) -> Iterator[Fetch]:
        """Events that a page, person or group lists."""
        params = call.params
        yield from contract.events_pages(params.user, params.id, params.group, past=params.past)

    @operation(parse=parse.event, patterns=(rf"{_SITE}events/(?:s/[^/?#]+/)?{_ID}{_END}",))
    def event(self, call: Call[EventParams]) -> Iterator[Fetch]:
        """One event."""
        yield contract.event_page(call.params.id)


def _number(user: str | None, number: str | None) -> str | None:
    """The account's number, which may be given as its name."""
    return number or (user if user and user.isdigit() else None)
