"""What the parts of one scrapyd share: its jobs, its places, its name."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.utils.conf import closest_scrapy_cfg

from fetchworker.config import load_environment
from fetchworker.errors import ConfigError
from fetchworker.jobs.store import JobStore, Launch
from fetchworker.platforms.choice import launch_of

if TYPE_CHECKING:
    from scrapyd.config import Config

_RUNNER = "fetchworker.scrapyd_ext.runner"


@dataclass(slots=True)
class Node:
    """A node, for as long as its process lives."""

    name: str
    tags: frozenset[str]
    slots: int
    store: JobStore
    keep: int
    incarnation: str = field(default_factory=lambda: secrets.token_hex(8))

    def launch(self, project: str, version: str | None) -> Launch:
        """How a job of a project is started; ``version`` is its egg's."""
        own = {"SCRAPY_PROJECT": project} | ({"SCRAPYD_EGG_VERSION": version} if version else {})
        base = self.store.launch
        return Launch(runner=_RUNNER, grace=base.grace, webhook=base.webhook, secret=base.secret, environment=own)


_nodes: dict[int, Node] = {}


def node_of(config: Config) -> Node:
    """The node of a scrapyd, whose components are made from its configuration one by one.

    Raises:
        ConfigError: a value is wrong.
    """
    if id(config) not in _nodes:
        _nodes[id(config)] = _made(config)
    return _nodes[id(config)]


def _made(config: Config) -> Node:
    environment = load_environment()
    folder = _beside_scrapy_cfg(Path(config.get("store_dir", ".fetchworker/scrapyd/jobs")))
    try:
        store = JobStore(folder, launch_of(environment))
    except OSError as exc:
        raise ConfigError(f"[scrapyd] store_dir: {folder} cannot be made: {exc.strerror or exc}") from exc
    return Node(
        name=config.get("node_name", socket.gethostname()),
        tags=frozenset(config.get("tags", " ").replace(",", " ").split()),
        slots=_slots(config, environment.jobs_slots),
        store=store,
        keep=config.getint("finished_to_keep", 100),
    )


def _beside_scrapy_cfg(folder: Path) -> Path:
    """A relative folder is the project's, wherever scrapyd is started from: an empty store would be another node."""
    found = closest_scrapy_cfg()
    return Path(found).parent / folder if found else folder


def _slots(config: Config, told: int | None) -> int:
    """As our own variable says, or scrapyd's own options, of which the default is four for each core."""
    each = config.getint("max_proc_per_cpu", 4)
    return told or config.getint("max_proc", 0) or (os.cpu_count() or 1) * each
