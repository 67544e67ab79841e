"""Which crawls keep a pace together."""

from __future__ import annotations

import pytest

from fetchworker.config import Environment
from fetchworker.runtime.parts import shared_turns
from fetchworker.sites import SiteConfig


async def never():
    raise AssertionError("nothing connects before there is something to ask")


@pytest.mark.parametrize(
    ("scope", "private", "url", "together", "always"),
    [
        (None, False, None, True, False),
        (None, True, "redis://127.0.0.1:1/0", True, False),
        (None, True, None, False, False),
        ("shared", True, None, True, True),
        ("shared", False, None, True, True),
        ("process", False, "redis://127.0.0.1:1/0", False, False),
    ],
)
def test_who_decides(scope, private, url, together, always):
    environment = Environment(redis_url=url)
    turns = shared_turns(environment, SiteConfig(pace_scope=scope), never, site="shop", private=private)
    assert (turns is not None) == together
    assert bool(turns and turns.always) == always
