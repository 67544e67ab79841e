"""Pages of a given size for benchmarks: ``/page/<bytes>/<n>``."""

from __future__ import annotations

from functools import lru_cache

from fetchworker.demo.model import Reply, RequestInfo

_HEAD = "<!DOCTYPE html><html><head><title>Page {n}</title></head><body>"
_ITEM = '<script type="application/json" id="item">{{"id":{n},"title":"Article {n}","likes":{likes}}}</script>'
_TAIL = "</body></html>"
_WORDS = "a quiet river bends between low hills where ash trees lean over moss and old stone walls keep the wind "
SMALLEST = 256
_HTML = (("content-type", "text/html; charset=utf-8"),)
_NOT_FOUND = Reply(404, (("content-type", "text/plain"),), b"use /page/<bytes>/<n>\n")


def bench_app(request: RequestInfo) -> Reply:
    """Answer ``/page/<bytes>/<n>`` with an HTML page of exactly so many bytes (at least 256).

    The page holds one item, ``{"id": n, "title": "Article n", "likes": 7 n}``, in a JSON script called ``item``.
    """
    match request.route.split("/"):
        case ["", "page", size, number] if size.isdigit() and number.isdigit():
            return Reply(200, _HTML, page(int(size), int(number)))
    return _NOT_FOUND


def page(size: int, number: int) -> bytes:
    """The page's body."""
    start = (_HEAD + _ITEM).format(n=number, likes=7 * number).encode()
    return start + _filler(max(size, SMALLEST) - len(start))


@lru_cache(maxsize=64)
def _filler(size: int) -> bytes:
    """So many bytes of paragraph and page end."""
    room = size - len("<p></p>") - len(_TAIL)
    text = (_WORDS * (room // len(_WORDS) + 1))[:room]
    return f"<p>{text}</p>{_TAIL}".encode()
