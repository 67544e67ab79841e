"""Becomes another program, in a session of its own, that dies with its parent.

``python -IS _bound.py PIDFILE PARENT PROGRAM ARGUMENT…``

``PARENT`` is the process id that the parent must have, 0 for whichever it is. A script of its own, as it imports
nothing of the project: it runs before each start of the driver and of Chromium.
"""

import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # prctl(2)


def main() -> None:
    pid_file, parent, *command = sys.argv[1:]
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  # takes as long as the rest

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if parent != "0" and os.getppid() != int(parent):
            sys.exit("the parent ended first")
    if os.getpgrp() != os.getpid():  # Ctrl-C, and any signal to our group, is ours to hear and not the driver's
        os.setsid()
    Path(pid_file).write_text(str(os.getpid()))
    os.execv(command[0], command)  # noqa: S606  # that is what it is for


main()
