"""curl's error numbers → Scrapy's family of download errors (pure).

Numbers: https://curl.se/libcurl/c/libcurl-errors.html (seen 2026-11).
"""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)

from fetchworker.errors import ProxyAuthError, ProxyFailedError

UNSUPPORTED_PROTOCOL = 1
COULDNT_RESOLVE_PROXY = 5
COULDNT_RESOLVE_HOST = 6
COULDNT_CONNECT = 7
HTTP2_FRAMING = 16
PARTIAL_FILE = 18
OPERATION_TIMEDOUT = 28
SSL_CONNECT_ERROR = 35
GOT_NOTHING = 52
RECV_ERROR = 56
HTTP2_STREAM = 92
PROXY_HANDSHAKE = 97
PROXY_AUTHENTICATION_REQUIRED = 407

#: what SOCKS proxies say (CURLproxycode, https://curl.se/libcurl/c/CURLINFO_PROXY_ERROR.html, seen 2026-11): nothing
#: that we offer, or our user name, will do; it could not or would not connect
SOCKS_AUTH_CODES = frozenset({12, 33})
SOCKS_REFUSED_CODES = range(18, 25)
_REFUSED = 400
_CLASSES = {
    UNSUPPORTED_PROTOCOL: UnsupportedURLSchemeError,
    COULDNT_RESOLVE_HOST: CannotResolveHostError,
    COULDNT_CONNECT: DownloadConnectionRefusedError,
    PROXY_HANDSHAKE: DownloadConnectionRefusedError,
}
#: through a proxy these speak of the proxy: curl dials nothing else
_PROXY_CODES = frozenset({COULDNT_RESOLVE_PROXY, COULDNT_CONNECT, PROXY_HANDSHAKE})

#: the transfer stopped in the middle of a body
DATA_LOSS_CODES = frozenset({PARTIAL_FILE, RECV_ERROR, HTTP2_STREAM})


#: methods that may be sent twice (RFC 9110, 9.2.2)
_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})


def may_repeat(code: int, method: str) -> bool:
    """Whether a transfer that ended without a byte of an answer may be sent once more at once (pure).

    It may when an HTTP/2 connection was closed under it, as after a GOAWAY that counts the request in. What a server
    says it has not touched (a GOAWAY below the request, REFUSED_STREAM), and what it wants over HTTP/1.1
    (HTTP_1_1_REQUIRED), curl sends again by itself.
    """
    return code == HTTP2_FRAMING and method in _IDEMPOTENT


def proxy_auth_error() -> ProxyAuthError:
    """The error for a 407, whether it answered CONNECT or a plain request."""
    told = "the proxy refused the credentials (407): correct its entry in the proxy list"
    return ProxyAuthError(told, outcome="proxy_auth")


def translate(
    code: int, reason: str, *, url: str, connect_code: int, timeout: float, proxied: bool, socks: int = 0
) -> Exception:
    """Make the exception for a failed transfer.

    Args:
        code: curl's error number.
        reason: curl's own words, without credentials.
        url: the request's URL, for the text.
        connect_code: the proxy's answer to CONNECT, 0 when there was none.
        timeout: the limit that applied, in seconds.
        proxied: whether the request went through a proxy.
        socks: what a SOCKS proxy said, in curl's numbers (CURLproxycode); 0 for nothing.
    """
    if connect_code == PROXY_AUTHENTICATION_REQUIRED:
        return proxy_auth_error()
    text = f"{reason or 'transfer failed'} (curl {code}) for {url}"
    if code == OPERATION_TIMEDOUT:
        return DownloadTimeoutError(f"Getting {url} took longer than {timeout} seconds.")
    if proxied and socks in SOCKS_AUTH_CODES:
        told = "the proxy refused the credentials (SOCKS5): correct its entry in the proxy list"
        refusal = ProxyAuthError(told, outcome="proxy_auth")
        refusal.__cause__ = DownloadConnectionRefusedError(text)  # what Scrapy would have said
        return refusal
    error: Exception = _CLASSES.get(code, DownloadFailedError)(text)
    if proxied and code == SSL_CONNECT_ERROR:
        # the tunnel stood and no TLS came through it: nearly always a gateway whose exit is gone
        failed = ProxyFailedError(f"no TLS through the proxy: {text}", outcome="proxy_tls")
        failed.__cause__ = error
        return failed
    if proxied and (code in _PROXY_CODES or connect_code >= _REFUSED):
        refused = connect_code >= _REFUSED or socks in SOCKS_REFUSED_CODES
        told = f"the proxy refused the way ({connect_code or 'SOCKS5'})" if refused else "the proxy failed"
        failed = ProxyFailedError(f"{told}: {text}", outcome="proxy_refused" if refused else "proxy_error")
        failed.__cause__ = error  # what Scrapy would have said
        return failed
    return error
