from __future__ import annotations

import base64
import json
import time

import pytest

from fetchworker.demo import Log, RequestInfo
from fetchworker.demo.tiktok_ads import ADS, FIRST_AD, FIRST_TOP, TiktokAds
from fetchworker.demo.tiktok_shop import ELSEWHERE, FIRST, TiktokShop

SHOP, LIBRARY = "https://shop.tiktok.com", "https://library.tiktok.com"
GUEST = [("cookie", "ttwid=demo1; msToken=demo1")]


def ask(app, url, *, body=None, headers=(), peer="127.0.0.11"):
    host, _, path = url.removeprefix("https://").partition("/")
    connection = Log().new_connection((peer, 1), secure=True)
    method, raw = ("POST", json.dumps(body).encode()) if body is not None else ("GET", b"")
    return app(RequestInfo(connection, 1, method, host, f"/{path}", [(":method", method), *headers], raw))


def text(reply) -> str:
    return reply.body.decode()


def search(app, *, ccl, search_id="", query="", peer="127.0.0.11"):
    body = {"query": query, "adv_biz_ids": "", "search_id": search_id}
    return ask(app, f"{LIBRARY}/api/v1/search?region=DE", body=body, headers=[("x-ccl-str", ccl)], peer=peer)


def handshake(app, peer="127.0.0.11"):
    ask(app, f"{LIBRARY}/api/v1/location", peer=peer)
    return json.loads(ask(app, f"{LIBRARY}/api/v1/support-regions", peer=peer).body)["config_str"]


def test_who_has_not_been_on_the_home_page_gets_a_shell():
    app = TiktokShop()
    assert "__MODERN_ROUTER_DATA__" not in text(ask(app, f"{SHOP}/view/product/{FIRST}"))
    cookies = [value for name, value in ask(app, "https://www.tiktok.com/").headers if name == "set-cookie"]
    assert any(cookie.startswith("ttwid=") for cookie in cookies)
    assert "product_base" in text(ask(app, f"{SHOP}/view/product/{FIRST}", headers=GUEST))
    assert "product_model" in text(ask(app, f"{SHOP}/us/pdp/x/{FIRST + 1}", headers=GUEST))
    assert "23002002" in text(ask(app, f"{SHOP}/us/pdp/{ELSEWHERE}", headers=GUEST))


def test_calls_belong_to_a_page():
    app = TiktokShop()
    url, body = f"{SHOP}/api/shop/pdp_desktop/get_product_reviews", {"product_id": str(FIRST)}
    assert ask(app, url, body=body, headers=GUEST).body == b""
    referer = [*GUEST, ("referer", f"{SHOP}/view/product/{FIRST}")]
    assert len(json.loads(ask(app, url, body=body, headers=referer).body)["data"]["product_reviews"]) == 20
    listing = f"{SHOP}/api/shop/brandy_desktop/s/product_list"
    assert json.loads(ask(app, listing, body={"load_more_params": "{}"}, headers=GUEST).body)["code"] == 100000
    assert json.loads(ask(app, url, body=None, headers=GUEST).body)["code"] == 10101


def test_the_puzzle_comes_once_for_each_exit():
    log = Log()
    app = TiktokShop(challenge_exits=True, log=log)
    assert "captcha-config" in text(ask(app, f"{SHOP}/view/product/{FIRST}", headers=GUEST))
    assert "captcha-config" not in text(ask(app, f"{SHOP}/view/product/{FIRST}", headers=GUEST))
    assert [event["what"] for event in log.events] == ["challenge"]


def test_a_handshake_holds_for_its_exit():
    app = TiktokAds()
    assert search(app, ccl="x").status == 421
    ccl = handshake(app)
    assert len(json.loads(search(app, ccl=ccl).body)["data"]) == 12
    assert search(app, ccl=ccl, peer="127.0.0.12").status == 421
    answer = json.loads(search(app, ccl=ccl, search_id=base64.b64encode(b'{"next_cursor": 24}').decode()).body)
    assert (len(answer["data"]), answer["has_more"], answer["total"]) == (6, True, ADS)


def test_a_handshake_grows_old_once():
    app = TiktokAds(stale_after=2)
    ccl = handshake(app)
    assert [search(app, ccl=ccl).status for _ in range(3)] == [200, 421, 421]
    assert search(app, ccl=handshake(app)).status == 200


def test_details_are_there_or_not():
    app = TiktokAds()
    headers = [("x-ccl-str", handshake(app))]
    assert ask(app, f"{LIBRARY}/api/v1/items/{FIRST_AD}/details", headers=headers).status == 200
    assert ask(app, f"{LIBRARY}/api/v1/items/{FIRST_AD + ADS}/details", headers=headers).status == 425


@pytest.mark.parametrize("wrong", [{}, {"timestamp": "1"}, {"user-sign": "0" * 16}, {"anonymous-user-id": "x"}])
def test_the_creative_center_wants_its_signature(wrong):
    from fetchworker.spiders.tiktok_ads.tokens import compute

    made = compute("ann", int(time.time()))
    headers = {name.replace("_", "-"): value for name, value in made.items()}
    url = f"https://ads.tiktok.com/creative_radar_api/v1/top_ads/v2/detail?material_id={FIRST_TOP}"
    answer = json.loads(ask(TiktokAds(), url, headers=list({**headers, **wrong}.items())).body)
    assert answer["code"] == (40101 if wrong else 0)
