"""Reviews: first those of the product's page, then page by page."""

from __future__ import annotations

import pytest

from fetchworker.errors import ContractError


def test_the_products_page_is_the_first_leg(site):
    found = site.parsed("reviews", site.page(site.old()), product=site.number)
    review, page = found.items
    assert (review.id, review.rating, review.text, review.title) == ("7001", 5.0, "Schöner Becher.", None)
    assert review.created_at == "2026-05-28T20:26:40Z"
    assert review.images == ["https://pictures.example/r.webp"]
    assert review.extra == {"sku_id": "11", "sku_specification": "Farbe: Ton 11"}
    assert (page.kind, page.next_cursor, page.total, page.exhausted) == ("page", "1", 3, False)
    assert (found.cursor, found.state) == ("1", {"given": ["7001"]})


def test_the_interface_begins_anew_and_what_was_given_is_left_out(site):
    answer = site.answer(*(site.review(n) for n in (1, 2, 3)), more=True)
    found = site.parsed("reviews", answer, cursor="1", number=2, state={"given": ["7001"]}, product=site.number)
    assert [item.id for item in found.items[:-1]] == ["7002", "7003"]
    assert (found.cursor, found.items[-1].total) == ("2", 45)
    assert found.state["given"] == ["7001", "7002", "7003"]
    first = found.items[0]
    assert (first.rating, first.text, first.author, first.extra["review_country"]) == (4.0, "Gut.", "Bo", "DE")
    assert (first.created_at, first.verified_purchase, first.helpful_count) == ("2026-05-28T20:26:40Z", None, None)


def test_all_the_same_on_the_first_page_of_all_goes_on_later_ends(site):
    answer = site.answer(site.review(1), more=True)
    given = {"state": {"given": ["7001"]}, "product": site.number}
    assert site.parsed("reviews", answer, cursor="1", number=2, **given).cursor == "2"
    assert site.parsed("reviews", answer, cursor="2", number=3, **given).cursor is None


@pytest.mark.parametrize("answer", [{"more": False}, {"more": True, "nothing": True}])
def test_the_last_page(site, answer):
    reviews = [] if answer.pop("nothing", False) else [site.review(4)]
    found = site.parsed("reviews", site.answer(*reviews, **answer), cursor="3", number=4, product=site.number)
    assert (found.cursor, found.items[-1].exhausted) == (None, True)


def test_a_page_that_shows_all_there_are(site):
    judged = {"product_rating": 5, "review_count": 1, "review_items": [site.shown(1)]}
    found = site.parsed("reviews", site.page(site.old(product_detail_review=judged)), product=site.number)
    assert (len(found.items), found.cursor) == (2, None)


def test_a_page_of_2026_need_not_show_any(site):
    found = site.parsed("reviews", site.page(site.new()), product=site.number)
    assert (len(found.items), found.cursor, found.items[0].total) == (1, "1", 3)
    unjudged = site.new(review_model={"product_review_count": 0})
    assert site.parsed("reviews", site.page(unjudged), product=site.number).cursor is None
    beside = site.page(site.new(), product_reviews=[site.review(1)], has_more=True, total_reviews="3")
    found = site.parsed("reviews", beside, product=site.number)
    assert ([item.kind for item in found.items], found.cursor) == (["review", "page"], "1")


def test_masked_is_null_and_hidden_is_not_zero(site):
    raw = site.review(1, reviewer_name="*** **", review_text=" ", review_rating=0, review_time="", helpful_count=-1,
                      review_images=["https://pictures.example/a.webp", "no address", None])  # fmt: skip
    review = site.parsed("reviews", site.answer(raw), cursor="1", product=site.number).items[0]
    assert (review.author, review.text, review.rating, review.created_at) == (None, None, None, None)
    assert (review.helpful_count, review.images) == (None, ["https://pictures.example/a.webp"])
    part = site.parsed("reviews", site.answer(site.review(1, reviewer_name="n**l")), cursor="1", product=site.number)
    assert part.items[0].author == "n**l"


@pytest.mark.parametrize("seconds", [1780000000, "1780000000", 1780000000000, "1780000000000"])
def test_times_in_seconds_or_milliseconds(site, seconds):
    answer = site.answer(site.review(1, review_time=seconds))
    assert site.parsed("reviews", answer, cursor="1", product=site.number).items[0].created_at == "2026-05-28T20:26:40Z"


@pytest.mark.parametrize("body", [{"code": 0, "data": {}}, {"code": 100000}, "<html></html>", b""])
def test_what_holds_no_reviews(site, body):
    with pytest.raises(ContractError):
        site.parsed("reviews", body, cursor="2", product=site.number)
