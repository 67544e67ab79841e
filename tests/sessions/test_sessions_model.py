from __future__ import annotations

import orjson
import pytest

from fetchworker.errors import ArgumentError, SessionError
from fetchworker.sessions import Session, check_session_id, model, session_key
from fetchworker.sessions.keys import session_id_of, session_pattern

NOW = 1_900_000_000.0
WWW = "https://www.shop.example/"


def make(name="ada@shop.example", **fields):
    return Session.fresh(
        name, **{"site": "shop", "profile": "chrome146", "proxy_id": "p1", "now": NOW, "stored": True, **fields}
    )


def full():
    session = make()
    session.jar.set_from_response(WWW, ["sid=secret; Secure", b"b=\xe9", "gone=; Max-Age=0"], NOW)
    session.tokens["lsd"] = "secret"
    session.uses, session.blocks = 3, 1
    return session


def test_a_fresh_session_has_an_identity_of_its_own():
    one, other = make(), make()
    assert one.identity != other.identity
    assert (one.site, one.profile, one.proxy_id, one.created_at, one.used_at) == ("shop", "chrome146", "p1", NOW, NOW)
    assert (len(one.jar), one.tokens, one.uses, one.blocks, one.stored) == (0, {}, 0, 0, True)
    assert one.jar is not other.jar


@pytest.mark.parametrize("name", ["a", "A-z_0.9:@", "x" * 128])
def test_names(name):
    assert check_session_id(name) == name
    assert make(name).id == name


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "a/b", "a\n", "é", "{a}", "a*", None, 7])
def test_what_is_no_name(name):
    with pytest.raises(ArgumentError, match="characters"):
        check_session_id(name)
    with pytest.raises(ArgumentError):
        make(name)


def test_a_stateless_session_needs_no_name():
    assert make("", stored=False).id == ""
    with pytest.raises(ArgumentError):
        make("a b", stored=False)


def test_keys():
    key = session_key("tiktok_shop", "ada:1")
    assert key == "fw:session:{tiktok_shop}:ada:1"
    assert session_id_of("tiktok_shop", key) == "ada:1"
    assert session_pattern("tiktok_shop") == "fw:session:{tiktok_shop}:*"
    with pytest.raises(ArgumentError, match="site"):
        session_key("a}b", "ada")


def test_json_round_trip():
    session = full()
    again = Session.from_json(session.to_json())
    assert again.to_json() == session.to_json()
    assert again.jar.cookie_header(WWW, NOW) == session.jar.cookie_header(WWW, NOW) == "sid=secret; b=\xe9"
    assert again.tokens == {"lsd": "secret"}
    assert Session.from_json(session.to_json().decode()).identity == session.identity


def test_nothing_secret_in_repr():
    session = full()
    session.saved = session.saved._replace(tokens={"lsd": "secret"})
    text = repr(session) + str(session) + repr(session.saved)
    assert "secret" not in text
    assert "lsd" in text
    assert "stateless" in repr(make("", stored=False))


def test_a_token_that_json_cannot_hold():
    session = full()
    session.tokens["odd"] = "secret\ud800"
    with pytest.raises(SessionError) as caught:
        session.to_json()
    assert "secret" not in str(caught.value)


def test_a_newer_format_says_what_to_do():
    data = orjson.dumps({**orjson.loads(full().to_json()), "v": 2})
    with pytest.raises(SessionError, match=r"format 2.*knows 1.*update.*delete"):
        Session.from_json(data)


def test_an_older_format_is_migrated(monkeypatch):
    data = orjson.loads(full().to_json())
    monkeypatch.setattr(model, "FORMAT", 3)
    monkeypatch.setitem(model.MIGRATIONS, 1, lambda old: {**old, "profile": old["profile"] + "!"})
    with pytest.raises(SessionError, match="format 2"):
        Session.from_data(data)
    monkeypatch.setitem(model.MIGRATIONS, 2, lambda old: {**old, "uses": old["uses"] + 1})
    session = Session.from_data(data)
    assert (session.profile, session.uses) == ("chrome146!", 4)


@pytest.mark.parametrize(
    "damage",
    [
        {"v": "1"},
        {"id": None},
        {"identity": 5},
        {"created_at": "now"},
        {"uses": 1.5},
        {"proxy_id": 7},
        {"stored": "yes"},
        {"tokens": []},
        {"tokens": {"lsd": 1}},
        {"jar": None},
        {"jar": {"v": 9}},
        {"saved": None},
        {"saved": [1, 2]},
    ],
)
def test_damaged_sessions_are_refused(damage):
    data = orjson.loads(full().to_json())
    with pytest.raises(SessionError) as caught:
        Session.from_data({**data, **damage})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"{}", b"\xff"])
def test_what_is_no_session(data):
    with pytest.raises(SessionError):
        Session.from_json(data)
