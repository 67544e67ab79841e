"""What commands print."""

from __future__ import annotations

import sys


def say(*lines: str) -> None:
    """Lines for who reads the output, at once."""
    if lines:
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


def complain(line: str) -> None:
    """A line beside the output."""
    sys.stderr.write(f"scrapy runs: {line}\n")
    sys.stderr.flush()
