"""What some bytes are, by their first ones; what the server says of them is not asked (pure)."""

from __future__ import annotations

import re
from typing import NamedTuple


class Kind(NamedTuple):
    """A media type and the extension of its files."""

    content_type: str
    extension: str


def _image(name: str, extension: str | None = None) -> Kind:
    return Kind(f"image/{name}", extension or name)


def _video(name: str, extension: str | None = None) -> Kind:
    return Kind(f"video/{name}", extension or name)


#: (place, bytes there, what it is); https://mimesniff.spec.whatwg.org and the formats' own papers
_SIGNS: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"\xff\xd8\xff", _image("jpeg", "jpg")),
    (0, b"\x89PNG\r\n\x1a\n", _image("png")),
    (0, b"GIF87a", _image("gif")),
    (0, b"GIF89a", _image("gif")),
    (8, b"WEBPVP8", _image("webp")),
    (0, b"BM", _image("bmp")),
    (0, b"II*\x00", _image("tiff")),
    (0, b"MM\x00*", _image("tiff")),
    (0, b"\x00\x00\x01\x00", _image("x-icon", "ico")),
    (0, b"\xff\x0a", _image("jxl")),
    (0, b"\x00\x00\x00\x0cJXL \r\n\x87\n", _image("jxl")),
    (0, b"\x00\x00\x00\x0cjP  \r\n\x87\n", _image("jp2")),
    (8, b"AVI ", _video("x-msvideo", "avi")),
    (0, b"FLV\x01", _video("x-flv", "flv")),
    (0, b"\x00\x00\x01\xba", _video("mpeg", "mpg")),
    (0, b"OggS", _video("ogg", "ogv")),
)
_RIFF = b"RIFF"
_EBML = b"\x1aE\xdf\xa3"
#: major brands of ISO files (ISO/IEC 14496-12) that are no MP4
_BRANDS = {
    b"avif": _image("avif"), b"avis": _image("avif"), b"heic": _image("heic"), b"heix": _image("heic"),
    b"hevc": _image("heic"), b"mif1": _image("heif"), b"msf1": _image("heif"), b"qt  ": _video("quicktime", "mov"),
    b"3gp4": _video("3gpp", "3gp"), b"3gp5": _video("3gpp", "3gp"), b"3g2a": _video("3gpp2", "3g2"),
}  # fmt: skip
_NO_PICTURE_BRANDS = (b"M4A ", b"M4B ", b"M4P ", b"crx ")
#: transport streams have this byte at the start of each packet
_TS, _TS_PACKET = 0x47, 188
_HEAD = 4096
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).)*+-->\s*+)*+"
    rb"(?:<!DOCTYPE svg[^>]*+>\s*+)?+<svg[\s>]",
    re.DOTALL,
)


def kind_of(content: bytes) -> Kind | None:
    """The kind of a picture or a film; None for anything else."""
    for place, sign, kind in _SIGNS:
        if content.startswith(sign, place) and (place == 0 or content.startswith(_RIFF)):
            return kind
    if content[4:8] == b"ftyp":
        return _iso(content[8:12])
    if content.startswith(_EBML):
        return _video("webm") if b"webm" in content[:64] else _video("x-matroska", "mkv")
    if len(content) > _TS_PACKET and content[0] == _TS and content[_TS_PACKET] == _TS:
        return _video("mp2t", "ts")
    return _image("svg+xml", "svg") if _SVG.match(content[:_HEAD]) else None


def _iso(brand: bytes) -> Kind | None:
    return None if brand in _NO_PICTURE_BRANDS else _BRANDS.get(brand, _video("mp4"))
