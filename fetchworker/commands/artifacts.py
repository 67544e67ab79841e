"""``scrapy artifacts``: what crawls and calls left behind to be looked at."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.artifacts import Artifact, ArtifactStore

_EXAMPLES = """examples:
  scrapy artifacts list                               the latest 20
  scrapy artifacts list --kind bundle --site linktree --json
  scrapy artifacts show 20261130101500123456-0a1b2c3d
  scrapy artifacts get 20261130101500123456-0a1b2c3d -o block.json
  scrapy artifacts get 20261130101500123456-0a1b2c3d | jq -r .answer.body
  scrapy artifacts drop 20261130101500123456-0a1b2c3d
  scrapy artifacts expire                             let go of what has had its time, from cron
"""
_FILTERS = ("site", "operation", "request-id", "run", "job", "session", "workspace", "sha256")
_COLUMNS = {"request-id": "request_id", "run": "run_id", "job": "job_id"}


class Command(ScrapyCommand):
    """Show, fetch, drop and expire artifacts."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "ERROR"}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "list [filters] | show ID ... | get ID [-o FILE] | drop ID ... | expire   [--json]"

    def short_desc(self) -> str:
        return "Show artifacts (screenshots, bundles of failed fetches, WARCs ...), fetch and drop them"

    def long_desc(self) -> str:
        return (
            "Show the artifacts of the project, write one to a file, drop some, or let go of what has had its time.\n"
            "Exit codes: 0 done (also where there is nothing), 1 the store or the database does not answer,\n"
            "2 wrong arguments or configuration, or an artifact that there is not."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--limit", type=int, default=20, metavar="N", help="list: lines at most (default: 20)")
        parser.add_argument("--before", metavar="ID", help="list: older than this one")
        parser.add_argument("--kind", metavar="KIND", help="list: screenshot, pdf, trace, har, html, warc or bundle")
        for name in _FILTERS:
            parser.add_argument(f"--{name}", metavar=name.upper(), help=f"list: of this {name}")
        parser.add_argument("-o", "--out", metavar="FILE", help="get: the file to write (default: standard output)")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ArgumentError, ConfigError, FetchworkerError  # noqa: PLC0415  # as above

        try:
            self.exitcode = asyncio.run(self._work(args, opts))
        except FetchworkerError as exc:
            print(f"scrapy artifacts: {exc.message}", file=sys.stderr)
            self.exitcode = 2 if isinstance(exc, ArgumentError | ConfigError) else 1

    async def _work(self, args: list[str], opts: argparse.Namespace) -> int:
        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above
        from fetchworker.runtime import artifact_store, load_configuration  # noqa: PLC0415  # as above

        assert self.settings
        acts: dict[str, Callable[[ArtifactStore, list[str], argparse.Namespace], Awaitable[int]]] = {
            "list": _list, "show": _show, "get": _get, "drop": _drop, "expire": _expire,
        }  # fmt: skip
        act = acts.get(args[0]) if args else None
        if act is None or [arg for arg in args if arg.startswith("-")]:
            raise ArgumentError(f"write scrapy artifacts {self.syntax()}")
        environment, _ = load_configuration(self.settings)
        store = artifact_store(environment)
        try:
            return await act(store, args[1:], opts)
        finally:
            await store.close()


async def _list(store: ArtifactStore, args: list[str], opts: argparse.Namespace) -> int:
    from fetchworker.artifacts import KINDS, Filters, is_id  # noqa: PLC0415  # as above
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if args:
        raise ArgumentError("list takes no ids; write scrapy artifacts show ID")
    if opts.kind not in (None, *KINDS):
        raise ArgumentError(f"--kind: one of {', '.join(KINDS)}")
    if opts.limit < 1 or (opts.before is not None and not is_id(opts.before)):
        raise ArgumentError("--limit is 1 or more, --before the id of an artifact")
    given = {_COLUMNS.get(name, name): getattr(opts, name.replace("-", "_")) for name in _FILTERS}
    for artifact in await store.list(Filters(kind=opts.kind, **given), before=opts.before, limit=opts.limit):
        print(_json(artifact.to_json()) if opts.json else _line(artifact))
    return 0


async def _show(store: ArtifactStore, args: list[str], _: argparse.Namespace) -> int:
    return await _each(store, args, "show", lambda artifact: _print(_json(artifact.to_json())))


async def _drop(store: ArtifactStore, args: list[str], _: argparse.Namespace) -> int:
    return await _each(store, args, "drop", lambda artifact: store.drop(artifact.id))


async def _each(store: ArtifactStore, ids: list[str], act: str, do: Callable[[Artifact], Awaitable[Any]]) -> int:
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if not ids:
        raise ArgumentError(f"write scrapy artifacts {act} ID ...")
    missing = 0
    for id_ in ids:
        artifact = await store.get(id_)
        if artifact is None:
            print(f"scrapy artifacts: there is no artifact {id_}", file=sys.stderr)
            missing += 1
        else:
            await do(artifact)
    return 2 if missing else 0


async def _print(line: str) -> None:
    print(line)


async def _get(store: ArtifactStore, args: list[str], opts: argparse.Namespace) -> int:
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if len(args) != 1:
        raise ArgumentError("write scrapy artifacts get ID [-o FILE]")

    async def write(artifact: Artifact) -> None:
        if opts.out is None:
            async for part in store.open(artifact):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
        else:
            await _to_file(store, artifact, opts.out)

    return await _each(store, args, "get", write)


async def _to_file(store: ArtifactStore, artifact: Artifact, name: str) -> None:
    """Written aside: what cannot be written whole is not there."""
    import asyncio  # noqa: PLC0415  # as above
    from pathlib import Path  # noqa: PLC0415  # as above

    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    content = b"".join([part async for part in store.open(artifact)])
    aside = Path(f"{name}.part")

    def write() -> None:
        try:
            aside.write_bytes(content)
            aside.replace(name)
        finally:
            aside.unlink(missing_ok=True)

    try:
        await asyncio.to_thread(write)
    except OSError as exc:
        raise ArgumentError(f"-o {name}: it cannot be written ({exc.strerror or exc})") from exc
    print(f"{name}: {artifact.size} bytes, {artifact.media_type}")


async def _expire(store: ArtifactStore, args: list[str], opts: argparse.Namespace) -> int:
    from fetchworker.config.sizes import show_size  # noqa: PLC0415  # as above
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if args:
        raise ArgumentError("expire takes no ids; write scrapy artifacts drop ID")
    gone = await store.expire()
    print(_json(gone._asdict()) if opts.json else f"{gone.artifacts} artifacts gone, {show_size(gone.bytes)}")
    return 0


def _json(value: dict[str, Any]) -> str:
    import json  # noqa: PLC0415  # as above

    return json.dumps(value, ensure_ascii=False)


def _line(artifact: Artifact) -> str:
    from fetchworker.config.sizes import show_size  # noqa: PLC0415  # as above

    told = (artifact.id, artifact.kind, show_size(artifact.size), artifact.site or "-", artifact.url or "")
    return "  ".join(told).rstrip()
