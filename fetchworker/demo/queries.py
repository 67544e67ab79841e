"""The stored queries that the demo's instagram answers, and their ids.

Every query has an id of its own that only the demo's pages tell (preloaders and script modules): a client with ids
from anywhere else, however recent, meets the answer for retired queries. :meth:`QueryBook.rotate` changes them all, as
the site does every few weeks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fetchworker.demo import shapes
from fetchworker.demo.pages import module
from fetchworker.demo.paging import connection

if TYPE_CHECKING:
    from fetchworker.demo.paging import Json
    from fetchworker.demo.people import Person, World

PROFILE = "PolarisLoggedOutDesktopWWWProfileRootContentQuery"
POSTS = "PolarisLoggedOutDesktopWWWProfilePostsTabContentQuery"
POSTS_NEXT = f"{POSTS}_connection"
REELS = "PolarisLoggedOutDesktopWWWProfileReelsTabContentQuery"
POST = "PolarisLoggedOutDesktopWWWPostRootContentQuery"
COMMENTS = "PolarisLoggedOutDesktopWWWPostCommentsPaginationQuery"
POPULAR = "PolarisLoggedOutPopularSearchPageQuery"
PROFILE_BY_ID = "PolarisProfilePageContentQuery"
TIMELINE = "PolarisProfilePostsQuery"
TIMELINE_NEXT = "PolarisProfilePostsTabContentQuery_connection"
POST_ROOT = "PolarisPostRootQuery"
POST_GRAPH = "PolarisPostActionLoadPostQueryQuery"
CLIPS = "PolarisProfileReelsTabContentQuery"
TOPSEARCH = "PolarisSearchBoxRefetchableQuery"

Variables = Mapping[str, Any]


class QueryBook:
    """Which id stands for which query.

    Args:
        seed: the ids follow from it.
        accept: further ids that are taken, id → query name (to play a site that still takes an old one).
        names: the queries that there are; default: instagram's.
    """

    def __init__(
        self, seed: int = 0, accept: Mapping[str, str] | None = None, names: Iterable[str] | None = None
    ) -> None:
        self._seed, self.generation, self.bundled = seed, 0, False
        self._names = tuple(_ANSWERS if names is None else names)
        self._accept = dict(accept or {})

    def rotate(self, *, bundled: bool | None = None) -> None:
        """Retire every id and give out new ones; ``bundled`` says whether only script files tell them from now on."""
        self.generation += 1
        self.bundled = self.bundled if bundled is None else bundled

    def doc_id(self, name: str) -> str:
        """The present id of a query."""
        digest = hashlib.sha256(f"{self._seed}:{self.generation}:{name}".encode()).digest()
        return f"9{int.from_bytes(digest[:8], 'big') % 10**16:016d}"

    def modules(self) -> dict[str, str]:
        """Every query with its present id, where pages tell them."""
        return {} if self.bundled else self.all()

    def scripts(self, host: str) -> tuple[str, ...]:
        """Addresses of the script files that a page names; the last one tells the ids."""
        names = ("vendor", "lib", self._build()) if self.bundled else ()
        return tuple(f"https://{host}/rsrc.php/v4/yd/r/{name}.js?_nc_x=demo" for name in names)

    def _build(self) -> str:
        return f"queries-{self.doc_id(self._names[0])}"

    def script(self, route: str, brand: str) -> bytes | None:
        """The file of an address; None when it is none of this build's."""
        if not route.endswith(f"/{self._build()}.js"):
            return None
        return "\n".join(module(name, number, brand) for name, number in self.all().items()).encode()

    def all(self) -> dict[str, str]:
        """Every query with its present id."""
        return {name: self.doc_id(name) for name in self._names}

    def name(self, doc_id: str) -> str | None:
        """The query of an id; None when it is retired or was never one."""
        current = {number: name for name, number in self.all().items()}
        return current.get(doc_id) or self._accept.get(doc_id)


def answer(world: World, name: str, variables: Variables) -> Json:
    """The ``data`` of a query.

    Raises:
        ValueError: a variable is missing or makes no sense.
    """
    try:
        return _ANSWERS[name](world, variables)
    except (KeyError, TypeError) as exc:
        raise ValueError(f"{name}: {exc!r}") from exc


def _named(world: World, variables: Variables) -> Person | None:
    return world.people.get(str(variables["username"]).lower())


def _profile(world: World, variables: Variables) -> Json:
    person = _named(world, variables)
    return {"xig_user_by_username": shapes.polaris_user(person) if person else None}


def _posts(world: World, variables: Variables) -> Json:
    person = _named(world, variables)
    return {"xig_user_by_username": shapes.polaris_posts(person, variables.get("after")) if person else None}


def _posts_next(world: World, variables: Variables) -> Json:
    person = next((p for p in world.people.values() if shapes.scoped_id(p) == variables["id"]), None)
    if person is None:
        return {"node": None}
    page = shapes.polaris_timeline(person, variables.get("after"))
    return {"node": {"__typename": "XIGUser", "polaris_ordered_timeline_connection": page, "id": variables["id"]}}


def _reels(world: World, variables: Variables) -> Json:
    person = _named(world, variables)
    return {"xig_user_by_username": shapes.polaris_reels(person, variables.get("after")) if person else None}


def _post(world: World, variables: Variables) -> Json:
    found = world.by_pk.get(str(variables["media_id"]))
    visible = found is not None and not found[0].private
    return {"xig_polaris_media": shapes.polaris_media(*found) if found and visible else None}


def _comments(world: World, variables: Variables) -> Json:
    found = world.by_pk.get(str(variables["media_id"]))
    if found is None or found[0].private:
        return {"xig_polaris_media": None}
    page = shapes.polaris_comments(found[1], variables.get("after"))
    return {"xig_polaris_media": {"id": found[1].pk, "comments_connection": page, "if_not_gated_logged_out": None}}


def _popular(world: World, variables: Variables) -> Json:
    words = str(variables["keyword"]).casefold()
    found = [post for person, post in world.posts.values() if post.kind == "reel" and not person.private
             and words in (post.caption or "").casefold()]  # fmt: skip
    found.sort(key=lambda post: -(post.views or 0))
    page = connection(found, shapes.polaris_reel, f"popular-{words}", variables.get("after"))
    return {"xig_logged_out_popular_search_media_info": page}


def _profile_by_id(world: World, variables: Variables) -> Json:
    person = world.users_by_pk.get(str(variables["id"]))
    return {"user": shapes.app_profile(person) if person else None}


def _timeline(world: World, variables: Variables) -> Json:
    person = _named(world, variables)
    posts = shapes.shown(person) if person else ()
    pk = person.pk if person else "nobody"
    page = connection(posts, lambda p: shapes.item(_some(person), p), f"xdt-{pk}", variables.get("after"))
    return {"xdt_api__v1__feed__user_timeline_graphql_connection": page}


def _post_root(world: World, variables: Variables) -> Json:
    found = world.posts.get(str(variables["shortcode"]))
    if found is None or found[0].private or found[1].gated:
        return {"xdt_api__v1__media__shortcode__web_info": None}
    items = [shapes.item(*found)]
    return {"xdt_api__v1__media__shortcode__web_info": {"items": items}}


def _post_graph(world: World, variables: Variables) -> Json:
    found = world.posts.get(str(variables["shortcode"]))
    if found is None or found[0].private or found[1].gated:
        return {"xdt_shortcode_media": None}
    media = shapes.graph_media(*found)
    if variables.get("after"):
        media["edge_media_to_parent_comment"] = shapes.graph_comments(found[1], str(variables["after"]))
    return {"xdt_shortcode_media": media}


def _clips(world: World, variables: Variables) -> Json:
    person = world.users_by_pk.get(str(variables["data"]["target_user_id"]))
    reels = person.reels if person and not person.private else ()
    pk = person.pk if person else "nobody"
    after = variables.get("after")
    page = connection(reels, lambda p: {"media": shapes.item(_some(person), p)}, f"clips-{pk}", after)
    return {"xdt_api__v1__clips__user__connection_v2": page}


def _topsearch(world: World, variables: Variables) -> Json:
    found = world.search(str(variables["data"]["query"]))
    return {"xdt_api__v1__fbsearch__topsearch_connection": shapes.topsearch(found)}


def _some(person: Person | None) -> Person:
    assert person is not None  # only called for posts, which have an author
    return person


_ANSWERS: dict[str, Callable[[World, Variables], Json]] = {
    PROFILE: _profile, POSTS: _posts, POSTS_NEXT: _posts_next, REELS: _reels, POST: _post, COMMENTS: _comments,
    POPULAR: _popular, PROFILE_BY_ID: _profile_by_id, TIMELINE: _timeline, TIMELINE_NEXT: _timeline,
    POST_ROOT: _post_root, POST_GRAPH: _post_graph, CLIPS: _clips, TOPSEARCH: _topsearch,
}  # fmt: skip
