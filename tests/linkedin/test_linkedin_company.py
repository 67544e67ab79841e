from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

FACTS = {
    "website": '<a href="https://www.linkedin.com/redir/redirect?url=https%3A%2F%2Fkilns%2Eexample&amp;u=x">kilns.example</a>',
    "industry": " Ceramics ", "size": "51-200 employees", "headquarters": "Lisbon, Lisbon", "foundedOn": "2009",
    "organizationType": "Privately Held", "specialties": "Stoneware, Glazes, and Kilns",
}  # fmt: skip
DATA = {
    "@type": "Organization", "name": "Kiln & Reed", "slogan": "Pots that last", "description": "We make pots.",
    "numberOfEmployees": {"value": 73}, "logo": {"contentUrl": "https://media.licdn.com/l.png"},
    "sameAs": "https://kilns.example/", "url": "https://pt.linkedin.com/company/kiln-and-reed",
    "address": {"type": "PostalAddress", "addressLocality": "Lisbon", "addressCountry": "PT", "postalCode": ""},
}  # fmt: skip
LOCATIONS = """<section class="core-section-container locations"><ul><li><span>Primary</span><div id="address-0">
  <p> Kiln Lane 1 </p><p>Lisbon, PT</p></div></li><li><div id="address-1"><p>Porto, PT</p></div></li></ul></section>"""


def test_a_company(site):
    rest = LOCATIONS + '<a href="/signup?session_redirect=facetCurrentCompany%3D%255B70001%255D">All</a>'
    item = site.only("company", site.company(facts=FACTS, data=DATA, rest=rest), company="kiln-and-reed")
    assert (item.id, item.slug, item.name, item.tagline) == ("70001", "kiln-and-reed", "Kiln & Reed", "Pots that last")
    assert (item.industry, item.size, item.headquarters) == ("Ceramics", "51-200 employees", "Lisbon, Lisbon")
    assert (item.founded, item.company_type, item.website) == ("2009", "Privately Held", "https://kilns.example/")
    assert item.specialties == ["Stoneware", "Glazes", "Kilns"]
    assert (item.followers, item.employees_count, item.description) == (12480, 73, "We make pots.")
    assert item.locations == ["Kiln Lane 1, Lisbon, PT", "Porto, PT"]
    assert item.url == "https://pt.linkedin.com/company/kiln-and-reed"
    assert item.extra == {"address": {"city": "Lisbon", "country": "PT"}}


def test_data_in_a_graph_and_no_data_at_all(site):
    item = site.only("company", site.company(data={"@graph": [{"@type": "WebPage"}, DATA]}))
    assert (item.name, item.employees_count) == ("Kiln & Reed", 73)
    item = site.only("company", site.company(facts=FACTS))
    assert (item.name, item.website, item.industry) == ("Kiln & Reed", "https://kilns.example", "Ceramics")
    assert (item.employees_count, item.tagline, item.locations, item.id) == (None, None, [], None)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("5,750 followers", 5750), ("1.234 Follower:innen", 1234), ("12 345 abonnés", 12345),
        ("14 mil seguidores", 14000),
        ("1,2 mil seguidores", 1200), ("2.100 follower", 2100), ("3.400 volgers", 3400), ("8 900 följare", 8900),
        ("1 234 obserwujących", 1234), ("フォロワー 2,345人", 2345), ("1.2万 位关注者", 12000),
        ("5M followers", 5000000),
        ("Ceramics", None), ("", None),
    ],
)  # fmt: skip
def test_followers(site, line, count):
    assert site.only("company", site.company(line=line, data=DATA)).followers == count


def test_followers_in_the_description_of_the_page(site):
    body = site.company(
        line="", data=DATA, description="Kiln &amp; Reed | 2,310 followers on LinkedIn. Pots | For 9 followers"
    )
    assert site.only("company", body).followers == 2310


@pytest.mark.parametrize(
    ("told", "language", "parts"),
    [
        ("Kilns", "en", ["Kilns"]), ("Research and Development", "en", ["Research and Development"]),
        ("Clay, Research and Development", "en", ["Clay", "Research and Development"]),
        ("A, B, and C", "en", ["A", "B", "C"]), ("A, B und C", "de", ["A", "B", "C"]),
        ("A, B et C", "fr", ["A", "B", "C"]),
        ("A, B y C", "es", ["A", "B", "C"]), ("A, B e C", "pt", ["A", "B", "C"]), ("A, B och C", "sv", ["A", "B", "C"]),
        ("A, B en C", "nl", ["A", "B", "C"]), ("A, B i C", "pl", ["A", "B", "C"]), ("", "en", []),
    ],
)  # fmt: skip
def test_specialties(site, told, language, parts):
    body = site.company(facts={"specialties": told}, language=language, data=DATA)
    assert site.only("company", body).specialties == parts


def test_the_posts_on_its_page(site):
    own = site.post_card(author="kiln").replace("/in/kiln", "/company/kiln-and-reed")
    shared = site.post_card("7518227005440000009")
    over = '<a href="https://www.linkedin.com/posts/kiln-and-reed_x-activity-7518227005440000000-aBcd?trk=x"></a>'
    rest = f'<section data-test-id="updates"><ul><li>{over}{own}</li><li>{shared}</li></ul></section>'
    other = f'<section data-test-id="similar-pages">{site.post_card("7518227005440000011")}</section>'
    company, first, second = site.parsed("company", site.company(data=DATA, rest=rest + other)).items
    assert company.kind == "company"
    assert (first.author.username, first.extra.get("reshared_by"), first.likes) == ("kiln-and-reed", None, 128)
    assert first.url == "https://www.linkedin.com/posts/kiln-and-reed_x-activity-7518227005440000000-aBcd"
    assert (second.author.username, second.extra["reshared_by"]) == ("mira-kiln", "kiln-and-reed")
    assert second.url == "https://www.linkedin.com/feed/update/urn:li:activity:7518227005440000009/"


@pytest.mark.parametrize("kind", ["school", "showcase"])
def test_schools_and_brands(site, kind):
    body = site.company(data={**DATA, "@type": "EducationalOrganization"}).replace(
        "com/company/kiln-and-reed", f"com/{kind}/kiln-and-reed"
    )
    assert site.only("company", body).slug == "kiln-and-reed"


@pytest.mark.parametrize("body", ["", "x", "<p>Nothing</p>", '<h1 class="top-card-layout__title">Kiln</h1>'])
def test_other_pages_are_no_company(site, body):
    with pytest.raises(ContractError):
        site.parsed("company", body, url="https://www.linkedin.com/company/kiln/")


def test_a_profile_is_no_company(site):
    with pytest.raises(ContractError):
        site.parsed("company", site.person(data={"@type": "Person", "name": "Mira K."}))
