"""A POST that goes where it was sent and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Straight(HTTPRedirectHandler):
    """A redirect is an error."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def post(url: str, headers: Mapping[str, str], body: bytes, *, timeout: float) -> bool:
    """Send it; whether it was taken. No proxy of the environment is asked.

    Raises:
        OSError: it was not sent, or not taken.
    """
    request = Request(url, body, dict(headers), method="POST")  # noqa: S310  # checked where it is configured
    with build_opener(ProxyHandler({}), _Straight).open(request, timeout=timeout) as answer:
        return bool(answer.status < 300)  # noqa: PLR2004  # the successes
