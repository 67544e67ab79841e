"""What the middlewares tell the handler about one try of a request, kept in ``request.meta["fw_wire"]``.

The object lives for one try in one process: it is never serialised, copied to children or logged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fetchworker.contracts import Page
from fetchworker.pace import DIRECT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.http import Response

    from fetchworker.download.profiles import Profile
    from fetchworker.download.rendering import Rendering
    from fetchworker.proxies import Proxy
    from fetchworker.sessions import Session
    from fetchworker.usage import Charge

WIRE = "fw_wire"
#: the meta key of a mapping that is told how each try ended, for who may get no answer in time
LAST = "fw_last_try"


@dataclass(slots=True)
class Wire:
    """One try: who sends it, which way, dressed as what.

    ``client`` is the key of the curl client (an identity), None for the shared client of stateless tries. ``headers``
    are complete ``Name: value`` lines; None leaves the request's own headers. ``order`` lists all names in the order
    of sending, ``cookie`` is the Cookie header's value. ``secrets`` are headers that stand in no request: credentials
    of the operator. ``elapsed`` (seconds), the bytes of both bodies and the ``charge`` of all bytes on the wire are
    filled in by the handler; ``cookies_kept`` says that it has put the answer's cookies into the jar. ``page`` is the
    answer as the classifier saw it, so that it is built once. ``rendering`` says that a browser loads the page.
    """

    session: Session
    client: str | None
    proxy: Proxy | None = None
    proxy_required: bool = False
    profile: Profile | None = None
    headers: Sequence[bytes] | None = field(default=None, repr=False)
    order: bytes | None = None
    cookie: bytes | None = field(default=None, repr=False)
    secrets: Sequence[tuple[str, str]] = field(default=(), repr=False)
    weight: int | None = None
    elapsed: float = 0.0
    bytes_down: int = 0
    bytes_up: int = 0
    charge: Charge | None = field(default=None, repr=False)
    cookies_kept: bool = False
    page: Page | None = None
    rendering: Rendering | None = field(default=None, repr=False)

    def judge(self, outcome: str) -> None:
        """Say what the answer was worth, so that its bytes are counted as that."""
        if self.charge is not None:
            self.charge.judge(outcome)

    @property
    def exit(self) -> str:
        """What the site takes for the visitor's address: the proxy's id, one name for all direct requests."""
        return self.proxy.id if self.proxy is not None else DIRECT


def page_of(response: Response, request: Request | None = None) -> Page:
    """A response as classifier and parsers see it, made once per answer.

    ``request`` is needed while the response is on its way through downloader middlewares and not tied to it yet.
    """
    request = request or response.request
    wire: Wire | None = request.meta.get(WIRE) if request is not None else None
    if wire is not None and wire.page is not None:
        return wire.page
    headers = {
        name.decode("latin-1").lower(): [value.decode("latin-1") for value in values]
        for name, values in response.headers.items()
    }
    page = Page(url=response.url, status=response.status, headers=headers, body=response.body)
    if wire is not None:
        wire.page = page
    return page
