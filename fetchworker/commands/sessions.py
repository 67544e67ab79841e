"""``scrapy sessions``: the stored sessions of sites, and their pools."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

_EXAMPLES = """examples:
  scrapy sessions list tiktok_shop linkedin           sessions of the pool, and those that somebody named
  scrapy sessions list tiktok_shop --json | jq 'select(.state == "quarantined")'
  scrapy sessions show tiktok_shop ada                names of its cookies and tokens, never a value
  scrapy sessions drop tiktok_shop pool.main.0a1b2c3d4e5f6071
  scrapy sessions drop tiktok_shop --all --yes        the whole pool
  scrapy sessions warm tiktok_shop 5                  make five and fetch the warm-up pages with each
  scrapy sessions mint tiktok_shop                    make one by a browser: cookies and tokens of what it visits
  scrapy sessions mint tiktok_shop ada --url https://www.tiktok.com/
  scrapy sessions refresh tiktok_shop ada             fetch the warm-up pages again: new tokens, same identity
"""
_ACTS = ("list", "show", "drop", "refresh", "warm", "mint")


class Command(ScrapyCommand):
    """Show, drop, warm up and refresh sessions."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "ERROR"}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        acts = "list SITE ... | show|refresh SITE ID ... | drop SITE ID ...|--all | warm SITE [N] | mint SITE [ID]"
        return f"{acts}   [--json]"

    def short_desc(self) -> str:
        return "Show stored sessions and pools; drop, warm up, mint, refresh them"

    def long_desc(self) -> str:
        return (
            "Show the stored sessions of sites: those of the pool with state, score and quarantine, and those that\n"
            "somebody named. `warm` makes new ones in the pool, `refresh` fetches the warm-up pages again, `mint` has\n"
            "a browser visit them: for the session ID, else for a new one. Values of cookies and tokens are never\n"
            "shown.\n"
            "Exit codes: 0 done (also where there is nothing), 1 no Redis, or a warm-up failed, 2 wrong arguments or\n"
            "configuration, or a session that there is not."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--all", action="store_true", help="drop: all sessions of the pool")
        parser.add_argument("--yes", action="store_true", help="do it: drop --all")
        parser.add_argument("--jar", default="main", metavar="JAR", help="warm, mint: of which jar (default: main)")
        parser.add_argument("--url", metavar="URL", help="mint: what is visited (default: the site's warm-up pages)")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import FetchworkerError, RedisUnavailableError  # noqa: PLC0415  # as above

        try:
            act = self._act(args, opts)
            self.exitcode = act if isinstance(act, int) else asyncio.run(act)
        except FetchworkerError as exc:
            print(f"scrapy sessions: {exc.message}", file=sys.stderr)
            self.exitcode = 1 if isinstance(exc, RedisUnavailableError) else 2

    def _act(self, args: Sequence[str], opts: argparse.Namespace) -> int | Coroutine[Any, Any, int]:
        """What is asked for, which gives the exit code.

        Raises:
            ArgumentError: it cannot be asked so.
        """
        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above
        from fetchworker.pooling import acts  # noqa: PLC0415  # as above
        from fetchworker.queueing.place import check_sites  # noqa: PLC0415  # as above

        assert self.settings
        what, sites, rest = args[0] if args else "", args[1:2], list(args[2:])
        if what not in _ACTS or not sites or [arg for arg in args if arg.startswith("-")]:
            raise ArgumentError(f"write scrapy sessions {self.syntax()}")
        if what == "list":
            check_sites(self.settings, args[1:])
            return acts.show_all(self.settings, args[1:], as_json=opts.json)
        check_sites(self.settings, sites)
        if what == "drop":
            options = {"every": opts.all, "yes": opts.yes, "as_json": opts.json}
            return acts.drop(self.settings, sites[0], rest, **options)
        if what == "warm":
            return self._fetch(sites[0], opts, count=_count(rest))
        if what == "mint":
            return self._mint(sites[0], rest, opts)
        if not rest:
            raise ArgumentError(f"write scrapy sessions {what} SITE ID ...")
        if what == "show":
            return acts.show(self.settings, sites[0], rest, as_json=opts.json)
        from fetchworker.sessions.keys import check_session_id  # noqa: PLC0415  # as above

        return self._fetch(sites[0], opts, names=tuple(map(check_session_id, rest)))

    def _mint(self, site: str, names: Sequence[str], opts: argparse.Namespace) -> int:
        """Have a browser make one: of this name, else in the pool, else of a new name."""
        import secrets  # noqa: PLC0415  # as above

        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above
        from fetchworker.pooling.warming import check_minting  # noqa: PLC0415  # as above
        from fetchworker.sessions.keys import check_session_id  # noqa: PLC0415  # as above
        from fetchworker.spiders.fetch import FetchParams  # noqa: PLC0415  # as above

        if len(names) > 1:
            raise ArgumentError("write scrapy sessions mint SITE [ID] [--url URL]")
        try:
            url = FetchParams(url=opts.url).url if opts.url else None
        except ValueError:
            raise ArgumentError(
                f"--url {opts.url}: an address that begins with http:// or https:// is expected"
            ) from None
        assert self.settings
        pooled = check_minting(self.settings, site, url=url) and not names
        chosen = () if pooled else (check_session_id(names[0]) if names else f"mint.{secrets.token_hex(4)}",)
        return self._fetch(site, opts, count=int(pooled), names=chosen, minting=True, url=url)

    def _fetch(self, site: str, opts: argparse.Namespace, **wishes: Any) -> int:
        """Run a crawl of warm-up pages."""
        from scrapy.crawler import AsyncCrawlerProcess  # noqa: PLC0415  # as above
        from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # as above

        from fetchworker.pooling.warming import Wanted, check_jar_of, check_pool, warming  # noqa: PLC0415  # as above

        assert self.settings
        spider = get_spider_loader(self.settings).load(site)
        check_jar_of(spider, opts.jar)
        wanted = Wanted(jar=opts.jar, **wishes)
        check_pool(self.settings, site, needed=bool(wanted.count))
        self.settings.set("LOG_LEVEL", "ERROR", priority="spider")  # over the project's, under -L
        process = AsyncCrawlerProcess(self.settings)
        process.crawl(warming(spider, wanted))
        process.start()
        if wanted.interrupted and not process.bootstrap_failed:
            wanted.failed.append("it was interrupted: what was not done is as it was")
        return _told(site, wanted, as_json=opts.json)


def _count(args: Sequence[str]) -> int:
    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    if not args:
        return 1
    if len(args) > 1 or not args[0].isascii() or not args[0].isdigit() or not 1 <= int(args[0]) <= 10_000:  # noqa: PLR2004
        raise ArgumentError("write scrapy sessions warm SITE [N], N from 1 to 10000")
    return int(args[0])


def _told(site: str, wanted: Any, *, as_json: bool) -> int:
    import json  # noqa: PLC0415  # as above

    told = [f"{site}: {why}" for why in wanted.failed]
    for what in told + [f"{site} has no session {name}" for name in wanted.missing]:
        print(f"scrapy sessions: {what}", file=sys.stderr)
    failed, why = len(wanted.failed), "" if wanted.visits else " (the site has no warm-up page)"
    done = ("minted" if wanted.minting else "warmed") if wanted.visits else "unchanged" if wanted.names else "made"
    if as_json:
        names = {"warmed": []} | {done: wanted.done} | ({"made_anew": wanted.anew} if wanted.anew else {})
        names |= {"not_made": wanted.unmade} if wanted.unmade else {}
        print(json.dumps({"site": site, **names, "failed": failed, "missing": wanted.missing}))
    else:
        which = f": {', '.join(wanted.done)}" if wanted.minting and wanted.done else ""
        whole = f"{len(wanted.done)} {done.replace('warmed', 'warmed up')}{which}{why}"
        parts = [whole] if wanted.done or not wanted.anew else []
        parts += [f"{len(wanted.anew)} made anew (nobody could read the record)"] if wanted.anew else []
        parts += [f"{wanted.unmade} not made"] if wanted.unmade else []
        parts += [f"{len(wanted.failed)} failed"] if wanted.failed and not wanted.unmade else []
        print(f"{site}: {', '.join(parts)}")
    return 2 if wanted.missing else 1 if wanted.failed or not (wanted.done or wanted.anew) else 0
