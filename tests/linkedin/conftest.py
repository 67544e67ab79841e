"""Small pages in the forms of the site, with invented jobs, companies and people."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pytest

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.items import validate
from fetchworker.spiders.linkedin import parse
from fetchworker.spiders.linkedin.spider import LinkedinSpider

HOME = "https://www.linkedin.com"
#: what good pages carry as well
NOISE = '<form action="/uas/login-submit">Sign in</form><a href="/authwall?trk=x">captcha checkpoint</a>'
ACTIVITY = "7518227005440000000"  # 2026-10-20T08:30:00Z


class Site:
    """Builds pages and reads them with the site's parsers."""

    def page(self, body: str | bytes, url: str | None = None) -> Page:
        raw = body if isinstance(body, bytes) else body.encode()
        return Page(url, 200, {"content-type": ["text/html; charset=utf-8"]}, raw)

    def call(self, operation: str, *, cursor=None, number=1, state=None, **values: Any) -> Call[Any]:
        model = LinkedinSpider.operations[operation].params
        params = model(**values) if values else model.model_construct()
        return Call(operation, params, cursor, number, 0, state or {})

    def parsed(self, operation: str, body: str | bytes, *, url: str | None = None, **values: Any) -> Parsed:
        """What the parser gives; every item is held against its model."""
        found = getattr(parse, operation)(self.page(body, url), self.call(operation, **values))
        for place, item in enumerate(found.items):
            stamp = {"item_id": f"i-{place}", "site": "linkedin", "operation": operation}
            validate({**item.__dict__, **stamp, "fetched_at": "2026-01-31T10:00:00Z"})
        return found

    def only(self, operation: str, body: str, **values: Any) -> Any:
        (item,) = self.parsed(operation, body, **values).items
        return item

    def document(
        self, *body: str, key: str = "demo", canonical: str = HOME, head: str = "", language: str = "en",
        data: Any = None,
    ) -> str:  # fmt: skip
        told = f'<script type="application/ld+json">{json.dumps(data)}</script>' if data is not None else ""
        top = f'<meta name="pageKey" content="{key}"><link rel="canonical" href="{canonical}">{head}{told}'
        return f'<!DOCTYPE html><html lang="{language}"><head>{top}</head><body>{NOISE}{"".join(body)}</body></html>'

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def card(
        self, number: int | str = 4400000001, *, title: str = "Potter", company: str = "Kiln & Reed",
        place: str = "Lisbon", day: str = "2026-10-30", tag: str = "div", linked: bool = True, more: str = "",
        new: bool = False,
    ) -> str:  # fmt: skip
        """A card of a search; of 2024 with ``tag="a"``."""
        href = f"https://pt.linkedin.com/jobs/view/potter-at-kiln-{number}?position=1&amp;refId=x%3D"
        opened = (
            f'<{tag} class="base-card base-search-card job-search-card" data-entity-urn="urn:li:jobPosting:{number}"'
        )
        link = f'<a class="base-card__full-link" href="{href}"><span class="sr-only">x</span></a>'
        if tag == "a":
            opened, link = f'{opened} href="{href}"', ""
        name = f'<a href="https://pt.linkedin.com/company/kiln?trk=x"> {escape(company)} </a>' if linked else company
        kind = "job-search-card__listdate--new" if new else "job-search-card__listdate"
        return f"""<li>{opened}>{link}
          <h3 class="base-search-card__title">

            {escape(title)}
          </h3><h4 class="base-search-card__subtitle">{name}</h4><!---->
          <span class="job-search-card__location"> {place} </span>{more}
          <time class="{kind}" datetime="{day}"> 2 days ago </time></{tag}></li>"""

    def fragment(self, *cards: str) -> str:
        return f"<!DOCTYPE html>\n{''.join(cards)}"

    def results(self, *cards: str, total: str = "", count: str = "", form: str = "", **page: Any) -> str:
        heading = f'<span class="results-context-header__job-count">{count}</span>'
        hidden = f'<code id="totalResults" style="display: none"><!--{total}--></code>' if total else ""
        fields = f'<form id="jserp-filters">{form}</form>'
        listed = f'<ul class="jobs-search__results-list">{"".join(cards)}</ul>'
        return self.document(fields, heading, listed, hidden, key="d_jobs_guest_search", **page)

    def job(
        self, number: str = "4400000001", *, title: str = "Potter", company: str = "Kiln & Reed", top: str = "",
        rest: str = "", description: str = "<p>Make pots.</p>",
    ) -> str:  # fmt: skip
        """A job's fragment."""
        return f"""<section class="top-card-layout"><div class="top-card-layout__card">
          <img data-delayed-url="https://media.licdn.com/logo.png">
          <a class="topcard__link" href="{HOME}/jobs/view/potter-at-kiln-{number}?trk=x">
          <h2 class="top-card-layout__title topcard__title">{title}</h2></a>
          <span class="topcard__flavor"><a class="topcard__org-name-link" href="{HOME}/company/kiln?trk=x">
          {escape(company)}</a></span><span class="topcard__flavor topcard__flavor--bullet"> Lisbon, Portugal </span>
          <span class="posted-time-ago__text">1 week ago</span>{top}</div></section>
          <div class="show-more-less-html__markup">{description}</div>{rest}
          <code id="decoratedJobPostingId" style="display: none"><!--"{number}"--></code>
          <section class="similar-jobs"><div class="base-card main-job-card"
          data-entity-urn="urn:li:jobPosting:4499999999"><h3 class="base-main-card__title">Another</h3></div>
          </section>"""

    def criteria(self, **rows: str) -> str:
        items = "".join(
            '<li class="description__job-criteria-item"><h3 class="description__job-criteria-subheader">\n'
            f"{label.replace('_', ' ')}</h3>"
            f'<span class="description__job-criteria-text description__job-criteria-text--criteria">{value}</span></li>'
            for label, value in rows.items()
        )
        return f'<ul class="description__job-criteria-list">{items}</ul>'

    # ── organizations and people ─────────────────────────────────────────────────────────────────────────────────

    def company(
        self, *, slug: str = "kiln-and-reed", line: str = "12,480 followers", facts: dict[str, str] | None = None,
        data: Any = None, rest: str = "", language: str = "en", description: str = "",
    ) -> str:  # fmt: skip
        rows = "".join(
            f'<div data-test-id="about-us__{name}"><dt>x</dt><dd>{value}</dd></div>'
            for name, value in (facts or {}).items()
        )
        return self.document(
            f'<h1 class="top-card-layout__title"> Kiln &amp; Reed </h1><h2 class="top-card-layout__headline">Pots</h2>'
            f'<h3 class="top-card-layout__first-subline">Lisbon 1 <span class="before:middot"></span> {line}</h3>'
            f'<section data-test-id="about-us"><dl>{rows}</dl></section>{rest}',
            key="d_org_guest_company_overview", canonical=f"https://pt.linkedin.com/company/{slug}", data=data,
            language=language, head=f'<meta name="description" content="{description}">',
        )  # fmt: skip

    def person(
        self, *, slug: str = "mira-kiln", data: Any = None, rest: str = "", heading: str = "Mira K.",
        counts: tuple[str, ...] = (),
    ) -> str:  # fmt: skip
        spans = "".join(f"<span> {told} </span>" for told in counts)
        return self.document(
            f'<h1 class="top-card-layout__title">{heading}</h1>', f'<div class="not-first-middot">{spans}</div>', rest,
            key="public_profile_v3_desktop", canonical=f"https://pt.linkedin.com/in/{slug}", data=data,
        )  # fmt: skip

    # ── posts ────────────────────────────────────────────────────────────────────────────────────────────────────

    def post_card(
        self, number: str = ACTIVITY, *, text: str = "First firing! #kiln", likes: str = "128", comments: str = "2",
        author: str = "mira-kiln", more: str = "", urns: str = "",
    ) -> str:  # fmt: skip
        return f"""<article class="main-feed-activity-card" data-activity-urn="urn:li:activity:{number}" {urns}>
          <div data-test-id="main-feed-activity-card__entity-lockup"><a href="{HOME}/in/{author}?trk=x"><img></a>
          <a href="{HOME}/in/{author}?trk=x"> Mira K. </a><time> 1w </time></div>
          <p class="x whitespace-pre-wrap" data-test-id="main-feed-activity-card__commentary">{text}</p>{more}
          <a data-test-id="social-actions__reactions" data-num-reactions="{likes}">x</a>
          <a data-test-id="social-actions__comments" data-num-comments="{comments}">x</a></article>"""

    def comment(self, name: str = "Ana L.", text: str = "Wonderful.", number: str = ACTIVITY, likes: str = "") -> str:
        urn = f"urn:li:comment:(urn:li:ugcPost:7518227005440000001,{number})"
        return f"""<section class="comment"><a class="x comment__author" href="{HOME}/in/ana-l?trk=x"> {name} </a>
          <a data-semaphore-content-urn="{urn}">Report</a><p class="comment__text whitespace-pre-wrap">{text}</p>
          <a class="comment__reactions-count">{likes}</a></section>"""

    def posting(self, *, number: str = ACTIVITY, **more: Any) -> dict[str, Any]:
        return {
            "@context": "http://schema.org", "@type": "SocialMediaPosting",
            "@id": f"{HOME}/posts/mira-kiln_clay-activity-{number}-dEmo", "datePublished": "2026-10-20T08:30:00.000Z",
            "articleBody": "First firing! #kiln", "commentCount": 2,
            "author": {"@type": "Person", "name": "Mira K.", "url": "https://pt.linkedin.com/in/mira-kiln"},
            "interactionStatistic": [self.counter("LikeAction", 128), self.counter("CommentAction", 2)], **more,
        }  # fmt: skip

    def counter(self, action: str, number: Any) -> dict[str, Any]:
        return {"@type": "InteractionCounter", "interactionType": f"http://schema.org/{action}",
                "userInteractionCount": number}  # fmt: skip

    def post(self, *cards: str, data: Any = None, number: str = ACTIVITY) -> str:
        return self.document(
            *cards, key="d_public_post", canonical=f"{HOME}/posts/mira-kiln_clay-activity-{number}-dEmo", data=data
        )

    def article(self, *body: str, head: str = "", data: Any = None) -> str:
        return self.document(
            *body, key="d_flagship2_pulse_read", canonical="https://pt.linkedin.com/pulse/what-clay-remembers-mira-k",
            head=head, data=data,
        )  # fmt: skip


@pytest.fixture(scope="session")
def site() -> Site:
    return Site()
