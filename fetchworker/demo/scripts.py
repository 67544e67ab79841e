"""The demo's script files of Meta's sites, which tell ids of stored queries once pages do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.demo.model import Reply, RequestInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.demo.queries import QueryBook

FACEBOOK, INSTAGRAM = "static.xx.fbcdn.net", "static.cdninstagram.com"
HOSTS = (FACEBOOK, INSTAGRAM)
_SCRIPT = (("content-type", "application/x-javascript; charset=utf-8"), ("cache-control", "public,max-age=31536000"))


class Scripts:
    """The app: files of each book's present build, and files that tell nothing."""

    def __init__(self, books: Sequence[tuple[QueryBook, str]]) -> None:
        self._books = books

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        for book, brand in self._books:
            found = book.script(request.route, brand)
            if found is not None:
                return Reply(200, _SCRIPT, found)
        if request.route.endswith(("/vendor.js", "/lib.js")):
            return Reply(200, _SCRIPT, b'__d("Nothing",[],(function(t,n,r,o,a,i){a.exports="1"}),null);')
        return Reply(404, (("content-type", "text/plain"),), b"")
