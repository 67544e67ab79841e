"""``scrapy items``: looks into the database of a project."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    import argparse

    from fetchworker.db import Place
    from fetchworker.db.merge import Known


class Command(ScrapyCommand):
    """Show stored items."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "[--site SITE] [--kind KIND] [--id ID] [--limit N] [--json]"

    def short_desc(self) -> str:
        return "Show the items in the database, the latest first"

    def long_desc(self) -> str:
        return (
            "Show the items in the database, the latest first. With --site, --kind and --id: the history "
            "of one thing, as JSON lines. Exit codes: 0 done, 1 no database, 2 wrong arguments or configuration."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--site", help="only of this site")
        parser.add_argument("--kind", help="only of this kind, such as profile")
        parser.add_argument("--id", help="the history of the thing with this id; needs --site and --kind")
        parser.add_argument("--limit", type=int, default=20, help="lines at most (default: 20)")
        parser.add_argument("--json", action="store_true", help="whole items as JSON lines")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ConfigError, StorageError  # noqa: PLC0415  # as above
        from fetchworker.runtime import database, load_configuration  # noqa: PLC0415  # as above

        assert self.settings
        if args or opts.limit < 1 or (opts.id and not (opts.site and opts.kind)):
            print("scrapy items: --id needs --site and --kind, --limit is 1 or more", file=sys.stderr)
            self.exitcode = 2
            return
        try:
            environment, _ = load_configuration(self.settings)
            asyncio.run(_show(database(environment), opts))
        except (ConfigError, StorageError) as exc:
            print(f"scrapy items: {exc.message}", file=sys.stderr)
            self.exitcode = 2 if isinstance(exc, ConfigError) else 1


async def _show(place: Place, opts: argparse.Namespace) -> None:
    from fetchworker.db.store import ItemStore  # noqa: PLC0415  # SQLAlchemy is heavy
    from fetchworker.errors import StorageError  # noqa: PLC0415  # as above

    if place.path is not None and not place.path.exists():
        raise StorageError(f"{place.label} does not exist yet: nothing was stored")
    store = await ItemStore.open(place, patience=0)
    try:
        if opts.id:
            for item in await store.history(opts.site, opts.kind, opts.id, limit=opts.limit):
                print(_json(item))
            return
        for known in await store.states(site=opts.site, kind=opts.kind, limit=opts.limit):
            print(_json(known.values) if opts.json else _line(known))
    finally:
        await store.close()


def _json(item: dict[str, Any]) -> str:
    import json  # noqa: PLC0415  # as above

    return json.dumps(item, ensure_ascii=False)


def _line(known: Known) -> str:
    item = known.values
    return f"{known.last_seen}  {item['site']}  {item['kind']}  {item['id']}  {item.get('url') or ''}".rstrip()
