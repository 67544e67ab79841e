"""The project's own ``scrapy`` commands, and what those that print have in common."""

from __future__ import annotations

import errno
import os
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

#: what a shell tells of a program that a closed pipe ended (128 + SIGPIPE)
PIPE_CLOSED = 141
#: and of one that Ctrl-C ended (128 + SIGINT)
INTERRUPTED = 130
#: the output cannot be written: a full disk
UNWRITABLE = 4
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def while_read(
    run: Callable[[Any, list[str], argparse.Namespace], None],
) -> Callable[[Any, list[str], argparse.Namespace], None]:
    """Let a command end quietly when nobody reads its output any more (``scrapy sites | head``), and at Ctrl-C.

    Where the output cannot be written it says so, and ends with ``UNWRITABLE``.
    """

    @wraps(run)
    def wrapped(self: Any, args: list[str], opts: argparse.Namespace) -> None:
        try:
            run(self, args, opts)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()
            self.exitcode = PIPE_CLOSED
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED
        except OSError as error:
            if error.errno not in _FULL:
                raise
            _forget_output()
            print(f"scrapy: the output cannot be written: {error.strerror}", file=sys.stderr)
            self.exitcode = UNWRITABLE

    return wrapped


def _forget_output() -> None:
    """Python would try once more, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
