from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.contracts import Call, Page
from fetchworker.errors import ArgumentError, ContractError
from fetchworker.items import LinkPage, validate
from fetchworker.outcomes import Outcome, classify
from fetchworker.spiders.linktree import parse
from fetchworker.spiders.linktree.params import ProfileParams
from fetchworker.spiders.linktree.spider import LinktreeSpider

OPEN = {"gate": {"activeOrder": [], "age": None, "passcode": None, "nft": None, "payment": None}}


def gated(**gates: Any) -> dict[str, Any]:
    return {"gate": {**OPEN["gate"], **gates}}


def account(**more: Any) -> dict[str, Any]:
    return {
        "id": 7001, "uuid": "u-1", "username": "mira.k", "tier": "pro", "isActive": True, "pageTitle": "@mira.k",
        "profilePictureUrl": "https://cdn.example/m.jpg", "contentWarning": None, "description": "Potter",
        "createdAt": 1579860925000, "updatedAt": 1663090070000, "profileBadges": None, "activeGates": [],
        "owner": {"id": 5, "isEmailVerified": True}, "links": [], "socialLinks": [], **more,
    }  # fmt: skip


def link(number: int = 11, **more: Any) -> dict[str, Any]:
    """A link as the account keeps it."""
    return {
        "id": number, "type": "CLASSIC", "title": "Shop", "position": 0, "url": "https://kiln.example/",
        "modifiers": {"thumbnailUrl": "https://cdn.example/t.jpg"}, "rules": OPEN, **more,
    }  # fmt: skip


def flat(number: str = "11", **more: Any) -> dict[str, Any]:
    """The same as the page flattens it."""
    return {"id": number, "type": "CLASSIC", "title": "Shop", "position": 0, "url": "https://kiln.example/",
    "locked": None,
            **more}  # fmt: skip


def body(props: Any, page: str = "/[profile]") -> bytes:
    data = json.dumps({"props": {"pageProps": props}, "page": page, "query": {"profile": "mira.k"}})
    return f'<html><script id="__NEXT_DATA__" type="application/json">{data}</script></html>'.encode()


def parsed(props: Any, user: str | None = None) -> LinkPage:
    params = ProfileParams(user=user) if user else ProfileParams.model_construct()
    (found,) = parse.profile(Page(None, 200, {}, body(props)), Call("profile", params)).items
    stamp = {"item_id": "i-0", "site": "linktree", "operation": "profile", "fetched_at": "2026-01-31T10:00:00Z"}
    assert isinstance(validate({**found.__dict__, **stamp}), LinkPage)
    return found


def test_an_account():
    social = [
        {"type": "INSTAGRAM", "url": "https://instagram.com/mira.k"},
        {"type": "EMAIL_ADDRESS", "url": "mailto:m@x.example"},
    ]
    found = parsed({"account": account(links=[link()], socialLinks=social)}, "mira.k")
    assert (found.id, found.username, found.title, found.description) == ("7001", "mira.k", "@mira.k", "Potter")
    assert (found.avatar_url, found.url) == ("https://cdn.example/m.jpg", "https://linktr.ee/mira.k")
    assert (found.verified, found.sensitive, found.partial) == (False, False, None)
    (first,) = found.links
    assert (first.id, first.title, first.url, first.type) == ("11", "Shop", "https://kiln.example/", "CLASSIC")
    assert (first.position, first.locked, first.image_url, first.parent) == (
        0,
        False,
        "https://cdn.example/t.jpg",
        None,
    )
    assert [(s.platform, s.url) for s in found.social_links] == [
        ("INSTAGRAM", "https://instagram.com/mira.k"), ("EMAIL_ADDRESS", None),
    ]  # fmt: skip
    assert found.extra == {
        "uuid": "u-1", "tier": "pro", "isActive": True, "email_verified": True,
        "created_at": "2020-01-24T10:15:25Z", "updated_at": "2022-09-13T17:27:50Z",
        "contact": {"links": ["mailto:m@x.example"]},
    }  # fmt: skip


def test_the_flattened_page_comes_first_and_the_account_fills_in():
    props = {
        "account": account(links=[link(11, rules=gated(age=18)), link(12)]), "username": "Mira.K", "pageTitle": "Mira",
        "description": "Pots", "profilePictureUrl": "https://cdn.example/p.jpg", "isProfileVerified": True,
        "links": [flat("12", thumbnail="https://cdn.example/own.jpg"), flat("11")], "socialLinks": [],
        "contentGating": "none", "hasSensitiveContent": False, "hasConsentedToView": False,
    }  # fmt: skip
    found = parsed(props, "mira.k")
    assert (found.username, found.title, found.description, found.verified) == ("Mira.K", "Mira", "Pots", True)
    assert [(x.id, x.image_url, x.locked) for x in found.links] == [
        ("12", "https://cdn.example/own.jpg", False), ("11", "https://cdn.example/t.jpg", True),
    ]  # fmt: skip
    assert (found.sensitive, found.partial) == (False, "gated")
    assert found.extra["content_gating"] == "none"


def test_headings_and_forms_have_no_address_and_groups_hold_links():
    links = [
        flat("1", type="HEADER", title="Talks", url=""),
        flat("2", type="COMMERCE_PAY", url=""),
        flat("3", type="GROUP", title="Music", url=None, childLinks=[flat("4", title="Album", type="SPOTIFY_ALBUM")]),
    ]
    found = parsed({"account": account(), "username": "mira.k", "links": links})
    assert [(x.id, x.type, x.url, x.parent) for x in found.links] == [
        ("1", "HEADER", None, None), ("2", "COMMERCE_PAY", None, None), ("3", "GROUP", None, None),
        ("4", "SPOTIFY_ALBUM", "https://kiln.example/", "3"),
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["mailto:m@x.example", "TEL:+351000", " sms:+351000"])
def test_mail_addresses_and_telephone_numbers_stand_apart(url):
    found = parsed({"account": account(links=[link(url=url, type="EMAIL")])})
    assert [(x.type, x.title, x.url) for x in found.links] == [("EMAIL", "Shop", None)]
    assert found.extra.pop("contact") == {"links": [url.strip()]}
    assert "x.example" not in str(found.__dict__)


@pytest.mark.parametrize(
    ("record", "locked"),
    [
        (link(rules=gated(activeOrder=["age"])), True), (link(rules=gated(passcode={"hash": "x"})), True),
        (link(rules=gated(payment={"price": 5})), True), (link(rules=gated(sensitiveContent={"domain": "x"})), False),
        (link(rules=["Object"]), None), (link(rules=None), None), (link(rules=None, locked={"type": "AGE"}), True),
    ],
)  # fmt: skip
def test_gates_of_links(record, locked):
    found = parsed({"account": account(links=[record])})
    assert found.links[0].locked is locked
    assert found.partial == ("gated" if locked else None)


@pytest.mark.parametrize(
    ("more", "told", "sensitive", "partial"),
    [
        ({"hasSensitiveContent": True, "hasConsentedToView": False}, {}, True, "gated"),
        ({"hasSensitiveContent": True, "hasConsentedToView": True}, {}, True, None),
        ({"contentGating": "nsfw"}, {}, True, None), ({}, {"contentWarning": "NSFW"}, True, None),
        ({}, {"activeGates": ["AGE"]}, False, "gated"), ({}, {}, False, None),
    ],
)  # fmt: skip
def test_sensitive_pages(more, told, sensitive, partial):
    found = parsed({"account": account(**told), **more})
    assert (found.sensitive, found.partial) == (sensitive, partial)


def test_what_is_not_told_is_unknown():
    found = parsed({"account": {"username": "mira.k"}})
    assert (found.id, found.verified, found.sensitive, found.avatar_url, found.links) == (None, None, None, None, [])
    assert parsed({"account": account(profileBadges=["VERIFICATION_TICK"])}).verified is True


@pytest.mark.parametrize(
    "raw",
    [b"<html></html>", b"", b"{}", body({}), body(None), body({"account": {"username": ""}}),
     b'<script id="__NEXT_DATA__">{"props": {"pageProps": {"account": {"username": "a'],
)  # fmt: skip
def test_other_pages_are_no_link_page(raw):
    with pytest.raises(ContractError, match="username"):
        parse.profile(Page(None, 200, {}, raw), Call("profile", ProfileParams.model_construct()))


def test_another_account_in_its_place_is_no_answer():
    with pytest.raises(ContractError, match=r"mira\.k's"):
        parsed({"account": account()}, "ana")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["id", "links", "socialLinks", "pageTitle", "profileBadges", "activeGates", "createdAt", "owner",
                        "contentWarning", "childLinks", "rules", "locked", "modifiers"])  # fmt: skip


@given(
    st.dictionaries(KEYS, JSON, max_size=5),
    st.dictionaries(KEYS, JSON, max_size=5),
    st.dictionaries(KEYS, JSON, max_size=5),
)
def test_any_data_gives_a_checked_item(props, told, entry):
    parsed({**props, "links": props.get("links") or [entry], "account": {"username": "mira.k", **told}})


# ── outcomes, arguments ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("props", "outcome"),
    [
        ({"statusCode": 404}, Outcome.NOT_FOUND), ({"account": account(isActive=False)}, Outcome.GONE),
        ({"account": account(links=[{"isActive": False}])}, Outcome.OK), ({"account": account()}, Outcome.OK),
    ],
)  # fmt: skip
def test_pages_that_say_why_they_are_empty(props, outcome):
    assert classify(Page("https://linktr.ee/mira.k", 200, {}, body(props)), site="linktree").outcome is outcome


def resolved(**arguments):
    call = LinktreeSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.user


@pytest.mark.parametrize(
    "arguments",
    [{"user": "@Mira.K"}, {"url": "https://linktr.ee/Mira.K"}, {"url": "http://www.linktr.ee/@mira.k/?utm=x"}],
)
def test_names_and_addresses(arguments):
    assert resolved(**arguments) == ("profile", "mira.k")


@pytest.mark.parametrize(
    "arguments",
    [{"user": "m"}, {"user": "two words"}, {"user": "login"}, {"url": "https://linktr.ee/login"}, {"url": "https://linktr.ee/"},
     {"url": "https://linktr.ee/s/about"}, {"url": "https://linktr.ee.example/mira.k"}],
)  # fmt: skip
def test_other_names_and_addresses(arguments):
    with pytest.raises(ArgumentError):
        resolved(**arguments)


def test_one_request_for_a_page():
    chosen = LinktreeSpider.operations["profile"]
    (fetch,) = chosen.fetches(None, Call("profile", ProfileParams(user="mira.k")))
    assert (fetch.url, fetch.method, fetch.destination) == ("https://linktr.ee/mira.k", "GET", "navigate")
    assert chosen.summary


def test_a_value_of_the_site_s_own_that_no_file_could_hold_is_text():
    found = parsed({"account": account(tier=10**20, timezone="\ud83d")}, "mira.k")
    stamp = {"item_id": "i-0", "site": "linktree", "operation": "profile", "fetched_at": "2026-01-31T10:00:00Z"}
    kept = validate({**found.__dict__, **stamp}).extra
    assert (kept["tier"], kept["timezone"]) == (str(10**20), "?")
