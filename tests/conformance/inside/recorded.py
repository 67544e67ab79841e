"""A mock server of Scrapy's that writes down who asked it for what.

Copied as ``recorded_<name>.py`` beside the servers: it runs the one of that name.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path

from twisted.web import server

_process = server.Request.process


def process(request):
    line = {
        "port": request.client.port,
        "method": request.method.decode(),
        "target": request.uri.decode("latin-1"),
        "protocol": request.clientproto.decode(),
    }
    with Path(os.environ["CONFORMANCE_LOG"]).open("a") as log:
        log.write(json.dumps(line) + "\n")
    return _process(request)


if __name__ == "__main__":
    server.Request.process = process
    import_module(f"tests.mockserver.{__spec__.name.rpartition('.recorded_')[2]}").main()
