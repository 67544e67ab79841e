"""Whom we trust and where names lead: files and lists that curl takes, made from the environment."""

from __future__ import annotations

import os
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
    bundle = environment.state_dir / f"ca-bundle-{os.getpid()}.pem"
    try:
        with open(DEFAULT_CACERT, "rb") as roots:  # noqa: PTH123  # a text from curl_cffi
            content = roots.read() + b"\n" + extra.read_bytes()
        bundle.parent.mkdir(parents=True, exist_ok=True)
        bundle.write_bytes(content)
    except OSError as exc:
        raise ConfigError(f"FETCHWORKER_CA_FILE: cannot make {bundle}: {exc.strerror}") from exc
    return str(bundle)


def connect_to_entries(host_map: Mapping[str, str]) -> tuple[bytes, ...]:
    """Make curl's CONNECT_TO entries for a host map of ``host[:port]`` to ``ip:port``."""
    return tuple(
        f"{source if _has_port(source) else source + ':'}:{target}".encode() for source, target in host_map.items()
    )


def _has_port(host: str) -> bool:
    head, colon, tail = host.rpartition(":")
    return bool(colon) and not tail.endswith("]") and bool(head)
