"""Whatever a page holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.errors import ContractError

ACTIVITY = "7518227005440000000"
OPERATIONS = ("jobs", "job", "company", "person", "post", "article")
KEYS = st.sampled_from([
    "@id", "@type", "name", "url", "sameAs", "author", "comment", "commentCount", "interactionStatistic",
    "datePublished", "articleBody", "text", "headline", "image", "logo", "address", "numberOfEmployees",
    "worksFor", "alumniOf", "jobTitle", "knowsLanguage", "baseSalary", "hiringOrganization", "jobLocation",
    "description", "identifier", "member",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
MARKS = st.sampled_from(
    ["<", ">", '"', "<ul>", "</ul>", "<!--", "-->", "\x00", "\ud7ff", "<script>", "***", "\u202f", "&#0;"]
)
TEXTS = st.text(alphabet="0123456789.,+ KMmil$€%abcfollowersconnections·|*", max_size=30)


def good(site) -> dict[str, str]:
    """A good body of each operation."""
    posting = site.posting(
        comment=[{"text": "Nice", "author": {"name": "Ana"}, "datePublished": "2026-10-21T09:00:00Z"}]
    )
    url = "https://pt.linkedin.com/in/mira-kiln"
    person = {"@type": "Person", "name": "Mira K.", "url": url, "jobTitle": ["***"], "worksFor": [{"name": "Kiln"}]}
    organization = {"@type": "Organization", "name": "Kiln & Reed", "numberOfEmployees": {"value": 7}}
    pay = '<span class="job-search-card__salary-info">$1.00 - $2.00</span>'
    return {
        "jobs": site.results(site.card(more=pay), site.card(4400000002, tag="a"), total="20"),
        "job": site.job(rest=site.criteria(Seniority_level="x", Industries="y")),
        "company": site.company(
            facts={"size": "2-10", "specialties": "A, B, and C"}, data=organization,
            rest=f'<section data-test-id="updates">{site.post_card()}</section>',
        ),
        "person": site.person(data={"@graph": [person, posting]}, counts=("9 followers", "500+ connections")),
        "post": site.post(site.post_card(more=site.comment()), data=posting),
        "article": site.article('<h1 class="pulse-title">T</h1><div class="article-body"><p>x</p></div>', data={
            "@type": "Article", "datePublished": "2026-09-12T10:00:00Z", "author": {"name": "Mira", "url": url}}),
    }  # fmt: skip


def attempt(site, operation, body):
    with suppress(ContractError):
        site.parsed(operation, body)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_good_ones_are_good(site, operation):
    assert site.parsed(operation, good(site)[operation]).items


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_mutations_of_good_bodies(site, operation, data):
    body = good(site)[operation]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(body)))
        length = data.draw(st.integers(0, 60))
        body = body[:start] + data.draw(MARKS | TEXTS) + body[start + length :]
    attempt(site, operation, body)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=200))
def test_any_bytes(site, operation, raw):
    attempt(site, operation, raw)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_bodies_cut_anywhere(site, operation):
    body = good(site)[operation]
    for end in range(0, len(body), max(1, len(body) // 150)):
        attempt(site, operation, body[:end])


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(["Person", "Organization", "JobPosting", "SocialMediaPosting", "Article"]),
    st.dictionaries(KEYS, JSON, max_size=6), st.sampled_from(OPERATIONS),
)  # fmt: skip
def test_any_data(site, kind, told, operation):
    data = {"@graph": [{"name": "Mira", "url": "https://pt.linkedin.com/in/mira-kiln", **told, "@type": kind}]}
    body = re.sub(
        r'(<script type="application/ld\+json">).*?(</script>)', "", good(site)[operation], flags=re.DOTALL
    ).replace("<head>", f'<head><script type="application/ld+json">{json.dumps(data)}</script>')
    attempt(site, operation, body)


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4), TEXTS, st.dictionaries(st.sampled_from(["size", "website", "specialties"]), TEXTS))
def test_any_texts(site, counts, line, facts):
    attempt(site, "person", site.person(counts=tuple(counts), data={"@type": "Person", "name": line}))
    attempt(site, "company", site.company(line=line, facts=facts))
    attempt(site, "jobs", site.fragment(site.card(title=line, day=line, place=line)))
    attempt(site, "job", site.job(top=f'<span class="num-applicants__caption">{line}</span>'))


@pytest.mark.parametrize(
    "href", ["http://[x/in/a", "//", "https://www.linkedin.com/in/%", "https://www.linkedin.com:x/in/a"]
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_broken_addresses_are_no_trap(site, operation, href):
    attempt(site, operation, re.sub(r'(href|src|data-delayed-url)="[^"]*"', rf'\1="{href}"', good(site)[operation]))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_deep_pages_and_data_are_no_trap(site, operation):
    body = good(site)[operation]
    attempt(site, operation, body.replace("</body>", "<div>" * 5000))
    attempt(site, operation, body + "<!--" * 20000)
    attempt(
        site, operation, body.replace("</head>", f'<script type="application/ld+json">{"[" * 5000}</script></head>')
    )
    attempt(site, operation, body.replace("</body>", f'<code id="totalResults"{"<code " * 20000}'))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_large_page_is_read_in_one_pass(site, calls, operation):
    body = good(site)[operation]
    filler = (
        '<div class="a-1 b-2 c-3 flex items-center px-2"><p class="text-sm mb-1">Words and words of others</p></div>'
    )
    once, twice = (calls(lambda n=n: attempt(site, operation, body + filler * n)) for n in (2_000, 4_000))
    assert twice < 2.1 * once
