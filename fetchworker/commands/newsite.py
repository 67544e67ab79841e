"""``scrapy newsite``: writes the files of a new site, which runs at once against the page that comes with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from fetchworker.scaffold import Plan, Site

BAD_USE = 2


class Command(ScrapyCommand):
    """Write a new site."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's attribute

    def syntax(self) -> str:
        return "NAME [--domain HOST] [--operation NAME]"

    def short_desc(self) -> str:
        return "Write the files of a new site: spider, tests, docs, entry in sites.yaml"

    def long_desc(self) -> str:
        return (
            "Write the package of a new site in fetchworker/spiders, its tests with a page to try it on, its page in "
            "docs/sites, and its entry in sites.yaml. They run as they are; change them into the site's. All is "
            "written or nothing. Exit codes: 0, 2 when a name cannot be, the site is there, or it cannot be written."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        own = parser.add_argument_group(title="Site")
        own.add_argument("--domain", metavar="HOST", help="the site's host (default: NAME.example)")
        own.add_argument(
            "--operation", metavar="NAME", default="profile", help="what the site does first (default: profile)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.errors import FetchworkerError  # noqa: PLC0415  # keeps `scrapy list` light
        from fetchworker.scaffold import plan, write  # noqa: PLC0415  # as above

        if len(args) != 1:
            raise UsageError("give the name of one site")
        try:
            root, sites_file = self._places()
            site = self._site(args[0], opts, root)
            planned = plan(site, root, sites_file)
            write(planned)
        except FetchworkerError as exc:
            print(f"scrapy newsite: {exc.message}", file=sys.stderr)
            self.exitcode = BAD_USE
            return
        _tell(site, planned)

    def _places(self) -> tuple[Path, Path]:
        """The project's folder and its sites file."""
        import fetchworker.spiders  # noqa: PLC0415  # keeps `scrapy list` light
        from fetchworker.config import command_line, load_environment  # noqa: PLC0415  # as above
        from fetchworker.config.files import project_dir  # noqa: PLC0415  # as above
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # as above
        from fetchworker.sites import load_sites  # noqa: PLC0415  # as above

        assert self.settings
        root = project_dir().resolve()
        own = next(iter(fetchworker.spiders.__path__))
        if _resolved(own) != root / "fetchworker" / "spiders":
            raise ConfigError(f"the spiders of this program are in {own}, not in {root}: run that project's own scrapy")
        environment = load_environment(overrides=command_line(self.settings))
        load_sites(environment.sites_file)
        return root, environment.sites_file

    def _site(self, name: str, opts: argparse.Namespace, root: Path) -> Site:
        from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # keeps `scrapy list` light

        from fetchworker.scaffold import new_site  # noqa: PLC0415  # as above
        from fetchworker.spiders.base import SiteSpider  # noqa: PLC0415  # as above

        assert self.settings
        modules = {path.stem for path in (root / "fetchworker" / "spiders").iterdir()}
        taken = modules | set(get_spider_loader(self.settings).list())
        return new_site(name, domain=opts.domain, operation=opts.operation, taken=taken, methods=dir(SiteSpider))


def _resolved(path: str) -> Path:
    from pathlib import Path  # noqa: PLC0415  # keeps `scrapy list` light

    return Path(path).resolve()


def _tell(site: Site, planned: Plan) -> None:
    print(f"Created the site {site.name} (https://{site.domain}):")
    for path in planned.new:
        print(f"  {path}")
    print(f"with an entry or a link in {', '.join(path.name for path in planned.changed)}.\n")
    print("Try it, then change it into the site's:")
    print(f"  scrapy parse-file {site.name} tests/{site.name}/page.html")
    print(f"  make test ARGS=tests/{site.name}")
    print(f"  scrapy crawl {site.name} -a user=some_name -O {site.name}.jsonl")
