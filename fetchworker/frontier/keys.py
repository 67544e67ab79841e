"""The names of the frontier's keys in Redis, and the shapes behind them.

A namespace is a queue with all that belongs to it. All its keys share one hash tag, so that a namespace lies on one
node of a cluster and one script can touch it whole:

=============================  ==========================================================================
``<spider>:start_urls``        seeds of the shared namespace: a list, set or sorted set (scrapy-redis's name)
root                           ``{<spider>:start_urls}``, the shared one; ``{<spider>:crawl:<id>}``, a private one
``<root>:requests``            sorted set: the priorities that hold something (``SCHEDULER_QUEUE_KEY``)
``<root>:requests:<number>``   list: the entries of a priority, first in, first out
``<root>:waiting``             sorted set: priority → when (ms) it was last served
``<root>:delayed``             sorted set: ``<token>:<priority>:<entry>`` → when (ms) it falls due
``<root>:suspects``            list: ``<priority>:<entry>`` of what is handed out alone, as workers went down with it
``<root>:workers``             sorted set: worker → when (ms) its leases lapse
``<root>:work:<worker>``       hash: token of a lease → ``<since ms>:<priority>:<entry>``
``<root>:calls``               hash: worker → its last call and what that handed out
``<root>:stage:<token>``       list: children of a page that has very many, until it is done
``<root>:committed``           list: tokens of such pages that are done
``<root>:start``               hash: who runs start() (``owner``), how far it is (``count``), ``done``
``<root>:dead``                hash: id → msgpack of reason, when (ms), priority, entry
``<root>:counts``              hash: ``token``, ``enqueued``, ``done``, ``dead``, ``redelivered``
``<root>:dupefilter``          hash: how the seen-set is laid out (``SCHEDULER_DUPEFILTER_KEY``)
``<root>:dupefilter:<n>``      set of integers: a bucket of fingerprints
``{<spider>:namespaces}``      sorted set: id of a private namespace → when (s) it was last in use
=============================  ==========================================================================

A user of Redis that may touch ``{<spider>:*`` and ``<spider>:*`` is enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fetchworker.errors import ConfigError

#: scrapy-redis's names of the settings that rename a key, with what they stand for
SEEDS_KEY, QUEUE_KEY, SEEN_KEY = "REDIS_START_URLS_KEY", "SCHEDULER_QUEUE_KEY", "SCHEDULER_DUPEFILTER_KEY"
_TAG = re.compile(r"\{([^}]+)\}")


@dataclass(frozen=True, slots=True)
class Namespace:
    """One queue of a spider.

    Attributes:
        spider: its name.
        id: of a private namespace; None for the shared one.
        root: head of its keys.
        queue: key of the index of priorities.
        seen: key of the seen-set.
        seeds: key of the seeds; a private namespace has none that anybody pushes to.
    """

    spider: str
    id: str | None
    root: str
    queue: str
    seen: str
    seeds: str

    @property
    def keys(self) -> list[str]:
        """What every script takes, in this order."""
        return [self.root, self.queue, self.seen, self.seeds]

    def __str__(self) -> str:
        return f"{self.spider} (crawl {self.id})" if self.id else self.spider


def namespace(spider: str, crawl_id: str | None = None, *, names: dict[str, str] | None = None) -> Namespace:
    """The namespace of a spider.

    Args:
        spider: the spider's name.
        crawl_id: of a private one; None for the one that all workers of the spider share.
        names: settings that rename keys (:data:`SEEDS_KEY`, :data:`QUEUE_KEY`, :data:`SEEN_KEY`) as scrapy-redis has
            them: ``%(spider)s`` or ``%(name)s`` stands for the spider.

    Raises:
        ConfigError: a name cannot be filled in.
    """
    given = {setting: _filled(setting, text, spider) for setting, text in (names or {}).items() if text}
    seeds = given.get(SEEDS_KEY, f"{spider}:start_urls")
    tag = f"{spider}:crawl:{crawl_id}" if crawl_id else tag_of(seeds)
    root = f"{{{tag}}}"
    if crawl_id:  # renamed keys are the shared namespace's: two crawls must never meet in one
        return Namespace(spider, crawl_id, root, f"{root}:requests", f"{root}:dupefilter", f"{root}:start_urls")
    queue, seen = given.get(QUEUE_KEY, f"{root}:requests"), given.get(SEEN_KEY, f"{root}:dupefilter")
    return Namespace(spider, None, root, queue, seen, seeds)


def registry(spider: str) -> str:
    """The key that lists a spider's private namespaces."""
    return f"{{{spider}:namespaces}}"


def tag_of(key: str) -> str:
    """What decides the slot of a key in a cluster."""
    found = _TAG.search(key)
    return found.group(1) if found else key


def check_cluster(keys: Namespace) -> None:
    """See that all keys lie on one node of a cluster.

    Raises:
        ConfigError: naming the setting that puts one elsewhere.
    """
    for setting, key in ((QUEUE_KEY, keys.queue), (SEEN_KEY, keys.seen), (SEEDS_KEY, keys.seeds)):
        if tag_of(key) != tag_of(keys.root):
            raise ConfigError(
                f"{setting}: {key} lies in another slot of the Redis cluster than {keys.root}; "
                f"leave it out, or put {{{tag_of(keys.root)}}} into it"
            )


def _filled(setting: str, text: str, spider: str) -> str:
    try:
        return text % {"spider": spider, "name": spider}
    except (KeyError, ValueError, TypeError):
        raise ConfigError(
            f"{setting}: {text!r} cannot be filled in; write %(spider)s where the spider's name stands"
        ) from None
