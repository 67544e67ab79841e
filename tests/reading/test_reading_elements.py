from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector

from fetchworker.spiders.reading import elements

TAGS = st.sampled_from(["div", "span", "a", "ul", "li"])
CLASSES = st.lists(st.sampled_from(["row", "card", "card--new", "BOLD"]), max_size=3).map(" ".join)
ATTRIBUTES = st.sampled_from(["", ' id="it"', ' href="/itm/1"', ' href="/usr/a"', " hidden", ' data-testid="x-bid"'])
MARKUP = st.recursive(
    st.sampled_from(["", "text", "<!-- a comment -->", "<br>"]),
    lambda inner: st.builds(
        '<{0} class="{1}"{2}>{3}</{0}>'.format, TAGS, CLASSES, ATTRIBUTES, st.lists(inner, max_size=4).map("".join)
    ),
    max_leaves=25,
)
QUERIES = (
    "*", "div", ".card", "li.card", ".card.row", ".row .card", ".card .card", ".row > .card", "ul > li", ".card *",
    ".row > *", ".row > .card a", "#it", "a#it", "[hidden]", "a[href*='/itm/']", '[data-testid="x-bid"]',
    "[class*=card--]", ".card, .row", "a, .absent, .row > .BOLD", "div span, span div", ".absent .card", "body > div",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
@given(markup=st.lists(MARKUP, max_size=4).map("".join))
def test_the_same_as_parsel_finds_from_the_page_and_from_each_part_of_it(query, markup):
    page, known = elements.document(f"<body>{markup}"), Selector(f"<body>{markup}")
    for node, selector in zip(page.css("*"), known.css("*"), strict=True):
        found = [inner.root.getroottree().getpath(inner.root) for inner in node.css(query)]
        assert found == [inner.root.getroottree().getpath(inner.root) for inner in selector.css(query)]


def test_what_an_element_tells():
    page = elements.document(
        '<div class="a  b"><a href="/1">one<!-- no --> <b>two</b></a><a>three</a><p><a href="/2">four</a></p></div>'
    )
    (node,) = page.css("div")
    assert node.classes() == {"a", "b"}
    assert [child.root.tag for child in node.children()] == ["a", "a", "p"]
    assert node.values("a", "href") == ["/1", "/2"]
    assert (node.first_value("a", "href"), node.first_value("b", "href")) == ("/1", None)
    assert (node.value("class"), node.value("id")) == ("a  b", "")
    assert node.texts() == ["one", " ", "two", "three", "four"]
    assert [inner.inside("a", "i") for inner in page.css("b, p")] == [True, False]


@pytest.mark.parametrize("query", ["a::text", "a::attr(href)", "li:first-child", "a + b", "a ~ b", "[a^=b]", "[a*='']"])
def test_what_is_not_supported_is_refused(query):
    with pytest.raises((ValueError, SyntaxError)):
        elements.document("<p>").css(query)


@pytest.mark.parametrize("text", ["", " ", "\x00", "plain", "<", "<!---->", "\ud800<p>", "<div>" * 5000])
def test_any_text_has_a_root(text):
    assert elements.document(text).css("html")


@pytest.mark.parametrize(
    "text",
    [
        "<i class=a>" * 2_000_000,
        "<p class=a></p>" * 1_000_000,
        "<p class='" + " ".join(map(str, range(1_000_000))) + "'></p>",
        "".join(f"<p class='{number} a{number}'></p>" for number in range(500_000)),
    ],
)
def test_what_is_kept_of_a_page_is_bounded(text):
    index = elements.document(text)._index
    assert len(index.elements) <= 100_000
    assert len(index.named) <= 101_000
