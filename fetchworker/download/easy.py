"""Options of an easy handle: one request's parts → what curl takes. Facts about curl are of libcurl 8.23 (2026-11)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curl_cffi import CurlInfo, CurlOpt
from curl_cffi._wrapper import ffi, lib

if TYPE_CHECKING:
    from curl_cffi import Curl

    from fetchworker.proxies import Proxy

#: curl rewrites these in a path: lower-case hex after %, dot segments, bytes that are no ASCII
_REWRITTEN = re.compile(rb"%[0-9A-F]?[a-f]|%[a-f]|/\.|[\x80-\xff]")
_UNSAFE = re.compile(rb"[\x00-\x20\x7f]")


def request_target(url: bytes, proxy: Proxy | None) -> bytes | None:
    """The target to send byte for byte, None where curl leaves the URL as it is (pure).

    By a plain HTTP proxy without a tunnel the target is the whole URL.
    """
    scheme, _, rest = url.partition(b"://")
    whole = url.partition(b"#")[0]
    start = re.search(rb"[/?#]", rest)
    target = rest[start.start() :].partition(b"#")[0] if start else b""
    if not _REWRITTEN.search(target.partition(b"?")[0]) or _UNSAFE.search(target):
        return None
    if scheme.lower() == b"http" and proxy is not None and not proxy.scheme.startswith("socks"):
        return whole
    return target if target.startswith(b"/") else b"/" + target


def set_method(curl: Curl, method: str, body: bytes) -> None:
    """Set method and body; nothing of the last request is left."""
    # a reused handle keeps the last request's method; HTTPGET clears NOBODY, POST and UPLOAD, but not CUSTOMREQUEST
    set_text(curl, CurlOpt.CUSTOMREQUEST, None)
    set_number(curl, CurlOpt.HTTPGET, 1)
    if method == "HEAD" and not body:
        set_number(curl, CurlOpt.NOBODY, 1)
        return
    if body or method == "POST":
        set_number(curl, CurlOpt.POSTFIELDSIZE, len(body))
        curl.setopt(CurlOpt.POSTFIELDS, body)
    if method != ("POST" if body or method == "POST" else "GET"):
        set_text(curl, CurlOpt.CUSTOMREQUEST, method.encode())


def set_stateless(curl: Curl) -> None:
    """A connection of its own, no TLS ticket offered or kept."""
    curl.setopt(CurlOpt.FRESH_CONNECT, 1)
    curl.setopt(CurlOpt.FORBID_REUSE, 1)
    curl.setopt(CurlOpt.SSL_SESSIONID_CACHE, 0)


def set_verification(curl: Curl, *, verify: bool, ca_file: str | None) -> None:
    """Whom to trust, the same for sites and ``https`` proxies."""
    if not verify:
        for option in (
            CurlOpt.SSL_VERIFYPEER,
            CurlOpt.SSL_VERIFYHOST,
            CurlOpt.PROXY_SSL_VERIFYPEER,
            CurlOpt.PROXY_SSL_VERIFYHOST,
        ):
            curl.setopt(option, 0)
        curl._skip_cacert = True  # noqa: SLF001  # curl_cffi's own switch; it has no public one
    elif ca_file:
        curl.setopt(CurlOpt.CAINFO, ca_file)
        curl.setopt(CurlOpt.PROXY_CAINFO, ca_file)


def set_proxy(curl: Curl, proxy: Proxy | None) -> None:
    """The way out; the environment has no say in it."""
    # an empty PROXY and NOPROXY keep curl from reading http_proxy and no_proxy in the environment
    curl.setopt(CurlOpt.NOPROXY, b"")
    if proxy is None:
        curl.setopt(CurlOpt.PROXY, b"")
        return
    curl.setopt(CurlOpt.PROXY, proxy.url_without_credentials.encode())
    if proxy.username is not None:
        curl.setopt(CurlOpt.PROXYUSERNAME, proxy.username.encode())
        password = proxy.password.get_secret_value() if proxy.password else ""
        curl.setopt(CurlOpt.PROXYPASSWORD, password.encode())


def set_bind(curl: Curl, bind: tuple[str, int] | None) -> None:
    """The local address (or interface) and port; curl shares no connection between different ones."""
    if bind is None:
        return
    host, port = bind
    curl.setopt(CurlOpt.INTERFACE, host.encode())
    if port:
        curl.setopt(CurlOpt.LOCALPORT, port)


# The next four do without curl_cffi's ``setopt`` and ``getinfo``, which are ten times slower and can neither put curl's
# own value back (NULL) nor take lists.


def set_text(curl: Curl, option: CurlOpt, value: bytes | None) -> None:
    """Set a text option, which curl copies; None puts curl's own value back."""
    lib._curl_easy_setopt(curl._curl, option, ffi.NULL if value is None else value)  # noqa: SLF001


def set_number(curl: Curl, option: CurlOpt, value: int) -> None:
    """Set a number or a switch."""
    lib._curl_easy_setopt(curl._curl, option, ffi.new("long*", value))  # noqa: SLF001


def number_of(curl: Curl, info: CurlInfo) -> int:
    """A fact about the last transfer that is a number."""
    value = ffi.new("int64_t*")
    lib.curl_easy_getinfo(curl._curl, info, value)  # noqa: SLF001
    return int(value[0])


def text_of(curl: Curl, info: CurlInfo) -> str:
    """A fact about the last transfer that is a text."""
    value = ffi.new("char**")
    lib.curl_easy_getinfo(curl._curl, info, value)  # noqa: SLF001
    return ffi.string(value[0]).decode() if value[0] else ""
