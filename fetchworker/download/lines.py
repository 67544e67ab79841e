"""Header lines as curl's ``HTTPHEADER`` takes them."""

from __future__ import annotations

import re


def header_line(name: str, value: bytes) -> bytes:
    """``Name: value``. An empty value becomes ``Name;``: curl would send nothing for ``Name:``."""
    return name.encode() + (b": " + value if value else b";")


def name_of(line: bytes) -> bytes:
    """The lower-case name of a line."""
    return re.split(rb"[:;]", line, maxsplit=1)[0].lower()


def value_of(line: bytes) -> bytes:
    """The value of a line."""
    return line.partition(b": ")[2]


def encode(text: str) -> bytes:
    """Latin-1 as HTTP means it, UTF-8 for what has no place there."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()
