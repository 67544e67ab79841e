"""Accounts: header, introduction, the preview's line, shells."""

from __future__ import annotations

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.facebook import parse_profile


def whole(site, *, head="", lang="en", header=None, introduction=None, timeline=None):
    results = [
        site.result("ProfileCometHeaderQuery", header or site.header()),
        site.result("ProfilePlusCometLoggedOutRootQuery", introduction or site.introduction()),
        site.result("ProfileCometTimelineFeedQuery", timeline or site.timeline(site.story())),
    ]
    return site.page(*results, head=head, lang=lang)


def test_an_account_and_its_first_post(site):
    header = site.header(
        delegate_page={"id": "8200000000000701"}, profilePicLarge={"uri": "https://scontent.example/a.jpg"}
    )
    introduction = site.introduction(
        ("INFLUENCER_CATEGORY", "Page · Pottery"),
        ("ADDRESS", "3 Mill Lane"),
        ("PROFILE_PHONE", "+1 555 0100"),
        ("PROFILE_EMAIL", "us@fern.example"),
        ("WEBSITE", "fern.example"),
        ("RATING", "Rating · 4.6 (1,130 Reviews)"),
    )
    line = "Fern and Flint, Example Town. 2,113 likes · 14 talking about this · 531 were here. Clay"
    head = site.meta(og_title="Fern and Flint", og_description=line)
    account, post, page = site.items("profile", whole(site, head=head, header=header, introduction=introduction))
    assert (account.id, account.username, account.name) == (site.owner, "fernandflint", "Fern and Flint")
    assert (account.likes_count, account.followers, account.following) == (2113, 2300, None)
    assert (account.verified, account.business, account.private) == (False, True, None)
    assert (account.category, account.location, account.biography) == ("Pottery", "3 Mill Lane", "Clay and patience")
    assert (account.rating, account.feedback_count) == (4.6, 1130)
    assert account.external_url == account.links[0].url == "https://fern.example/"
    assert account.alt_ids == ["8200000000000701"]
    assert account.summary == line
    assert account.extra["contact"] == {"phone": "+1 555 0100", "email": "us@fern.example"}, "the pipeline drops it"
    assert (post.id, post.author.username) == (site.post, "fernandflint")
    assert (page.next_cursor, page.exhausted) == ("CUR1", False)


def test_results_in_inline_scripts(site):
    """Pages of 2022 and 2023."""
    body = site.page(site.result("ProfileCometHeaderQuery", site.header(), inline=True))
    (account,) = site.items("profile", body)
    assert (account.name, account.likes_count) == ("Fern and Flint", 2100)


@pytest.mark.parametrize(
    ("lang", "words", "number"),
    [
        ("en", "2.1K likes", 2100),
        ("pl", "2,2\u00a0tys. polubienia", 2200),
        ("de", "1.234 „Gefällt mir“-Angaben", 1234),
        ("fr", "12\u202f345 J’aime", 12_345),
        ("es", "3,4 mil Me gusta", 3400),
        ("it", "1,2 Mln followers", 1_200_000),
        ("pt", "1,1 mi seguidores", 1_100_000),
        ("tr", "2,4 B beğenme", 2400),
        ("ru", "3,4 тыс. подписчиков", 3400),
        ("ja", "フォロワー1.2万人", 12_000),
        ("ko", "팔로워 3.2만명", 32_000),
        ("id", "12,5 rb pengikut", 12_500),
        ("en", "nothing", None),
        ("en", None, None),
    ],
)
def test_rounded_counts_in_many_languages(lang, words, number):
    assert parse_profile.social_count(words, lang) == number


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("2,113 likes · 14 talking about this", 2113),
        ("3187 osób lubi to · 7 osób mówi o tym", 3187),
        ("Gefällt 1.204 Mal", None),
        ("1.204 „Gefällt mir“-Angaben · 3 Personen", 1204),
        ("1 204 J’aime · 3", 1204),
        ("3.333 Me gusta · 2", 3333),
        ("Clay since 1999", None),
        ("いいね！1,204件", 1204),
        (None, None),
    ],
)
def test_likes_in_the_line_of_a_preview(line, number):
    assert parse_profile.likes(line) == number


def test_the_exact_number_is_the_one_that_was_rounded(site):
    """Whatever the language calls likes; other numbers of the line are other counts."""
    head = site.meta(og_description="Fern and Flint. 77 xx · 2 187 yyy zz · 546 ww. Since 2150")
    (account, *_) = site.items(
        "profile", whole(site, head=head, header=site.header("2,1 tys. qq", "9 tys. rr"), lang="pl")
    )
    assert account.likes_count == 2187
    head = site.meta(og_description="Fern and Flint. 77 xx")
    assert site.items("profile", whole(site, head=head))[0].likes_count == 2100


def test_masked_and_missing_facts_stay_none(site):
    (account, *_) = site.items(
        "profile", whole(site, header=site.header("***", "—"), introduction=site.introduction(bio=None))
    )
    assert (account.likes_count, account.followers, account.biography, account.category) == (None, None, None, None)
    assert (account.rating, account.business, account.links) == (None, None, [])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("94% recommend (75 Reviews)", (94.0, 75)),
        ("%94 öneriyor (75)", (94.0, 75)),
        ("4,7 (130)", (4.7, 130)),
        ("Not yet rated (0 Reviews)", (None, 0)),
        ("Rating · 47", (None, None)),
        (None, (None, None)),
    ],
)
def test_ratings(words, found):
    assert parse_profile._rating(words) == found


def test_another_account_is_not_the_wanted_one(site):
    with pytest.raises(ContractError):
        site.parsed("profile", whole(site), id="100000000000999")
    assert site.items("profile", whole(site), id=site.owner)[0].id == site.owner


def test_a_shell_is_marked(site):
    head = (
        site.meta(
            og_title="Fern and Flint | Example Town",
            og_url="https://www.facebook.com/fernandflint/",
            og_description="Fern and Flint. 2,113 likes · 3 talking about this",
            al_android="x",
            og_image="https://scontent.example/a.jpg",
        )
        + '<meta property="al:android:url" content="fb://profile/100000000000701"/>'
    )
    (account,) = site.items("profile", site.page(head=head))
    assert (account.partial, account.id, account.username) == ("page_shell", site.owner, "fernandflint")
    assert (account.name, account.likes_count) == ("Fern and Flint", 2113)


@pytest.mark.parametrize("head", ["", '<meta property="og:title" content="Facebook"/>'])
def test_a_page_without_an_account(site, head):
    with pytest.raises(ContractError):
        site.parsed("profile", site.page(head=head))


def test_an_answer_of_the_header_query(site):
    import json

    (account,) = site.items("profile", json.dumps(site.header()))
    assert account.followers == 2300
