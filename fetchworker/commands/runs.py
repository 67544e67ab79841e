"""``scrapy runs``: start runs, watch them, have their rows."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, get_args

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES = """examples:
  scrapy runs start instagram -a user=nasa             a job on this machine, watched to its end
  scrapy runs start --request run.json --detach        as POST /runs takes it; prints the run's id
  scrapy runs list --state running
  scrapy runs show RUN
  scrapy runs watch RUN                                go on where a watch was broken off
  scrapy runs items RUN > items.jsonl
  scrapy runs log RUN --job 0
  scrapy runs abort RUN
`scrapy runs start --help` tells the options of start, and so on. Scrapy's own go before it: scrapy runs -L INFO list
"""
_INTERRUPTED = 130


class Command(ScrapyCommand):
    """Start, watch and end runs."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "ERROR"}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        reading, acting = "list|show|items|events|sessions|log|watch", "abort|resume|deliveries|replay"
        return f"start|{reading}|{acting}|schedules|principals|migrate ..."

    def short_desc(self) -> str:
        return "Start runs of many jobs, watch them to their ends, have their rows"

    def long_desc(self) -> str:
        return (
            "A run is jobs that are asked for together. They run on the nodes of FETCHWORKER_NODES or else on this\n"
            "machine; nothing else has to run. start, watch, abort and resume stay until the run has ended: Ctrl-C\n"
            "leaves it, its jobs go on, and `scrapy runs watch` or a service goes on watching.\n"
            "Exit codes: 0 done (start, watch, resume: succeeded), 1 the database or a node does not answer, 2 wrong\n"
            "arguments or configuration, or no such run, 3 partial, 4 failed, 5 timed_out, 6 aborted."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        acts = parser.add_subparsers(dest="act", metavar="ACT", required=True, parser_class=argparse.ArgumentParser)
        _add_start(acts)
        _add_views(acts)
        _add_acts(acts)
        _add_schedules(acts)
        _add_principals(acts)

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import FetchworkerError  # noqa: PLC0415  # as above

        assert self.settings
        try:
            if args:
                raise _unknown(args)
            self.exitcode = asyncio.run(_act(opts)(self.settings, opts))
        except FetchworkerError as exc:
            print(f"scrapy runs: {exc.message}", file=sys.stderr)
            self.exitcode = _code(exc)
        except KeyboardInterrupt:
            print("scrapy runs: the run goes on; `scrapy runs watch` shows it again", file=sys.stderr)
            self.exitcode = _INTERRUPTED


def _act(opts: argparse.Namespace) -> Callable[..., Any]:
    if opts.act == "principals":
        from fetchworker.service.principalacts import act  # noqa: PLC0415  # keeps `scrapy list` light

        return act
    from fetchworker.runs import acts  # noqa: PLC0415  # as above

    return {"list": acts.find}.get(opts.act) or getattr(acts, opts.act)


def _unknown(args: list[str]) -> Exception:
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # keeps `scrapy list` light

    return ArgumentError(f"{args[0]}: not understood here; Scrapy's own options go before the word")


def _code(error: Exception) -> int:
    from fetchworker.errors import PlatformError, StorageError  # noqa: PLC0415  # keeps `scrapy list` light

    return 1 if isinstance(error, StorageError | PlatformError) else 2


def _add_start(acts: Any) -> None:
    start = acts.add_parser("start", help="start a run, and watch it to its end")
    start.add_argument("actor", nargs="?", help="the spider")
    start.add_argument("-a", dest="argument", action="append", default=[], metavar="NAME=VALUE", help="its arguments")
    start.add_argument("--request", metavar="FILE", help="the run as POST /runs takes it, - for the standard input")
    start.add_argument("--workspace", help="whose it is (default)")
    start.add_argument("--conversation", help="a name that the caller finds it by")
    start.add_argument("--skill", help="as above")
    start.add_argument("--callback", metavar="URL", help="is told of its end")
    start.add_argument("--memory-mb", type=int, help="resident memory of a job's processes together")
    start.add_argument("--timeout-sec", type=float, help="of a job, from its start")
    start.add_argument("--priority", type=float, help="higher first")
    start.add_argument("--node-tag", action="append", help="a node has to have it")
    start.add_argument("--key", help="idempotency key: the same one gives the same run")
    start.add_argument("--detach", action="store_true", help="print its id and leave it to who watches runs")
    _as_json(start)


def _add_views(acts: Any) -> None:
    from fetchworker.runs.models import State  # noqa: PLC0415  # needed by this command alone

    find = acts.add_parser("list", help="list runs, the newest first")
    find.add_argument("--state", choices=get_args(State), help="only those")
    for name in ("workspace", "conversation", "skill"):
        find.add_argument(f"--{name}", help="only those")
    find.add_argument("--limit", type=_count, default=20, help="lines at most (20)")
    _as_json(find)
    show = _of_run(acts, "show", "show a run with its jobs")
    _as_json(show)
    items = _of_run(acts, "items", "print its items as JSON lines")
    items.add_argument("--after", type=int, default=0, help="leave out the rows up to this number")
    events = _of_run(acts, "events", "print what happened to it")
    events.add_argument("--after", type=int, default=0, help="leave out the events up to this number")
    _as_json(events)
    sessions = _of_run(acts, "sessions", "list the stored sessions that its jobs have used")
    sessions.add_argument("--limit", type=_count, default=1000, help="lines at most (1000)")
    _as_json(sessions)
    log = _of_run(acts, "log", "print the end of a job's log")
    log.add_argument("--job", type=int, default=0, help="the job's number (0)")
    log.add_argument("--bytes", type=_count, default=65_536, help="so many before the end (65536)")


def _add_acts(acts: Any) -> None:
    _as_json(_of_run(acts, "watch", "show a run until it has ended"))
    _as_json(_of_run(acts, "abort", "end it, and wait until its processes are gone"))
    resume = _of_run(acts, "resume", "begin its jobs anew that did not succeed")
    resume.add_argument("--detach", action="store_true", help="leave it to who watches runs")
    _as_json(resume)
    found = acts.add_parser("deliveries", help="list callbacks, those of the newest runs first")
    found.add_argument("--workspace", help="only those")
    found.add_argument("--run", help="only those of this run")
    found.add_argument("--state", choices=("pending", "delivered", "dead"), help="only those")
    found.add_argument("--limit", type=_count, default=20, help="lines at most (20)")
    _as_json(found)
    replay = acts.add_parser("replay", help="have callbacks delivered again")
    replay.add_argument("delivery", nargs="+", help="the delivery's id")
    acts.add_parser("migrate", help="make or renew the tables")


def _add_principals(acts: Any) -> None:
    principals = acts.add_parser("principals", help="keys of the HTTP service that are kept in the database")
    whats = principals.add_subparsers(dest="what", metavar="add|list|revoke", required=True)
    add = whats.add_parser("add", help="make a key; it is shown this once")
    add.add_argument("name", help="whose it is")
    add.add_argument("--scopes", default="runs", help="what it opens (runs)")
    add.add_argument("--workspace", help="the only one that it sees (all)")
    _as_json(whats.add_parser("list", help="list them, without their keys"))
    whats.add_parser("revoke", help="take a key's rights away").add_argument("name", help="whose it is")


def _add_schedules(acts: Any) -> None:
    schedules = acts.add_parser("schedules", help="runs that the clock starts")
    whats = schedules.add_subparsers(dest="what", metavar="list|add|on|off|drop", required=True)
    find = whats.add_parser("list", help="list them")
    find.add_argument("--workspace", help="only those")
    _as_json(find)
    whats.add_parser("add", help="keep one").add_argument("file", help="as POST /schedules takes it, - for the input")
    for name, told in (("on", "let it go on from now"), ("off", "let it rest"), ("drop", "forget it")):
        whats.add_parser(name, help=told).add_argument("schedule", help="its id")


def _of_run(acts: Any, name: str, told: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = acts.add_parser(name, help=told)
    parser.add_argument("run", help="the run's id")
    return parser


def _as_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="JSON, an object a line")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1 << 30:
        raise argparse.ArgumentTypeError("a whole number from 1 on is expected")
    return int(text)
