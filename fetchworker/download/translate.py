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
PARTIAL_FILE = 18
OPERATION_TIMEDOUT = 28
GOT_NOTHING = 52
RECV_ERROR = 56
HTTP2_STREAM = 92
PROXY_HANDSHAKE = 97
PROXY_AUTHENTICATION_REQUIRED = 407

_REFUSED = 400
_CLASSES = {
    UNSUPPORTED_PROTOCOL: UnsupportedURLSchemeError,
    COULDNT_RESOLVE_HOST: CannotResolveHostError,
    COULDNT_CONNECT: DownloadConnectionRefusedError,
}
#: through a proxy these speak of the proxy: curl dials nothing else
_PROXY_CODES = frozenset({COULDNT_RESOLVE_PROXY, COULDNT_CONNECT, PROXY_HANDSHAKE})

#: the transfer stopped in the middle of a body
DATA_LOSS_CODES = frozenset({PARTIAL_FILE, RECV_ERROR, HTTP2_STREAM})


def proxy_auth_error() -> ProxyAuthError:
    """The error for a 407, whether it answered CONNECT or a plain request."""
    return ProxyAuthError("the proxy refused the credentials (407): correct its entry in the proxy list")


def translate(code: int, reason: str, *, url: str, connect_code: int, timeout: float, proxied: bool) -> Exception:
    """Make the exception for a failed transfer.

    Args:
        code: curl's error number.
        reason: curl's own words, without credentials.
        url: the request's URL, for the text.
        connect_code: the proxy's answer to CONNECT, 0 when there was none.
        timeout: the limit that applied, in seconds.
        proxied: whether the request went through a proxy.
    """
    if connect_code == PROXY_AUTHENTICATION_REQUIRED:
        return proxy_auth_error()
    if code == OPERATION_TIMEDOUT:
        return DownloadTimeoutError(f"Getting {url} took longer than {timeout} seconds.")
    text = f"{reason or 'transfer failed'} (curl {code}) for {url}"
    if proxied and (code in _PROXY_CODES or connect_code >= _REFUSED):
        return ProxyFailedError(f"the proxy failed: {text}")
    return _CLASSES.get(code, DownloadFailedError)(text)
