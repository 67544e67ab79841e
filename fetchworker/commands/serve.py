"""``scrapy serve``: the HTTP service."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

if TYPE_CHECKING:
    import argparse

BAD_USE = 2
_PORT = 8000
_PORTS = range(65_536)
#: as argparse takes it, shortened too
_RELOAD = frozenset("--reload"[:end] for end in range(len("--re"), len("--reload") + 1))


class Command(ScrapyCommand):
    """Serve calls over HTTP."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "[--stateless] [--host HOST] [--port PORT] [--reload] | --new-key NAME --scopes fetch,sites"

    def short_desc(self) -> str:
        return "Serve fetches and the sites' operations over HTTP"

    def long_desc(self) -> str:
        return (
            "Serve POST /fetch and /documents, the routes of all sites, sessions and pools; --stateless leaves out "
            "sites and pools. On loopback nobody is asked for a key unless there are some; elsewhere it does not start "
            "without FETCHWORKER_SERVE_KEYS or FETCHWORKER_SERVE_KEYS_FILE. SIGTERM and SIGINT: /health fails, calls "
            "have SHUTDOWN_DRAIN_SECONDS to end, a second signal ends at once. Exit codes: 2 wrong arguments or "
            "configuration, 1 the address cannot be listened at, else as the signal says (143, 130)."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        own = parser.add_argument_group(title="Service")
        own.add_argument("--stateless", action="store_true", help="/fetch, /documents, /sessions and /health alone")
        own.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
        own.add_argument("--port", type=int, default=_PORT, help=f"the port, 0 for any that is free ({_PORT})")
        own.add_argument("--reload", action="store_true", help="start anew when a source file changes (development)")
        keys = parser.add_argument_group(title="Keys")
        keys.add_argument("--new-key", metavar="NAME", help="make an API key, and its entry for the list")
        keys.add_argument("--scopes", default="fetch,sites", help="what the new key opens (fetch,sites)")
        keys.add_argument("--rate", type=int, help="calls a minute of the new key (any number)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.errors import FetchworkerError, how_to_install  # noqa: PLC0415  # keeps `scrapy list` light

        try:
            self._refuse(args, opts)
            if opts.new_key is not None:
                _new_key(opts)
            elif opts.reload:
                self.exitcode = _reload(sys.argv[1:])  # Scrapy has taken the command's name out of it
            else:
                self._serve(opts)
        except FetchworkerError as exc:
            print(f"scrapy serve: {exc.message}", file=sys.stderr)
            self.exitcode = BAD_USE
        except ModuleNotFoundError as exc:
            if exc.name not in ("fastapi", "uvicorn", "starlette", "httptools", "python_multipart"):
                raise
            print(f"scrapy serve: {exc.name} is missing: {how_to_install('service')}", file=sys.stderr)
            self.exitcode = BAD_USE

    def _refuse(self, args: list[str], opts: argparse.Namespace) -> None:
        from fetchworker.errors import ConfigError  # noqa: PLC0415  # keeps `scrapy list` light

        if args:
            raise ConfigError("takes no arguments but its options")
        if opts.port not in _PORTS:
            raise ConfigError(f"--port: 0 to {_PORTS[-1]} is expected, not {opts.port}")

    def _serve(self, opts: argparse.Namespace) -> None:
        from fetchworker.service.serving import serve  # noqa: PLC0415  # keeps `scrapy list` light

        assert self.settings
        self.exitcode = serve(self.settings, host=opts.host, port=opts.port, stateless=opts.stateless)


def _new_key(opts: argparse.Namespace) -> None:
    import orjson  # noqa: PLC0415  # keeps `scrapy list` light

    from fetchworker.service.callers import new_key  # noqa: PLC0415  # as above

    key, entry = new_key(opts.new_key, tuple(one.strip() for one in opts.scopes.split(",")), opts.rate)
    print(f"the key, which is shown this once: {key}", file=sys.stderr)
    print(orjson.dumps(entry).decode())


def _reload(given: list[str]) -> int:
    from fetchworker.config import load_environment  # noqa: PLC0415  # keeps `scrapy list` light
    from fetchworker.service.reloading import run_again  # noqa: PLC0415  # as above

    rest = (one for one in given if one not in _RELOAD)
    command = [sys.executable, "-m", "scrapy", "serve", *rest]
    return run_again(command, also=[load_environment().sites_file])
