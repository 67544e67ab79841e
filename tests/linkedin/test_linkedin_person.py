from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

URL = "https://pt.linkedin.com/in/mira-kiln"
PERSON = {
    "@type": "Person", "name": "Mira K.", "url": URL, "sameAs": URL, "jobTitle": ["****** **", "*** ****"],
    "address": {"addressCountry": "PT", "addressLocality": "Lisbon, Portugal"},
    "image": {"contentUrl": "https://media.licdn.com/m.png"}, "knowsLanguage": [{"name": "Português"}, {"name": None}],
    "worksFor": [{"@type": "Organization", "name": "Kiln & Reed", "url": "https://pt.linkedin.com/company/kiln?x=1",
                  "location": "Lisbon", "member": {"description": "**** ** ****, ***", "startDate": 2019}}],
    "alumniOf": [
        {"@type": "Organization", "name": "Slipware Co", "member": {"startDate": "2014-05", "endDate": "2019-01"}},
        {"@type": "EducationalOrganization", "name": "Clay School", "url": "https://pt.linkedin.com/school/clay/",
         "member": {"description": "****", "startDate": 2010, "endDate": 2014}},
    ],
}  # fmt: skip


def posting(author: str, number: str, **more):
    return {
        "@type": "DiscussionForumPosting", "author": {"name": "x", "url": f"https://pt.linkedin.com/in/{author}"},
        "url": f"https://pt.linkedin.com/posts/{author}_x-activity-{number}-aBcd", "text": "Hello #kiln",
        "datePublished": "2026-01-23T13:04:50.947Z", **more,
    }  # fmt: skip


def test_a_profile(site):
    about = '<section class="core-section-container summary" data-section="summary"><h2>About</h2><div class="core-section-container__content"><div>Potter since…<div class="sign-in-modal"><button>more</button>Sign in</div></div></div></section>'  # noqa: E501  # one section
    counts = ("2,310 followers", "500+ connections")
    item = site.only("person", site.person(data={"@graph": [PERSON]}, counts=counts, rest=about), person="mira-kiln")
    assert (item.slug, item.name, item.location, item.about) == (
        "mira-kiln",
        "Mira K.",
        "Lisbon, Portugal",
        "Potter since…",
    )
    assert (item.followers, item.connections, item.company, item.headline) == (2310, 500, "Kiln & Reed", None)
    first, former = item.positions
    assert (first.title, first.company, first.start, first.end, first.description) == (
        None, "Kiln & Reed", "2019", None, None,
    )  # fmt: skip
    assert first.company_url == "https://pt.linkedin.com/company/kiln"
    assert (former.company, former.start, former.end) == ("Slipware Co", "2014-05", "2019-01")
    (school,) = item.education
    assert (school.name, school.start, school.end) == ("Clay School", "2010", "2014")
    assert (item.partial, item.avatar_url) == ("logged_out_limit", "https://media.licdn.com/m.png")
    assert item.extra == {"languages": ["Português"], "country": "PT", "connections_is_at_least": True}


@pytest.mark.parametrize(
    ("counts", "followers", "connections", "bound"),
    [
        (("960  seguidores", "+ de 500 conexões"), 960, 500, True),
        (("1.234 Follower:innen", "321 Kontakte"), 1234, 321, None),
        (("2 k abonnés", "Plus de 500 relations"), 2000, 500, True),
        (("3 mil seguidores", "Más de 500 contactos"), 3000, 500, True),
        (("12 follower", "7 collegamenti"), 12, 7, None), (("1 234 följare", "500+ kontakter"), 1234, 500, True),
        (("88 volgers", "41 connecties"), 88, 41, None), (("5 obserwujących", "500+ kontaktów"), 5, 500, True),
        (("フォロワー 1,234人", "つながり 500人以上"), 1234, 500, True),
        ((), None, None, None), (("Lisbon 12",), None, None, None),
    ],
)  # fmt: skip
def test_followers_and_connections(site, counts, followers, connections, bound):
    item = site.only("person", site.person(data=PERSON, counts=counts))
    assert (item.followers, item.connections, item.extra.get("connections_is_at_least")) == (
        followers,
        connections,
        bound,
    )


def test_their_posts_and_articles_and_nobody_elses(site):
    article = {
        "@type": "Article", "headline": "What clay remembers", "author": {"name": "Mira K.", "url": URL},
        "datePublished": "2025-09-30T12:32:10.000+00:00", "url": "https://pt.linkedin.com/pulse/what-clay-remembers-dem0",
        "interactionStatistic": site.counter("LikeAction", 59),
    }  # fmt: skip
    liked = posting("somebody-else", "7420451449861509120")
    graph = [posting("mira-kiln", "7420451449861509120", interactionStatistic=[site.counter("LikeAction", 2)]), liked,
             article, {"@type": "Article", "headline": "No author"}, PERSON]  # fmt: skip
    person, post, written = site.parsed("person", site.person(data={"@graph": graph})).items
    assert person.name == "Mira K."
    assert (post.id, post.likes, post.comments_count, post.hashtags, post.type) == (
        "7420451449861509120", 2, None, ["kiln"], None,
    )  # fmt: skip
    assert post.created_at == "2026-01-23T13:04:50Z"
    assert (written.type, written.title, written.id, written.likes) == (
        "article", "What clay remembers", "what-clay-remembers-dem0", 59,
    )  # fmt: skip


def test_the_list_of_pages_to_2023(site):
    rest = """<h2 class="top-card-layout__headline">Potter at Kiln &amp; Reed</h2><ul class="experience__list">
      <li class="profile-section-card experience-item"><a href="https://pt.linkedin.com/company/kiln?trk=x"><img></a>
      <h3><span class="experience-item__title"> Potter </span></h3><h4><a class="experience-item__subtitle"
      href="https://pt.linkedin.com/company/kiln?trk=y"> Kiln &amp; Reed </a></h4><span class="date-range">
      <time>Jan 2019</time> - <time>Present</time></span><p class="experience-item__location">Lisbon</p>
      <div class="experience-item__description"><p class="show-more-less-text__text--less">Pots.<br>Pans.</p></div></li>
      <li class="experience-item"><h3 class="experience-item__title">*****</h3></li></ul>
      <ul><li class="education__list-item"><h3><a href="https://pt.linkedin.com/school/clay/?x">Clay School</a></h3>
      <h4><span class="education__item--degree-info">Ceramics</span></h4>
      <span class="date-range"><time>2010</time> - <time>2014</time></span></li></ul>"""
    item = site.only("person", site.person(rest=rest))
    (place,), (school,) = item.positions, item.education
    assert (place.title, place.company, place.company_url) == (
        "Potter",
        "Kiln & Reed",
        "https://pt.linkedin.com/company/kiln",
    )
    assert (place.start, place.end, place.location, place.description) == (
        "Jan 2019",
        "Present",
        "Lisbon",
        "Pots.\nPans.",
    )
    assert (school.name, school.degree, school.start, school.end) == ("Clay School", "Ceramics", "2010", "2014")
    assert (item.headline, item.partial) == ("Potter at Kiln & Reed", None)


def test_a_profile_of_2016(site):
    body = f"""<html><head><link rel="canonical" href="{URL}"/></head><body><section id="topcard"><img class="photo"
      data-delayed-url="https://media.licdn.com/p.jpg"><h1 id="name" class="fn">Mira Kiln</h1>
      <p class="headline title">Potter</p><span class="locality">Lisbon</span>
      <table class="extra-info"><tr><td><span class="org"><a href="/company/kiln">Kiln &amp; Reed</a></span></td></tr>
      </table>
      </section><section id="summary" class="profile-section"><div class="description"><p>Pots.<br><br>Pans.</p></div>
      </section><ul class="positions"><li class="position"><h4 class="item-title">Potter</h4>
      <h5 class="item-subtitle"><a href="https://www.linkedin.com/company/kiln?x">Kiln &amp; Reed</a></h5>
      <span class="date-range"><time>May 2001</time> – <time>June 2008</time></span></li></ul>
      <ul><li class="school"><h4 class="item-title">Clay School</h4><h5 class="item-subtitle">BA</h5></li></ul>"""
    item = site.only("person", body)
    assert (item.name, item.headline, item.location, item.company) == ("Mira Kiln", "Potter", "Lisbon", "Kiln & Reed")
    assert (item.about, item.avatar_url) == ("Pots.\n\nPans.", "https://media.licdn.com/p.jpg")
    assert (item.positions[0].title, item.positions[0].end) == ("Potter", "June 2008")
    assert (item.education[0].name, item.education[0].degree) == ("Clay School", "BA")


def test_the_person_of_the_page_is_the_one_of_its_address(site):
    other = {**PERSON, "name": "Somebody Else", "url": "https://pt.linkedin.com/in/other", "sameAs": None}
    assert site.only("person", site.person(data={"@graph": [other, PERSON]})).name == "Mira K."


@pytest.mark.parametrize("kind", [{}, [], ["Organization"], None, 7])
def test_employers_of_an_odd_type(site, kind):
    person = {**PERSON, "worksFor": {"@type": kind, "name": "Kiln"}, "alumniOf": [{"@type": kind, "name": "Slipware"}]}
    item = site.only("person", site.person(data=person))
    assert ([place.company for place in item.positions], item.education) == (["Kiln", "Slipware"], [])


def test_what_stands_for_a_missing_picture_is_none(site):
    rest = '<img class="top-card__profile-image" data-delayed-url="https://static.licdn.com/ghost">'
    assert site.only("person", site.person(rest=rest)).avatar_url is None


@pytest.mark.parametrize("heading", ["", "***** *."])
def test_nobody_is_no_person(site, heading):
    with pytest.raises(ContractError):
        site.parsed("person", site.person(heading=heading))


@pytest.mark.parametrize("body", ["", "x", "<p>Nothing</p>"])
def test_other_pages_are_no_profile(site, body):
    with pytest.raises(ContractError):
        site.parsed("person", body, url=URL)


def test_a_company_is_no_person(site):
    with pytest.raises(ContractError):
        site.parsed("person", site.company())
