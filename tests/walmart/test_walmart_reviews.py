from __future__ import annotations

import pytest

from fetchworker.errors import ContractError


def block(site, *reviews, total=25, written=25, **more):
    return {"customerReviews": list(reviews), "totalReviewCount": total, "reviewsWithTextCount": written, **more}


def test_a_review(site):
    raw = site.review(
        media=[{"mediaType": "IMAGE", "normalUrl": "https://i5.example/a.jpg"}, {"mediaType": "VIDEO", "normalUrl": "https://i5.example/v"}],
        photos=[{"normalUrl": "https://i5.example/b.jpg"}], clientResponses=[{"response": "Thank you."}],
        badges=[{"id": "VerifiedPurchaser"}, {"id": "IncentivizedReviewYes"}],
        syndicationSource={"name": "wick.example"},
    )  # fmt: skip
    review, page = site.parsed("reviews", site.opinions(block(site, raw)), item="170017").items
    assert (review.id, review.product_id, review.rating) == ("1", "170017", 4.0)
    assert (review.title, review.text, review.author) == ("Bright", "It shines .", "mira")
    assert (review.created_at, review.verified_purchase, review.helpful_count) == ("2026-02-09", True, 3)
    assert review.images == ["https://i5.example/a.jpg", "https://i5.example/b.jpg"]
    assert review.url == "https://www.walmart.com/ip/170017"
    assert review.extra == {
        "not_helpful_count": 1, "incentivized": True, "syndicated_from": "wick.example", "replies": ["Thank you."],
    }  # fmt: skip
    assert (page.kind, page.total) == ("page", 25)


@pytest.mark.parametrize(
    ("badges", "verified"), [([], False), (None, None), ([{"id": "Other"}], False), ([None], False)]
)
def test_who_bought_it_here(site, badges, verified):
    body = site.opinions(block(site, site.review(badges=badges)))
    assert site.parsed("reviews", body).items[0].verified_purchase is verified


@pytest.mark.parametrize(
    ("told", "day"),
    [("12/31/2025", "2025-12-31"), ("1/2/2026", "2026-01-02"), ("31/12/2025", None), ("yesterday", None), (None, None),
     ("2026-01-02T10:00:00Z", "2026-01-02T10:00:00Z")],
)  # fmt: skip
def test_months_stand_first(site, told, day):
    body = site.opinions(block(site, site.review(reviewSubmissionTime=told)))
    assert site.parsed("reviews", body).items[0].created_at == day


@pytest.mark.parametrize("rating", [0, 6, None, "5", True])
def test_stars_that_are_none(site, rating):
    assert site.parsed("reviews", site.opinions(block(site, site.review(rating=rating)))).items[0].rating is None


@pytest.mark.parametrize(
    ("cursor", "pagination", "following"),
    [(None, {"next": {"num": 2}}, "2"), ("2", {"next": {"num": 3}}, "3"), ("3", {"next": None}, None),
     ("3", {"next": {"num": 3}}, None), (None, None, "2"), ("12", None, "13"), ("25", None, None)],
)  # fmt: skip
def test_the_next_page(site, cursor, pagination, following):
    body = site.opinions(block(site, site.review(), pagination=pagination))
    found = site.parsed("reviews", body, item="170017", cursor=cursor)
    assert (found.cursor, found.items[-1].next_cursor) == (following, following)
    assert found.items[-1].exhausted is (following is None)


def test_a_page_without_reviews_is_the_end(site):
    found = site.parsed(
        "reviews", site.opinions(block(site, pagination={"next": {"num": 9}})), item="170017", cursor="8"
    )
    assert (found.cursor, len(found.items)) == (None, 1)


def test_the_listings_own_page_has_the_first_ones_alone(site):
    body = site.listing(reviews=block(site, site.review()))
    found = site.parsed("reviews", body, item="170017")
    page = found.items[-1]
    assert (found.cursor, page.next_cursor, page.exhausted, page.partial) == (None, None, False, "first_reviews")
    whole = site.parsed("reviews", site.listing(reviews=block(site, site.review(), total=1)), item="170017").items[-1]
    assert (whole.exhausted, whole.partial) == (True, None)


def test_ratings_of_the_page(site):
    body = site.opinions(block(site, averageOverallRating=4.6, ratingValueFiveCount=9, ratingValueOneCount=0, total=9))
    (page,) = site.parsed("reviews", body, item="170017").items
    assert page.extra == {"rating": 4.6, "ratings": {"1": 0, "5": 9}, "reviews_with_text": 25}


@pytest.mark.parametrize("reviews", [None, {}, [], {"aspects": []}])
def test_no_reviews_object(site, reviews):
    with pytest.raises(ContractError, match="reviews"):
        site.parsed("reviews", site.opinions(reviews))


def test_another_listings_reviews(site):
    with pytest.raises(ContractError, match="another listing"):
        site.parsed("reviews", site.opinions(block(site, site.review())), item="170018")
    body = site.opinions(block(site, site.review()), product={})
    assert site.parsed("reviews", body, item="170018").items[0].product_id == "170018"
