"""The names of a project's spiders: scrapyd reads them once for ever, which is wrong for a project in a folder."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from scrapyd.webservice import spider_list

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOKING = threading.Lock()


def listed(root: Any, project: str, version: str | None) -> Sequence[str]:
    """The names now. Takes as long as ``scrapy list`` for a project without an egg.

    Raises:
        RunnerError: the project cannot be loaded.
    """
    if version is None and not root.eggstorage.list(project):
        found: Sequence[str] = spider_list.set(project, None, runner=root.runner)
    else:
        found = spider_list.get(project, version, runner=root.runner)
    return found


def is_spider(root: Any, project: str, version: str | None, name: str) -> bool:
    """Whether there is one of this name; only one that was not there before costs a look.

    Raises:
        RunnerError: the project cannot be loaded.
    """
    if name in spider_list.cache[project].get(version, ()):
        return True
    with _LOOKING:  # many calls at once look once
        known = spider_list.cache[project].get(version, ())
        return name in known or name in listed(root, project, version)
