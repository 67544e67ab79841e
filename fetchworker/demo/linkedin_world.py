"""The invented jobs, companies and members of the demo's LinkedIn. None of them exists."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_NEWEST = date(2026, 11, 1)
_TITLES = ("Potter", "Kiln Potter", "Glaze Chemist", "Studio Potter", "Workshop Manager")
_PLACES = ("Lisbon, Lisbon, Portugal", "Leeds, England, United Kingdom", "Köln, North Rhine-Westphalia, Germany")
_MADE = datetime(2026, 10, 20, 8, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Company:
    """An organization; ``language`` is its page's."""

    number: str
    slug: str
    name: str
    tagline: str
    industry: str
    size: str
    place: str
    followers: int
    employees: int
    specialties: tuple[str, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Job:
    """An opening; ``applicants`` is None where the page only says that one may be among the first."""

    number: str
    title: str
    company: Company
    place: str
    posted: date
    pay: tuple[int, int] | None
    applicants: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody with a public profile."""

    slug: str
    name: str
    place: str
    company: Company
    followers: int


@dataclass(frozen=True, slots=True)
class Post:
    """A post with its comments."""

    number: str
    author: Member
    text: str
    made: datetime
    likes: int
    comments: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """What stands behind ``/posts/`` in its address."""
        return f"{self.author.slug}_clay-activity-{self.number}-dEmo"


def _number(moment: datetime) -> str:
    """An activity's id: its milliseconds above 22 bits."""
    return str(int(moment.timestamp() * 1000) << 22)


_COMPANIES = (
    Company("70001", "kiln-and-reed", "Kiln & Reed", "Pots that last", "Glass, Ceramics and Concrete Manufacturing",
            "51-200 employees", "Lisbon, Lisbon", 12480, 73, ("Stoneware", "Glazes", "Kilns")),
    Company("70002", "brennhaus", "Brennhaus", "Ton und Feuer", "Herstellung von Glas, Keramik und Beton",
            "11–50 Beschäftigte", "Köln, Nordrhein-Westfalen", 1250, 18, ("Öfen", "Ton"), "de"),
    Company("70003", "slipware-co", "Slipware Co", "Tableware by hand", "Retail", "2-10 employees", "Leeds, England",
            310, 6, ()),
)  # fmt: skip
COMPANIES = {company.slug: company for company in _COMPANIES}
JOBS = {
    job.number: job
    for job in (
        Job(
            str(4400000001 + n), f"{_TITLES[n % len(_TITLES)]}{'' if n % 3 else ' (part-time)'}",
            _COMPANIES[n % len(_COMPANIES)], _PLACES[n % len(_PLACES)], _NEWEST - timedelta(days=n),
            (40_000 + 500 * n, 52_000 + 500 * n) if n % 4 == 0 else None, None if n % 5 == 0 else 7 + n,
        )
        for n in range(60)
    )
}  # fmt: skip
_MIRA = Member("mira-kiln", "Mira K.", "Lisbon, Lisbon, Portugal", _COMPANIES[0], 2310)
MEMBERS = {_MIRA.slug: _MIRA}
POST = Post(
    _number(_MADE), _MIRA, "First firing in the new kiln!\n\nThe glaze held. #stoneware #kiln", _MADE, 128,
    (("Ana L.", "The blue is wonderful."), ("Tomás R.", "How hot did it get?")),
)  # fmt: skip
