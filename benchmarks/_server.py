"""The local upstream of the benchmarks: TLS with HTTP/2, pages of a given size; prints its port and CA as JSON."""

from __future__ import annotations

import asyncio
import json
import signal

from fetchworker.demo.bench import bench_app
from fetchworker.demo.log import Log
from fetchworker.demo.server import UpstreamServer


async def main() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with UpstreamServer(bench_app, log=Log(keep=False), watch_tickets=False) as server:
        print(json.dumps({"port": server.port, "ca": server.ca_pem_path}), flush=True)
        await stop.wait()


asyncio.run(main())
