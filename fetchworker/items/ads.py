"""Advertisements, who pays for them, and what is popular."""

from __future__ import annotations

from typing import Literal

from fetchworker.items.base import Count, Currency, Date, Item, Media, Money, Part, Time


class AdvertiserRef(Part):
    """Who pays for an ad."""

    id: str | None = None
    name: str | None = None
    url: str | None = None


class AudienceShare(Part):
    """A group of those whom an ad reached: ``reach`` counts them, ``share`` is their part of all, from 0 to 1."""

    country: str | None = None
    region: str | None = None
    age: str | None = None
    gender: str | None = None
    reach: Count | None = None
    share: float | None = None


class Ad(Item):
    """An advertisement.

    ``start_date``, ``end_date`` and ``last_seen`` are days, ``first_shown_at`` and ``last_shown_at`` the instants where
    the site tells them, ``days_shown`` the days between on which it was shown; ``spend_*`` are amounts in ``currency``;
    ``ctr`` is a share between 0 and 1; ``platforms`` and ``countries`` are the site's words and ISO 3166 codes where it
    gives codes. ``reach_min`` and ``reach_max`` are the ends of a site's bucket of viewers, ``cost_level`` is its own
    step of spending (1 to 3, say), ``shares`` how often the ad was shared. ``rejected_in`` are the countries where the
    site has stopped the ad.
    """

    kind: Literal["ad"] = "ad"
    id: str | None = None
    advertiser: AdvertiserRef | None = None
    start_date: Date | None = None
    end_date: Date | None = None
    last_seen: Date | None = None
    first_shown_at: Time | None = None
    last_shown_at: Time | None = None
    days_shown: Count | None = None
    active: bool | None = None
    format: str | None = None
    platforms: list[str] = []
    countries: list[str] = []
    rejected_in: list[str] = []
    title: str | None = None
    text: str | None = None
    caption: str | None = None
    link_url: str | None = None
    cta: str | None = None
    media: list[Media] = []
    spend_min: Money | None = None
    spend_max: Money | None = None
    impressions_min: Count | None = None
    impressions_max: Count | None = None
    currency: Currency | None = None
    reach: Count | None = None
    reach_min: Count | None = None
    reach_max: Count | None = None
    likes: Count | None = None
    comments_count: Count | None = None
    shares: Count | None = None
    cost_level: Count | None = None
    ctr: float | None = None
    industry: str | None = None
    objective: str | None = None
    landing_page: str | None = None
    payer: str | None = None
    """Who pays, as the law has the site say; ``beneficiary`` is on whose behalf."""
    beneficiary: str | None = None
    collation_id: str | None = None
    """Names the group of ads that share a creative and a text; ``collation_count`` is its size."""
    collation_count: Count | None = None
    age_min: Count | None = None
    """Whom it is meant for: the ages, and ``gender`` and ``locations`` in the site's words."""
    age_max: Count | None = None
    gender: str | None = None
    locations: list[str] = []
    audience: list[AudienceShare] = []


class Advertiser(Item):
    """Who pays for ads; ``country`` as the site gives it (an ISO 3166 code where it does).

    ``ads_count_min`` and ``ads_count_max`` bound the number of ads where the site gives a range. ``domain`` alone,
    without an ``id``, is a site that ads lead to, whoever pays for them.
    """

    kind: Literal["advertiser"] = "advertiser"
    id: str | None = None
    name: str | None = None
    country: str | None = None
    verified: bool | None = None
    legal_name: str | None = None
    ads_count: Count | None = None
    ads_count_min: Count | None = None
    ads_count_max: Count | None = None
    domain: str | None = None
    likes: Count | None = None
    category: str | None = None
    instagram_username: str | None = None
    instagram_followers: Count | None = None


class TrendPoint(Part):
    """A point of a curve; ``value`` in the site's own measure."""

    date: Date | Time | None = None
    value: float | None = None


class Trend(Item):
    """Something popular (a hashtag, a sound, a creator, a product); ``period`` is what the ranking covers.

    ``followers`` are a creator's, ``likes`` those of the thing or of its posts, whichever the site counts.
    """

    kind: Literal["trend"] = "trend"
    id: str | None = None
    name: str | None = None
    rank: Count | None = None
    posts: Count | None = None
    views: Count | None = None
    likes: Count | None = None
    followers: Count | None = None
    country: str | None = None
    period: str | None = None
    trend: list[TrendPoint] = []


class MetricSeries(Part):
    """A curve of an ad: second by second of the film, or by percentiles."""

    metric: str | None = None
    points: list[float | None] = []


class AdAnalytics(Item):
    """How an ad's film is watched; each series is second by second, or by percentiles."""

    kind: Literal["ad_analytics"] = "ad_analytics"
    id: str | None = None
    second_by_second: list[MetricSeries] = []
    percentile: list[MetricSeries] = []
