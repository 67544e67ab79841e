"""Which crawls keep a pace together."""

from __future__ import annotations

import pytest

from fetchworker.config import Environment
from fetchworker.runtime.parts import shared_turns
from fetchworker.sites import SiteConfig


async def never():
    raise AssertionError("nothing connects before there is something to ask")


@pytest.mark.parametrize(
    ("scope", "queued", "url", "together", "always"),
    [
        (None, True, None, True, False),
        (None, False, "redis://127.0.0.1:1/0", True, False),
        (None, False, None, False, False),
        ("shared", True, None, True, True),
        ("shared", False, None, True, True),
        ("process", True, "redis://127.0.0.1:1/0", False, False),
    ],
)
def test_who_decides(scope, queued, url, together, always):
    environment = Environment(redis_url=url)
    turns = shared_turns(environment, SiteConfig(pace_scope=scope), never, site="shop", queued=queued)
    assert (turns is not None) == together
    assert bool(turns and turns.always) == always
