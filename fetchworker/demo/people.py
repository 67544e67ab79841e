"""Invented people and what they posted, the same for the same seed.

None of them exists. The account ``nasa`` is an amateur astronomy club made up for the demo, which happens to be called
North Anglian Stargazing Association.
"""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

_PK_EPOCH_MS = 1314220021721
"""Media ids hold the time: ``(pk >> 23) + 1314220021721`` is the epoch in milliseconds (id of 2026-09-12)."""
_NEWEST = datetime(2026, 11, 1, 19, 30, tzinfo=UTC)
_DAY = 86_400

Kind = Literal["image", "video", "carousel", "reel"]


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment and its author's name."""

    pk: str
    author_pk: str
    author: str
    text: str
    created_at: int
    likes: int
    replies: int


@dataclass(frozen=True, slots=True)
class Post:
    """A post; ``likes`` is None where its author hides the number, ``gated`` posts need a login."""

    pk: str
    shortcode: str
    kind: Kind
    taken_at: int
    caption: str | None
    likes: int | None
    comments: tuple[Comment, ...]
    views: int | None
    duration: float | None
    slides: int
    width: int
    height: int
    location: str | None
    gated: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """An account with its posts, newest first."""

    pk: str
    username: str
    name: str
    biography: str
    followers: int
    following: int
    category: str | None
    external_url: str | None
    verified: bool
    private: bool
    posts: tuple[Post, ...] = field(repr=False)

    @property
    def reels(self) -> tuple[Post, ...]:
        """The posts that are reels."""
        return tuple(post for post in self.posts if post.kind == "reel")


@dataclass(frozen=True)
class World:
    """Everybody, by user name."""

    people: dict[str, Person]

    @cached_property
    def posts(self) -> dict[str, tuple[Person, Post]]:
        """Every post with its author, by short code."""
        return {post.shortcode: (person, post) for person in self.people.values() for post in person.posts}

    @cached_property
    def by_pk(self) -> dict[str, tuple[Person, Post]]:
        """The same by media id."""
        return {post.pk: (person, post) for person, post in self.posts.values()}

    @cached_property
    def users_by_pk(self) -> dict[str, Person]:
        """People by user id."""
        return {person.pk: person for person in self.people.values()}

    def search(self, words: str) -> list[Person]:
        """People whose name or user name holds ``words``, the most followed first."""
        needle = words.casefold().strip()
        found = [p for p in self.people.values() if needle in p.username or needle in p.name.casefold()]
        return sorted(found, key=lambda person: -person.followers)


@dataclass(frozen=True, slots=True)
class _Sketch:
    """What is fixed about an account; the rest comes out of the seed."""

    username: str
    name: str
    biography: str
    posts: int
    followers: int
    category: str | None = None
    external_url: str | None = None
    verified: bool = False
    private: bool = False
    topics: tuple[str, ...] = ("garden",)


CLUB = "nasa"
PRIVATE = "quiet.harbour"
EMPTY = "nothing.yet"
POTTER = "clay.and.kiln"

_SKETCHES = (
    _Sketch(
        CLUB,
        "North Anglian Stargazing Association",
        "An amateur astronomy club invented for a demo 🔭\nSmall telescopes, warm flasks.\nNo such club exists.",
        posts=132,
        followers=48_213,
        category="Community Organisation",
        external_url="https://stargazers.example/",
        verified=True,
        topics=("stars", "moon"),
    ),
    _Sketch(PRIVATE, "Quiet Harbour", "Friends only, and invented.", 41, 312, private=True),
    _Sketch(EMPTY, "Nothing Yet", "An invented account without posts.", 0, 3),
    _Sketch(
        POTTER,
        "Imre Vasvölgyi",
        "Pots, bowls & one crooked teapot. Invented.",
        posts=37,
        followers=9_120,
        category="Artist",
        external_url="https://clay.example/shop",
        topics=("clay",),
    ),
    _Sketch("nasa.fan.club", "Fans of the Stargazers", "Invented admirers.", 14, 870, topics=("stars",)),
    _Sketch("lamp.post.cats", "Cats under Lamp Posts", "Every cat is made up.", 64, 120_455, topics=("cats",)),
    _Sketch("bakery.of.odds", "The Bakery of Odds", "Seven seeds a loaf. Invented.", 23, 2_204, topics=("bread",)),
    _Sketch("tide.tables.daily", "Tide Tables Daily", "Tides of an invented coast.", 12, 77, topics=("sea",)),
)

_LINES = {
    "stars": (
        "Orion over the car park",
        "Counting meteors until the thermos is empty",
        "First light of a borrowed mirror",
    ),
    "moon": ("The terminator at its best", "A halo, and somebody's elbow", "Crater practice for beginners"),
    "clay": ("Opened the kiln too early, again", "Glaze test number forty", "A bowl that wants to be a plate"),
    "cats": ("Seen at the third lamp from the left", "She owns this corner", "Not impressed by the rain"),
    "bread": ("Seven seeds, as promised", "The sourdough rose before we did", "An oven with opinions"),
    "sea": ("High water at an inconvenient time", "Low water, many boots", "Spring tide, spring coats"),
    "garden": ("Beans, mostly", "The hedge is winning", "Rain at last"),
}
_TAGS = ("invented", "demo", "smalljoys", "slowsunday", "madeup")
_REMARKS = (
    "Lovely!", "Where was this taken?", "I would have stayed home 😄", "Count me in next time", "What lens is that?",
    "The colours 😍", "My dog agrees", "Second time this week!", "How long did it take?", "Saved for later",
)  # fmt: skip
_COMMENTERS = tuple(
    f"{a}.{b}" for a in ("mossy", "paper", "tiny", "brisk", "amber") for b in ("otter", "kettle", "sail", "fern")
)
#: which posts, counted from the newest, are out of the ordinary
_WITHOUT_CAPTION, _HIDDEN_LIKES, _WITH_PLACE = range(11, 1000, 17), range(7, 1000, 29), range(2, 1000, 5)
_GATED = {(POTTER, 4)}
_PLACES = ("Low Fen Observatory", "Market Square, Nowhere", "Pier of Saint Imaginary")


def shortcode(pk: int) -> str:
    """The code that a media id has in links: its bytes in URL-safe base64, without leading zeros."""
    return base64.urlsafe_b64encode(pk.to_bytes(9, "big")).decode().lstrip("A")


def make_world(seed: int = 0) -> World:
    """Invent everybody."""
    return World({sketch.username: _person(sketch, seed) for sketch in _SKETCHES})


def _person(sketch: _Sketch, seed: int) -> Person:
    dice = random.Random(f"{seed}:{sketch.username}")  # noqa: S311 - invention, not secrecy
    return Person(
        pk=str(dice.randrange(10**10, 7 * 10**10)),
        username=sketch.username,
        name=sketch.name,
        biography=sketch.biography,
        followers=sketch.followers,
        following=dice.randrange(20, 600),
        category=sketch.category,
        external_url=sketch.external_url,
        verified=sketch.verified,
        private=sketch.private,
        posts=tuple(_post(sketch, number, dice) for number in range(sketch.posts)),
    )


def _post(sketch: _Sketch, number: int, dice: random.Random) -> Post:
    """The post before which ``number`` newer ones came."""
    taken_at = int(_NEWEST.timestamp()) - number * _DAY * 2 - dice.randrange(_DAY)
    pk = ((taken_at * 1000 + dice.randrange(1000) - _PK_EPOCH_MS) << 23) | dice.randrange(1 << 23)
    kind = _kind(number)
    moving = kind in {"video", "reel"}
    width, height = (1080, 1920) if kind == "reel" else (1080, dice.choice((1080, 1350, 810)))
    return Post(
        pk=str(pk),
        shortcode=shortcode(pk),
        kind=kind,
        taken_at=taken_at,
        caption=None if number in _WITHOUT_CAPTION else _caption(sketch, dice),
        likes=None if number in _HIDDEN_LIKES else dice.randrange(sketch.followers // 50 + 2),
        comments=tuple(_comment(taken_at, n, dice) for n in range(_comment_count(number, dice))),
        views=dice.randrange(100, sketch.followers * 3 + 200) if moving else None,
        duration=round(dice.uniform(4, 58), 2) if moving else None,
        slides=dice.randrange(2, 6) if kind == "carousel" else 1,
        width=width,
        height=height,
        location=dice.choice(_PLACES) if number in _WITH_PLACE else None,
        gated=(sketch.username, number) in _GATED,
    )


def _kind(number: int) -> Kind:
    kinds: tuple[Kind, ...] = ("image", "reel", "carousel", "image", "video", "reel", "image")
    return kinds[number % len(kinds)]


def _comment_count(number: int, dice: random.Random) -> int:
    """The newest post of everybody has 45 comments, the rest few or none."""
    return 45 if number == 0 else dice.randrange(6)


def _caption(sketch: _Sketch, dice: random.Random) -> str:
    line = dice.choice(_LINES[dice.choice(sketch.topics)])
    tags = " ".join(f"#{tag}" for tag in dice.sample(_TAGS, dice.randrange(3)))
    mention = f" with @{dice.choice(_SKETCHES).username}" if not dice.randrange(5) else ""
    return f"{line}{mention}\n\n{tags}".rstrip()


def _comment(posted_at: int, number: int, dice: random.Random) -> Comment:
    author = dice.randrange(len(_COMMENTERS))
    return Comment(
        pk=str(17_900_000_000_000_000 + dice.randrange(10**14)),
        author_pk=str(9_000_000_000 + author),
        author=_COMMENTERS[author],
        text=dice.choice(_REMARKS),
        created_at=posted_at + 60 * (number + 1) + dice.randrange(60),
        likes=dice.randrange(40),
        replies=dice.choice((0, 0, 0, 1, 3)),
    )
