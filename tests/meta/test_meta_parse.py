from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError, OutcomeError
from fetchworker.spiders.meta.parse import CONTROL, DETAILS, NO_DETAILS


class TestAds:
    def test_a_page_whose_ads_come_in_a_later_chunk(self, site):
        first = {"data": {"ad_library_main": {"country_details": {"x": 1}}, "ad_library_user": None}}
        later = {"label": "X$defer$Y", "path": [], "data": site.search([site.ad(), site.ad("150002")], cursor="AQ1")}
        found = site.parsed("ads", site.relay(first, later), query="bowl")
        owner, one, two, page = found.items
        assert (owner.kind, owner.id, owner.likes, owner.category) == ("advertiser", "112", 3440, "Potter")
        assert (one.id, two.id, one.collation_id, one.collation_count) == ("150001", "150002", "733", 2)
        assert (one.advertiser.name, one.format, one.platforms) == ("Clay & Kiln", "IMAGE", ["FACEBOOK", "THREADS"])
        assert (one.title, one.text, one.caption, one.cta) == ("A bowl", "Hand made", "clay.example", "Shop now")
        assert one.url == "https://www.facebook.com/ads/library/?id=150001"
        assert (page.total, page.next_cursor, page.exhausted) == (1, "AQ1", False)
        assert found.state == {"session_id": "189d6073-834b-4997-bde7-d95d1097e0d7", "v": "70ea08"}

    def test_an_answer(self, site):
        found = site.parsed("ads", {"data": site.search([site.ad()])}, query="bowl", cursor="AQ1")
        assert [item.kind for item in found.items] == ["advertiser", "ad", "page"]
        assert (found.cursor, found.items[-1].exhausted) == (None, True)

    def test_the_end_of_a_running_ad_is_when_it_was_last_seen(self, site):
        body = {"data": site.search([site.ad()], [site.ad("150002", is_active=False)])}
        _, running, ended, _ = site.parsed("ads", body).items
        assert (running.start_date, running.end_date, running.last_seen) == ("2026-07-01", None, "2026-07-04")
        assert (ended.end_date, ended.last_seen, ended.active) == ("2026-07-04", None, False)

    def test_commercial_ads_tell_no_numbers(self, site):
        ad = site.parsed("ads", {"data": site.search([site.ad(reach_estimate=-1)])}).items[1]
        told = (ad.spend_min, ad.spend_max, ad.impressions_min, ad.impressions_max, ad.reach, ad.currency, ad.likes)
        assert told == (None,) * 7

    @pytest.mark.parametrize(
        ("spend", "impressions", "wanted"),
        [
            ("€100 - €199", "10K-15K", ("100", "199", 10_000, 15_000)),
            (">€1,000,000", ">1M", ("1000000", None, 1_000_000, None)),
            ("<€100", "<1,000", (None, "100", None, 1000)),
            ({"lower_bound": "0", "upper_bound": "99"}, "5000-9999", ("0", "99", 5000, 9999)),
            ("unknown", "", (None, None, None, None)),
        ],
    )
    def test_political_ads_tell_ranges(self, site, spend, impressions, wanted):
        raw = site.ad(spend=spend, currency="EUR", impressions_with_index={"impressions_text": impressions})
        ad = site.parsed("ads", {"data": site.search([raw])}).items[1]
        assert (ad.spend_min, ad.spend_max, ad.impressions_min, ad.impressions_max) == wanted
        assert ad.currency == "EUR"

    def test_templates_give_way_to_the_first_card(self, site):
        card = {"title": "Blue bowl", "body": "Of clay", "original_image_url": "https://cdn.example/b.jpg"}
        film = {"video_sd_url": "https://cdn.example/c.mp4", "title": "Red bowl"}
        shown = {"display_format": "DCO", "title": "{{product.name}}", "body": {"text": "{{product.brand}}"}}
        shown |= {"images": [], "cards": [card, film]}
        ad = site.parsed("ads", {"data": site.search([site.ad(snapshot=shown)])}).items[1]
        assert (ad.title, ad.text) == ("Blue bowl", "Of clay")
        assert [(one.type, one.url) for one in ad.media] == [
            ("image", "https://cdn.example/b.jpg"), ("video", "https://cdn.example/c.mp4"),
        ]  # fmt: skip
        assert [card.get("title") for card in ad.extra["cards"]] == ["Blue bowl", "Red bowl"]

    def test_a_partnership_ad_is_the_advertisers(self, site):
        brand = {"page_id": "112", "page_name": "Clay & Kiln", "page_profile_uri": "https://www.facebook.com/clay/"}
        shown = {"page_id": "999", "page_name": "A Creator", "page_like_count": 5, "branded_content": brand}
        raw = site.ad(snapshot=shown)
        del raw["page_name"]
        owner, ad, _ = site.parsed("ads", {"data": site.search([raw])}).items
        assert (owner.id, owner.name, owner.likes) == ("112", "Clay & Kiln", None), "the likes are the creator's"
        assert (ad.advertiser.id, ad.extra["creator"]["name"]) == ("112", "A Creator")

    def test_counts_end_at_fifty_thousand(self, site):
        page = site.parsed("ads", {"data": site.search([site.ad()], total=50_001)}).items[-1]
        assert (page.total, page.extra) == (None, {"count": 50_001})

    def test_nothing_is_believed_after_a_search_that_must_find_something(self, site):
        zero = site.parsed("ads", {"data": site.search(total=0)}, query="bowl")
        assert (list(zero.items), zero.cursor, zero.state) == ([], CONTROL, {"zero": True})
        state = {"query": "bowl", "cursor": CONTROL, "state": {"zero": True}}
        (page,) = site.parsed("ads", {"data": site.search([site.ad()])}, **state).items
        assert (page.total, page.exhausted) == (0, True)
        with pytest.raises(OutcomeError) as caught:
            site.parsed("ads", {"data": site.search(total=0)}, **state)
        assert caught.value.outcome == "blocked"

    def test_the_first_generation(self, site):
        raw = {"adArchiveID": "150001", "pageID": "112", "pageName": "Clay & Kiln", "isActive": True,
               "startDate": 1782892800, "publisherPlatform": ["facebook"],
               "snapshot": {"body": {"markup": {"__html": "Hand <b>made</b>"}}, "page_categories": {"1": "Potter"},
                            "page_id": "112"}}  # fmt: skip
        answer = {"__ar": 1, "payload": {"results": [[raw]], "totalCount": 7, "forwardCursor": "F1",
                                         "isResultComplete": False}}  # fmt: skip
        owner, ad, page = site.parsed("ads", "for (;;);" + json.dumps(answer)).items
        assert (owner.category, ad.id, ad.advertiser.name, ad.start_date) == (
            "Potter", "150001", "Clay & Kiln", "2026-07-01",
        )  # fmt: skip
        assert " ".join(ad.text.split()) == "Hand made"
        assert (page.total, page.next_cursor) == (7, "F1")

    @pytest.mark.parametrize("body", [{"data": None}, {"data": {"ad_library_main": {}}}, "<html><p>Ads</p></html>"])
    def test_no_search_in_it(self, site, body):
        with pytest.raises(ContractError):
            site.parsed("ads", body, query="bowl")


class TestAd:
    def deeplink(self, site, *others, **more):
        main = {"deeplink_ad_archive_result": {"deeplink_ad_archive": site.ad(**more)}}
        main |= site.search(*([other] for other in others))["ad_library_main"] if others else {}
        return site.relay({"data": {"ad_library_main": main}})

    def test_the_page_then_the_details(self, site):
        first = site.parsed("ad", self.deeplink(site), id="150001")
        assert (first.held, first.cursor, first.items[1].partial) == (True, DETAILS, NO_DETAILS)
        owner, ad = site.parsed("ad", site.details(), id="150001", cursor=DETAILS, state=first.state).items
        assert (owner.likes, owner.instagram_username, owner.instagram_followers) == (13974, "clay.kiln", 12519)
        assert owner.verified is True
        assert (ad.id, ad.title, ad.partial, ad.advertiser["name"]) == ("150001", "A bowl", None, "Clay & Kiln")
        assert (ad.payer, ad.beneficiary, ad.reach) == ("Clay Ltd", "Kiln Ltd", 29517)
        assert (ad.age_min, ad.age_max, ad.gender, ad.locations) == (18, 65, "All", ["Malta"])
        assert [(one.country, one.age, one.gender, one.reach) for one in ad.audience] == [
            ("MT", "18-24", "male", 4), ("MT", "18-24", "female", 6),
        ]  # fmt: skip
        assert ad.extra["uk_total_reach"] == 1505
        assert ad.extra["excluded_locations"] == ["Gozo"]

    def test_the_details_alone(self, site):
        owner, ad = site.parsed("ad", site.details(), id="150001").items
        assert (owner.name, ad.id, ad.advertiser.name, ad.title) == ("Clay & Kiln", "150001", "Clay & Kiln", None)

    def test_other_ads_of_the_page_are_not_it(self, site):
        body = site.relay({"data": site.search([site.ad("150009"), site.ad("150001")])})
        assert site.parsed("ad", body, id="150001").items[1].id == "150001"
        with pytest.raises(ContractError):
            site.parsed("ad", body, id="150003")
        with pytest.raises(ContractError):
            site.parsed("ad", self.deeplink(site, number="150009"), id="150001")

    def test_ads_without_details_of_a_region(self, site):
        bare = site.details(transparency_by_location={"eu_transparency": None}, aaa_info=None)
        _, ad = site.parsed("ad", bare, id="150001").items
        assert (ad.reach, ad.payer, ad.age_min, ad.audience, ad.locations) == (None, None, None, [], [])


class TestArchive:
    def answer(self, *ads, **paging):
        return {"data": list(ads), "paging": paging}

    def test_an_ad(self, site):
        raw = {
            "id": "408", "page_id": "48", "page_name": "The Party of Nobody", "currency": "EUR",
            "bylines": "Nobody Ltd", "ad_delivery_start_time": "2026-05-13T15:30:13+0000",
            "ad_delivery_stop_time": "2026-05-16",
            "spend": {"lower_bound": "0", "upper_bound": "99"}, "impressions": {"lower_bound": "5000"},
            "ad_creative_bodies": ["Vote", "Vote twice"], "target_ages": ["18", "65+"], "target_gender": "All",
            "target_locations": [{"name": "Malta"}], "publisher_platforms": ["facebook"], "languages": ["en"],
            "demographic_distribution": [{"percentage": "0.25", "age": "18-24", "gender": "male"}],
            "delivery_by_region": [{"percentage": "1", "region": "Gozo"}, {"percentage": "much", "region": "Comino"}],
        }  # fmt: skip
        (ad, page) = site.parsed("ads_archive", self.answer(raw), query="vote").items
        assert (ad.id, ad.advertiser.name, ad.payer) == ("408", "The Party of Nobody", "Nobody Ltd")
        assert (ad.start_date, ad.first_shown_at, ad.end_date) == ("2026-05-13", "2026-05-13T15:30:13Z", "2026-05-16")
        assert (ad.spend_min, ad.spend_max, ad.currency) == ("0", "99", "EUR")
        assert (ad.impressions_min, ad.impressions_max) == (5000, None)
        assert (ad.age_min, ad.age_max, ad.locations) == (18, 65, ["Malta"])
        assert [(one.age, one.region, one.share) for one in ad.audience] == [("18-24", None, 0.25), (None, "Gozo", 1.0)]
        assert (page.next_cursor, page.exhausted) == (None, True)

    def test_an_id_in_the_address_of_the_snapshot_and_never_its_token(self, site):
        raw = {"ad_snapshot_url": "https://www.facebook.com/ads/archive/render_ad/?id=408&access_token=EAABcanary"}
        after = {"cursors": {"after": "A1"}, "next": "https://graph.facebook.com/x?access_token=EAABcanary"}
        found = site.parsed("ads_archive", self.answer(raw, **after), query="vote")
        assert (found.items[0].id, found.cursor) == ("408", "A1")
        assert "EAABcanary" not in repr([vars(item) for item in found.items]) + str(found.state)

    def test_an_ad_of_an_id_alone(self, site):
        ad, _ = site.parsed("ads_archive", self.answer({"id": "408"})).items
        assert (ad.id, ad.advertiser, ad.spend_min) == ("408", None, None)

    @pytest.mark.parametrize("body", [{"error": {"code": 100}}, {"data": {}}, "<html></html>", "[]"])
    def test_no_list(self, site, body):
        with pytest.raises(ContractError):
            site.parsed("ads_archive", body)
