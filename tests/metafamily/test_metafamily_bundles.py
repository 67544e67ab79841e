"""Scripts that a page names, and the ids that they tell."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.spiders.facebook.spider import FacebookSpider
from fetchworker.spiders.instagram.spider import InstagramSpider
from fetchworker.spiders.meta.spider import MetaSpider
from fetchworker.spiders.metafamily import bundles, tokens
from fetchworker.spiders.threads.spider import ThreadsSpider

HOST = "https://static.xx.fbcdn.net/rsrc.php"
OTHER = "https://static.cdninstagram.com/rsrc.php"


def page(text):
    return Page(None, 200, {}, text.encode())


def test_scripts_in_tags_and_in_lists_each_once_in_order():
    later = json.dumps(
        {"a": {"src": f"{OTHER}/v4/iA/yb/l/en_US/x-Y_z.js?_nc_x=1&t=2"}, "b": {"src": f"{HOST}/v4/a.js"}}
    )
    text = f'<script src="{HOST}/v4/a.js"></script><link href="{HOST}/v5/b.js?_nc_x=q&amp;r=1" as="script">'
    text += later.replace("/", "\\/").replace("&", "\\u0026")
    assert bundles.scripts(page(text)) == [
        f"{HOST}/v4/a.js", f"{HOST}/v5/b.js?_nc_x=q&r=1", f"{OTHER}/v4/iA/yb/l/en_US/x-Y_z.js?_nc_x=1&t=2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        f"{HOST}/v4/a.css", "https://static.xx.fbcdn.net.evil.example/rsrc.php/a.js", "http://static.xx.fbcdn.net/rsrc.php/a.js",
        "https://evil.example/rsrc.php/a.js", "https://static.xx.fbcdn.net/other/a.js", "https://user@static.xx.fbcdn.net/rsrc.php/a.js",
    ],
)  # fmt: skip
def test_what_is_no_script_of_the_family(text):
    assert bundles.scripts(page(f'<script src="{text}"></script>')) == []


def test_the_most_scripts_of_a_page():
    assert len(bundles.scripts(page("".join(f'"{HOST}/v4/{n}.js"' for n in range(1000))))) == 400


def test_the_own_brand_of_a_site_wins_over_facebooks():
    module = '__d("Ask_{}RelayOperation",[],(function(t,n,r,o,a,i){{a.exports="{}"}}),null);'
    ours, theirs = module.format("threads", "22222"), module.format("facebook", "11111")
    for text in (ours + theirs, theirs + ours):
        assert tokens.modules(text.encode()) == {"doc:Ask": "22222"}
    assert tokens.modules(theirs.encode()) == {"doc:Ask": "11111"}


@pytest.mark.parametrize("spider", [FacebookSpider, InstagramSpider, MetaSpider, ThreadsSpider])
def test_all_sites_of_the_family_read_their_scripts(spider):
    assert spider.scripts is bundles.SCRIPTS


MARKS = [
    HOST,
    OTHER,
    ".js",
    "/",
    "\\/",
    "\\u0026",
    "?",
    "&amp;",
    "https:",
    '__d("Ask_threadsRelayOperation"',
    'exports="12345"',
]


@given(st.lists(st.sampled_from(MARKS) | st.text(max_size=6), max_size=20))
def test_anything_is_read_without_failing(parts):
    found = bundles.scripts(page("".join(parts)))
    assert all(one.startswith((HOST, OTHER)) for one in found)
    tokens.modules("".join(parts).encode())
