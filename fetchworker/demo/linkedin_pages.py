"""The invented jobs and people in the markup that LinkedIn serves guests, one function per page (classes of 2026)."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from fetchworker.demo.linkedin_world import POST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fetchworker.demo.linkedin_world import Company, Job, Member, Post

HOME = "https://www.linkedin.com"
ARTICLE = "what-clay-remembers-mira-kiln-dem0"
_SIGN_IN = '<form action="/uas/login-submit"><a href="/authwall?trk=demo">Sign in</a> captcha</form>'
_LOCALES = {"en": "en_US", "de": "de_DE", "pt": "pt_BR"}


def _document(key: str, canonical: str, *body: str, head: str = "", title: str = "Demo", language: str = "en") -> str:
    address = f'<link rel="canonical" href="{escape(canonical)}">'
    locale = f'<meta name="locale" content="{_LOCALES[language]}">'
    top = f'{locale}<meta name="pageKey" content="{key}"><title>{escape(title)} | LinkedIn</title>{address}{head}'
    return f'<!DOCTYPE html><html lang="{language}"><head>{top}</head><body>{_SIGN_IN}{"".join(body)}</body></html>'


def _data(value: Mapping[str, Any]) -> str:
    told = json.dumps({"@context": "http://schema.org", **value}).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{told}</script>'


def _code(identity: str, value: str) -> str:
    return f'<code id="{identity}" style="display: none"><!--{value}--></code>'


def _counter(action: str, number: int) -> dict[str, Any]:
    return {"@type": "InteractionCounter", "interactionType": f"http://schema.org/{action}",
            "userInteractionCount": number}  # fmt: skip


# ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _job_url(job: Job) -> str:
    words = job.title.lower().replace("(", "").replace(")", "").split()
    return f"{HOME}/jobs/view/{'-'.join(words)}-{job.number}"


def _company_url(company: Company) -> str:
    return f"{HOME}/company/{company.slug}"


def _pay(job: Job) -> str | None:
    return f"${job.pay[0]:,}.00/yr - ${job.pay[1]:,}.00/yr" if job.pay else None


def cards(jobs: Iterable[Job]) -> str:
    """A fragment of a search; behind the last job it is empty."""
    return "<!DOCTYPE html>\n" + "".join(f"<li>{_card(job)}</li>" for job in jobs)


def _card(job: Job) -> str:
    pay = f'<span class="job-search-card__salary-info">{_pay(job)}</span>' if job.pay else ""
    return (
        f'<div class="base-card base-search-card job-search-card" data-entity-urn="urn:li:jobPosting:{job.number}">'
        f'<a class="base-card__full-link" href="{escape(_job_url(job))}?position=1&amp;refId=x"></a>'
        f'<h3 class="base-search-card__title">\n {escape(job.title)}\n</h3><h4 class="base-search-card__subtitle">'
        f'<a href="{_company_url(job.company)}?trk=x">{escape(job.company.name)}</a></h4>'
        f'<span class="job-search-card__location">{job.place}</span>{pay}'
        f'<time class="job-search-card__listdate" datetime="{job.posted.isoformat()}">some days ago</time></div>'
    )


def search(words: str, shown: Sequence[Job], total: int) -> str:
    """A search's page."""
    field = f'<input name="keywords" value="{escape(words)}" type="hidden"><input name="f_TPR" value="" type="radio">'
    form = f'<form id="jserp-filters">{field}</form>'
    heading = f'<span class="results-context-header__job-count">{total}</span>'
    results = f'<ul class="jobs-search__results-list">{"".join(f"<li>{_card(job)}</li>" for job in shown)}</ul>'
    nothing = '<section class="core-section-container no-results"><h1>Nothing of that name</h1></section>'
    body = (heading, results, _code("totalResults", str(total))) if shown else (nothing,)
    return _document("d_jobs_guest_search", f"{HOME}/jobs/search", form, *body, title=f"{total} {words} jobs")


def job_fragment(job: Job) -> str:
    """A job as the search shows it."""
    return f"{_top_card(job)}{_details(job)}{_code('decoratedJobPostingId', json.dumps(job.number))}"


def job(job: Job) -> str:
    """A job's page."""
    return _document("d_jobs_guest_details", _job_url(job), job_fragment(job), title=job.title)


def _top_card(job: Job) -> str:
    early = "Be among the first 25 applicants"
    caption = early if job.applicants is None else f"{job.applicants} applicants"
    told = f'<span class="num-applicants__caption">{caption}</span>'
    return (
        f'<section class="top-card-layout"><a class="topcard__link" href="{escape(_job_url(job))}?trk=x">'
        f'<h2 class="top-card-layout__title topcard__title">{escape(job.title)}</h2></a><span class="topcard__flavor">'
        f'<a class="topcard__org-name-link" href="{_company_url(job.company)}?trk=x">'
        f"{escape(job.company.name)}</a></span>"
        f'<span class="topcard__flavor topcard__flavor--bullet">{job.place}</span>'
        f'<span class="posted-time-ago__text">some days ago</span>{told}'
        f'<a href="/login?session_redirect=%2Fsearch%3FfacetCurrentCompany%3D{job.company.number}">See who</a>'
        '<button class="top-card-layout__cta top-card-layout__cta--primary">Apply</button></section>'
    )


def _details(job: Job) -> str:
    pay = f'<div class="salary compensation__salary">{_pay(job)}</div>' if job.pay else ""
    rows = {"Seniority level": "Associate", "Employment type": "Full-time", "Job function": "Manufacturing",
            "Industries": job.company.industry}  # fmt: skip
    items = "".join(
        f'<li class="description__job-criteria-item"><h3 class="description__job-criteria-subheader">{label}</h3>'
        f'<span class="description__job-criteria-text">{escape(value)}</span></li>' for label, value in rows.items()
    )  # fmt: skip
    text = f"<p>{escape(job.company.name)} looks for a {escape(job.title)}.</p><ul><li>Clay</li><li>Patience</li></ul>"
    described = f'<div class="show-more-less-html__markup">{text}</div>'
    return f'{pay}{described}<ul class="description__job-criteria-list">{items}</ul>'


# ── companies and members ────────────────────────────────────────────────────────────────────────────────────────────


def company(company: Company) -> str:
    """A company's page, with a post on it."""
    german = company.language == "de"
    followers = f"{company.followers:,}".replace(",", "." if german else ",")
    told = f"{followers} {'Follower:innen' if german else 'followers'}"
    facts = {"website": "https://kilns.example", "industry": company.industry, "size": company.size,
             "headquarters": company.place, "organizationType": "Privately Held", "foundedOn": "2009",
             "specialties": _listed(company.specialties, german=german)}  # fmt: skip
    rows = "".join(
        f'<div data-test-id="about-us__{name}"><dt>{name}</dt><dd>{escape(value)}</dd></div>'
        for name, value in facts.items() if value
    )  # fmt: skip
    data = {"@type": "Organization", "name": company.name, "slogan": company.tagline, "sameAs": facts["website"],
            "numberOfEmployees": {"value": company.employees}, "description": f"{company.name} makes pots.",
            "address": {"type": "PostalAddress", "addressLocality": company.place}}  # fmt: skip
    return _document(
        "d_org_guest_company_overview", _company_url(company),
        f'<h3 class="top-card-layout__first-subline">{company.place} <span></span> {told}</h3>',
        f'<a href="/signup?x=facetCurrentCompany%3D%255B{company.number}%255D">See all</a>',
        f'<section data-test-id="about-us"><dl>{rows}</dl></section>',
        '<section class="core-section-container locations"><li><div id="address-0"><p>Kiln Lane 1</p>'
        f'<p>{company.place}</p></div></li></section>',
        f'<section data-test-id="updates"><ul><li>{_post_card(POST)}</li></ul></section>',
        head=_data(data), title=company.name, language=company.language,
    )  # fmt: skip


def _listed(names: Sequence[str], *, german: bool) -> str:
    if len(names) < 2:  # noqa: PLR2004  # nothing to join
        return "".join(names)
    return f"{', '.join(names[:-1])}{' und ' if german else ', and '}{names[-1]}"


def member(member: Member) -> str:
    """A member's profile, with titles masked as guests see them."""
    url = f"{HOME}/in/{member.slug}"
    person = {
        "@type": "Person", "name": member.name, "url": url, "sameAs": url, "jobTitle": ["****** ******"],
        "address": {"addressCountry": "PT", "addressLocality": member.place},
        "worksFor": [{"@type": "Organization", "name": member.company.name, "url": _company_url(member.company),
                      "member": {"@type": "OrganizationRole", "description": "**** ** *****", "startDate": 2019}}],
        "alumniOf": [{"@type": "EducationalOrganization", "name": "Clay School", "member": {"endDate": 2014}}],
    }  # fmt: skip
    posting = {"@type": "DiscussionForumPosting", "author": {"name": member.name, "url": url}, "text": POST.text,
               "url": f"{HOME}/posts/{POST.name}", "datePublished": "2026-10-20T08:30:00.000Z",
               "interactionStatistic": _counter("LikeAction", POST.likes)}  # fmt: skip
    return _document(
        "public_profile_v3_desktop", url,
        f'<h1 class="top-card-layout__title">{member.name}</h1><div class="not-first-middot">'
        f"<span>{member.followers:,} followers</span><span>500+ connections</span></div>",
        '<section class="summary" data-section="summary"><div class="core-section-container__content">Potter since'
        ' the first kiln…</div></section><p class="blur">****** ******</p>',
        head=_data({"@graph": [posting, person]}), title=member.name,
    )  # fmt: skip


# ── posts and articles ───────────────────────────────────────────────────────────────────────────────────────────────


def _post_card(post: Post, comments: str = "") -> str:
    urn = f"urn:li:activity:{post.number}"
    return (
        f'<article class="main-feed-activity-card" data-activity-urn="{urn}" data-featured-activity-urn="{urn}">'
        '<div data-test-id="main-feed-activity-card__entity-lockup">'
        f'<a href="{HOME}/in/{post.author.slug}?trk=x">{post.author.name}</a><time>1w</time></div>'
        '<p class="whitespace-pre-wrap" data-test-id="main-feed-activity-card__commentary">'
        f"{escape(post.text)}</p>"
        f'<a data-test-id="social-actions__reactions" data-num-reactions="{post.likes}"></a>'
        f'<a data-test-id="social-actions__comments" data-num-comments="{len(post.comments)}"></a>{comments}</article>'
    )


def post(post: Post) -> str:
    """A post's page; below it stand others, which are not it."""
    comments = "".join(
        f'<section class="comment"><a class="comment__author" href="{HOME}/in/guest-{n}?trk=x">{name}</a>'
        f'<p class="comment__text">{text}</p></section>' for n, (name, text) in enumerate(post.comments)
    )  # fmt: skip
    url = f"{HOME}/posts/{post.name}"
    data = {"@type": "SocialMediaPosting", "@id": url, "datePublished": "2026-10-20T08:30:00.000Z",
            "articleBody": post.text, "commentCount": len(post.comments),
            "author": {"@type": "Person", "name": post.author.name, "url": f"{HOME}/in/{post.author.slug}"},
            "interactionStatistic": [_counter("LikeAction", post.likes)]}  # fmt: skip
    other = (
        '<article class="main-feed-activity-card" data-activity-urn="urn:li:activity:7000000000000000001"></article>'
    )
    return _document("d_public_post", url, _post_card(post, comments), other, head=_data(data), title="A post")


def article() -> str:
    """The only article."""
    author = POST.author
    blocks = "".join(
        f'<div class="article-main__content" data-test-id="publishing-text-block"><p><span>{text}</span></p></div>'
        for text in ("Clay remembers every touch.", "So does the kiln.")
    )
    data = {"@type": "Article", "headline": "What clay remembers", "datePublished": "2026-09-12T10:00:00.000+00:00",
            "author": {"@type": "Person", "name": author.name, "url": f"{HOME}/in/{author.slug}"},
            "interactionStatistic": _counter("LikeAction", 59)}  # fmt: skip
    return _document(
        "d_flagship2_pulse_read", f"{HOME}/pulse/{ARTICLE}", '<h1 class="pulse-title">What clay remembers</h1>',
        f'<div data-test-id="article-content-blocks">{blocks}</div>', head=_data(data), title="What clay remembers",
    )  # fmt: skip


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def refusal() -> str:
    """What comes with 999: a script that leads to the wall."""
    return '<html><script>window.location.href = "https://www.linkedin.com/authwall?trk=" + trk;</script></html>'


def wall() -> str:
    """The wall."""
    return _document("auth_wall_desktop_profile", "/authwall", "<h1>Join the demo</h1>", title="Sign Up")


def missing() -> str:
    """For what does not exist."""
    return (
        '<!DOCTYPE html><html><head><title>Page not found | LinkedIn</title></head><body id="error404"></body></html>'
    )
