"""A page's elements by class and test id, and the texts inside them (pure).

One walk over the page makes the index; the site's pages have a few thousand elements, each with a dozen classes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from lxml import etree

from fetchworker.errors import ContractError
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import text as told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fetchworker.contracts import Page

#: an element; lxml has no types
Element: TypeAlias = Any

_BLOCKS = frozenset({
    "address", "article", "blockquote", "dd", "div", "dl", "dt", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "ol", "p", "pre", "section", "table", "tr", "ul",
})  # fmt: skip
#: attributes that name elements, beside classes
_MARKS = ("data-test-id", "data-section")
_SILENT = frozenset({"button", "icon", "script", "style", "svg", "template"})
#: characters; real pages have half a million
_LONGEST = 8_000_000
_STRING = etree.XPath("string()", smart_strings=False)
_TEXTS = etree.XPath(".//text()", smart_strings=False)
_BLANKS = re.compile(r"[^\S\n]+")
_MARGIN = re.compile(r" ?\n ?")
_GAPS = re.compile(r"\n{3,}")
_VALUE = re.compile(r'(<meta\b[^<>"]{0,40}(?:"[^"<>]{0,100}"[^<>"]{0,40})?)\bvalue=', re.IGNORECASE)


class Nodes:
    """The elements of a page, or of a part of it.

    Args:
        root: where it begins.
        without: a class or test id whose elements are left out, with all inside them.
        index: that of a page which the part stands in.
    """

    def __init__(self, root: Element, *, without: str | None = None, index: _Index | None = None) -> None:
        self.root = root
        self._index = index or _Index(root.iter("*") if without is None else _outside(root, without))
        self._span = (0, len(self._index.elements)) if index is None else index.span(root)

    def part(self, root: Element) -> Nodes:
        """The same for what stands in one of the elements; what is left out here is left out there."""
        return Nodes(root, index=self._index)

    def all(self, *names: str) -> list[Element]:
        """The elements with the first of these classes that any element has."""
        return next((found for name in names if (found := self._classed(name))), [])

    def first(self, *names: str) -> Element | None:
        """The first element with the first of these classes that any element has."""
        return next(iter(self.all(*names)), None)

    def tests(self, name: str) -> list[Element]:
        """The elements with a test id."""
        return self._inside(self._index.marked("data-test-id", name))

    def test(self, name: str) -> Element | None:
        """The first element with a test id."""
        return next(iter(self.tests(name)), None)

    def section(self, name: str) -> Element | None:
        """The first element that is named as a section of a profile."""
        return next(iter(self._inside(self._index.marked("data-section", name))), None)

    def _inside(self, places: list[int]) -> list[Element]:
        start, end = self._span
        return [self._index.elements[place] for place in places[bisect_left(places, start) : bisect_left(places, end)]]

    def _classed(self, name: str) -> list[Element]:
        return self._inside(self._index.classed(name))

    def text(self, *names: str) -> str | None:
        """The text of the first element that shows one, by classes in order of preference; None when it is masked."""
        return unmasked(self.written(*names))

    def written(self, *names: str) -> str | None:
        """The same as the page writes it, masked or not."""
        elements = (element for name in names for element in self._classed(name))
        return next((found for element in elements if (found := shown(element))), None)


class _Index:
    """Elements in their order, and the places among them of each class attribute and each mark."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self.elements = list(elements)
        #: whole attributes: a page has few, of a dozen classes each, and is asked for some of these
        self._attributes: dict[str, list[int]] = defaultdict(list)
        self._classes: dict[str, list[int]] = {}
        for place, element in enumerate(self.elements):
            self._attributes[element.get("class", "")].append(place)

    def classed(self, name: str) -> list[int]:
        """The places of a class, in their order."""
        if name not in self._classes:
            found = (places for told, places in self._attributes.items() if name in told and name in told.split())
            self._classes[name] = sorted(chain.from_iterable(found))
        return self._classes[name]

    def marked(self, name: str, value: str) -> list[int]:
        """The places of a mark, in their order."""
        return self._marks.get((name, value), [])

    @cached_property
    def _marks(self) -> dict[tuple[str, str], list[int]]:
        marks: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, element in enumerate(self.elements):
            for name in _MARKS:
                value = element.get(name)
                if value:
                    marks[name, value].append(place)
        return marks

    @cached_property
    def place_of(self) -> dict[Element, int]:
        """The elements' places."""
        return {element: place for place, element in enumerate(self.elements)}

    def span(self, root: Element) -> tuple[int, int]:
        """The places of an element and of those in it."""
        start = self.place_of[root]
        return start, start + sum(element in self.place_of for element in root.iter("*"))


def _outside(root: Element, name: str) -> Iterator[Element]:
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if name in (element.get("class") or "").split() or element.get("data-test-id") == name:
            walk.skip_subtree()
        else:
            yield element


def parsed(source: str) -> Element:
    """The elements of a text.

    Raises:
        ContractError: it is no markup, or more than any page has.
    """
    root = None
    source = source.strip()
    if "<" in source and len(source) <= _LONGEST:
        # plain elements: lxml.html's own classes cost a call for each
        parser = etree.HTMLParser(encoding="utf-8")
        with suppress(etree.ParserError, etree.XMLSyntaxError):  # nothing but comments, say
            root = etree.fromstring(source.replace("\x00", "").encode(errors="replace"), parser)
    if root is None:
        raise ContractError("body", "the body is no page")
    return root


def source_of(page: Page) -> str:
    """A page's text."""
    return html.decoded(page)


def shown(element: Element | None) -> str | None:
    """An element's text in one line, without comments."""
    return None if element is None else told(html.squeezed(_STRING(element)))


def pieces(element: Element | None) -> list[str]:
    """The single texts inside an element, in their order."""
    found = [] if element is None else _TEXTS(element)
    return [piece for text in found if (piece := html.squeezed(text))]


def prose(element: Element | None) -> str | None:
    """An element's text with its lines and paragraphs."""
    if element is None:
        return None
    found = _MARGIN.sub("\n", _BLANKS.sub(" ", "".join(_written(element))))
    return told(_GAPS.sub("\n\n", found).strip())


def _written(root: Element) -> Iterator[str]:
    kept = _keeps_lines(root)
    walk = etree.iterwalk(root, events=("start", "end", "comment"))
    for event, element in walk:
        silent = event == "start" and element.tag in _SILENT
        if silent:
            walk.skip_subtree()
        elif event == "start":
            yield _before(element.tag) + _piece(element.text, kept=kept)
        elif element is not root:
            yield ("\n" if event == "end" and element.tag in _BLOCKS else "") + _piece(element.tail, kept=kept)


def _before(tag: object) -> str:
    if tag == "li":
        return "\n- "
    return "\n" if tag == "br" or tag in _BLOCKS else ""


def _keeps_lines(root: Element) -> bool:
    """Whether line breaks of the source are the author's own."""
    return root.tag == "pre" or "whitespace-pre-wrap" in (root.get("class") or "").split()


def _piece(text: str | None, *, kept: bool) -> str:
    return (text or "") if kept else (text or "").replace("\n", " ")


def attribute(element: Element | None, *names: str) -> str | None:
    """The first of these attributes that says something."""
    found = (element.get(name) for name in names) if element is not None else ()
    return next((value.strip() for value in found if value and value.strip()), None)


def unmasked(text: str | None) -> str | None:
    """The text, None where guests get asterisks in place of letters."""
    return None if text and masked(text) else text


def masked(text: str) -> bool:
    """Whether a text is one that guests are not shown: ``******* ** ****``."""
    return "*" in text and not any(character.isalnum() for character in text)


def code(source: str, identity: str) -> str | None:
    """What the page tells its scripts in ``<code id=…><!--"…"--></code>``."""
    match = re.search(rf'<code[^<>]{{0,200}}\bid="{re.escape(identity)}"[^<>]{{0,200}}>\s{{0,200}}<!--', source)
    end = source.find("-->", match.end()) if match else -1
    if match is None or end < 0:
        return None
    return told(source[match.end() : end].strip().strip('"'))


def is_whole_page(source: str) -> bool:
    """Whether a text is a page, and no fragment of one."""
    return "<head" in source[:8192].lower()


def json_ld(source: str, *types: str) -> Iterator[Mapping[str, Any]]:
    """The page's JSON-LD objects of these types."""
    for node in html.json_ld(source):
        kind = node.get("@type")
        if kind in types or (isinstance(kind, list) and not set(types).isdisjoint(map(str, kind))):
            yield node


def page_meta(source: str) -> dict[str, str]:
    """The page's meta tags; articles of 2022 have ``value`` in place of ``content``."""
    return html.meta(_VALUE.sub(r"\1content=", source) if _VALUE.search(source) else source)


def canonical(source: str, page: Page) -> str | None:
    """The page's own address: as it says itself, else where it came from."""
    meta = html.meta(source)
    found = (meta.get("canonical"), meta.get("og:url"), page.url)
    return next((url for told_url in found if (url := contract.plain(told_url)) and contract.ours(url)), None)
