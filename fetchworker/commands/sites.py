"""``scrapy sites``: what there is to crawl, and how to ask for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from fetchworker.commands import while_read

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """List the sites."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "[SITE ...] [--json]"

    def short_desc(self) -> str:
        return "List sites, their operations and arguments"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="one JSON object per site, parameter schemas included")

    @while_read
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.download.coherence import check_sites  # noqa: PLC0415  # as above
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # as above
        from fetchworker.runtime import load_configuration  # noqa: PLC0415  # as above

        assert self.settings
        loader = get_spider_loader(self.settings)
        try:
            _, sites = load_configuration(self.settings)
            check_sites(sites)
        except ConfigError as exc:
            print(f"scrapy sites: {exc.message}", file=sys.stderr)
            self.exitcode = 2
            return
        unknown = [name for name in args if name not in sites]
        if unknown:
            print(f"scrapy sites: no site {unknown[0]!r}; known: {', '.join(sites)}", file=sys.stderr)
            self.exitcode = 2
            return
        for name in args or sites:
            show = _show_json if opts.json else _show
            show(name, loader.load(name), sites[name])


def _show(name: str, spider: Any, config: Any) -> None:
    pace = f"{config.concurrency} at once, every {config.delay:g} s"
    print(f"{name}  proxy: {config.proxy}, {pace}, robots.txt: {config.robots}")
    for operation in getattr(spider, "operations", {}).values():
        chosen = f"  (chosen by {', '.join(operation.default_for)})" if operation.default_for else ""
        print(f"  {operation.name}: {operation.summary}{chosen}")
        for field, info in operation.params.model_fields.items():
            star = " *" if info.is_required() else ""
            print(f"    -a {field}=…{star}{f'  {info.description}' if info.description else ''}")


def _show_json(name: str, spider: Any, config: Any) -> None:
    import orjson  # noqa: PLC0415  # keeps `scrapy list` light

    operations = {
        operation.name: {
            "summary": operation.summary,
            "default_for": list(operation.default_for),
            "counts": operation.counts,
            "params": operation.params.model_json_schema(),
        }
        for operation in getattr(spider, "operations", {}).values()
    }
    line = orjson.dumps({"site": name, "config": config.model_dump(mode="json"), "operations": operations})
    print(line.decode())
