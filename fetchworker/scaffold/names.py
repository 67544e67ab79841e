"""The names of a new site: which can be, and what is derived from them (pure but for asking what can be imported)."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SITE = re.compile(r"[a-z][a-z0-9_]{1,29}")
_OPERATION = re.compile(r"[a-z][a-z0-9_]{0,29}")
_DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])")
#: characters: with a longer one the lines that hold it would not fit
_LONGEST_DOMAIN = 80
#: words that have a meaning where a site's name could stand, and names that the templates use
_MEANT = {"any", "defaults", "fetchworker", "sites"}
_USED = {
    "arguments", "call", "contract", "count", "crawler", "decoded", "dig", "ident", "link", "name", "operation", "page",
    "params", "parse", "resolver", "runtime", "script_json", "settings", "started", "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """A new site; ``domain`` is its host, with ``www.`` where the site has it."""

    name: str
    domain: str
    operation: str

    @property
    def host(self) -> str:
        """The domain without ``www.``: with it and its subdomains, where requests may go."""
        return self.domain.removeprefix("www.")

    def values(self) -> dict[str, str]:
        """What the templates put in."""
        return {
            "name": self.name,
            "Name": _camel(self.name),
            "title": self.name.replace("_", " ").strip().capitalize(),
            "domain": self.domain,
            "host": self.host,
            "operation": self.operation,
            "Operation": _camel(self.operation),
        }


def new_site(name: str, *, domain: str | None, operation: str, taken: Iterable[str], methods: Iterable[str]) -> Site:
    """Check the names of a new site.

    Args:
        name: the site's.
        domain: its host; None for ``<name>.example``.
        operation: the name of what it does first.
        taken: names of spiders and of modules beside them.
        methods: what every spider has already.

    Raises:
        ArgumentError: saying which name cannot be, and why.
    """
    fault = _site_fault(name, set(taken))
    if fault:
        raise ArgumentError(f"{name!r} cannot be a site's name: {fault}")
    fault = _operation_fault(operation, set(methods))
    if fault:
        raise ArgumentError(f"--operation: {operation!r} cannot be: {fault}")
    host = f"{name.replace('_', '-').strip('-')}.example" if domain is None else domain.lower()
    if len(host) > _LONGEST_DOMAIN or not _DOMAIN.fullmatch(host):
        raise ArgumentError(f"--domain: {host!r} is no host name; write one such as shop.example (no scheme, no path)")
    return Site(name, host, operation)


def _site_fault(name: str, taken: set[str]) -> str | None:
    if not _SITE.fullmatch(name):
        return "write 2 to 30 small letters, digits and underscores, a letter first"
    if name in taken:
        return "there is a spider or a module of this name in fetchworker/spiders"
    if _is_keyword(name):
        return "it is a keyword of Python"
    if name in _MEANT or not isinstance(yaml.safe_load(name), str):
        return "the word has another meaning (in sites.yaml, or for a command)"
    if name in sys.stdlib_module_names or _importable(name):
        return "there is a Python module of this name"
    return None


def _operation_fault(name: str, methods: set[str]) -> str | None:
    if not _OPERATION.fullmatch(name):
        return "write a small letter, then at most 29 small letters, digits and underscores"
    if _is_keyword(name) or hasattr(builtins, name):
        return "it is a word of Python"
    if name in methods or name in _USED:
        return "every spider has something of this name"
    return None


def _is_keyword(name: str) -> bool:
    return keyword.iskeyword(name) or keyword.issoftkeyword(name)


def _importable(name: str) -> bool:
    """Whether a module or package of this name is installed; a mere folder is none."""
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
