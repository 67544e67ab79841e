from __future__ import annotations

import json
import re
from html import unescape
from itertools import count
from typing import Any

import pytest

from fetchworker.demo import Instagram, Log, RequestInfo
from fetchworker.demo.instagram import HOME, cdn_app
from fetchworker.demo.people import CLUB, EMPTY, POTTER, PRIVATE

APP_ID = {"x-ig-app-id": "936619743392459"}


class Guest:
    """A client with a cookie jar and the tokens of the last page, in front of the app itself."""

    def __init__(self, site: Instagram) -> None:
        self.site = site
        self.cookies: dict[str, str] = {}
        self.page = ""
        self._connection = Log().new_connection(("127.0.0.1", 1), secure=True)

    def send(self, method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Any:
        host, _, path = url.removeprefix("https://").partition("/")
        sent = [(":method", method), *(headers or {}).items()]
        sent += [("cookie", f"{name}={value}") for name, value in self.cookies.items()]
        reply = self.site(RequestInfo(self._connection, 1, method, host, f"/{path}", sent, body))
        for name, value in reply.headers:
            if name == "set-cookie":
                cookie, _, held = str(value).partition(";")[0].partition("=")
                self.cookies[cookie] = held
        return reply

    def get(self, path: str, **headers: str) -> Any:
        reply = self.send(
            "GET", HOME + path, headers={**APP_ID, **{k.replace("_", "-"): v for k, v in headers.items()}}
        )
        if b"<html" in reply.body:
            self.page = reply.body.decode()
        return reply

    def blocks(self) -> list[Any]:
        return [json.loads(text) for text in re.findall(r"<script [^>]*data-sjs>(.*?)</script>", self.page)]

    def results(self) -> dict[str, Any]:
        """The answers in the page, by query name."""
        found = {}
        for block in self.blocks():
            inner = block["require"][0][3][0] if block["require"][0][0] == "ScheduledServerJS" else {}
            for entry in inner.get("__bbox", {}).get("require", []):
                name = re.fullmatch(r"adp_(\w+)RelayPreloader_\w+", entry[3][0])
                assert name is not None
                found[name.group(1)] = entry[3][1]["__bbox"]["result"]["data"]
        return found

    def doc_id(self, query: str) -> str:
        for block in self.blocks():
            for entry in json.dumps(block).split('"preloaderID"')[1:]:
                found = re.match(rf'.{{0,4}}adp_{query}RelayPreloader_\w+", "queryID": "(\d+)"', entry)
                if found:
                    return found.group(1)
        module = re.search(rf'__d\("{query}_instagramRelayOperation".*?exports="(\d+)"', self.page)
        assert module is not None, f"{query} is not announced"
        return module.group(1)

    def define(self, module: str) -> Any:
        for block in self.blocks():
            inner = block["require"][0][3][0]
            for name, _, value, _number in inner.get("__bbox", {}).get("define", []) if isinstance(inner, dict) else []:
                if name == module:
                    return value
        raise AssertionError(module)

    def query(self, name: str, variables: dict[str, Any], **changes: str) -> Any:
        lsd, csrf = self.define("LSD")["token"], self.define("InstagramSecurityConfig")["csrf_token"]
        fields = {"lsd": lsd, "csrf": csrf, "doc_id": self.doc_id(name), "app": APP_ID["x-ig-app-id"], **changes}
        headers = {"x-fb-lsd": fields["lsd"], "x-csrftoken": fields["csrf"], "X-IG-App-ID": fields["app"]}
        form = {"lsd": fields["lsd"], "doc_id": fields["doc_id"], "variables": json.dumps(variables)}
        body = "&".join(f"{key}={value.replace('%', '%25').replace('&', '%26')}" for key, value in form.items())
        return self.send("POST", f"{HOME}/api/graphql", headers, body.encode())

    def data(self, name: str, variables: dict[str, Any]) -> Any:
        answer = json.loads(self.query(name, variables).body)
        return answer["data"]


@pytest.fixture
def site() -> Instagram:
    return Instagram(seed=1)


@pytest.fixture
def guest(site: Instagram) -> Guest:
    return Guest(site)


PROFILE = "PolarisLoggedOutDesktopWWWProfileRootContentQuery"
POSTS = "PolarisLoggedOutDesktopWWWProfilePostsTabContentQuery"
REELS = "PolarisLoggedOutDesktopWWWProfileReelsTabContentQuery"
POST = "PolarisLoggedOutDesktopWWWPostRootContentQuery"
COMMENTS = "PolarisLoggedOutDesktopWWWPostCommentsPaginationQuery"


# pages


def test_profile_page(guest: Guest, site: Instagram) -> None:
    person = site.world.people[CLUB]
    reply = guest.get(f"/{CLUB}/")
    assert reply.status == 200
    user = guest.results()[PROFILE]["xig_user_by_username"]
    assert (user["username"], user["pk"], user["follower_count"]) == (CLUB, person.pk, person.followers)
    assert user["all_media_count"] is None
    assert user["id"].startswith("17841")
    tab = guest.results()[POSTS]["xig_user_by_username"]
    listed = tab["polaris_ordered_timeline_connection"]
    assert [edge["node"]["pk"] for edge in listed["edges"]] == [post.pk for post in person.posts[:12]]
    assert listed["page_info"]["has_next_page"]
    assert "like_count" not in listed["edges"][0]["node"]
    description = re.search(r'og:description" content="([^"]*)"', guest.page)
    assert description is not None
    assert unescape(description.group(1)).startswith("48,213 Followers, ")


def test_tokens_of_a_page_agree(guest: Guest) -> None:
    guest.get("/")
    block = re.search(r'<script id="__eqmc" type="application/json">(.*?)</script>', guest.page)
    assert block is not None
    short = json.loads(block.group(1))
    lsd = guest.define("LSD")["token"]
    assert short["l"] == lsd
    assert f"jazoest=2{sum(map(ord, lsd))}" in short["u"]
    assert guest.define("InstagramSecurityConfig")["csrf_token"] == guest.cookies["csrftoken"]
    assert guest.define("DTSGInitialData") == {}
    assert guest.define("CurrentUserInitialData")["USER_ID"] == "0"
    assert {"hsi", "haste_session", "__spin_t", "client_revision", "comet_env"} <= guest.define("SiteData").keys()


def test_cookies_are_set_once(guest: Guest) -> None:
    first = guest.get("/")
    assert {str(v).partition("=")[0] for k, v in first.headers if k == "set-cookie"} == {"csrftoken", "mid", "ig_did"}
    again = guest.get(f"/{CLUB}/")
    assert [v for k, v in again.headers if k == "set-cookie"] == []


def test_missing_private_empty_and_gated(guest: Guest, site: Instagram) -> None:
    assert guest.get("/no.such.account/").status == 404
    assert guest.get("/p/AAAAAAAAAAA/").status == 404
    assert guest.get(f"/p/{site.world.people[PRIVATE].posts[0].shortcode}/").status == 404
    assert guest.get(f"/{PRIVATE}/").status == 200
    assert guest.results()[PROFILE]["xig_user_by_username"]["is_private"] is True
    assert guest.results()[POSTS]["xig_user_by_username"]["polaris_ordered_timeline_connection"]["edges"] == []
    guest.get(f"/{EMPTY}/")
    empty = guest.results()[POSTS]["xig_user_by_username"]["polaris_ordered_timeline_connection"]
    assert empty["page_info"]["has_next_page"] is False
    gated = next(post for post in site.world.people[POTTER].posts if post.gated)
    guest.get(f"/p/{gated.shortcode}/")
    media = guest.results()[POST]["xig_polaris_media"]
    assert media["if_not_gated_logged_out"] is None
    assert media["gating_ruling"]


def test_post_pages(guest: Guest, site: Instagram) -> None:
    person = site.world.people[CLUB]
    for path, post in (("p", person.posts[0]), ("reel", person.reels[0])):
        assert guest.get(f"/{path}/{post.shortcode}/").status == 200
        media = guest.results()[POST]["xig_polaris_media"]
        facts = media["if_not_gated_logged_out"]
        assert (facts["pk"], facts["code"], facts["taken_at"]) == (post.pk, post.shortcode, post.taken_at)
        assert facts["comment_count"] == len(post.comments)
        assert facts["user"]["username"] == CLUB
        assert len(media["comments_connection"]["edges"]) == min(24, len(post.comments))
    assert facts["video_versions"][0]["url"].endswith(".mp4?_nc_cat=1")


def test_addresses_without_slash_and_the_login_page(guest: Guest) -> None:
    reply = guest.get(f"/{CLUB}")
    assert (reply.status, dict(reply.headers)["location"]) == (301, f"{HOME}/{CLUB}/")
    guest.get("/accounts/login/?next=%2F")
    assert "<title>Login • Instagram</title>" in guest.page


def test_pages_are_gzipped_on_request(site: Instagram) -> None:
    reply = Guest(site).get("/", accept_encoding="gzip, br")
    assert ("content-encoding", "gzip") in reply.headers


# stored queries


def walk(guest: Guest, name: str, variables: dict[str, Any], path: list[str]) -> list[Any]:
    """All nodes of a list, page by page."""
    found: list[Any] = []
    after = None
    for page in count():
        assert page < 50
        listed = guest.data(name, {**variables, "after": after, "first": 12})
        for key in path:
            listed = listed[key]
        found += [edge["node"] for edge in listed["edges"]]
        after = listed["page_info"]["end_cursor"]
        if not listed["page_info"]["has_next_page"]:
            return found
    raise AssertionError


def test_posts_page_by_page(guest: Guest, site: Instagram) -> None:
    guest.get(f"/{CLUB}/")
    nodes = walk(guest, POSTS, {"username": CLUB}, ["xig_user_by_username", "polaris_ordered_timeline_connection"])
    assert [node["pk"] for node in nodes] == [post.pk for post in site.world.people[CLUB].posts]


def test_every_list_pages_to_its_end(guest: Guest, site: Instagram) -> None:
    person = site.world.people[CLUB]
    guest.get("/")
    reels = walk(guest, REELS, {"username": CLUB}, ["xig_user_by_username", "polaris_clips_connection"])
    assert [node["code"] for node in reels] == [post.shortcode for post in person.reels]
    comments = walk(guest, COMMENTS, {"media_id": person.posts[0].pk}, ["xig_polaris_media", "comments_connection"])
    assert [node["pk"] for node in comments] == [comment.pk for comment in person.posts[0].comments]
    data = {"data": {"target_user_id": person.pk}}
    clips = walk(guest, "PolarisProfileReelsTabContentQuery", data, ["xdt_api__v1__clips__user__connection_v2"])
    assert [node["media"]["pk"] for node in clips] == [post.pk for post in person.reels]
    root = ["xdt_api__v1__feed__user_timeline_graphql_connection"]
    timeline = walk(guest, "PolarisProfilePostsQuery", {"username": CLUB, "data": {}}, root)
    assert [node["id"] for node in timeline] == [f"{post.pk}_{person.pk}" for post in person.posts]
    guest.get(f"/{CLUB}/")
    scoped = guest.results()[PROFILE]["xig_user_by_username"]["id"]
    onward = walk(guest, f"{POSTS}_connection", {"id": scoped}, ["node", "polaris_ordered_timeline_connection"])
    assert len(onward) == len(person.posts)


def test_post_queries(guest: Guest, site: Instagram) -> None:
    post = site.world.people[CLUB].posts[0]
    guest.get("/")
    media = guest.data(POST, {"media_id": post.pk})["xig_polaris_media"]
    assert media["if_not_gated_logged_out"]["code"] == post.shortcode
    assert guest.data(POST, {"media_id": "1"}) == {"xig_polaris_media": None}
    name = "PolarisPostActionLoadPostQueryQuery"
    media = guest.data(name, {"shortcode": post.shortcode})["xdt_shortcode_media"]
    assert media["edge_media_preview_like"]["count"] == post.likes
    listed = media["edge_media_to_parent_comment"]
    seen = [edge["node"]["id"] for edge in listed["edges"]]
    while listed["page_info"]["has_next_page"]:
        cursor = listed["page_info"]["end_cursor"]
        assert "server_cursor" in json.loads(cursor)
        media = guest.data(name, {"shortcode": post.shortcode, "after": cursor})["xdt_shortcode_media"]
        listed = media["edge_media_to_parent_comment"]
        seen += [edge["node"]["id"] for edge in listed["edges"]]
    assert seen == [comment.pk for comment in post.comments]
    assert guest.data(name, {"shortcode": "AAAAAAAAAAA"}) == {"xdt_shortcode_media": None}
    items = guest.data("PolarisPostRootQuery", {"shortcode": post.shortcode})["xdt_api__v1__media__shortcode__web_info"]
    assert items["items"][0]["pk"] == post.pk


def test_searches(guest: Guest) -> None:
    guest.get("/")
    wanted = {"data": {"query": "nasa"}}
    users = guest.data("PolarisSearchBoxRefetchableQuery", wanted)["xdt_api__v1__fbsearch__topsearch_connection"][
        "users"
    ]
    assert [entry["user"]["username"] for entry in users] == [CLUB, "nasa.fan.club"]
    reply = guest.get("/web/search/topsearch/?context=blended&query=nasa")
    assert [entry["user"]["username"] for entry in json.loads(reply.body)["users"]] == [CLUB, "nasa.fan.club"]
    name = "PolarisLoggedOutPopularSearchPageQuery"
    reels = guest.data(name, {"keyword": "moss"})["xig_logged_out_popular_search_media_info"]
    assert reels["edges"] == []
    reels = guest.data(name, {"keyword": "kiln"})["xig_logged_out_popular_search_media_info"]["edges"]
    assert reels
    assert all("kiln" in edge["node"]["caption"]["text"].casefold() for edge in reels)


def test_profile_by_number(guest: Guest, site: Instagram) -> None:
    person = site.world.people[POTTER]
    guest.get("/")
    user = guest.data("PolarisProfilePageContentQuery", {"id": person.pk})["user"]
    assert (user["username"], user["media_count"]) == (POTTER, len(person.posts))
    assert guest.data("PolarisProfilePageContentQuery", {"id": "1"}) == {"user": None}
    assert guest.data(PROFILE, {"username": "no.such.account"}) == {"xig_user_by_username": None}


@pytest.mark.parametrize(
    "doc_id", ["27981003384861049", "27553725110923321", "27130156389949648", "8845758582119845", "", "x"]
)
def test_ids_from_anywhere_else_are_retired(guest: Guest, doc_id: str) -> None:
    guest.get(f"/{CLUB}/")
    reply = guest.query(POSTS, {"username": CLUB}, doc_id=doc_id)
    answer = json.loads(reply.body)
    assert reply.status == 200
    assert answer["errors"][0]["code"] == 1675002
    assert "data" not in answer


def test_rotation_retires_what_was_announced(guest: Guest, site: Instagram) -> None:
    guest.get(f"/{CLUB}/")
    old = guest.doc_id(POSTS)
    site.queries.rotate()
    assert b"1675002" in guest.query(POSTS, {"username": CLUB}).body
    guest.get(f"/{CLUB}/")
    assert guest.doc_id(POSTS) != old
    assert "xig_user_by_username" in guest.data(POSTS, {"username": CLUB})


def test_a_site_that_takes_an_old_id() -> None:
    guest = Guest(Instagram(accept={"10015901848480474": "PolarisPostActionLoadPostQueryQuery"}))
    guest.get("/")
    reply = guest.query(POSTS, {"shortcode": "AAAAAAAAAAA"}, doc_id="10015901848480474")
    assert json.loads(reply.body)["data"] == {"xdt_shortcode_media": None}


@pytest.mark.parametrize(
    "variables", [{}, {"username": CLUB, "after": "bm9ib2R5OjE="}, {"username": CLUB, "after": "?"}]
)
def test_variables_without_sense(guest: Guest, variables: dict[str, Any]) -> None:
    guest.get("/")
    answer = json.loads(guest.query(POSTS, variables).body)
    assert answer["data"] is None
    assert "code" not in answer["errors"][0]


# refusals


def test_wrong_app_id(guest: Guest) -> None:
    guest.get("/")
    reply = guest.query(POSTS, {"username": CLUB}, app="1")
    assert (reply.status, json.loads(reply.body)["message"]) == (400, "useragent mismatch")
    reply = guest.send("GET", f"{HOME}/api/v1/users/web_profile_info/?username={CLUB}")
    assert reply.status == 400
    reply = guest.send("GET", f"https://i.instagram.com/api/v1/users/web_profile_info/?username={CLUB}", APP_ID)
    assert reply.status == 400


def test_csrf_in_cookie_and_header(guest: Guest) -> None:
    guest.get("/")
    reply = guest.query(POSTS, {"username": CLUB}, csrf="of.somebody.else")
    assert reply.status == 403
    assert b"<html" in reply.body
    del guest.cookies["csrftoken"]
    assert guest.query(POSTS, {"username": CLUB}).status == 403


def test_lsd_must_match(guest: Guest) -> None:
    guest.get("/")
    reply = guest.query(POSTS, {"username": CLUB}, lsd="stale")
    assert reply.status == 200
    assert reply.body.startswith(b"for (;;);")
    assert json.loads(reply.body.removeprefix(b"for (;;);"))["error"] == 1357004


def test_tokens_of_one_guest_are_worthless_to_another(site: Instagram) -> None:
    one, other = Guest(site), Guest(site)
    one.get("/")
    other.get("/")
    assert one.cookies["mid"] != other.cookies["mid"]
    csrf, lsd = one.define("InstagramSecurityConfig")["csrf_token"], one.define("LSD")["token"]
    assert other.query(POSTS, {"username": CLUB}, csrf=csrf).status == 403
    assert b"1357004" in other.query(POSTS, {"username": CLUB}, lsd=lsd).body
    assert other.query(POSTS, {"username": CLUB}).status == 200


# calls


def test_web_profile_info(guest: Guest, site: Instagram) -> None:
    person = site.world.people[CLUB]
    user = json.loads(guest.get(f"/api/v1/users/web_profile_info/?username={CLUB.upper()}").body)["data"]["user"]
    assert (user["id"], user["edge_followed_by"]["count"]) == (person.pk, person.followers)
    listed = user["edge_owner_to_timeline_media"]
    assert (listed["count"], len(listed["edges"])) == (len(person.posts), 12)
    hidden = next(edge["node"] for edge in listed["edges"] if edge["node"]["id"] == person.posts[7].pk)
    assert hidden["edge_liked_by"]["count"] == -1
    assert guest.get("/api/v1/users/web_profile_info/?username=no.such.account").status == 404
    user = json.loads(guest.get(f"/api/v1/users/web_profile_info/?username={PRIVATE}").body)["data"]["user"]
    assert user["is_private"]
    assert user["edge_owner_to_timeline_media"]["edges"] == []
    assert user["edge_owner_to_timeline_media"]["count"] > 0


def test_clips_call_pages(guest: Guest, site: Instagram) -> None:
    person = site.world.people[CLUB]
    seen, more, max_id = [], True, ""
    while more:
        body = f"target_user_id={person.pk}&page_size=12&max_id={max_id}".encode()
        answer = json.loads(guest.send("POST", f"{HOME}/api/v1/clips/user/", APP_ID, body).body)
        seen += [entry["media"]["pk"] for entry in answer["items"]]
        max_id, more = answer["paging_info"]["max_id"], answer["paging_info"]["more_available"]
    assert seen == [post.pk for post in person.reels]


def test_closed_calls_and_the_ruling(guest: Guest) -> None:
    reply = guest.get("/api/v1/feed/user/1/")
    assert (reply.status, json.loads(reply.body)["require_login"]) == (401, True)
    assert guest.get("/graphql/query/?query_hash=abc").status == 401
    reply = guest.get("/api/v1/web/get_ruling_for_content/?content_type=MEDIA&target_id=1")
    assert json.loads(reply.body)["status"] == "ok"
    assert "csrftoken" in guest.cookies


def test_pictures_and_films(guest: Guest) -> None:
    request = RequestInfo(guest._connection, 1, "GET", "scontent.cdninstagram.com", "/v/media/1_0.png?x=1", [])
    assert bytes(cdn_app(request).body).startswith(b"\x89PNG\r\n\x1a\n")  # type: ignore[arg-type]
    request = RequestInfo(guest._connection, 1, "GET", "scontent.cdninstagram.com", "/v/media/1.mp4", [])
    assert b"ftyp" in bytes(cdn_app(request).body)  # type: ignore[arg-type]


async def test_over_the_wire_with_curl(serve: Any, browser: Any) -> None:
    server = await serve()
    client = await browser(server)
    base = f"https://www.instagram.com:{server.port}"
    answer = await client.get(f"{base}/{CLUB}/")
    assert answer.status_code == 200
    lsd = re.search(r'"LSD",\[\],\{"token":"(\w+)"', answer.text)
    doc_id = re.search(rf'adp_{POSTS}RelayPreloader_\w+","queryID":"(\d+)"', answer.text)
    assert lsd is not None
    assert doc_id is not None
    csrf = client.cookies.get("csrftoken", domain=".instagram.com")
    form = {"lsd": lsd[1], "doc_id": doc_id[1], "variables": json.dumps({"username": CLUB, "first": 12})}
    headers = {"x-fb-lsd": lsd[1], "x-csrftoken": csrf, **APP_ID}
    answer = await client.post(f"{base}/graphql/query", data=form, headers=headers)
    assert len(answer.json()["data"]["xig_user_by_username"]["polaris_ordered_timeline_connection"]["edges"]) == 12
