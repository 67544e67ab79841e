"""What a TLS ClientHello says, read from its raw bytes.

The demo server peeks at the socket before the handshake, so that its log can prove what a client offered: the session
ticket of an earlier connection above all, because a ticket offered by two identities ties them together.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_HANDSHAKE_RECORD = 22
_CLIENT_HELLO = 1
_NEW_SESSION_TICKET = 4
_GREASE_DIGIT = 0xA
_HEADER = 4
_VERSIONS = {0x0304: "13", 0x0303: "12", 0x0302: "11", 0x0301: "10", 0x0300: "s3"}

(
    SERVER_NAME, GROUPS, POINT_FORMATS, SIGNATURES, ALPN, TICKET, PRE_SHARED_KEY, EARLY_DATA, SUPPORTED_VERSIONS,
    KEY_SHARE,
) = (
    0, 10, 11, 13, 16, 35, 41, 42, 43, 51,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClientHello:
    """The facts of one ClientHello; lists keep the order on the wire, GREASE values included.

    ``ticket`` is the hash of a TLS 1.2 session ticket, ``psk`` those of the TLS 1.3 identities offered; the empty
    ticket extension that every client sends leaves ``ticket`` None.
    """

    sni: str | None
    version: int
    ciphers: tuple[int, ...]
    extensions: tuple[int, ...]
    groups: tuple[int, ...]
    key_shares: tuple[int, ...]
    signatures: tuple[int, ...]
    alpn: tuple[str, ...]
    ticket: str | None
    psk: tuple[str, ...]
    early_data: bool
    point_formats: tuple[int, ...]
    ja4: str
    ja3: str

    @property
    def offered(self) -> tuple[str, ...]:
        """Hashes of everything the client offers to resume with."""
        return self.psk if self.ticket is None else (*self.psk, self.ticket)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


class _Reader:
    """Big-endian fields of a byte string; running off its end raises ValueError."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise ValueError("the message is cut short")
        value, self.at = self.data[self.at : end], end
        return value

    def uint(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> _Reader:
        """The vector whose length stands in ``size`` bytes."""
        return _Reader(self.take(self.uint(size)))

    def left(self) -> bool:
        return self.at < len(self.data)

    def words(self) -> tuple[int, ...]:
        found = []
        while self.left():
            found.append(self.uint(2))
        return tuple(found)


def ticket_hash(ticket: bytes) -> str:
    """The short name under which tickets stand in the log."""
    return hashlib.sha256(ticket).hexdigest()[:16]


def is_grease(value: int) -> bool:
    """Whether a code point is one of RFC 8701's placeholders."""
    high, low = divmod(value, 256)
    return high == low and low % 16 == _GREASE_DIGIT


def handshake_message(stream: bytes) -> bytes | None:
    """The first handshake message of a TLS record stream, None while more bytes must come.

    Raises:
        ValueError: the bytes are no TLS handshake.
    """
    message, at = b"", 0
    while at + 5 <= len(stream):
        if stream[at] != _HANDSHAKE_RECORD:
            raise ValueError("not a TLS handshake record")
        size = int.from_bytes(stream[at + 3 : at + 5], "big")
        message += stream[at + 5 : at + 5 + size]
        end = _HEADER + int.from_bytes(message[1:_HEADER], "big")
        if len(message) >= max(end, _HEADER):
            return message[:end]
        at += 5 + size
    if stream[:1] not in (b"", b"\x16"):
        raise ValueError("not a TLS handshake record")
    return None


def parse_client_hello(message: bytes) -> ClientHello:
    """Read a ClientHello handshake message (without record headers).

    Raises:
        ValueError: it is something else, or cut short.
    """
    outer = _Reader(message)
    if outer.uint(1) != _CLIENT_HELLO:
        raise ValueError("not a ClientHello")
    hello = outer.block(3)
    legacy = hello.uint(2)
    hello.take(32)
    hello.block(1)
    ciphers = hello.block(2).words()
    hello.block(1)
    extensions = dict(_extensions(hello.block(2))) if hello.left() else {}
    return _facts(legacy, ciphers, extensions)


def _extensions(reader: _Reader) -> Iterator[tuple[int, bytes]]:
    while reader.left():
        kind = reader.uint(2)
        yield kind, reader.block(2).data


def _facts(legacy: int, ciphers: tuple[int, ...], extensions: dict[int, bytes]) -> ClientHello:
    versions = _vector(extensions.get(SUPPORTED_VERSIONS), size=1)
    ticket = extensions.get(TICKET)
    facts = ClientHello(
        sni=_server_name(extensions.get(SERVER_NAME)),
        version=max((v for v in versions if not is_grease(v)), default=legacy),
        ciphers=ciphers,
        extensions=tuple(extensions),
        groups=_vector(extensions.get(GROUPS)),
        key_shares=_key_shares(extensions.get(KEY_SHARE)),
        signatures=_vector(extensions.get(SIGNATURES)),
        alpn=_alpn(extensions.get(ALPN)),
        ticket=ticket_hash(ticket) if ticket else None,
        psk=_identities(extensions.get(PRE_SHARED_KEY)),
        early_data=EARLY_DATA in extensions,
        point_formats=tuple(_Reader(extensions[POINT_FORMATS]).block(1).data) if POINT_FORMATS in extensions else (),
        ja4="",
        ja3="",
    )
    return replace(facts, ja4=ja4(facts), ja3=ja3(facts, legacy))


def _vector(data: bytes | None, size: int = 2) -> tuple[int, ...]:
    return _Reader(data).block(size).words() if data else ()


def _server_name(data: bytes | None) -> str | None:
    if not data:
        return None
    entry = _Reader(data).block(2)
    entry.take(1)
    return entry.block(2).data.decode("ascii", "replace")


def _alpn(data: bytes | None) -> tuple[str, ...]:
    names = []
    reader = _Reader(data).block(2) if data else _Reader(b"")
    while reader.left():
        names.append(reader.block(1).data.decode("latin-1"))
    return tuple(names)


def _key_shares(data: bytes | None) -> tuple[int, ...]:
    groups = []
    reader = _Reader(data).block(2) if data else _Reader(b"")
    while reader.left():
        groups.append(reader.uint(2))
        reader.block(2)
    return tuple(groups)


def _identities(data: bytes | None) -> tuple[str, ...]:
    found = []
    reader = _Reader(data).block(2) if data else _Reader(b"")
    while reader.left():
        found.append(ticket_hash(reader.block(2).data))
        reader.take(4)  # obfuscated age
    return tuple(found)


def ja4(hello: ClientHello) -> str:
    """JA4 as FoxIO describes it (github.com/FoxIO-LLC/ja4, technical_details/JA4.md)."""
    ciphers = sorted(f"{c:04x}" for c in hello.ciphers if not is_grease(c))
    known = [e for e in hello.extensions if not is_grease(e)]
    tail = ",".join(sorted(f"{e:04x}" for e in known if e not in {SERVER_NAME, ALPN}))
    signatures = [s for s in hello.signatures if not is_grease(s)]  # Chromium 156 puts one there, seen 2026-11-30
    if signatures:
        tail += "_" + ",".join(f"{s:04x}" for s in signatures)
    first = next((name for name in hello.alpn if len(name) > 1 and name.isascii()), "00")
    head = f"t{_VERSIONS.get(hello.version, '00')}{'d' if hello.sni else 'i'}"
    head += f"{min(len(ciphers), 99):02d}{min(len(known), 99):02d}{first[0]}{first[-1]}"
    return f"{head}_{_short(','.join(ciphers))}_{_short(tail)}"


def ja3(hello: ClientHello, version: int) -> str:
    """JA3 as Salesforce described it (github.com/salesforce/ja3); browsers that shuffle extensions have many.

    ``version`` is the one in the hello's own field, which TLS 1.3 leaves at 1.2.
    """
    lists = (hello.ciphers, hello.extensions, hello.groups, hello.point_formats)
    parts = ["-".join(str(value) for value in values if not is_grease(value)) for values in lists]
    return hashlib.md5(",".join([str(version), *parts]).encode(), usedforsecurity=False).hexdigest()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else "0" * 12


def issued_ticket(message: bytes, *, tls13: bool) -> str | None:
    """The hash of the ticket in a NewSessionTicket message that a server sends, None when it holds none."""
    outer = _Reader(message)
    if outer.uint(1) != _NEW_SESSION_TICKET:
        return None
    body = outer.block(3)
    body.take(4)  # lifetime
    if tls13:
        body.take(4)  # age_add
        body.block(1)  # nonce
    ticket = body.block(2).data
    return ticket_hash(ticket) if ticket else None
