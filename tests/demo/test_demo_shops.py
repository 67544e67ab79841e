from __future__ import annotations

import json
import re

import pytest

from fetchworker.demo import Log, RequestInfo
from fetchworker.demo.ebay import CHALLENGE, Ebay
from fetchworker.demo.linktree import GATED, SWITCHED_OFF, Linktree
from fetchworker.demo.wares import make_market


def get(app, url, *, peer="127.0.0.11"):
    host, _, path = url.removeprefix("https://").partition("/")
    connection = Log().new_connection((peer, 1), secure=True)
    return app(RequestInfo(connection, 1, "GET", host, f"/{path}", [(":method", "GET")]))


def text(reply) -> str:
    return reply.body.decode()


def cards(reply) -> list[str]:
    listed = re.search(r'<ul class="srp-results.*?</ul>', text(reply), re.DOTALL)
    return re.findall(r'id="item([0-9a-f]+)"', listed[0]) if listed else []


def test_the_same_seed_invents_the_same_market():
    assert make_market(3) == make_market(3)
    assert make_market(3) != make_market(4)
    wares = make_market().wares
    assert len({ware.number for ware in wares}) == len(wares)
    assert {ware.type for ware in wares} == {"auction", "fixed", "both"}


def test_results_turn_pages():
    app = Ebay()
    first, last = (
        get(app, "https://www.ebay.com/sch/i.html?_nkw=vase"),
        get(app, "https://www.ebay.com/sch/i.html?_nkw=vase&_pgn=3"),
    )
    assert (len(cards(first)), len(cards(last))) == (60, 30)
    assert "_nkw=vase&amp;_pgn=2" in text(first)
    assert "pagination__next" not in text(last)
    assert len(cards(get(app, "https://www.ebay.com/sch/i.html?_nkw=vase&_ipg=120"))) == 120


@pytest.mark.parametrize(
    ("query", "kinds"),
    [("LH_Auction=1", {"auction", "both"}), ("LH_BIN=1", {"fixed", "both"}),
    ("LH_Sold=1&LH_Complete=1", {"fixed", "auction", "both"})],
)  # fmt: skip
def test_filters(query, kinds):
    app = Ebay()
    found = [
        app.market.by_number[str(int(code, 16))]
        for code in cards(get(app, f"https://www.ebay.com/sch/i.html?_nkw=vase&{query}"))
    ]
    assert {ware.type for ware in found} == kinds
    assert {ware.sold is not None for ware in found} == {"LH_Sold" in query}


def test_fewer_words_stand_behind_the_boundary():
    app = Ebay()
    page = text(get(app, "https://www.ebay.com/sch/i.html?_nkw=zinc+vase"))
    assert page.index("REWRITE_START") < page.index("srp-results")
    one = app.market.wares[0].title.replace(" ", "+")
    page = text(get(app, f"https://www.ebay.com/sch/i.html?_nkw={one}"))
    assert page.index("srp-results") < page.index("REWRITE_START")


def test_both_generations_of_cards():
    app = Ebay()
    assert 's-card__title"' in text(get(app, "https://www.ebay.com/sch/i.html?_nkw=vase"))
    german = text(get(app, "https://www.ebay.de/sch/i.html?_nkw=vase"))
    assert 's-item__title"' in german
    assert "Sofort-Kaufen" in german


def test_the_first_request_of_an_exit_may_be_challenged():
    log = Log()
    app = Ebay(challenge_exits=True, log=log)
    first = get(app, "https://www.ebay.com/sch/i.html?_nkw=vase")
    assert '"serviceName":"splashui"' in text(first)
    assert len(cards(get(app, "https://www.ebay.com/sch/i.html?_nkw=vase"))) == 60
    assert '"serviceName":"splashui"' in text(get(app, "https://www.ebay.com/", peer="127.0.0.12"))
    assert [event["what"] for event in log.events] == [CHALLENGE] * 2


def test_what_is_not_there():
    app = Ebay()
    for path in ("itm/999999999999", "usr/nobody", "b/Vases"):
        assert get(app, f"https://www.ebay.com/{path}").status == 404
    assert get(app, "https://itm.ebaydesc.com/itmdesc/1").status == 404
    ware = app.market.wares[0]
    assert "Packed in straw" in text(get(app, f"https://itm.ebaydesc.com/itmdesc/{ware.number}"))
    assert ware.title in text(get(app, f"https://www.ebay.de/itm/{ware.number}"))


def test_link_pages():
    app = Linktree()
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text(get(app, "https://linktr.ee/nasa")))[1])
    assert data["props"]["pageProps"]["username"] == "nasa"
    assert '"isActive": false' in text(get(app, f"https://linktr.ee/{SWITCHED_OFF}"))
    assert '"hasSensitiveContent": true' in text(get(app, f"https://linktr.ee/{GATED}"))
    assert get(app, "https://linktr.ee/nobody.at.all").status == 404
