"""What ``scrapy runs`` does; each act gives the exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from fetchworker.errors import ArgumentError
from fetchworker.runs import deliveries as outgoing
from fetchworker.runs.models import RunRequest, place_of
from fetchworker.runs.place import opened
from fetchworker.runs.saying import say
from fetchworker.runs.schedulemodels import ScheduleRequest
from fetchworker.runs.texts import (
    delivery_line,
    event_line,
    job_lines,
    run_line,
    schedule_line,
    session_line,
    usage_lines,
)
from fetchworker.runs.watching import watched

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

M = TypeVar("M", bound=BaseModel)
DONE = 0
#: exit codes by the run's end
ENDS: Mapping[str, int] = {"succeeded": 0, "partial": 3, "failed": 4, "timed_out": 5, "aborted": 6}
_PAGE = 500


def request_of(opts: argparse.Namespace) -> RunRequest:
    """The run that the options ask for.

    Raises:
        ArgumentError: naming the field that is wrong.
    """
    return _checked(RunRequest, _written(opts.request) if opts.request else _typed(opts))


def _checked(model: type[M], value: Any) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        raise ArgumentError(f"{place_of(first['loc'])}: {first['msg']}") from None


def _written(path: str) -> Any:
    try:
        text = sys.stdin.read() if path == "-" else _read(path)
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ArgumentError(f"{path}: no JSON: {exc}") from None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as exc:
        raise ArgumentError(f"{path}: {exc.strerror}") from None


def _typed(opts: argparse.Namespace) -> dict[str, Any]:
    if not opts.actor:
        raise ArgumentError("name a spider, or a file with --request")
    given: dict[str, str] = {}
    for pair in opts.argument:
        name, found, value = pair.partition("=")
        if not found:
            raise ArgumentError(f"-a {pair}: NAME=VALUE is expected")
        given[name] = value
    options = {
        "memoryMb": opts.memory_mb, "timeoutSec": opts.timeout_sec, "priority": opts.priority,
        "nodeTags": opts.node_tag,
    }  # fmt: skip
    job = {"actor": opts.actor, "input": given, "options": {k: v for k, v in options.items() if v is not None}}
    return {
        "workspaceId": opts.workspace or "default", "conversationId": opts.conversation, "skillId": opts.skill,
        "callbackWebhook": opts.callback, "runs": [job],
    }  # fmt: skip


async def start(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Start a run, and watch it to its end."""
    request = request_of(opts)
    async with opened(settings, engine=not opts.detach) as runs:
        run = await runs.start(request, idempotency_key=opts.key)
        if opts.detach:
            say(_json(run) if opts.json else run.run_id)
            return DONE
        return ENDS[await watched(runs, run.run_id, as_json=opts.json)]


async def watch(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Watch a run to its end."""
    async with opened(settings, engine=True, making=False) as runs:
        return ENDS[await watched(runs, opts.run, as_json=opts.json)]


async def abort(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """End a run, and wait until its processes are gone."""
    async with opened(settings, engine=True, making=False) as runs:
        await runs.abort(opts.run)
        state = await watched(runs, opts.run, as_json=opts.json)
        return DONE if state == "aborted" else ENDS[state]


async def resume(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Begin anew what did not succeed, and watch it to its end."""
    async with opened(settings, engine=not opts.detach, making=False) as runs:
        run = await runs.resume(opts.run)
        if opts.detach:
            say(_json(run) if opts.json else run_line(run))
            return DONE
        return ENDS[await watched(runs, opts.run, as_json=opts.json)]


async def find(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """List runs, the newest first."""
    narrow = {"conversation": opts.conversation, "skill": opts.skill, "state": opts.state}
    mine = [opts.workspace] if opts.workspace else None
    async with opened(settings, making=False) as runs:
        page = await runs.list(workspaces=mine, limit=opts.limit, **narrow)
    for run in page.runs:
        say(_json(run) if opts.json else run_line(run))
    return DONE


async def show(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Show a run with its jobs."""
    async with opened(settings, making=False) as runs:
        run = await runs.get(opts.run)
    say(*([_json(run)] if opts.json else [run_line(run), *run.reasons, *job_lines(run), *usage_lines(run)]))
    return DONE


async def sessions(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """List the stored sessions that a run's jobs have used."""
    async with opened(settings, making=False) as runs:
        found = await runs.sessions(opts.run, limit=opts.limit)
    say(*(_json(one) if opts.json else session_line(one) for one in found))
    return DONE


async def items(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Print the items of a run as JSON lines."""
    async with opened(settings, making=False) as runs:
        async for part in runs.stream(opts.run, after=opts.after):
            sys.stdout.write(part.decode())
    return DONE


async def events(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Print what happened to a run."""
    async with opened(settings, making=False) as runs:
        after = opts.after
        while (page := await runs.events(opts.run, after=after, limit=_PAGE)).events:
            for event in page.events:
                say(_json(event) if opts.json else event_line(event))
            after = page.events[-1].seq
    return DONE


async def log(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Print the end of a job's log."""
    async with opened(settings, making=False) as runs:
        chunk = await runs.log(opts.run, job=opts.job, offset=-opts.bytes, limit=opts.bytes)
    sys.stdout.write(chunk.data.decode("utf-8", "replace"))
    return DONE


async def schedules(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """``list``, ``add``, ``on``, ``off`` or ``drop``; whoever watches runs starts them."""
    request = _checked(ScheduleRequest, _written(opts.file)) if opts.what == "add" else None
    async with opened(settings) as runs:
        if request is not None:
            say(schedule_line(await runs.schedules.add(request)))
        elif opts.what == "drop":
            await runs.schedules.drop(opts.schedule)
        elif opts.what in ("on", "off"):
            say(schedule_line(await runs.schedules.switch(opts.schedule, on=opts.what == "on")))
        else:
            found = await runs.schedules.list(workspaces=[opts.workspace] if opts.workspace else None)
            say(*(_json(one) if opts.json else schedule_line(one) for one in found))
    return DONE


async def migrate(settings: BaseSettings, _: argparse.Namespace) -> int:
    """Make or renew the tables."""
    async with opened(settings) as runs:
        say(f"the tables of {runs.store.label} are those of this version")
    return DONE


async def deliveries(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """List callbacks."""
    mine = [opts.workspace] if opts.workspace else None
    async with opened(settings, making=False) as runs:
        page = await outgoing.listed(runs.store, workspaces=mine, run_id=opts.run, state=opts.state, limit=opts.limit)
    say(*(_json(one) if opts.json else delivery_line(one) for one in page.deliveries))
    return DONE


async def replay(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """Have callbacks delivered again by who watches runs."""
    async with opened(settings, making=False) as runs:
        for name in opts.delivery:
            say(delivery_line(await outgoing.replayed(runs.store, name)))
    return DONE


def _json(view: BaseModel) -> str:
    return view.model_dump_json(by_alias=True)
