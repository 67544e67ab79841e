from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.sessions._setcookie import MAX_AGE, latin1, parse_date, parse_set_cookie

NOON = datetime(2031, 3, 4, 12, 5, 6, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "Tue, 04 Mar 2031 12:05:06 GMT",
        "Tuesday, 04-Mar-31 12:05:06 GMT",
        "Tue Mar  4 12:05:06 2031",
        "4 march 2031 12:5:6",
        "2031 mar 04 12:05:06 +0300 anything",
        "12:05:06 4th Mar 31",
        "Wed, 04-Mar-2031 12:05:06",
        "Mar 4, 2031 (12:05:06xyz)",
        "fri 4 MarchHare 2031 12:05:06",
    ],
)
def test_dates_in_all_their_forms(text):
    assert parse_date(text) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "Tue, 04 Mar 2031",
        "Tue, 04 2031 12:05:06",
        "31 Feb 2031 12:05:06",
        "04 Mar 2031 24:05:06",
        "04 Mar 2031 12:60:06",
        "04 Mar 1600 12:05:06",
        "04 Mar 2031 12:05",
        "00 Mar 2031 12:05:06",
        "123 Mar 20311 12:05:06",
        "²4 Mar 2031 12:05:06",
    ],
)
def test_what_is_no_date(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(("two", "four"), [("69", 2069), ("70", 1970), ("99", 1999), ("00", 2000), ("0031", 2031)])
def test_short_years(two, four):
    assert parse_date(f"1 Jan {two} 00:00:00") == datetime(four, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("a=b", "a", "b"),
        ("a=b=c==", "a", "b=c=="),
        ('a="x y, z"', "a", '"x y, z"'),
        ("a=", "a", ""),
        ("  a \t= b c ;x", "a", "b c"),
        ("alone", "", "alone"),
        ("=v", "", "v"),
        ("a=b;c=d", "a", "b"),
        ("a=x\ty", "a", "x\ty"),
        (b"a=caf\xe9", "a", "caf\xe9"),
        ("a=✓", "a", "\xe2\x9c\x93"),
        ("a=caf\xe9", "a", "caf\xe9"),
    ],
)
def test_pairs(line, name, value):
    found = parse_set_cookie(line)
    assert (found.name, found.value) == (name, value)


@pytest.mark.parametrize(
    "line", ["", ";", "=", " = ; Path=/", "a=b\x00", "a=b\r\nX: y", "a\x7f=b", "a=b; Path=/\x01", "a=" + "x" * 4096]
)
def test_lines_that_are_ignored(line):
    assert parse_set_cookie(line) is None


def test_the_longest_pair():
    assert parse_set_cookie("a=" + "x" * 4095)


def test_attributes():
    found = parse_set_cookie("a=b; DOMAIN=.Shop.Example; path=/x;SECURE; HttpOnly ;SameSite=none; max-age=7; unknown=1")
    assert found._asdict() == {
        "name": "a",
        "value": "b",
        "domain": "shop.example",
        "path": "/x",
        "secure": True,
        "http_only": True,
        "same_site": "none",
        "max_age": 7,
        "expires": None,
    }


@pytest.mark.parametrize(
    ("attributes", "field", "value"),
    [
        ("Path=/a; Path=/b", "path", "/b"),
        ("Path=/a; Path=b", "path", None),
        ("Path=/a; Path", "path", None),
        ("Path=/" + "p" * 1024, "path", None),
        ("Domain=a.example; Domain=b.example", "domain", "b.example"),
        ("Domain=a.example; Domain=", "domain", None),
        ("SameSite=Lax; SameSite=odd", "same_site", ""),
        ("Max-Age=5; Max-Age=+6", "max_age", 5),
        ("Max-Age=5; Max-Age=", "max_age", 5),
        ("Max-Age=²", "max_age", None),
        ("Max-Age=-1", "max_age", -1),
        ("Secure=no", "secure", True),
        ("Expires=never", "expires", None),
    ],
)
def test_the_last_good_attribute_counts(attributes, field, value):
    assert getattr(parse_set_cookie(f"a=b; {attributes}"), field) == value


@pytest.mark.parametrize(
    ("attributes", "expiry"),
    [
        ("", None),
        ("Max-Age=60", 1060.0),
        ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT", 1060.0),
        ("Expires=Thu, 01 Jan 1970 01:00:00 GMT; Max-Age=60", 1060.0),
        ("Expires=Thu, 01 Jan 1970 01:00:00 GMT", 3600.0),
        ("Max-Age=0", float("-inf")),
        ("Max-Age=-5; Expires=Fri, 01 Jan 2100 00:00:00 GMT", float("-inf")),
        ("Max-Age=" + "9" * 900, 1000.0 + MAX_AGE),
        ("Expires=Fri, 01 Jan 2100 00:00:00 GMT", 1000.0 + MAX_AGE),
    ],
)
def test_expiry(attributes, expiry):
    assert parse_set_cookie(f"a=b; {attributes}").expiry(1000.0) == expiry


@given(st.binary() | st.text())
def test_nothing_raises(line):
    parse_set_cookie(line)
    assert all(character <= "\xff" for character in latin1(line))


@given(st.text())
def test_no_text_is_too_odd_for_a_date(text):
    parse_date(text)


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2069, 12, 31)))  # noqa: DTZ001
def test_every_moment_survives(moment):
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    for form in ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"):
        assert parse_date(moment.strftime(form)) == moment.timestamp()
