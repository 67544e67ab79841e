"""``python -m fetchworker.demo``: the demo site and its proxies as a process."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import stat
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from fetchworker.demo.behaviour import NAMED, BehaviourConfig
from fetchworker.demo.gateway import GatewayServer
from fetchworker.demo.log import Log
from fetchworker.demo.proxy import ProxyServer, Scheme
from fetchworker.demo.server import UpstreamServer
from fetchworker.demo.site import demo_site
from fetchworker.demo.tls import Authority
from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.providers import product_of

_DESCRIPTION = """\
A local site that plays instagram with invented people, and local proxies to reach it by. Nothing leaves the machine.
"""
_SERVE = """\
Starts the site and its proxies on loopback ports, prints one line of JSON when they are up, and runs until SIGTERM,
SIGINT, or the end of standard input (when that is a pipe):

  {"upstream": {"https_port": 1, "http_port": 2, "ca": "DIR/ca.pem"},
   "proxies": ["http://user:password@127.0.0.1:3", ...],
   "host_map": {"www.instagram.com:443": "127.0.0.1:1", ...}}

The passwords are made for this start. The proxies reach what host_map names and nothing else; each has an address of
its own (127.0.0.11, .12, ...) that the site takes for the exit. DIR/log.jsonl gets a line for every connection,
request, behaviour and proxy tunnel.

Hosts: www.instagram.com and i.instagram.com (the play: nasa, quiet.harbour (private), clay.and.kiln, ...),
scontent.cdninstagram.com (pictures), bench.example (/page/<bytes>/<n>), lab.example (test routes; see the module
fetchworker.demo.lab).
"""
_PROJECT = Path(__file__).resolve().parents[2]
_BEHAVIOURS = """\
calm: answers everybody. demo (the default): each exit's first try meets a 403 block page, an identity is sent to the
login page after 9 hits, and one request each meets 429 (Retry-After: 1), a slow answer and 502.
"""


def _parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m fetchworker.demo", description=_DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run the main job against the site and tell what happened")
    run.add_argument("--folder", type=Path, default=Path("demo-out"), help="for items and logs (default: demo-out)")
    serve = commands.add_parser("serve", help="run the site and the proxies", description=_SERVE, formatter_class=plain)
    add = serve.add_argument
    add("--state-dir", type=Path, required=True, metavar="DIR", help="where ca.pem and log.jsonl go")
    add("--behaviour", choices=sorted(NAMED), default="demo", help=_BEHAVIOURS)
    add(
        "--block-exits", type=int, metavar="N", help="block the first try of the first N exits only (-1: of every exit)"
    )
    add("--wall-after", type=int, metavar="N", help="login page after N hits of an identity (0: never)")
    add("--proxies", type=int, default=2, metavar="N", help="how many proxies (default: 2)")
    add("--proxy-scheme", choices=("http", "https", "socks5"), default="http", help="what they speak (default: http)")
    add("--gateway", action="store_true", help="proxies also take <user>-<anything>, each with an exit of its own")
    add(
        "--provider", type=_product, metavar="NAME:PRODUCT",
        help="proxies are gateways of this provider's product, such as evomi:residential",
    )  # fmt: skip
    add("--seed", type=int, default=0, metavar="N", help="invent other people and ids (default: 0)")
    add("--quiet-log", action="store_true", help="log no requests and connections (for benchmarks)")
    return parser


def _product(text: str) -> tuple[str, str]:
    provider, _, name = text.partition(":")
    try:
        product = product_of(provider, name)
    except ProxyConfigError as exc:
        raise argparse.ArgumentTypeError(exc.message) from None
    return product.provider, product.name


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "run":
        from fetchworker.demo.run import run  # noqa: PLC0415 - the site alone needs none of it

        return run(options.folder, _PROJECT)
    options.state_dir.mkdir(parents=True, exist_ok=True)
    if sys.platform != "win32":
        import uvloop  # noqa: PLC0415 - not on every platform

        uvloop.run(_serve(options))
    else:
        asyncio.run(_serve(options))
    return 0


def _config(options: argparse.Namespace) -> BehaviourConfig:
    config = NAMED[options.behaviour]
    if options.block_exits is not None:
        config = replace(config, block_exits=options.block_exits)
    if options.wall_after is not None:
        config = replace(config, wall_after=options.wall_after or None)
    return config


async def _serve(options: argparse.Namespace) -> None:
    directory: Path = options.state_dir
    async with AsyncExitStack() as stack:
        log = stack.enter_context(Log(directory / "log.jsonl", keep=False, write=not options.quiet_log))
        authority = Authority(directory)
        site = demo_site(_config(options), seed=options.seed, log=log)
        upstream = UpstreamServer(site.app, authority=authority, log=log, watch_tickets=not options.quiet_log)
        await stack.enter_async_context(upstream)
        proxies = [
            await stack.enter_async_context(_proxy(number, options, upstream, authority, log))
            for number in range(1, options.proxies + 1)
        ]
        ended = _listen_for_the_end(stack)
        print(json.dumps(_ready(upstream, proxies)), flush=True)
        await ended.wait()


def _proxy(
    number: int, options: argparse.Namespace, upstream: UpstreamServer, authority: Authority, log: Log
) -> ProxyServer:
    scheme: Scheme = options.proxy_scheme
    if options.provider:
        provider, product = options.provider
        return GatewayServer(
            upstream.host_map(), provider=provider, product=product, scheme=scheme, username=f"demo{number}",
            network=60 + number, authority=authority, log=log, name=f"gateway{number}",
        )  # fmt: skip
    return ProxyServer(
        upstream.host_map(), scheme=scheme, username=f"demo{number}", source=f"127.0.0.{10 + number}",
        gateway=options.gateway, authority=authority, log=log, name=f"proxy{number}",
    )  # fmt: skip


def _ready(upstream: UpstreamServer, proxies: list[ProxyServer]) -> dict[str, Any]:
    return {
        "upstream": {"https_port": upstream.port, "http_port": upstream.http_port, "ca": upstream.ca_pem_path},
        "proxies": [proxy.entry() if isinstance(proxy, GatewayServer) else proxy.url for proxy in proxies],
        "host_map": upstream.host_map(),
    }


def _listen_for_the_end(stack: AsyncExitStack) -> asyncio.Event:
    """Set on SIGTERM, SIGINT, or the end of standard input if that is a pipe."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, ended.set)
    if _is_pipe(0):
        loop.add_reader(0, _read_on, ended)
        stack.callback(loop.remove_reader, 0)
    return ended


def _read_on(ended: asyncio.Event) -> None:
    if not os.read(0, 4096):
        ended.set()


def _is_pipe(descriptor: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
