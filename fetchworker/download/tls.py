"""TLS beyond the profile: versions, ciphers and logging as Scrapy's settings say, and the server's certificate."""

from __future__ import annotations

import logging
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.x509 import load_der_x509_certificate
from curl_cffi import CurlInfo, CurlOpt
from curl_cffi._wrapper import ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable

    from curl_cffi import Curl
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

#: curl's numbers for CURLOPT_SSLVERSION, https://curl.se/libcurl/c/CURLOPT_SSLVERSION.html (seen 2026-11)
_VERSIONS = {"TLSv1.0": 4, "TLSv1.1": 5, "TLSv1.2": 6, "TLSv1.3": 7}
_MAX_SHIFT = 16
_LIBRARYS_OWN = "DEFAULT"  # Scrapy's and OpenSSL's word for the cipher list of the TLS library
_TEXT = 0  # CURLINFO_TEXT, the kind of debug data that is meant for people
_CONNECTED = b"SSL connection using "
_CERTIFICATE = b"Cert:"


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """What Scrapy's settings say about TLS.

    ``versions`` is curl's number for the lowest and highest version, 0 for the profile's or curl's own; ``ciphers`` an
    OpenSSL cipher list for TLS up to 1.2. Either changes the hello of a profile. ``verbose`` logs each new connection.
    """

    versions: int = 0
    ciphers: str | None = None
    verbose: bool = False


def tls_options(settings: BaseSettings) -> TlsOptions:
    """Read the settings.

    Raises:
        ValueError: DOWNLOAD_TLS_MIN_VERSION or DOWNLOAD_TLS_MAX_VERSION is no version.
    """
    lowest, highest = (_version(settings, f"DOWNLOAD_TLS_{end}_VERSION") for end in ("MIN", "MAX"))
    ciphers = settings.get("DOWNLOADER_CLIENT_TLS_CIPHERS")
    return TlsOptions(
        versions=lowest | highest << _MAX_SHIFT,
        ciphers=None if ciphers == _LIBRARYS_OWN else ciphers or None,
        verbose=settings.getbool("DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING"),
    )


def _version(settings: BaseSettings, name: str) -> int:
    value = settings.get(name)
    if value is not None and value not in _VERSIONS:
        raise ValueError(f"Unknown {name} value: {value}")  # Scrapy's own words
    return _VERSIONS.get(value, 0)


def check_key_log() -> None:
    """Warn when SSLKEYLOGFILE names a file that cannot be written: curl would say nothing.

    curl opens the file once, at the first transfer of a process.
    """
    name = os.environ.get("SSLKEYLOGFILE")
    if not name:
        return
    try:
        with Path(name).open("ab"):
            pass
    except OSError as exc:
        logger.warning("Cannot write TLS session keys to %s: %s", name, exc)


def set_tls(curl: Curl, options: TlsOptions, *, certificates: bool) -> None:
    """Set what differs from the profile's own TLS; ``certificates`` keeps the server's for :func:`certificate`."""
    if options.versions:
        curl.setopt(CurlOpt.SSLVERSION, options.versions)
        curl.setopt(CurlOpt.PROXY_SSLVERSION, options.versions)
    if options.ciphers:
        curl.setopt(CurlOpt.SSL_CIPHER_LIST, options.ciphers)
    if certificates:
        curl.setopt(CurlOpt.CERTINFO, 1)
    if options.verbose:
        curl.setopt(CurlOpt.VERBOSE, 1)


def certificate(curl: Curl) -> bytes | None:
    """The server's certificate (DER) if the last transfer made the connection, else None."""
    # curl_cffi's getinfo takes the answer for a list of texts of its own and frees it
    found = ffi.new("struct curl_slist **")
    lib.curl_easy_getinfo(curl._curl, CurlInfo.CERTINFO, found)  # noqa: SLF001
    if not found[0] or not ffi.cast("int *", found[0])[0]:
        return None
    # struct curl_certinfo { int num_of_certs; struct curl_slist **certinfo; }, the server's own certificate first
    line = ffi.cast("struct curl_slist ***", found[0])[1][0]
    while line:
        text = ffi.string(line.data)
        if text.startswith(_CERTIFICATE):
            return ssl.PEM_cert_to_DER_cert(text.removeprefix(_CERTIFICATE).decode("ascii").strip())
        line = line.next
    return None


def connection_logger(host: str) -> Callable[[int, bytes], None]:
    """A debug callback that logs protocol and cipher of a new TLS connection."""

    def log(kind: int, data: bytes) -> None:
        if kind == _TEXT and data.startswith(_CONNECTED):
            protocol, _, rest = data.removeprefix(_CONNECTED).decode("latin-1").strip().partition(" / ")
            logger.debug("SSL connection to %s using protocol %s, cipher %s", host, protocol, rest.partition(" / ")[0])

    return log


def log_certificate(der: bytes) -> None:
    """Log issuer and subject of a certificate."""
    found = load_der_x509_certificate(der)
    logger.debug(
        'SSL connection certificate: issuer "%s", subject "%s"',
        found.issuer.rfc4514_string(),
        found.subject.rfc4514_string(),
    )
