"""Work: jobs, companies, people at work."""

from __future__ import annotations

from typing import Literal

from fetchworker.items.base import Count, Currency, Date, Item, Money, Part, Time


class CompanyRef(Part):
    """Who offers a job."""

    id: str | None = None
    name: str | None = None
    url: str | None = None


class Job(Item):
    """An opening; ``posted_at`` is the day alone where the site tells no time."""

    kind: Literal["job"] = "job"
    id: str | None = None
    title: str | None = None
    company: CompanyRef | None = None
    location: str | None = None
    posted_at: Time | Date | None = None
    description: str | None = None
    employment_type: str | None = None
    seniority: str | None = None
    industries: list[str] = []
    functions: list[str] = []
    applicants: Count | None = None
    salary_min: Money | None = None
    salary_max: Money | None = None
    currency: Currency | None = None
    apply_url: str | None = None
    closed: bool | None = None


class Company(Item):
    """A company; ``size`` is the site's range of employees, ``employees_count`` a number of its own."""

    kind: Literal["company"] = "company"
    id: str | None = None
    slug: str | None = None
    name: str | None = None
    tagline: str | None = None
    description: str | None = None
    industry: str | None = None
    size: str | None = None
    headquarters: str | None = None
    founded: str | None = None
    company_type: str | None = None
    specialties: list[str] = []
    website: str | None = None
    followers: Count | None = None
    employees_count: Count | None = None
    logo_url: str | None = None
    locations: list[str] = []


class Position(Part):
    """A post that somebody holds or held; dates as the site gives them."""

    title: str | None = None
    company: str | None = None
    company_url: str | None = None
    location: str | None = None
    start: str | None = None
    end: str | None = None
    description: str | None = None


class School(Part):
    """Where somebody learnt; dates as the site gives them."""

    name: str | None = None
    url: str | None = None
    degree: str | None = None
    start: str | None = None
    end: str | None = None


class Person(Item):
    """Somebody at work."""

    kind: Literal["person"] = "person"
    id: str | None = None
    slug: str | None = None
    name: str | None = None
    headline: str | None = None
    location: str | None = None
    about: str | None = None
    followers: Count | None = None
    connections: Count | None = None
    company: str | None = None
    education: list[School] = []
    positions: list[Position] = []
    avatar_url: str | None = None
