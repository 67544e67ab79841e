"""Top ads, how they are watched, and trends."""

from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

RADAR = "https://ads.tiktok.com/creative_radar_api/v1/"


# ── top ads ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_page_of_top_ads(site):
    found = site.parsed("top_ads", site.listed(site.material(), site.material("7100000000000000002"), more=True))
    first, _, page = found.items
    assert (first.id, first.title, first.advertiser.name) == (site.top_number, "Ein Becher", "Ofengasse")
    assert (first.likes, first.ctr, first.cost_level) == (61, 0.14, 2)
    assert (first.industry, first.objective) == ("label_22000000000", "campaign_objective_conversion")
    (film,) = first.media
    assert (film.url, film.width, film.height, film.duration) == ("https://f.example/7", 576, 1024, 17.5)
    assert (first.format, first.extra["cover"]) == ("video", "https://p.example/c")
    assert first.url == f"https://ads.tiktok.com/business/creativecenter/topads/{site.top_number}/pc/en"
    assert (page.next_cursor, page.total, page.exhausted) == ("2", 45, False)
    assert found.cursor == "2"


@pytest.mark.parametrize(
    ("pages", "cursor", "expected"),
    [({"has_more": True}, "2", "3"), ({"has_more": False}, "2", None), ({"has_more": None}, None, None),
     ({"has_more": None, "hasMore": True}, None, "2"),
     ({"has_more": True, "total_count": None, "total": 7}, None, "2")],
)  # fmt: skip
def test_pages(site, pages, cursor, expected):
    found = site.parsed("top_ads", site.listed(site.material(), **pages), cursor=cursor)
    assert found.cursor == expected
    assert found.items[-1].total == (7 if "total" in pages else 45)
    assert site.parsed("top_ads", site.listed(more=True), cursor=cursor).cursor is None, "an empty page is the last"


def test_lists_without_pages(site):
    found = site.parsed("top_ads", site.answer({"materials": [site.material(highlight="Shown by hand.")]}))
    assert (found.items[0].extra["highlight"], found.cursor, found.items[-1].total) == ("Shown by hand.", None, None)


def test_one_top_ad(site):
    more = {"comment": 23, "share": 64, "country_code": ["US", "", None, "CA"], "landing_page": "https://ofen.example/",
            "keyword_list": ["ton"], "objectives": [{"label": "campaign_objective_conversion", "value": 3}],
            "source": "TikTok Ads Manager", "voice_over": False, "tag": 3}  # fmt: skip
    (ad,) = site.parsed("top_ad", site.answer(site.material(**more)), ad=site.top_number).items
    assert (ad.comments_count, ad.shares, ad.countries, ad.landing_page) == (
        23,
        64,
        ["US", "CA"],
        "https://ofen.example/",
    )
    assert (ad.extra["keywords"], ad.extra["voice_over"]) == (["ton"], False)


def test_what_an_ad_lacks_is_null(site):
    bare = site.material(brand_name="", ad_title=" ", like=-1, ctr=None, cost=None, landing_page="", keyword_list=None,
                         video_info=None)  # fmt: skip
    (ad,) = site.parsed("top_ad", site.answer(bare)).items
    assert (ad.advertiser, ad.title, ad.likes, ad.ctr, ad.cost_level, ad.format) == (None,) * 6
    assert (ad.landing_page, ad.media) == (None, [])
    assert "keywords" not in ad.extra


@pytest.mark.parametrize(
    "body", [{"code": 0, "data": None}, {"code": 0, "data": {}}, {"code": 40101, "msg": "no permission"}, b""]
)
def test_what_is_no_ad(site, body):
    for operation in ("top_ad", "top_ads", "top_ad_analytics", "trends"):
        with pytest.raises(ContractError):
            site.parsed(operation, body)


def test_another_ad_is_none(site):
    with pytest.raises(ContractError, match="another ad"):
        site.parsed("top_ad", site.answer(site.material()), ad="7100000000000000009")


# ── analytics ────────────────────────────────────────────────────────────────────────────────────────────────────────


def analytics(site, data, **values):
    return site.parsed("top_ad_analytics", site.answer(data), ad=site.top_number, **values)


def test_second_by_second(site):
    curve = [{"second": 0, "value": 1}, {"second": 3, "value": "0.25"}, {"second": 1, "value": 0.5}, {"second": None}]
    url = f"{RADAR}top_ads/keyframe?material_id={site.top_number}&metric=retain_ctr"
    found = analytics(site, {"analysis": curve, "duration": 4, "highlight": [1, None, 3]}, url=url)
    (item,) = found.items
    (series,) = item.second_by_second
    assert (item.id, series.metric, series.points) == (site.top_number, "retain_ctr", [1.0, 0.5, None, 0.25])
    assert (item.extra, item.percentile) == ({"duration": 4, "highlight": [1, 3]}, [])
    assert (found.cursor, found.held, item.partial) == ("retain_cvr", True, "some_metrics")
    known = {"state": found.state, "cursor": "retain_cvr"}
    (item,) = analytics(site, {"analysis": [{"second": 0, "value": 2}]}, **known).items
    assert [series.metric for series in item.second_by_second] == ["retain_ctr", "retain_cvr"]
    assert item.second_by_second[0].points == [1.0, 0.5, None, 0.25]
    assert item.extra["duration"] == 4
    last = analytics(site, {"ctr_percentile": 0.5}, state=found.state, cursor="show_cnt_percentile")
    assert (last.cursor, last.held, last.items[0].partial) == (None, False, None)
    assert [series.metric for series in last.items[0].second_by_second] == ["retain_ctr"]


def test_its_place_among_others(site):
    found = analytics(site, {"ctr_percentile": 0.48}, cursor="ctr_percentile")
    assert [(series.metric, series.points) for series in found.items[0].percentile] == [("ctr_percentile", [0.48])]
    assert (
        analytics(site, {"ctrPercentile": 0.9}, metric="ctr_percentile").items[0].percentile[0].metric
        == "ctr_percentile"
    )


def test_one_metric_alone_and_the_last_one_end_it(site):
    assert analytics(site, {"analysis": []}, metric="click_cnt").cursor is None
    assert analytics(site, {"show_cnt_percentile": 1}, cursor="show_cnt_percentile").cursor is None


def test_the_address_names_the_metric_of_a_saved_answer(site):
    url = f"{RADAR}top_ads/keyframe?material_id=1&metric=convert_cnt"
    found = site.parsed("top_ad_analytics", site.answer({"analysis": []}), url=url)
    assert (found.items[0].second_by_second[0].metric, found.items[0].id) == ("convert_cnt", None)


@pytest.mark.parametrize("data", [{"ctr_percentile": None}, {"other": 0.5}, {"analysis": None}])
def test_no_curve(site, data):
    with pytest.raises(ContractError, match="analysis"):
        analytics(site, data)


# ── trends ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_hashtags(site):
    raw = {"hashtag_id": "4100", "hashtag_name": "ofen", "publish_cnt": 2886, "video_views": 19512345678, "rank": 1,
           "rank_diff": None, "all_media_count": None, "country_info": {"id": "US", "label": "US", "value": "USA"},
           "industry_info": {"value": "Haushalt"}, "creators": [{"nick_name": "Ada"}],
           "trend": [{"time": 1740787200, "value": 0.38}, {"time": 1741392000, "value": 1}, {}]}  # fmt: skip
    url = f"{RADAR}popular_trend/hashtag/list?period=7&country_code=US"
    found = site.parsed("trends", site.trends("list", raw, more=True), url=url, type="hashtag", country="US")
    first, page = found.items
    assert (first.id, first.name, first.rank, first.posts, first.views) == ("4100", "ofen", 1, 2886, 19512345678)
    assert (first.country, first.period) == ("US", "7d")
    assert [(point.date, point.value) for point in first.trend] == [("2025-03-01", 0.38), ("2025-03-08", 1.0)]
    assert first.extra["all_media_count"] is None
    assert first.extra["rank_diff"] is None
    assert (first.extra["industry"], first.extra["creators"]) == ("Haushalt", ["Ada"])
    assert first.url == "https://ads.tiktok.com/business/creativecenter/inspiration/popular/hashtag/pc/en"
    assert (page.total, found.cursor) == (99, "2")


def test_hidden_numbers_are_null(site):
    raw = {"hashtag_id": 4100, "hashtag_name": "ofen", "publish_cnt": None, "video_views": -1, "rank": None}
    first = site.parsed("trends", site.trends("list", raw)).items[0]
    assert (first.id, first.posts, first.views, first.rank, first.country, first.period) == ("4100", *(None,) * 5)


@pytest.mark.parametrize(
    ("key", "raw", "expected"),
    [
        ("sound_list", {"clip_id": "74", "song_id": "75", "title": "Lied", "rank": 2, "country_code": "DE",
                        "link": "https://www.tiktok.com/music/x-74"}, {"id": "74", "name": "Lied", "rank": 2,
                        "country": "DE", "url": "https://www.tiktok.com/music/x-74"}),
        ("creators", {"user_id": "71", "tcm_id": "72", "nick_name": "Bo", "follower_cnt": 112, "liked_cnt": 455,
                      "tt_link": "https://www.tiktok.com/@bo"}, {"id": "71", "name": "Bo", "followers": 112,
                      "likes": 455, "url": "https://www.tiktok.com/@bo"}),
        ("keyword_list", {"keyword": "ton", "post": 142, "like": 47, "impression": 16}, {"id": None, "name": "ton",
                          "posts": 142, "likes": 47, "views": None}),
        ("list", {"url_title": "Parfum", "post": 106, "third_ecom_category": {"id": "601583", "value": "Parfum"}},
         {"id": "601583", "name": "Parfum", "posts": 106}),
        ("videos", {"item_id": "76", "title": "Film", "item_url": "https://www.tiktok.com/@a/video/76", "vv": 5},
         {"id": "76", "name": "Film", "views": 5}),
        ("items", {"hashtagID": "41", "hashtagName": "ofen", "publishCnt": 3,
                   "popularityCurve": [{"time": 1740787200, "value": 1}]}, {"id": "41", "name": "ofen", "posts": 3}),
    ],
)  # fmt: skip
def test_all_kinds(site, key, raw, expected):
    first = site.parsed("trends", site.trends(key, raw)).items[0]
    assert {name: getattr(first, name) for name in expected} == expected


def test_lists_of_2026_stand_in_the_answer_itself(site):
    body = {"BaseResp": {"StatusCode": 0}, "items": [{"hashtagID": "41"}], "pagination": {"hasMore": True, "total": 3}}
    found = site.parsed("trends", body)
    assert (found.items[0].id, found.cursor, found.items[-1].total) == ("41", "2", 3)
    with pytest.raises(ContractError, match="7"):
        site.parsed("trends", {"BaseResp": {"StatusCode": 7}, "items": []})


def test_one_things_record_and_proposed_words(site):
    one = site.answer({"info": {"url_title": "Parfum", "first_ecom_category": {"id": "601450", "value": "Schönes"},
                                "hashtags": ["duft"], "posts": ["743"],
                                "post_metrics": [{"time": 1747267200, "value": 18}]}})  # fmt: skip
    first = site.parsed("trends", one).items[0]
    assert (first.id, first.name, first.trend[0].value) == ("601450", "Parfum", 18.0)
    assert (first.extra["hashtags"], first.extra["videos"], first.extra["category_path"]) == (
        ["duft"],
        ["743"],
        ["Schönes"],
    )
    other = site.parsed("trends", site.answer({"sound": {"clip_id": "74", "title": "Lied"}, "pagination": {}}))
    assert (other.items[0].id, other.items[0].name) == ("74", "Lied")
    films = site.parsed("trends", site.answer({"video_list": ["743", 744, None]}))
    assert [item.__dict__.get("id") for item in films.items[:-1]] == ["743", "744"]
    words = site.parsed("trends", site.answer({"query": ["jetzt", "", None]}))
    assert [item.__dict__.get("name") for item in words.items[:-1]] == ["jetzt"]
    assert [item.kind for item in site.parsed("trends", site.answer({"info": {"post": 1}})).items] == ["page"]
