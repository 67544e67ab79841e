"""``scrapy browser``: a page in a browser, and what is to be done with it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    from fetchworker.actions import ActionOutcome

_COMMAND_LINE = 40  # scrapy.settings.SETTINGS_PRIORITIES["cmdline"]
_EXAMPLES = """examples:
  scrapy browser https://lab.example/ --action screenshot
  scrapy browser https://lab.example/ --action 'click:#more' --action 'extract:items=li::text' --action html
  scrapy browser https://lab.example/ --action 'fill:#q=>shoes' --action 'press:#q=>Enter' --action 'wait_for:.list'
  scrapy browser https://lab.example/ --actions steps.json --keep trace --session ada --json | jq .extracted
"""


class Command(ScrapyCommand):
    """Load a page in a browser and do things with it."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "ERROR"}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "URL [--action ACTION ...] [--actions FILE.json] [--keep KIND,...] [--session NAME] [--json]"

    def short_desc(self) -> str:
        return "Load a page in a browser, do things with it, keep pictures of it"

    def long_desc(self) -> str:
        return (
            "Load a page in a browser, as the site's session, by its exits and under the egress policy; do the\n"
            "actions one after the other, and tell each as it ends (standard error). The result is a line on\n"
            "standard output, with --json all of it. docs/actions.md has all actions.\n"
            "Exit codes: 0 done, 1 an action failed or the page was not had, 2 wrong arguments or configuration."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _EXAMPLES
        parser.add_argument(
            "--action", action="append", default=[], metavar="ACTION",
            help="an action: click:SELECTOR, extract:NAME=CSS, screenshot ... or a JSON object; may be repeated",
        )  # fmt: skip
        parser.add_argument("--actions", metavar="FILE", help="a file with a JSON list of actions, which come first")
        parser.add_argument("--keep", default="", metavar="KIND,...", help="keep of the run: screenshot,html,trace,har")
        parser.add_argument(
            "--keep-on-failure", default="screenshot,html", metavar="KIND,...",
            help="keep where an action fails (default: screenshot,html)",
        )  # fmt: skip
        parser.add_argument("--site", default="fetch", help="whose entry of sites.yaml holds (default: fetch)")
        parser.add_argument("--session", metavar="NAME", help="keeps cookies and exit under this name")
        parser.add_argument("--proxy", metavar="TIER", help="a tier of proxies")
        parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for all of it (60)")
        parser.add_argument("--json", action="store_true", help="the result as JSON")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        import asyncio  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.errors import ArgumentError, ConfigError, FetchworkerError  # noqa: PLC0415  # as above
        from fetchworker.service.failures import ApiError, failure_of  # noqa: PLC0415  # as above

        try:
            self.exitcode = asyncio.run(self._work(args, opts))
        except (ArgumentError, ConfigError) as exc:
            self._fail(exc.message, 2)
        except ApiError as exc:
            self._fail(exc.message, 2 if exc.type in ("VALIDATION_ERROR", "NOT_INSTALLED") else 1)
        except FetchworkerError as exc:
            self._fail(f"{failure_of(exc).type}: {exc.message}", 1)
        except (TimeoutError, OSError) as exc:
            self._fail(str(exc) or type(exc).__name__, 1)

    def _fail(self, why: str, code: int) -> None:
        print(f"scrapy browser: {why}", file=sys.stderr)
        self.exitcode = code

    async def _work(self, args: list[str], opts: argparse.Namespace) -> int:
        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above
        from fetchworker.service.browsing import check_browser  # noqa: PLC0415  # as above
        from fetchworker.service.models import BrowserRunBody, read_body  # noqa: PLC0415  # as above

        if len(args) != 1 or args[0].startswith("-"):
            raise ArgumentError(f"write scrapy browser {self.syntax()}")
        body = read_body(BrowserRunBody, _body(args[0], opts))
        result = await self._browse(body, opts.timeout, check_browser)
        print(_json(result) if opts.json else _line(result))
        return 0 if result["outcome"] == "ok" else 1

    async def _browse(self, body: Any, seconds: float, check: Any) -> dict[str, Any]:
        """Open the site's crawler for this one call."""
        import asyncio  # noqa: PLC0415  # as above
        from uuid import uuid4  # noqa: PLC0415  # as above

        from fetchworker.actions import parse_actions  # noqa: PLC0415  # as above
        from fetchworker.runtime import artifact_store, check_artifacts_written, load_configuration  # noqa: PLC0415  # as above
        from fetchworker.service.browsing import BrowserRun  # noqa: PLC0415  # as above
        from fetchworker.service.crawlers import Crawlers  # noqa: PLC0415  # as above

        assert self.settings
        parse_actions(body.actions)
        environment, _ = load_configuration(self.settings)
        check(environment)
        await asyncio.to_thread(check_artifacts_written, environment)
        own: Any = self.settings.copy()
        if (own.getpriority("LOG_LEVEL") or 0) < _COMMAND_LINE:  # the project's own level would drown the actions
            own.set("LOG_LEVEL", "ERROR", priority="cmdline")
        crawlers = Crawlers(own, {body.site: self._spider(body.site)}, redis_patience=environment.redis_patience)
        store = artifact_store(environment)
        try:
            served, engine = await crawlers.get(body.site)
            run = BrowserRun(served, body, store, call_id=uuid4().hex, told=_tell)
            return await run.run(engine, timeout=seconds, last={})
        finally:
            await crawlers.close()
            await store.close()

    def _spider(self, site: str) -> Any:
        from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # as above

        from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

        assert self.settings
        loader = get_spider_loader(self.settings)
        if site not in loader.list():
            raise ArgumentError(f"--site: there is no {site!r}; known: {', '.join(loader.list())}")
        return loader.load(site)


def _body(url: str, opts: argparse.Namespace) -> bytes:
    """The same as ``POST /browser/runs`` takes."""
    import json  # noqa: PLC0415  # as above

    from fetchworker.actions import parse_short  # noqa: PLC0415  # as above

    actions = [*(_read(opts.actions) if opts.actions else []), *map(parse_short, opts.action)]
    values = {"url": url, "actions": actions, "site": opts.site, "keep": _kinds(opts.keep)}
    values["keep_on_failure"] = _kinds(opts.keep_on_failure)
    values |= {name: value for name, value in (("session_id", opts.session), ("proxy", opts.proxy)) if value}
    return json.dumps(values).encode()


def _read(name: str) -> list[Any]:
    import json  # noqa: PLC0415  # as above
    from pathlib import Path  # noqa: PLC0415  # as above

    from fetchworker.errors import ArgumentError  # noqa: PLC0415  # as above

    try:
        found = json.loads(Path(name).read_bytes())
    except OSError as exc:
        raise ArgumentError(f"--actions {name}: it cannot be read ({exc.strerror or exc})") from exc
    except ValueError as exc:
        raise ArgumentError(f"--actions {name}: it is no JSON ({exc})") from exc
    if isinstance(found, dict) and isinstance(found.get("actions"), list):
        found = found["actions"]
    if not isinstance(found, list):
        raise ArgumentError(f"--actions {name}: a list of actions is expected")
    return found


def _kinds(text: str) -> list[str]:
    return [kind.strip() for kind in text.split(",") if kind.strip()]


def _tell(outcome: ActionOutcome) -> None:
    print(outcome.line(), file=sys.stderr, flush=True)


def _json(value: dict[str, Any]) -> str:
    import json  # noqa: PLC0415  # as above

    return json.dumps(value, ensure_ascii=False)


def _line(result: dict[str, Any]) -> str:
    page = result["page"]
    kept = "".join(f"  {kind} {id_}" for kind, id_ in result["artifacts"].items())
    told = "" if not result["extracted"] else "\n" + _json(result["extracted"])
    return f"{result['outcome']}: {page['url']} {page['status'] or ''} in {result['elapsed_ms']:.0f} ms{kept}{told}"
