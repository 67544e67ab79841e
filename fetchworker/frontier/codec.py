"""Requests as bytes in Redis: msgpack of a closed set of types, callbacks by name, no class and no code in data (pure).

An entry is one byte that names the format, then one msgpack array: the fields that are there as bits, the URL, the
values of these fields in the order of ``_READERS``. What has Scrapy's default is left out. The priority is the queue's
business.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgpack
from scrapy import Request, Spider
from scrapy_redis.spiders import RedisMixin

from fetchworker import pagemethod
from fetchworker.errors import CorruptEntryError, UnqueueableError
from fetchworker.frontier.values import pack, packed_value, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    _Field = tuple[str, Callable[[Any, str, Spider], Any]]

#: the meta key of an unstored identity that a redirect or a warm-up carries on
CARRIED = "fw_identity"
#: the meta key of the download slot that was worked out for the last try
SLOT = "fw_slot"
#: the meta key of a request on lease: its token; retries and redirects carry it on, children never get it
LEASE = "fw_lease"
#: the meta key of a try that has a session of the pool to itself: whose it is there
TRY = "fw_try"
#: the meta key of what is done with a page in the browser
METHODS = "playwright_page_methods"
#: meta keys that belong to one try in one process
VOLATILE = frozenset({"fw_wire", CARRIED, SLOT, LEASE, TRY, "download_latency", "playwright_page"})

#: the largest body (bytes); a value in Redis ends at 512 MiB
LARGEST_BODY = 500 * 1024 * 1024

#: the format's number, the first byte of an entry
_FORMAT = 1
#: the bit of ``dont_filter``
_DONT_FILTER = 4
#: a msgpack array of up to 15 values
_ARRAY = 0x90
#: methods that take no answer: hooks, and what Scrapy and scrapy-redis have themselves
_NO_CALLBACKS = frozenset(dir(Spider)) - {"parse", "_parse"} | vars(RedisMixin).keys() | {"closed", "seed_request"}


#: whether an address has characters that may stand in one as they are, and no others
_PLAIN = re.compile(r"[!-~]+").fullmatch


class _Encoded(Request):
    """A request whose address was made safe when it was first made: doing so again is two thirds of its cost."""

    __slots__ = ()

    def _url_is_verbatim(self) -> bool:
        return True


def encode(request: Request, spider: Spider) -> bytes:
    """A request for the queue, without its priority. A subclass is written as the plain request that it sends.

    Raises:
        UnqueueableError: a value has no place in the queue; its path is named.
    """
    written = (
        _write_callback(request.callback, "callback", spider),
        _write_callback(request.errback, "errback", spider),
        b"" if request.dont_filter else None,  # the bit says it
        None if request.method == "GET" else packed_value(request.method, "method"),
        _write_headers(request),
        _write_meta(request),
        _write_body(request),
        _write_cookies(request),
        _write_cb_kwargs(request),
        _write_flags(request),
        None if request.encoding == "utf-8" else packed_value(request.encoding, "encoding"),
    )
    bits = sum(1 << place for place, value in enumerate(written) if value is not None)
    values = [value for value in written if value]
    head = bytes((_FORMAT, _ARRAY | (len(values) + 2)))
    return b"".join((head, pack(bits), packed_value(request.url, "url"), *values))


def decode(raw: bytes, spider: Spider, *, priority: int = 0) -> Request:
    """The request that :func:`encode` made an entry of.

    Args:
        raw: the entry; whatever it is, none of it is run.
        spider: whose methods are the callbacks.
        priority: the request's, as the queue knows it.

    Raises:
        CorruptEntryError: it is no entry of this format, or none of this spider.
    """
    try:
        fields = _fields(raw, spider)
        made = (_Encoded if _PLAIN(fields["url"]) else Request)(priority=priority, **fields)
    except CorruptEntryError:
        raise
    except Exception as exc:  # whatever msgpack or Scrapy say of it
        raise CorruptEntryError(f"the entry is no request: {type(exc).__name__}: {exc!s:.200}") from exc
    made.__class__ = Request
    return made


def _fields(raw: bytes, spider: Spider) -> dict[str, Any]:
    bits, url, written = _split(raw)
    fields: dict[str, Any] = {"url": _text(url, "url", spider), "dont_filter": bool(bits & _DONT_FILTER)}
    for (field, read), value in written:
        fields[field] = read(value, field, spider)
    return fields


def _split(raw: bytes) -> tuple[int, Any, Iterable[tuple[_Field, Any]]]:
    """The bits, the URL, and the other fields as they are written."""
    if raw[:1] != bytes((_FORMAT,)):
        raise CorruptEntryError(f"the entry begins with {raw[:1]!r}: no format of this version")
    found = unpack(memoryview(raw)[1:])
    if type(found) is not list or len(found) < 2 or type(found[0]) is not int:  # noqa: PLR2004  # bits and URL
        raise CorruptEntryError("the entry is no list of fields")
    bits, url, *values = found
    if not 0 <= bits < 1 << len(_READERS):
        raise CorruptEntryError(f"the entry has fields that this version does not know (bits {bits:#x})")
    named = _named(bits)
    if len(values) != len(named):
        raise CorruptEntryError(f"the entry has {len(values)} values for {len(named)} fields")
    return bits, url, zip(named, values, strict=True)


def fields_of(raw: bytes) -> dict[str, Any]:
    """The fields of an entry as they are written (callbacks by name), for people to look at; not checked further.

    Raises:
        CorruptEntryError: it is no entry of this format.
    """
    try:
        bits, url, fields = _split(raw)
    except CorruptEntryError:
        raise
    except Exception as exc:  # whatever msgpack says of it
        raise CorruptEntryError(f"the entry is no request: {type(exc).__name__}: {exc!s:.200}") from exc
    found = {"url": url, **{field: value for (field, _), value in fields}}
    return found | ({"dont_filter": True} if bits & _DONT_FILTER else {})


def url_of(head: bytes) -> str | None:
    """The address of an entry of which only the beginning is at hand; None when it cannot be read."""
    unpacker = msgpack.Unpacker(strict_map_key=True)
    unpacker.feed(head[1:])
    try:
        if head[:1] == bytes((_FORMAT,)) and unpacker.read_array_header() > 1:
            unpacker.skip()
            url = unpacker.unpack()
            return url if type(url) is str else None
    except Exception:  # noqa: BLE001  # whatever msgpack says of it
        return None
    return None


@cache
def _named(bits: int) -> list[_Field]:
    """The fields that bits stand for; there are 2048 sets of them."""
    return [(field, read) for place, (field, read) in enumerate(_READERS) if read is not None and bits >> place & 1]


# ── callbacks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_callback(spider: Spider, name: str) -> bool:
    """Whether a name is that of a method which the spider's class has for answers; runs no code of the spider."""
    if "__" in name or name in _NO_CALLBACKS:
        return False
    for cls in type(spider).__mro__:
        found = vars(cls).get(name)
        if found is not None:
            return isinstance(found, classmethod) or (callable(found) and not isinstance(found, type))
    return False


def _name_of(callback: Any, field: str, spider: Spider) -> str:
    name = getattr(callback, "__name__", "")
    if type(name) is not str or not is_callback(spider, name) or getattr(spider, name) != callback:
        candidates = (name for name in dir(type(spider)) if is_callback(spider, name))
        name = next((name for name in candidates if getattr(spider, name) == callback), "")
    if not name:
        raise UnqueueableError(
            f"{field} is {callback!r:.80}, which cannot be queued: use a method of the spider {spider.name}"
        )
    return name


# ── fields, as they are written: None for Scrapy's default ───────────────────────────────────────────────────────────


def _write_callback(callback: Any, field: str, spider: Spider) -> bytes | None:
    return None if callback is None else pack(_name_of(callback, field, spider))


def _write_headers(request: Request) -> bytes | None:
    headers = request.headers
    return pack([[name, *headers.getlist(name)] for name in headers]) if headers else None


def _write_meta(request: Request) -> bytes | None:
    meta = request.meta
    kept = {key: value for key, value in meta.items() if key not in VOLATILE}
    if SLOT in meta and kept.get("download_slot") == meta[SLOT]:
        del kept["download_slot"]  # worked out, not asked for
    if METHODS in kept:
        kept[METHODS] = pagemethod.written(kept[METHODS])
    return packed_value(kept, "meta") if kept else None


def _write_body(request: Request) -> bytes | None:
    body = request.body
    if len(body) > LARGEST_BODY:
        raise UnqueueableError(f"body has {len(body)} bytes, more than {LARGEST_BODY}: Redis keeps no larger values")
    return pack(body) if body else None


def _write_cookies(request: Request) -> bytes | None:
    cookies = request.cookies
    if not cookies:
        return None
    packed = packed_value(cookies, "cookies")
    if not _are_cookies(cookies):
        raise UnqueueableError("cookies: a dict of text or numbers, or a list of such dicts, can be queued")
    return packed


def _write_cb_kwargs(request: Request) -> bytes | None:
    arguments = request.cb_kwargs
    if not arguments:
        return None
    packed = packed_value(arguments, "cb_kwargs")
    if not _are_arguments(arguments):
        raise UnqueueableError("cb_kwargs: a dict with names as str can be queued")
    return packed


def _write_flags(request: Request) -> bytes | None:
    flags = request.flags
    if not flags:
        return None
    packed = packed_value(flags, "flags")
    if not _is_list_of(flags, str):
        raise UnqueueableError("flags: a list of str can be queued")
    return packed


# ── fields, as they are read ─────────────────────────────────────────────────────────────────────────────────────────


def _read_callback(found: Any, field: str, spider: Spider) -> Any:
    if type(found) is not str or not is_callback(spider, found):
        raise CorruptEntryError(f"{field}: the spider {spider.name} has no method {found!r:.80} for answers")
    return getattr(spider, found)


def _read_headers(found: Any, field: str, _: Spider) -> list[tuple[bytes, list[bytes]]]:
    if type(found) is not list or not all(_is_list_of(line, bytes) and line for line in found):
        raise CorruptEntryError(f"{field}: lists of a name and its values as bytes are expected")
    return [(line[0], line[1:]) for line in found]


def _read_meta(found: Any, field: str, _: Spider) -> dict[Any, Any]:
    if type(found) is not dict:
        raise CorruptEntryError(f"{field}: a map is expected")
    if not VOLATILE.isdisjoint(found):
        raise CorruptEntryError(f"{field}: {', '.join(sorted(VOLATILE & found.keys()))} is of one try only")
    if METHODS in found:
        found[METHODS] = pagemethod.read(found[METHODS])
    return found


def _text(found: Any, field: str, _: Spider) -> str:
    if type(found) is not str:
        raise CorruptEntryError(f"{field}: text is expected")
    return found


def _read_encoding(found: Any, field: str, spider: Spider) -> str:
    encoding = _text(found, field, spider)
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        raise CorruptEntryError(f"{field}: {encoding!r:.40} is unknown") from None
    return encoding


def _checked(check: Callable[[Any], bool], told: str) -> Callable[[Any, str, Spider], Any]:
    def read(found: Any, field: str, _: Spider) -> Any:
        if not check(found):
            raise CorruptEntryError(f"{field}: {told} expected")
        return found

    return read


def _is_list_of(values: Any, kind: type) -> bool:
    return type(values) is list and all(type(value) is kind for value in values)


def _are_cookies(cookies: Any) -> bool:
    return all(map(_is_cookie, cookies)) if type(cookies) is list else _is_cookie(cookies)


def _is_cookie(cookie: Any) -> bool:
    return type(cookie) is dict and all(type(value) in (str, bytes, bool, int, float) for value in cookie.values())


def _are_arguments(found: Any) -> bool:
    return type(found) is dict and all(type(name) is str for name in found)


#: a field's bit is its place here; None for the one whose bit says all
_READERS: tuple[tuple[str, Callable[[Any, str, Spider], Any] | None], ...] = (
    ("callback", _read_callback),
    ("errback", _read_callback),
    ("dont_filter", None),
    ("method", _text),
    ("headers", _read_headers),
    ("meta", _read_meta),
    ("body", _checked(lambda found: type(found) is bytes, "bytes are")),
    ("cookies", _checked(_are_cookies, "a map of text or numbers, or a list of such maps, is")),
    ("cb_kwargs", _checked(_are_arguments, "a map of names is")),
    ("flags", _checked(lambda found: _is_list_of(found, str), "a list of text is")),
    ("encoding", _read_encoding),
)
