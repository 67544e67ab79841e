"""Whom we trust and where names lead: files and lists that curl takes, made from the environment."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from curl_cffi.curl import DEFAULT_CACERT

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.config import Environment


def ca_bundle(environment: Environment) -> str | None:
    """The PEM file to verify with: curl's own roots and FETCHWORKER_CA_FILE together; None for curl's own.

    Raises:
        ConfigError: the state folder cannot be written.
    """
    extra = environment.ca_file
    if extra is None:
        return None
    folder = environment.state_dir
    try:
        content = Path(DEFAULT_CACERT).read_bytes() + b"\n" + extra.read_bytes()
        # named by what it holds: processes share it, and none is left behind by each
        bundle = folder / f"ca-bundle-{sha256(content).hexdigest()[:16]}.pem"
        if not bundle.exists():
            _write(bundle, content)
    except OSError as exc:
        raise ConfigError(f"FETCHWORKER_CA_FILE: cannot make a bundle in {folder}: {exc.strerror}") from exc
    return str(bundle)


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: other processes read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def connect_to_entries(host_map: Mapping[str, str]) -> tuple[bytes, ...]:
    """Make curl's CONNECT_TO entries for a host map of ``host[:port]`` to ``ip:port``."""
    return tuple(
        f"{source if _has_port(source) else source + ':'}:{target}".encode() for source, target in host_map.items()
    )


def _has_port(host: str) -> bool:
    head, colon, tail = host.rpartition(":")
    return bool(colon) and not tail.endswith("]") and bool(head)
