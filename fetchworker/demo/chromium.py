"""A real Chromium that visits the demo server, to compare with what the profiles send. Nothing leaves the machine."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import ssl
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from fetchworker.egress.chromium import BACKGROUND_OFF

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--headless=new", *BACKGROUND_OFF, "--disable-extensions", "--disable-gpu", "--disable-dev-shm-usage",
    "--password-store=basic", "--use-mock-keychain", "--lang=en-US", "--accept-lang=en-US,en",
)  # fmt: skip


def find_chromium() -> str | None:
    """The path of a Chromium, None where there is none. ``chromium-headless-shell`` is no valid one to compare with."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def chromium_version(program: str) -> int:
    """Its major version.

    Raises:
        OSError: it cannot be run, or does not tell its version.
    """
    told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout  # noqa: S603
    found = re.search(r"(\d+)\.\d+\.\d+\.\d+", told)
    if found is None:
        raise OSError(f"{program} --version says {told!r}")
    return int(found[1])


def spki_of(port: int) -> str:
    """The base64 SHA-256 of the public key of the server on this loopback port, as Chromium's options want it."""
    from cryptography import x509  # noqa: PLC0415 - belongs to the extra `demo`
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    certificate = x509.load_pem_x509_certificate(ssl.get_server_certificate(("127.0.0.1", port)).encode())
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(key).digest()).decode()


class Chromium:
    """One browser with a fresh profile folder, as a context manager.

    Args:
        url: the page it opens.
        hosts: the names there are; all others (its maker's services) are unknown to it.
        port: the loopback port where they lead.
        spki: the key whose certificate errors it does not mind, see :func:`spki_of`.
        options: further ones of its command line.
        program: its path.
    """

    def __init__(
        self, url: str, *, hosts: Sequence[str], port: int, spki: str, program: str, options: Sequence[str] = ()
    ) -> None:
        self._folder = tempfile.mkdtemp(prefix="fw-chromium-")
        root = ("--no-sandbox",) if os.geteuid() == 0 else ()
        rules = [*(f"MAP {host} 127.0.0.1:{port}" for host in hosts), "MAP * ~NOTFOUND"]
        own = (
            f"--user-data-dir={self._folder}",
            f"--ignore-certificate-errors-spki-list={spki}",
            f"--host-resolver-rules={','.join(rules)}",
            "--proxy-server=direct://",
            "--remote-debugging-port=0",  # without it, or something else to do, it would end at once
        )
        self._command = [program, *_QUIET, *root, *own, *options, url]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        log = Path(self._folder, "log").open("wb")
        with log:
            self._process = subprocess.Popen(  # noqa: S603
                self._command, stdout=log, stderr=log, start_new_session=True
            )
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)  # its helpers as well
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def log(self) -> str:
        """What it has said so far, for a test that fails."""
        return Path(self._folder, "log").read_text("utf-8", "replace")[-4000:]
