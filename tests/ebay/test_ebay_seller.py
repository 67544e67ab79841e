from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

CARD = """<html><head><link rel="canonical" href="https://www.ebay.com/usr/kiln_84"></head><div class="str-seller-card">
<div class="str-seller-card__store-logo"><img src="https://i.ebayimg.com/images/g/k/s-l140.jpg"></div>
<div class="str-seller-card__store-name"><h1><a href="https://www.ebay.com/str/kilnhouse">Kiln House</a></h1></div>
<div class="str-seller-card__stats-content"><div><a class="str-seller-card__feedback-link" href="/fdbk/x/kiln_84">
<span>{}</span></a></div><div><span>{}</span> {}</div><div><span>{}</span> {}</div></div></div>
<section class="str-about-description__seller-info"><p><span>{}</span></p><p><span>{}</span></p></section></html>"""
ENGLISH = (
    "99.8% positive feedback",
    "59K",
    "items sold",
    "11,500",
    "followers",
    "Location: Portugal",
    "Member since: Mar 12, 2009",
)
GERMAN = ("99,8% positive Bewertungen", "1.234", "verkaufte Artikel", "115", "Follower", "Standort: Portugal",
          "Mitglied seit: 12. Mär 2009")  # fmt: skip


def test_a_sellers_page(site):
    (found,) = site.parsed("seller", CARD.format(*ENGLISH), seller="kiln_84").items
    assert (found.kind, found.id, found.username, found.name) == ("profile", "kiln_84", "kiln_84", "Kiln House")
    assert (found.rating, found.sold_count, found.followers) == (99.8, 59_000, 11_500)
    assert (found.location, found.extra) == ("Portugal", {"member_since": "2009-03-12"})
    assert found.avatar_url == "https://i.ebayimg.com/images/g/k/s-l140.jpg"
    assert found.url == "https://www.ebay.com/usr/kiln_84"


def test_a_sellers_page_in_another_language(site):
    (found,) = site.parsed("seller", CARD.format(*GERMAN)).items
    assert (found.username, found.rating, found.sold_count, found.followers) == ("kiln_84", 99.8, 1234, 115)
    assert (found.location, found.extra) == ("Portugal", {"member_since": "2009-03-12"})


def test_what_is_not_told_is_unknown(site):
    body = '<div class="str-seller-card"><h1>Kiln House</h1><a href="https://www.ebay.com/sch/kiln*84/m.html">x</a>(1,345)</div>'
    (found,) = site.parsed("seller", body).items
    assert (found.username, found.name, found.feedback_count) == ("kiln*84", "Kiln House", 1345)
    assert (found.rating, found.sold_count, found.followers, found.location) == (None, None, None, None)


def test_a_page_without_a_seller_is_none(site):
    with pytest.raises(ContractError, match="str-seller-card"):
        site.parsed("seller", "<html><h1>eBay</h1></html>")
