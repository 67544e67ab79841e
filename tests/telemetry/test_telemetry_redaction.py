from __future__ import annotations

import base64
import json

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import SecretStr

from fetchworker.telemetry.redaction import forget_secrets, redact, register_secret
from fetchworker.telemetry.values import MAX_TEXT, plain, tail


@pytest.fixture(autouse=True)
def _forget():
    forget_secrets()
    yield
    forget_secrets()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://ana:geheim@proxy.test:8000/x", "http://***@proxy.test:8000/x"),
        ("two http://ana:geheim@a.test, socks5h://eva:auch@b.test:1", "two http://***@a.test, socks5h://***@b.test:1"),
        ('["http://a:geheim@h1.test:1","http://b:auch@h2.test:2"]', '["http://***@h1.test:1","http://***@h2.test:2"]'),
        ("http://a:geheim@h1.test:1,http://b:auch@h2.test:2", "http://***@h1.test:1,http://***@h2.test:2"),
        ("redis://:geheim@127.0.0.1:6379/0", "redis://***@127.0.0.1:6379/0"),
        ("https://token0123@host.test/", "https://***@host.test/"),
        ("http://ana:ge@heim@proxy.test", "http://***@proxy.test"),
        ("http://ana:ge/he?im@proxy.test:1", "http://***@proxy.test:1"),
        ("ana-session-7:geheim@proxy.test:8000", "***@proxy.test:8000"),
        ("proxy.test:8000:ana:geheim", "proxy.test:8000:***"),
        ("10.0.0.1:8000:ana:geheim refused", "10.0.0.1:8000:*** refused"),
        ("Cookie: a=geheim; b=auch\r\nHost: x", "Cookie: ***\r\nHost: x"),
        ("set-cookie: a=geheim", "set-cookie: ***"),
        ("Proxy-Authorization: Basic YW5hOmdlaGVpbQ==", "Proxy-Authorization: ***"),
        ("{'Cookie': 'a=geheim', 'Host': 'x'}", "{'Cookie': ***, 'Host': 'x'}"),
        ('{"authorization":"Bearer geheim","x":1}', '{"authorization":***,"x":1}'),
        ("{b'Set-Cookie': [b'a=geheim; Path=/', b'b=]'], b'Host': [b'x']}", "{b'Set-Cookie': ***, b'Host': [b'x']}"),
        ("[('Cookie', 'a=geheim'), ('Host', 'x')]", "[('Cookie', ***), ('Host', 'x')]"),
        (r"{\"Cookie\": \"a=geheim\", \"x\": 1}", r"{\"Cookie\": ***\", \"x\": 1}"),
        ("sent Basic YW5hOmdlaGVpbQ== there", "sent Basic *** there"),
        ("Bearer abcdef0123456789", "Bearer ***"),
        ("https://api.test/?access_token=geheim&page=2", "https://api.test/?access_token=***&page=2"),
        ("GET https://a.test/x?token=geheim&page=2 200", "GET https://a.test/x?token=***&page=2 200"),
        ("https://a.test/x?page=2&sig=geh%2Feim", "https://a.test/x?page=2&sig=***"),
        ("https://a.test/x?X-Amz-Signature=geheim#top", "https://a.test/x?X-Amz-Signature=***#top"),
        ("https://a.test/x?a=1&amp;auth=geheim'", "https://a.test/x?a=1&amp;auth=***'"),
        (r'"https://a.test/x?a=1\u0026id_token=geheim"', r'"https://a.test/x?a=1\u0026id_token=***"'),
        ("https://a.test/#Token=geheim", "https://a.test/#Token=***"),
        ("password='ganz geheim' x", "password=*** x"),
        ("FETCHWORKER_REDIS_PASSWORD=geheim", "FETCHWORKER_REDIS_PASSWORD=***"),
    ],
)
def test_credentials_are_masked(text, shown):
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://social.test/@ana?mail=ana@example.test",
        "http://127.0.0.1:8000/@ana",
        "mail to ana@example.test: no answer",
        "12:30:45 [x.y]: 3:4",
        'File "/srv/app/a.py", line 12, in run',
        "app/a.py:12:34: message",
        "Basic authentication is required",
        "Bearer of good news",
        "3 cookies: kept",
        "the key is missing; token bucket empty",
        "https://shop.test/?author=ana&design=7&tokens=3&oauth=&page=2",
        "shop.test:443 -> 127.0.0.1:8443",
        "",
    ],
)
def test_ordinary_text_stays(text):
    assert redact(text) == text


def test_a_registered_secret_is_masked_in_every_spelling():
    secret = 'pa"ss wört/+'
    assert register_secret(SecretStr(secret))
    assert redact(f"a {secret} b") == "a *** b"
    assert redact(json.dumps([secret])) == '["***"]'
    assert redact("pa%22ss%20w%C3%B6rt%2F%2B") == "***"
    assert redact("pa%22ss+w%C3%B6rt%2F%2B") == "***"


def test_a_short_value_is_not_registered():
    assert not register_secret("abc12")
    assert redact("abc12") == "abc12"


@pytest.mark.parametrize("count", [1, 3, 40, 2000])
def test_any_number_of_secrets(count):
    secrets = [f"{number:05d}-geheim" for number in range(count)]
    for secret in secrets:
        register_secret(secret)
    assert redact(f"<{secrets[-1]}{secrets[0]}>") == "<******>"
    assert redact("nothing to hide here") == "nothing to hide here"


def test_the_longer_of_two_secrets_is_masked_whole():
    register_secret("geheim")
    register_secret("geheimnis")
    assert redact("geheimnis") == "***"


user_text = st.text("abcXYZ019-_.~!$&*+", min_size=1, max_size=20)
password_text = st.text("abcXYZ019-_.~!$&*+=/?#:@%", min_size=8, max_size=30)


@given(user_text, password_text, st.sampled_from(["http", "https", "socks5h", "redis"]))
@example("a", "0/0/0/0/", "http")
@example("a", "@000000?", "http")
@example("a", "000000//", "http")
def test_no_password_of_a_url_is_left(user, password, scheme):
    assume("://" not in password)  # left to registered secrets
    for head in (f"{scheme}://", ""):
        shown = redact(f"could not reach {head}{user}:x{password}@proxy.test:8000 (timeout)")
        assert password not in shown
        assert "proxy.test:8000 (timeout)" in shown


@given(
    st.text(max_size=30),
    st.text(max_size=30),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=20),
)
def test_no_registered_secret_is_left(before, after, secret):
    forget_secrets()
    register_secret(secret)
    shown = redact(before + secret + after)
    assert secret not in shown.replace("***", "")


@given(st.text(max_size=200))
def test_any_text_can_be_redacted_twice_with_the_same_result(text):
    assert redact(redact(text)) == redact(text)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_types_that_redact_themselves_stay_redacted():
    class Proxy:
        def __str__(self):
            return "static:proxy.test:8000"

        def __init__(self):
            self.password = "geheim"

    assert plain({"p": Proxy(), "s": SecretStr("geheim")}) == {"p": "static:proxy.test:8000", "s": "**********"}


def test_fields_and_header_lines_with_secret_names_are_masked():
    value = {
        "headers": [("Cookie", "a=geheim"), ["accept", "x"], (b"Set-Cookie", b"geheim")],
        "cookies": {"a": "geheim"},
        "Proxy_Authorization": "geheim",
        "password": None,
    }
    assert plain(value) == {
        "headers": [["Cookie", "***"], ["accept", "x"], ["Set-Cookie", "***"]],
        "cookies": "***",
        "Proxy_Authorization": "***",
        "password": None,
    }


def test_whatever_cannot_be_shown_is_named():
    class Odd:
        def __str__(self):
            raise RuntimeError

    assert plain(Odd()) == "<Odd: RuntimeError when shown>"


def test_long_and_deep_values_are_cut():
    deep: list = []
    deep.append(deep)
    assert plain(deep) == [[[["..."]]]]
    assert plain(list(range(100)))[-1] == "... (100 entries)"
    assert plain("x" * 10_000).endswith("... (10000 characters)")
    assert plain(2**80) == str(2**80)


@given(st.integers(MAX_TEXT - 60, MAX_TEXT + 4200), st.integers(8, 40))
def test_a_cut_never_leaves_half_a_secret(place, length):
    forget_secrets()
    secret = ("geheimes-wort-" * 3)[:length]
    register_secret(secret)
    shown = plain("x" * place + secret + "y" * 9000)
    assert "gehei" not in shown


def test_the_end_of_a_traceback_is_kept():
    long = "Cookie: geheim\n" + "line\n" * 100_000 + "ValueError: http://ana:geheim@h.test"
    shown = tail(long, 1000)
    assert shown.endswith("ValueError: http://***@h.test")
    assert len(shown) < 1100
    assert "geheim" not in tail("Cookie: " + "geheim" * 100_000, 1000)


def test_basic_credentials_are_found_by_what_they_decode_to():
    token = base64.b64encode(b"ana:geheim").decode()
    assert redact(f"x basic {token}") == "x basic ***"
