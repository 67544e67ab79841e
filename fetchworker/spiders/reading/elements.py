"""A page's elements by CSS, for pages that many queries are asked of: one pass makes an index for all of them.

The part of CSS that parsers need: tags, classes, ids, attributes (there, equal, containing a text), descendants,
children and lists of these. Everything else is refused when a query is first asked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

import cssselect
from cssselect import parser
from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")

#: more elements and names than any page has, and a longer class attribute; what stands behind them is not found
_MOST, _LONGEST = 100_000, 1000


def document(text: str) -> Node:
    """The root of a page, of any text whatever."""
    markup = text.encode(errors="replace").replace(b"\x00", b"").strip()
    reader = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    root = etree.fromstring(markup, reader) if markup else None
    return Node(_Index(etree.Element("html") if root is None else root), 0)


class Node:
    """An element; ``root`` is lxml's own."""

    __slots__ = ("_index", "_place", "root")

    def __init__(self, index: _Index, place: int) -> None:
        self._index, self._place = index, place
        self.root = index.elements[place]

    def css(self, query: str) -> list[Node]:
        """The elements that a query finds in this one or as it, in the page's order."""
        return [Node(self._index, place) for place in self._index.found(self._place, query)]

    def children(self) -> Iterator[Node]:
        """The elements right below this one."""
        place = self._place + 1
        while place < self._index.ends[self._place]:
            yield Node(self._index, place)
            place = self._index.ends[place]

    def values(self, query: str, name: str) -> list[str]:
        """An attribute of the elements that a query finds, of those that have it."""
        values = (node.root.get(name) for node in self.css(query))
        return [value for value in values if value is not None]

    def first_value(self, query: str, name: str) -> str | None:
        """An attribute of the first element that a query finds and that has it."""
        return next(iter(self.values(query, name)), None)

    def inside(self, *tags: str) -> bool:
        """Whether one of the elements around this one has one of the tags."""
        return next(self.root.iterancestors(*tags), None) is not None

    def value(self, name: str) -> str:
        """An attribute; empty where there is none."""
        return str(self.root.get(name, ""))

    def classes(self) -> frozenset[str]:
        """The element's classes."""
        return frozenset(self.value("class").split())

    def remembered(self, read: Callable[[Any], T]) -> T:
        """What ``read`` makes of the element, which is asked once for each; the page must not be changed after it."""
        known: dict[int, T] = self._index.read.setdefault(read, {})
        if self._place not in known:
            known[self._place] = read(self.root)
        return known[self._place]

    def texts(self) -> list[str]:
        """The pieces of text in the element, hidden ones too, comments left out."""
        return list(self.root.xpath(".//text()"))


@dataclass(frozen=True, slots=True)
class _Step:
    """One part of a query: where an element stands to that of the step before, and what it must be."""

    child: bool
    name: str
    tests: tuple[Callable[[Any], bool], ...]


class _Index:
    """A page's elements in their order, and the places among them of each tag and each class (``.class``).

    What stands in an element is what comes behind it up to its end.
    """

    def __init__(self, root: Any) -> None:
        self.elements = list(islice(root.iter("*"), _MOST))
        self.named: dict[str, Sequence[int]] = {**_named(self.elements), "*": range(len(self.elements))}
        self.ends = _ends(self.elements)
        self.asked: dict[str, list[Sequence[_Step]]] = {}
        self.read: dict[Callable[[Any], Any], dict[int, Any]] = {}

    def found(self, place: int, query: str) -> list[int]:
        """The places that a query finds in an element or as it, in their order."""
        if query not in self.asked:
            self.asked[query] = self._asked(query)
        found = [self._chain(place, steps) for steps in self.asked[query]]
        return found[0] if len(found) == 1 else sorted(set(chain.from_iterable(found)))

    def _asked(self, query: str) -> list[Sequence[_Step]]:
        """What a query asks for that the page has; a list of mere names is made one name."""
        chains: list[Sequence[_Step]] = [
            steps for steps in _parsed(query) if all(step.name in self.named for step in steps)
        ]
        if len(chains) > 1 and all(len(steps) == 1 and not steps[0].tests for steps in chains):
            self.named[query] = sorted(set(chain.from_iterable(self.named[steps[0].name] for steps in chains)))
            return [[_Step(child=False, name=query, tests=())]]
        return chains

    def _chain(self, place: int, steps: Sequence[_Step]) -> list[int]:
        found = self._between(place, self.ends[place], steps[0])
        for step in steps[1:]:
            found = self._below(found, step)
        return found

    def _below(self, places: list[int], step: _Step) -> list[int]:
        inside = [place for start, end in self._spans(places) for place in self._between(start + 1, end, step)]
        if not step.child:
            return inside
        parents = {self.elements[place] for place in places}
        return [place for place in inside if self.elements[place].getparent() in parents]

    def _spans(self, places: list[int]) -> Iterator[tuple[int, int]]:
        """Where elements begin and end; those that stand in another are left out."""
        end = 0
        for place in places:
            if place >= end:
                end = self.ends[place]
                yield place, end

    def _between(self, start: int, end: int, step: _Step) -> list[int]:
        """The places from ``start`` to ``end`` whose elements are what a step asks for."""
        named = self.named[step.name]
        places = named[bisect_left(named, start) : bisect_left(named, end)]
        if not step.tests:
            return list(places)
        return [place for place in places if all(test(self.elements[place]) for test in step.tests)]


def _named(elements: list[Any]) -> dict[str, list[int]]:
    named: dict[str, list[int]] = defaultdict(list)
    kinds: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    for place, element in enumerate(elements):
        kinds[element.tag, element.get("class")].append(place)
    for (tag, classes), places in kinds.items():  # most elements are like others
        names = set((classes or "")[:_LONGEST].split()) if len(named) < _MOST else ()
        for name in (tag, *(f".{name}" for name in names)):
            named[name].extend(places)
    for places in named.values():
        places.sort()
    return named


def _ends(elements: list[Any]) -> list[int]:
    """For each element the place behind the last one that stands in it."""
    ends = [len(elements)] * len(elements)
    around: list[int] = []
    for place, element in enumerate(elements):
        parent = element.getparent()
        while around and elements[around[-1]] is not parent:
            ends[around.pop()] = place
        around.append(place)
    return ends


@cache
def _parsed(query: str) -> list[list[_Step]]:
    """A list of queries, each as its steps from the outermost.

    Raises:
        ValueError: the query has something that is not supported.
    """
    branches = cssselect.parse(query)
    if any(branch.pseudo_element for branch in branches):
        raise ValueError(f"not supported: {query}")
    return [_steps(branch.parsed_tree) for branch in branches]


def _steps(tree: Any) -> list[_Step]:
    if not isinstance(tree, parser.CombinedSelector):
        return [_step(tree, " ")]
    if tree.combinator not in (" ", ">"):
        raise ValueError(f"not supported: {tree!r}")
    return [*_steps(tree.selector), _step(tree.subselector, tree.combinator)]


def _step(tree: Any, combinator: str) -> _Step:
    """A step looks for the class that is written last, if any: it is rarer than a tag."""
    name: str | None = None
    tests: list[Callable[[Any], bool]] = []
    while not isinstance(tree, parser.Element):
        if name is None and isinstance(tree, parser.Class):
            name = f".{tree.class_name}"
        else:
            tests.append(_test(tree))
        tree = tree.selector
    if name and tree.element:
        tests.append(_is(tree.element))
    return _Step(combinator == ">", name or tree.element or "*", tuple(tests))


def _test(tree: Any) -> Callable[[Any], bool]:
    if isinstance(tree, parser.Class):
        return lambda element: tree.class_name in element.get("class", "").split()
    if isinstance(tree, parser.Hash):
        return lambda element: element.get("id") == tree.id
    if isinstance(tree, parser.Attrib):
        return _attribute(tree.attrib, tree.operator, tree.value.value if tree.value else "")
    raise ValueError(f"not supported: {tree!r}")


def _is(tag: str) -> Callable[[Any], bool]:
    return lambda element: element.tag == tag


def _attribute(name: str, operator: str, value: str | None) -> Callable[[Any], bool]:
    if operator == "exists":
        return lambda element: element.get(name) is not None
    if operator == "=":
        return lambda element: element.get(name) == value
    if operator == "*=" and value:
        return lambda element: value in element.get(name, "")
    raise ValueError(f"not supported: [{name}{operator}{value}]")
