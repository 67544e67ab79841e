"""Finds spiders by reading their modules, and imports one when it is used.

Scrapy's loader imports everything under ``SPIDER_MODULES`` before any command does its work: the parsers and models of
every site, for a list of names. Here a name is read from ``name = "…"`` in the class; a module whose spiders cannot be
told so is imported, as Scrapy does.
"""

from __future__ import annotations

import ast
import re
import traceback
import warnings
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from scrapy.spiderloader import SpiderLoader
from scrapy.utils.spider import iter_spider_classes

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

    from scrapy import Request, Spider
    from scrapy.settings import BaseSettings

#: what the text of a module with a spider has: parsing all others would cost more than it tells
_DERIVED = re.compile(r"^[ \t]*class\s+\w+\s*\(", re.MULTILINE)
_NAMED = re.compile(r"^(?:[ \t]*class\b.*:)?[ \t]+name\b[^=\n]*=", re.MULTILINE)

Names = list[tuple[str, str]]
"""``(spider, class)`` of each spider of a module."""


class LazySpiderLoader(SpiderLoader):
    """Knows every spider's name, and imports the modules of those that are loaded."""

    def __init__(self, settings: BaseSettings) -> None:
        self._places: dict[str, str] = {}
        super().__init__(settings)

    def _load_all_spiders(self) -> None:
        for root in self.spider_modules:
            try:
                for module, source in _modules(root):
                    self._note(module, _read(source))
            except (ImportError, SyntaxError):
                if not self.warn_only:
                    raise
                told = f"\n{traceback.format_exc()}Could not load spiders from module '{root}'. See above traceback."
                warnings.warn(told, RuntimeWarning, stacklevel=2)
        self._check_name_duplicates()

    def _note(self, module: str, names: Names | None) -> None:
        for name, cls in _imported(module) if names is None else names:
            self._found[name].append((module, cls))
            self._places[name] = module

    def load(self, spider_name: str) -> type[Spider]:
        """The spider's class; its module is imported now, and what is wrong with it is raised now."""
        if spider_name in self._places and spider_name not in self._spiders:
            classes = iter_spider_classes(import_module(self._places[spider_name]))
            self._spiders.update({cls.name: cls for cls in classes if cls.name == spider_name})
        return super().load(spider_name)

    def find_by_request(self, request: Request) -> builtins.list[str]:
        """Names of the spiders that say they handle the request, for which all are imported."""
        return [name for name in self._places if self.load(name).handles_request(request)]

    def list(self) -> builtins.list[str]:
        """The names of all spiders."""
        return [*self._places]


def _modules(root: str) -> Iterator[tuple[str, str | None]]:
    """A module and all under it, each with its source; None where there is none to read."""
    spec = find_spec(root)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {root!r}", name=root)
    yield from _under(spec)


def _under(spec: ModuleSpec) -> Iterator[tuple[str, str | None]]:
    yield spec.name, _source(spec)
    for finder, name, _ in iter_modules(spec.submodule_search_locations or ()):
        further = finder.find_spec(f"{spec.name}.{name}", None)
        if further is not None:
            yield from _under(further)


def _source(spec: ModuleSpec) -> str | None:
    get_source = getattr(spec.loader, "get_source", None)
    try:
        return get_source(spec.name) if get_source else None
    except (ImportError, SyntaxError, UnicodeDecodeError):
        return None  # the import says what is wrong


def _read(source: str | None) -> Names | None:
    """The spiders that a module's source tells of; None when only its import can tell."""
    if source is None:
        return None
    if not (_DERIVED.search(source) and _NAMED.search(source)):
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    names: Names = []
    for node in _classes(tree):
        value = _value(node)
        if value is None or not node.bases:
            continue
        name = value.value if isinstance(value, ast.Constant) else None
        if not isinstance(name, str) or node not in tree.body or not _is_spider(node):
            return None
        names.append((name, node.name))
    return names


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of a module, those under an ``if`` or ``try`` as well."""
    for node in tree.body:
        nodes = ast.walk(node) if isinstance(node, (ast.If, ast.Try, ast.With)) else (node,)
        yield from (found for found in nodes if isinstance(found, ast.ClassDef))


def _value(node: ast.ClassDef) -> ast.expr | None:
    """What the class sets its ``name`` to."""
    for line in node.body:
        targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "name" for target in targets):
            return getattr(line, "value", None)
    return None


def _is_spider(node: ast.ClassDef) -> bool:
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    return any(name.endswith("Spider") for name in names)


def _imported(module: str) -> Names:
    return [(cls.name, cls.__name__) for cls in iter_spider_classes(import_module(module))]
