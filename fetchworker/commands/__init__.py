"""The project's own ``scrapy`` commands, and what those that print have in common."""

from __future__ import annotations

import os
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

#: what a shell tells of a program that a closed pipe ended (128 + SIGPIPE)
PIPE_CLOSED = 141


def while_read(
    run: Callable[[Any, list[str], argparse.Namespace], None],
) -> Callable[[Any, list[str], argparse.Namespace], None]:
    """Let a command end quietly when nobody reads its output any more (``scrapy sites | head``)."""

    @wraps(run)
    def wrapped(self: Any, args: list[str], opts: argparse.Namespace) -> None:
        try:
            run(self, args, opts)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python would try once more, and complain, when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = PIPE_CLOSED

    return wrapped
