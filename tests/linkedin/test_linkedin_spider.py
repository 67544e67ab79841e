from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.sites import load_sites
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.linkedin.spider import LinkedinSpider

HOME = "https://www.linkedin.com"
ACTIVITY = "7518227005440000000"
NAME = f"mira-kiln_clay-activity-{ACTIVITY}-dEmo"


def resolved(**arguments):
    call = LinkedinSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_defaults=True)


def fetches(operation, *, cursor=None, state=None, **values):
    chosen = LinkedinSpider.operations[operation]
    call = Call(operation, chosen.params(**values), cursor=cursor, state=state or {})
    return chosen.fetches(None, call)


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        (f"{HOME}/jobs/view/studio-potter-2024-at-kiln-4400000001?trk=x", "job", {"job": "4400000001"}),
        ("http://pt.linkedin.com/jobs/view/4400000001/", "job", {"job": "4400000001"}),
        (f"{HOME}/jobs-guest/jobs/api/jobPosting/4400000001", "job", {"job": "4400000001"}),
        ("https://de.linkedin.com/jobs/view/t%C3%B6pfer-4400000001#x", "job", {"job": "4400000001"}),
        (f"{HOME}/company/kiln-and-reed/jobs/", "company", {"company": "kiln-and-reed"}),
        ("https://linkedin.com/company/boys-&-kilns?x=1", "company", {"company": "boys-&-kilns"}),
        (f"{HOME}/school/clay-school/", "company", {"company": "clay-school", "type": "school"}),
        (f"{HOME}/showcase/glazes", "company", {"company": "glazes", "type": "showcase"}),
        ("https://br.linkedin.com/in/ot%C3%A1vio-kiln/en?trk=x", "person", {"person": "otávio-kiln"}),
        (f"{HOME}/posts/{NAME}?utm_source=share", "post", {"post": NAME}),
        (f"{HOME}/feed/update/urn:li:activity:{ACTIVITY}/", "post", {"post": f"urn:li:activity:{ACTIVITY}"}),
        (f"{HOME}/embed/feed/update/urn%3Ali%3Ashare%3A{ACTIVITY}", "post", {"post": f"urn:li:share:{ACTIVITY}"}),
        (f"{HOME}/pulse/what-clay-remembers-mira-k/", "article", {"article": "what-clay-remembers-mira-k"}),
        (f"{HOME}/jobs/search?keywords=potter&f_WT=2", "jobs", {"url": f"{HOME}/jobs/search?keywords=potter&f_WT=2"}),
        (f"{HOME}/jobs/studio-potter-jobs-lisbon?x=1", "jobs", {"url": f"{HOME}/jobs/studio-potter-jobs-lisbon?x=1"}),
        ("https://in.linkedin.com/jobs/potter-jobs", "jobs", {"url": "https://in.linkedin.com/jobs/potter-jobs"}),
    ],
)  # fmt: skip
def test_addresses_name_their_operation(url, operation, params):
    assert resolved(url=url) == (operation, params)


@pytest.mark.parametrize(
    "url",
    [f"{HOME}/", f"{HOME}/feed/", f"{HOME}/jobs/view/potter", f"{HOME}/company/unavailable/", f"{HOME}/in/",
     "https://linkedin.com.evil.example/in/mira", "https://evil.example/www.linkedin.com/in/mira",
     f"{HOME}/login?session_redirect=/in/mira", f"{HOME}/jobs/collections/recommended"],
)  # fmt: skip
def test_other_addresses_name_none(url):
    with pytest.raises(ArgumentError):
        resolved(url=url)


def test_arguments_name_their_operation():
    assert resolved(query=" studio  potter ") == ("jobs", {"query": "studio potter"})
    assert resolved(location="Lisbon") == ("jobs", {"location": "Lisbon"})
    assert resolved(company_ids="70001,70002") == ("jobs", {"company_ids": "70001,70002"})
    assert resolved(job=4400000001) == ("job", {"job": "4400000001"})
    assert resolved(company="Kiln & Reed".replace(" ", "-")) == ("company", {"company": "Kiln-&-Reed"})
    assert resolved(person="@mira-kiln") == ("person", {"person": "mira-kiln"})
    assert resolved(post=ACTIVITY) == ("post", {"post": f"urn:li:activity:{ACTIVITY}"})
    assert resolved(article="what-clay") == ("article", {"article": "what-clay"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": " "}, "empty"), ({"operation": "jobs"}, "what to look for"), ({"job": "12"}, "6 to 12 digits"),
        ({"query": "a", "workplace": "moon"}, "on_site, remote, hybrid"), ({"query": "a", "job_type": ""}, "full_time"),
        ({"query": "a", "posted_within": "year"}, "day, week, month"), ({"query": "a", "cursor": "x"}, "leave out"),
        ({"query": "a", "filters": "[1]"}, "filters"), ({"query": "a", "filters": "{"}, "JSON object"),
        ({"query": "a", "filters": '{"start": "1"}'}, "no parameter of a search"),
        ({"query": "a", "sort": "x"}, "recent"),
        ({"query": "a", "geo_id": "Lisbon"}, "place's number"), ({"company": "two words"}, "/company/"),
        ({"company": "unavailable"}, "no name"), ({"company": "a", "type": "club"}, "school"),
        ({"person": "a/b"}, "/in/"), ({"post": "urn:li:person:1"}, "/posts/"), ({"article": "a b"}, "/pulse/"),
        ({"operation": "jobs", "url": f"{HOME}/in/mira"}, "address of a search"),
        ({"url": f"{HOME}/jobs/potter-jobs-lisbon", "cursor": "25"}, "no further pages"),
        ({"qury": "a"}, "did you mean"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_clearly(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        resolved(**arguments)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"query": "studio potter", "location": "Lisbon"}, {"keywords": "studio potter", "location": "Lisbon"}),
        ({"query": "a", "posted_within": "week", "sort": "recent"},
         {"keywords": "a", "f_TPR": "r604800", "sortBy": "DD"}),
        ({"query": "a", "posted_within": 3600}, {"keywords": "a", "f_TPR": "r3600"}),
        ({"query": "a", "workplace": "remote, hybrid", "job_type": "internship"},
         {"keywords": "a", "f_WT": "2,3", "f_JT": "I"}),
        ({"query": "a", "experience": "entry,director", "easy_apply": "true"},
         {"keywords": "a", "f_E": "2,5", "f_AL": "true"}),
        ({"geo_id": "100364837", "distance": "25"}, {"geoId": "100364837", "distance": "25"}),
        ({"company_ids": "1,2", "filters": '{"f_SB2": "3"}'}, {"f_C": "1,2", "f_SB2": "3"}),
        ({"url": f"{HOME}/jobs/search/?keywords=a&f_JT=F&start=25&trk=x&position=1", "job_type": "part_time"},
         {"keywords": "a", "f_JT": "P"}),
    ],
)  # fmt: skip
def test_a_search_as_the_site_writes_it(values, expected):
    fragment, page = fetches("jobs", **values)
    parts = urlsplit(fragment.url)
    assert parts.path == "/jobs-guest/jobs/api/seeMoreJobPostings/search"
    assert {name: value for name, (value,) in parse_qs(parts.query).items()} == {**expected, "start": "0"}
    assert (fragment.strategy, fragment.destination, fragment.referer) == ("fragment", "xhr", page.url)
    assert {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items()} == expected
    assert (page.strategy, page.destination) == ("page", "navigate")


def test_later_pages_are_fragments():
    (fragment,) = fetches("jobs", query="a", cursor="60")
    assert fragment.url.endswith("?keywords=a&start=60")
    url = f"{HOME}/jobs/potter-jobs-lisbon"
    (page,) = fetches("jobs", url=url)
    assert (page.strategy, page.url) == ("page", url)
    (fragment,) = fetches("jobs", url=url, cursor="25", state={"query": {"keywords": "potter", "geoId": "7"}})
    assert fragment.url.endswith("search?keywords=potter&geoId=7&start=25")


def test_ways_to_the_others():
    assert [(way.strategy, way.url, way.destination) for way in fetches("job", job="4400000001")] == [
        ("fragment", f"{HOME}/jobs-guest/jobs/api/jobPosting/4400000001", "xhr"),
        ("page", f"{HOME}/jobs/view/4400000001/", "navigate"),
    ]
    assert [way.url for way in fetches("company", company="boys-&-kilns")] == [f"{HOME}/company/boys-%26-kilns/"]
    assert [way.url for way in fetches("company", company="clay", type="school")] == [f"{HOME}/school/clay/"]
    assert [way.url for way in fetches("person", person="otávio")] == [f"{HOME}/in/ot%C3%A1vio/"]
    assert [(way.strategy, way.url) for way in fetches("post", post=NAME)] == [
        ("page", f"{HOME}/posts/{NAME}"), ("update", f"{HOME}/feed/update/urn:li:activity:{ACTIVITY}/"),
    ]  # fmt: skip
    assert [way.url for way in fetches("post", post=ACTIVITY)] == [f"{HOME}/feed/update/urn:li:activity:{ACTIVITY}/"]
    assert [way.url for way in fetches("article", article="what-clay")] == [f"{HOME}/pulse/what-clay"]


def test_reading_a_stored_call_changes_nothing():
    stored = [
        ("jobs", {"query": "100% a+b", "workplace": "remote,hybrid", "filters": {"f_SB2": "3"}, "posted_within": "60"}),
        ("jobs", {"url": f"{HOME}/jobs/search?keywords=a+b"}), ("job", {"job": "4400000001"}),
        ("company", {"company": "boys-&-kilns", "type": "showcase"}), ("person", {"person": "ot%C3%A1vio"}),
        ("post", {"post": ACTIVITY}), ("article", {"article": "what-clay"}),
    ]  # fmt: skip
    for operation, values in stored:
        model = LinkedinSpider.operations[operation].params
        once = model(**values)
        assert model.model_validate(once.model_dump(mode="json", exclude_defaults=True)) == once


def test_requests_stay_within_the_hosts_of_the_site():
    allowed = load_sites(Path(__file__).parents[2] / "sites.yaml")["linkedin"].allowed_hosts
    assert allowed == ("linkedin.com",)
    assert contract.ours("https://pt.linkedin.com/in/x")
    assert not contract.ours("https://notlinkedin.com/in/x")


def test_the_contract_is_dated():
    assert all(sighting.fact and sighting.source and "20" in sighting.seen for sighting in contract.SIGHTINGS)
    assert {name: chosen.counts for name, chosen in LinkedinSpider.operations.items()} == {
        "jobs": "job", "job": None, "company": None, "person": None, "post": None, "article": None,
    }  # fmt: skip
    assert all(chosen.summary for chosen in LinkedinSpider.operations.values())


@pytest.mark.parametrize(
    ("href", "plain", "outside"),
    [
        ("/company/kiln?trk=x#y", f"{HOME}/company/kiln", f"{HOME}/company/kiln?trk=x#y"),
        ("https://lnkd.in/abc", "https://lnkd.in/abc", "https://lnkd.in/abc"),
        ("mailto:m@kilns.example", None, None), ("http://[broken", None, None), ("", None, None), (None, None, None),
        ("javascript:void(0)", None, None),
        (f"{HOME}/redir/redirect?url=https%3A%2F%2Fkilns.example", f"{HOME}/redir/redirect", "https://kilns.example"),
        (f"{HOME}/redir/redirect?url=mailto%3Am%40kilns.example", f"{HOME}/redir/redirect", None),
    ],
)  # fmt: skip
def test_links(href, plain, outside):
    assert (contract.plain(href), contract.outside(href)) == (plain, outside)
