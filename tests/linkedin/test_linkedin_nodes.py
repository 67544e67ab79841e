"""A page's elements by class and mark, in the whole page and in parts of it."""

from __future__ import annotations

from fetchworker.spiders.linkedin.nodes import Nodes, parsed

PAGE = """<ul><li class="card big" data-test-id="one"><b class="name">Ada</b><div class="shared"><b class="name">Ben</b>
</div></li><li class="card"><b class="name first">***</b><b class="name">Cleo</b></li></ul><b class="name">Dora</b>"""


def names(nodes: Nodes) -> list[str]:
    return [element.text for element in nodes.all("name")]


def test_a_part_has_its_own_elements_alone():
    page = Nodes(parsed(PAGE))
    first, second = (page.part(card) for card in page.all("card"))
    assert (names(page), names(first), names(second)) == (
        ["Ada", "Ben", "***", "Cleo", "Dora"], ["Ada", "Ben"], ["***", "Cleo"],
    )  # fmt: skip
    assert first.test("one") is first.root
    assert second.test("one") is None
    assert first.first("missing", "big") is first.root


def test_what_is_left_out_is_left_out_of_parts():
    page = Nodes(parsed(PAGE), without="shared")
    assert [names(page.part(card)) for card in page.all("card")] == [["Ada"], ["***", "Cleo"]]
    assert names(page)[-1] == "Dora"


def test_masked_text_is_none_and_no_reason_to_take_the_next():
    page = Nodes(parsed(PAGE))
    second = page.part(page.all("card")[1])
    assert (second.text("name"), second.written("name"), page.text("name")) == (None, "***", "Ada")
