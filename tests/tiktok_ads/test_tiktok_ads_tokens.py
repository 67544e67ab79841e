"""What requests have to show."""

from __future__ import annotations

import hashlib
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.spiders.tiktok_ads import tokens

GUEST = "3f2b8c1e-5d4a-4b6f-9c7d-0a1b2c3d4e5f"


def page(body: bytes) -> Page:
    return Page(None, 200, {}, body)


@pytest.mark.parametrize(
    ("guest", "timestamp", "expected"),
    [
        (GUEST, 1790000000, "df3d652867ea571f"),
        (GUEST, 1790000001, "5649ebb0478d9fd2"),
        ("00000000-0000-4000-8000-000000000000", 0, "9e179e93e1ef127c"),
    ],
)
def test_user_sign(guest, timestamp, expected):
    assert tokens.user_sign(guest, timestamp) == expected


@given(st.uuids(version=4), st.integers(0, 2**40))
def test_user_sign_folds_a_digest_digit_by_digit(guest, timestamp):
    digest = hashlib.md5(f"{tokens.SALT}-{guest}-{timestamp}".encode()).hexdigest()
    folded = [f"{int(one, 16) ^ int(other, 16):x}" for one, other in zip(digest[:16], digest[16:], strict=True)]
    assert tokens.user_sign(str(guest), timestamp) == "".join(folded)


def test_the_three_values_belong_together():
    first, later = tokens.compute("ann", 1790000000), tokens.compute("ann", 1790000060)
    assert first["anonymous_user_id"] == later["anonymous_user_id"] == tokens.anonymous_id("ann")
    assert (first["timestamp"], later["timestamp"]) == ("1790000000", "1790000060")
    assert first["user_sign"] == tokens.user_sign(first["anonymous_user_id"], 1790000000)
    assert later["user_sign"] != first["user_sign"]
    assert tokens.compute("ben", 1790000000)["anonymous_user_id"] != first["anonymous_user_id"]


@given(st.text(max_size=40))
def test_guests_are_random_uuids(identity):
    found = uuid.UUID(tokens.anonymous_id(identity))
    assert (found.version, found.variant) == (4, uuid.RFC_4122)


def test_the_handshake_is_in_the_list_of_regions():
    body = json.dumps({"code": 0, "config_str": "aB3=", "regions": [{"code": "DE"}]}).encode()
    assert tokens.extract(page(body)) == {"ccl_str": "aB3="}


@pytest.mark.parametrize(
    "body",
    [b"", b"system busy", b"[]", b"{}", b'{"config_str": ""}', b'{"config_str": 7}', b'{"config_str": "a\\nb"}',
     '{"config_str": "ü"}'.encode(), b'{"config_str": "' + b"x" * 5000 + b'"}', b"\xff"],
)  # fmt: skip
def test_what_is_no_handshake(body):
    assert tokens.extract(page(body)) == {}
