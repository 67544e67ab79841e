from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.demo.hello import (
    handshake_message,
    is_grease,
    issued_ticket,
    ja4,
    parse_client_hello,
    ticket_hash,
)


def block(size: int, data: bytes) -> bytes:
    return len(data).to_bytes(size, "big") + data


def extension(kind: int, data: bytes) -> bytes:
    return kind.to_bytes(2, "big") + block(2, data)


def client_hello(*extensions: bytes, ciphers: tuple[int, ...] = (0x0A0A, 0x1301, 0xC02B)) -> bytes:
    suites = b"".join(cipher.to_bytes(2, "big") for cipher in ciphers)
    body = b"\x03\x03" + bytes(32) + block(1, b"session") + block(2, suites) + block(1, b"\0")
    return b"\x01" + block(3, body + block(2, b"".join(extensions)))


def records(message: bytes, size: int) -> bytes:
    parts = [message[start : start + size] for start in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + block(2, part) for part in parts)


SNI = extension(0, block(2, b"\0" + block(2, b"www.example.org")))
ALPN = extension(16, block(2, block(1, b"h2") + block(1, b"http/1.1")))
VERSIONS = extension(43, block(1, b"\x5a\x5a\x03\x04\x03\x03"))
SIGNATURES = extension(13, block(2, b"\x04\x03\x08\x04"))


def test_facts_of_a_hello() -> None:
    psk = extension(
        41, block(2, block(2, b"ticket one") + bytes(4) + block(2, b"ticket two") + bytes(4)) + block(2, b"")
    )
    shares = extension(51, block(2, b"\x2a\x2a" + block(2, b"\0") + b"\x00\x1d" + block(2, bytes(32))))
    hello = parse_client_hello(client_hello(SNI, ALPN, VERSIONS, SIGNATURES, shares, extension(35, b"old"), psk))
    assert hello.sni == "www.example.org"
    assert hello.version == 0x0304
    assert hello.alpn == ("h2", "http/1.1")
    assert hello.ciphers == (0x0A0A, 0x1301, 0xC02B)
    assert hello.extensions == (0, 16, 43, 13, 51, 35, 41)
    assert hello.key_shares == (0x2A2A, 0x1D)
    assert hello.signatures == (0x0403, 0x0804)
    assert hello.offered == (ticket_hash(b"ticket one"), ticket_hash(b"ticket two"), ticket_hash(b"old"))
    assert not hello.early_data


def test_empty_ticket_extension_offers_nothing() -> None:
    hello = parse_client_hello(client_hello(extension(35, b"")))
    assert hello.offered == ()
    assert hello.sni is None


def test_ja4_counts_and_sorts_without_grease() -> None:
    grease = extension(0x1A1A, b"")
    one = parse_client_hello(client_hello(grease, SNI, ALPN, VERSIONS, SIGNATURES))
    other = parse_client_hello(client_hello(SIGNATURES, VERSIONS, SNI, ALPN, ciphers=(0xC02B, 0x1301)))
    assert one.ja4 == other.ja4 == ja4(one)
    # sha256 of "1301,c02b" and of "000d,002b_0403,0804", as coreutils' sha256sum gives them
    assert one.ja4 == "t13d0204h2_777cda164f4b_ef5f37ab036a"


def test_ja3_of_its_authors() -> None:
    """The example in github.com/salesforce/ja3's README."""
    ciphers = (47, 53, 5, 10, 49161, 49162, 49171, 49172, 50, 56, 19, 4)
    groups = extension(10, block(2, b"\x00\x17\x00\x18\x00\x19"))
    points = extension(11, block(1, b"\0"))
    hello = bytearray(client_hello(SNI, groups, points, ciphers=ciphers))
    hello[4:6] = b"\x03\x01"
    assert parse_client_hello(bytes(hello)).ja3 == "ada70206e40642a3e4461f35503241d5"


def test_ja4_of_its_authors() -> None:
    """The example in FoxIO's technical_details/JA4.md: Chrome's hello."""
    ciphers = (
        0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC013, 0xC014, 0x9C, 0x9D, 0x2F, 0x35,
    )  # fmt: skip
    signatures = extension(13, block(2, bytes.fromhex("04030804040105030805050108060601")))
    known = {0: SNI, 13: signatures, 16: ALPN, 43: VERSIONS, 10: extension(10, block(2, b"\0\x1d"))}
    known |= {11: extension(11, block(1, b"\0")), 51: extension(51, block(2, b"\0\x1d" + block(2, bytes(32))))}
    order = (27, 0, 51, 16, 17513, 23, 45, 13, 5, 35, 18, 43, 65281, 11, 10, 21)
    hello = client_hello(*(known.get(kind) or extension(kind, b"") for kind in order), ciphers=ciphers)
    assert parse_client_hello(hello).ja4 == "t13d1516h2_8daaf6152771_e5627efa2ab1"


def test_ja4_without_names_and_extensions() -> None:
    assert parse_client_hello(client_hello(ciphers=())).ja4 == "t12i000000_000000000000_000000000000"


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
def test_hello_in_any_number_of_records(size: int) -> None:
    message = client_hello(SNI, ALPN)
    stream = records(message, size)
    assert handshake_message(stream) == message
    assert handshake_message(stream + b"more") == message
    assert handshake_message(stream[:-1]) is None
    assert handshake_message(b"") is None


def test_a_real_clients_hello() -> None:
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="shop.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    message = handshake_message(outgoing.read())
    assert message is not None
    hello = parse_client_hello(message)
    assert hello.sni == "shop.example"
    assert hello.ja4.startswith("t13d")
    assert hello.ja4.split("_")[0].endswith("h1")
    assert hello.offered == ()


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n", b"\x17\x03\x03\x00\x01x", b"\x05\x01\x02"])
def test_other_protocols_are_told_apart(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a TLS handshake"):
        handshake_message(data)


@given(st.binary(max_size=200))
def test_garbage_raises_value_error_only(data: bytes) -> None:
    for read in (handshake_message, parse_client_hello):
        try:
            read(data)
        except ValueError:
            continue


@given(cut=st.integers(min_value=1, max_value=80))
def test_a_hello_cut_short(cut: int) -> None:
    with pytest.raises(ValueError, match=r"cut short|not a ClientHello"):
        parse_client_hello(client_hello(SNI, ALPN)[:-cut])


def test_grease() -> None:
    assert [value for value in range(0x10000) if is_grease(value)] == [0x0A0A + 0x1010 * n for n in range(16)]


def test_issued_tickets() -> None:
    tls13 = b"\x04" + block(3, bytes(4) + bytes(4) + block(1, b"nonce") + block(2, b"secret") + block(2, b""))
    tls12 = b"\x04" + block(3, bytes(4) + block(2, b"secret"))
    assert issued_ticket(tls13, tls13=True) == issued_ticket(tls12, tls13=False) == ticket_hash(b"secret")
    assert issued_ticket(b"\x04" + block(3, bytes(4) + block(2, b"")), tls13=False) is None
    assert issued_ticket(b"\x0b" + block(3, b"certificate"), tls13=True) is None
