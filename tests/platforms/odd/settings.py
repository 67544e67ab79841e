"""A project of its own, with the project's settings and with spiders that end in every way."""

from fetchworker.settings import *  # noqa: F403

SPIDER_MODULES = ["odd.spiders", "odd.broken"]
SPIDER_LOADER_WARN_ONLY = True
SPIDER_LOADER_CLASS = "fetchworker.spiders.loader.LazySpiderLoader"
ITEM_PIPELINES = {}
FETCHWORKER_FRONTIER = "memory"
