"""What runs ask for, checked against the spiders before anything is stored."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy.spiderloader import get_spider_loader

from fetchworker.errors import ArgumentError
from fetchworker.runs.plain import DEPTH, too_deep, unstorable
from fetchworker.runtime import load_configuration
from fetchworker.sites import SiteConfig
from fetchworker.spiders.base import SiteSpider
from fetchworker.spiders.kinds import fault_of, kinds_of, text_fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy import Spider
    from scrapy.settings import BaseSettings
    from scrapy.spiderloader import SpiderLoaderProtocol

    from fetchworker.runs.models import RunJob, RunOptions, RunRequest
    from fetchworker.spiders.operation import Operation

logger = logging.getLogger(__name__)
#: faults that one error tells
_MOST = 10
#: of an input that holds a list of seeds
SEEDS = "seeds"


@dataclass(frozen=True, slots=True)
class JobDraft:
    """A job that may be started: its input as it was given, and the spider's arguments that it makes."""

    actor: str
    input: dict[str, Any] | str
    arguments: Mapping[str, str]
    options: RunOptions


class Actors:
    """The spiders of a project.

    Args:
        settings: Scrapy's.
        most: jobs of a call.
    """

    def __init__(self, settings: BaseSettings, *, most: int) -> None:
        self._settings = settings
        self._most = most
        self._known: dict[str, tuple[type[Spider], SiteConfig]] = {}

    @cached_property
    def _loader(self) -> SpiderLoaderProtocol:
        """Made when something is asked for: it reads every spider's module."""
        return get_spider_loader(self._settings)

    def drafts(self, request: RunRequest) -> list[JobDraft]:
        """The jobs that a request asks for, in its order.

        Raises:
            ArgumentError: some are wrong, or they are too many; ``fields`` names them, as ``runs[2].input.user``.
        """
        places = [place for number, job in enumerate(request.runs) for place in _places(number, job)]
        if len(places) > self._most:
            told = f"runs: {len(places)} jobs, and one call may start {self._most} (FETCHWORKER_RUNS_JOBS_MAX)"
            raise ArgumentError(told, fields=["runs"], limit=self._most)
        drafts: list[JobDraft] = []
        faults: list[ArgumentError] = []
        for where, job, given in places:
            try:
                drafts.append(self._draft(where, job, given))
            except ArgumentError as exc:
                faults.append(exc)
                if len(faults) == _MOST:
                    break
        if faults:
            fields = list(dict.fromkeys(field for fault in faults for field in fault.context["fields"]))
            raise ArgumentError("\n".join(fault.message for fault in faults), fields=fields)
        return drafts

    def _draft(self, where: str, job: RunJob, given: Any) -> JobDraft:
        spider, config = self._actor(where.partition(".")[0], job.actor)
        if not isinstance(given, dict | str):
            told = f"{where}: an object of arguments or an http(s) address is expected"
            raise ArgumentError(told, fields=[where])
        _check_values(where, given)
        _check_names(where, given)
        arguments = arguments_of(given)
        if issubclass(spider, SiteSpider):
            try:
                started = spider.make_resolver().arguments(arguments)
                spider.check_call(started.call, config)
            except ArgumentError as exc:
                raise _placed(where, given, exc) from None
            _check_kinds(where, given, spider.operations[started.call.operation])
        return JobDraft(job.actor, given, arguments, job.options)

    def _actor(self, where: str, name: str) -> tuple[type[Spider], SiteConfig]:
        if name not in self._known:
            known = self._loader.list()
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f" (did you mean {close[0]!r}?)" if close else ""
                told = f"{where}.actor: there is no spider {name!r}{hint}; known: {', '.join(sorted(known))}"
                raise ArgumentError(told, fields=[f"{where}.actor"])
            _, sites = load_configuration(self._settings)
            self._known[name] = (self._load(where, name), sites.get(name) or SiteConfig())
        return self._known[name]

    def _load(self, where: str, name: str) -> type[Spider]:
        try:
            return self._loader.load(name)
        except Exception as exc:
            logger.exception("spider %s cannot be loaded", name)
            told = f"{where}.actor: spider {name!r} cannot be loaded: {type(exc).__name__}; the log says more"
            raise ArgumentError(told, fields=[f"{where}.actor"]) from None


def _places(number: int, job: RunJob) -> Iterator[tuple[str, RunJob, Any]]:
    """Where each job's input stands in the request, and the input."""
    where = f"runs[{number}].input"
    seeds = job.input.get(SEEDS) if isinstance(job.input, dict) and job.input.keys() == {SEEDS} else None
    if not isinstance(seeds, list) or not seeds:
        yield where, job, job.input
        return
    for place, seed in enumerate(seeds):
        yield f"{where}.{SEEDS}[{place}]", job, seed


def arguments_of(given: Mapping[str, Any] | str) -> dict[str, str]:
    """An input as ``scrapy crawl -a`` would have it, in which all is text."""
    found = {"url": given} if isinstance(given, str) else given
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}


def _check_values(where: str, given: Mapping[str, Any] | str) -> None:
    if too_deep(given):
        raise ArgumentError(f"{where}: more than {DEPTH} objects and lists lie in each other", fields=[where])
    if (place := unstorable(given, where)) is not None:
        raise ArgumentError(f"{place}: holds a NUL or half a character, which no job can be told", fields=[place])


def _check_names(where: str, given: Mapping[str, Any] | str) -> None:
    for name, value in () if isinstance(given, str) else given.items():
        if value is None:
            raise ArgumentError(f"{where}.{name}: null says nothing; leave it out", fields=[f"{where}.{name}"])
        if not name.isidentifier():
            raise ArgumentError(f"{where}.{name!r}: no name of an argument", fields=[f"{where}.{name}"])


def _check_kinds(where: str, given: Mapping[str, Any] | str, operation: Operation) -> None:
    """See that values are of JSON's types: a number is no text; a text stands for a number as on a command line."""
    for name, value in () if isinstance(given, str) else given.items():
        kinds = kinds_of(operation, name)
        fault = fault_of(value, kinds)
        if fault is not None and isinstance(value, str):
            fault = text_fault_of(value, kinds)
        if fault is not None:
            raise ArgumentError(f"{where}.{name}: {fault}", fields=[f"{where}.{name}"])


def _placed(where: str, given: Any, error: ArgumentError) -> ArgumentError:
    """The spider's error, with the fields as they stand in the request."""
    names = error.context.get("fields") or []
    fields = [f"{where}.{name}" if isinstance(given, dict) else where for name in names] or [where]
    return ArgumentError(f"{', '.join(fields)}: {error.message}", fields=fields)
