from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest

from fetchworker.contracts import Page
from fetchworker.demo import Log, RequestInfo, threads
from fetchworker.demo.ad_library import DETAILS, SEARCH, TOKEN, AdLibrary, make_ads
from fetchworker.demo.people import CLUB, POTTER
from fetchworker.spiders.metafamily import tokens


class Guest:
    """Keeps cookies and tokens, and calls as a script would."""

    def __init__(self, app, home: str, app_id: str = "") -> None:
        self.app, self.home, self.app_id = app, home, app_id
        self.cookies: dict[str, str] = {}
        self.tokens: dict[str, str] = {}

    def get(self, url: str, method: str = "GET", body: bytes = b"", headers=()):
        host, _, path = url.removeprefix("https://").partition("/")
        sent = [*headers, ("cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))]
        connection = Log().new_connection(("127.0.0.11", 1), secure=True)
        reply = self.app(RequestInfo(connection, 1, method, host, f"/{path}", sent, body))
        for name, value in reply.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        told = {"set-cookie": [value for name, value in reply.headers if name == "set-cookie"]}
        self.tokens |= tokens.extract(Page(url, reply.status, told, reply.body))
        return reply

    def query(self, url: str, name: str, variables) -> dict:
        form = {"doc_id": self.tokens.get(f"doc:{name}", "1"), "lsd": self.tokens.get("lsd", ""),
                "variables": json.dumps(variables)}  # fmt: skip
        headers = [("x-fb-lsd", self.tokens.get("lsd", "")), ("x-csrftoken", self.tokens.get("csrf", ""))]
        headers += [("x-ig-app-id", self.app_id)]
        body = self.get(url, "POST", urlencode(form).encode(), headers).body
        return json.loads(body.removeprefix(b"for (;;);"))


@pytest.fixture
def reader() -> Guest:
    return Guest(threads.Threads(), "https://www.threads.com/", threads.APP_ID)


@pytest.fixture
def visitor() -> Guest:
    return Guest(AdLibrary(), "https://www.facebook.com/ads/library/")


def test_threads_has_pages_with_data_and_shells(reader):
    assert b'"thread_items"' in reader.get(f"https://www.threads.com/@{CLUB}").body
    assert b'"thread_items"' not in reader.get(f"https://www.threads.com/@{POTTER}").body
    assert reader.get("https://www.threads.com/@nobody").status == 404
    assert ("location", "https://www.threads.com/?error=invalid_post") in reader.get(
        "https://www.threads.com/@x/post/Cabcdefghij"
    ).headers


def test_threads_wants_its_tokens_its_ids_and_its_flags(reader):
    url = "https://www.threads.com/graphql/query"
    flag = {"__relay_internal__pv__BarcelonaIsLoggedInrelayprovider": False}
    wanted = {"username": POTTER, **flag}
    assert "CSRF" in reader.query(url, threads.HOVERCARD, wanted)["message"]
    reader.get(reader.home)
    assert reader.query(url, threads.HOVERCARD, {"username": POTTER})["data"] is None
    user = reader.query(url, threads.HOVERCARD, wanted)["data"]["xdt_text_app_user_by_username"]
    page = reader.query(url, threads.POSTS, {"userID": user["pk"], "after": None, **flag})["data"]["mediaData"]
    assert (len(page["edges"]), page["page_info"]["has_next_page"]) == (11, True)
    reader.app.queries.rotate()
    assert reader.query(url, threads.HOVERCARD, wanted)["errors"][0]["code"] == 1675002


def test_the_library_has_a_gate(visitor):
    assert visitor.get(visitor.home).status == 403
    visitor.get("https://www.facebook.com/__rd_verify_demo?challenge=3", "POST")
    assert visitor.get(visitor.home).status == 200
    assert {f"doc:{SEARCH}", f"doc:{DETAILS}"} <= visitor.tokens.keys()


def test_the_library_turns_pages(visitor):
    visitor.cookies["rd_challenge"] = "1"
    visitor.get(visitor.home)
    asked = {"queryString": "kite", "viewAllPageID": "0", "activeStatus": "ALL", "cursor": None}
    seen = []
    while True:
        answer = visitor.query("https://www.facebook.com/api/graphql/", SEARCH, asked)
        found = answer["data"]["ad_library_main"]["search_results_connection"]
        seen += [edge["node"]["collated_results"][0]["ad_archive_id"] for edge in found["edges"]]
        if not found["page_info"]["has_next_page"]:
            break
        asked["cursor"] = found["page_info"]["end_cursor"]
    assert seen == [advert.number for advert in make_ads() if "kite" in advert.words]


def test_the_official_api_takes_one_token_in_a_header(visitor):
    url = "https://graph.facebook.com/v24.0/ads_archive?search_terms=kite&limit=5"
    assert json.loads(visitor.get(url).body)["error"]["code"] == 190
    answer = json.loads(visitor.get(url, headers=[("authorization", f"Bearer {TOKEN}")]).body)
    assert len(answer["data"]) == 5
    assert TOKEN in answer["paging"]["next"], "as the site does it"
