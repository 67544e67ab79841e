"""A process that has imported Scrapy and us, and runs modules in forks of itself: ``_preloaded.py SOCKET``.

Each message on the socket is a command: JSON with ``argv`` (the module and its arguments), ``env``, ``cwd`` and
``session``; beside it four files, which are its stdin, stdout, stderr, and where its pid and its end are told. A fork
does what ``python -m`` does after its imports; a fork between waits for it. Nothing but imports happens here before.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

#: what commands import, beside the modules of all commands
MODULES = (
    *("scrapy.cmdline", "scrapy.crawler", "scrapy.core.engine", "scrapy.utils.reactorless"),
    *("scrapy.extensions.feedexport", "scrapy.commands.crawl", "scrapy.extensions.logstats"),
    *("fetchworker.runtime.crawl", "fetchworker.doctor.proxies", "fetchworker.spiders.loader"),
    *("fetchworker.spiders.base", "fetchworker.demo.site", "fetchworker.demo.server", "fetchworker.demo.proxy"),
    *("fetchworker.service.app", "uvicorn", "uvloop", "fetchworker.settings", "fetchworker.frontier.scheduler"),
    *("fetchworker.download.downloader", "fetchworker.download.foreign", "fetchworker.db.store"),
)  # fmt: skip


def commands(control: socket.socket) -> dict[str, Any] | None:
    """Serve until the socket ends, None; in a fork that runs a command: the command."""
    while True:
        message, files, _, _ = socket.recv_fds(control, 1 << 20, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not message:
            return None
        if os.fork() == 0:
            control.close()
            if watched(*files):
                return dressed(json.loads(message), files[:3])
        for file in files:
            os.close(file)


def watched(stdin: int, stdout: int, stderr: int, told: int) -> bool:
    """True in the process of the command; its parent waits for it, tells how it ended, and ends as well."""
    pid = os.fork()
    if pid == 0:
        os.close(told)
        return True
    for file in (0, 1, 2, stdin, stdout, stderr):
        with suppress(OSError):
            os.close(file)
    os.write(told, f"{pid}\n".encode())
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # what a whole group is told is for the command
    os.write(told, f"{os.waitpid(pid, 0)[1]}\n".encode())
    os._exit(0)


def dressed(command: dict[str, Any], files: list[int]) -> dict[str, Any]:
    """Take on what a process of its own would begin with."""
    if command["session"]:
        os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(command["cwd"])
    env = command["env"]
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.path[0:1] = [command["cwd"], *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    sys.warnoptions[:] = filter(None, env.get("PYTHONWARNINGS", "").split(","))
    warnings._processoptions(sys.warnoptions)  # type: ignore[attr-defined]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return command


def _in(package: str) -> list[str]:
    return [f"{package}.{found.name}" for found in iter_modules(importlib.import_module(package).__path__)]


def main() -> dict[str, Any] | None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the tests, which end this
    sys.path[0] = str(Path.cwd())  # as -m has it
    for name in (*MODULES, *_in("scrapy.commands"), *_in("fetchworker.commands")):
        with suppress(ModuleNotFoundError):  # of an extra
            importlib.import_module(name)
    assert threading.active_count() == 1, "a fork has one thread"
    assert "twisted.internet.reactor" not in sys.modules, "each command installs its own"
    gc.collect()
    gc.freeze()
    return commands(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__" and (command := main()):
    module, *sys.argv[1:] = command["argv"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
