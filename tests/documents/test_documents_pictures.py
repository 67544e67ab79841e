"""Pictures: none of the ways in which a page turns black, lies down or loses its lower half in silence."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from fetchworker.documents.caps import Caps
from fetchworker.documents.pictures import Pictures
from fetchworker.documents.sniff import media_type_of
from fetchworker.errors import DocumentError


def saved(image, format, **options):  # noqa: A002
    made = io.BytesIO()
    image.save(made, format, **options)
    return made.getvalue()


def pages(content, **caps):
    return list(Pictures(content, Caps(**caps)))


def half_black(mode, white, black, size=(40, 20)):
    """A page whose left half is black."""
    image = Image.new(mode, size, white)
    image.paste(black, (0, 0, size[0] // 2, size[1]))
    return image


def sides(page):
    grey = page.convert("L")
    return grey.getpixel((5, 10)), grey.getpixel((35, 10))


@pytest.mark.parametrize(
    ("image", "format"),
    [
        (half_black("RGBA", (0, 0, 0, 0), (0, 0, 0, 255)), "PNG"),
        (half_black("LA", (0, 0), (0, 255)), "PNG"),
        (half_black("RGB", "white", "black"), "JPEG"),
        (half_black("CMYK", (0, 0, 0, 0), (0, 0, 0, 255)), "JPEG"),
        (half_black("L", 255, 0), "BMP"),
        (half_black("1", 1, 0), "TIFF"),
        (half_black("RGBA", (0, 0, 0, 0), (0, 0, 0, 255)), "WEBP"),
        (half_black("RGB", "white", "black"), "AVIF"),
        (half_black("I;16", 65_535, 0), "PNG"),
        (half_black("I;16", 65_535, 0), "TIFF"),
        (half_black("F", 1.0, 0.0), "TIFF"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.mode,
)
def test_what_is_white_is_white_and_what_is_black_is_black(image, format):  # noqa: A002
    content = saved(image, format)
    assert media_type_of(content).startswith("image/")
    (page,) = pages(content)
    black, white = sides(page)
    assert page.mode == "RGB"
    assert black < 40
    assert white > 215


def test_pictures_of_telephones_are_read():
    import pillow_heif

    pillow_heif.register_heif_opener()
    content = saved(half_black("RGB", "white", "black", (400, 200)), "HEIF")
    assert media_type_of(content) in {"image/heic", "image/heif"}
    (page,) = pages(content)
    assert page.size == (400, 200)


def test_a_palettes_transparency_is_white():
    image = half_black("P", 1, 0)
    image.putpalette([0, 0, 0, 0, 0, 0])
    (page,) = pages(saved(image, "PNG", transparency=1))
    assert sides(page) == (0, 255)


def test_grey_levels_of_sixteen_bits_keep_their_order():
    ramp = np.linspace(20_000, 60_000, 256, dtype="uint16").reshape(1, 256).repeat(8, axis=0)
    (page,) = pages(saved(Image.fromarray(ramp), "TIFF"))
    levels = np.asarray(page.convert("L"))[0]
    assert len(set(levels.tolist())) > 100
    assert (np.diff(levels.astype(int)) >= 0).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_telephone_tells_how_it_was_held(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    (page,) = pages(saved(half_black("RGB", "white", "black"), "JPEG", exif=exif))
    assert page.size == ((40, 20) if orientation < 5 else (20, 40))


def test_every_page_of_a_tiff_is_a_page_and_the_frames_of_a_film_are_not():
    frames = [half_black("RGB", "white", colour) for colour in ("black", "red", "blue")]
    many = {"save_all": True, "append_images": frames[1:]}
    assert len(pages(saved(frames[0], "TIFF", **many))) == 3
    assert len(pages(saved(frames[0], "TIFF", **many), pages=2)) == 2
    assert Pictures(saved(frames[0], "TIFF", **many), Caps(pages=2)).total == 3
    assert len(pages(saved(frames[0], "GIF", **many))) == 1


def test_an_edge_is_scaled_down():
    (page,) = pages(saved(Image.new("L", (3000, 1500), 255), "PNG"), edge=1000)
    assert page.size == (1000, 500)


def test_a_bomb_is_not_decoded():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0))
    content = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(2_501 * 20))) + chunk(b"IEND", b"")
    with pytest.raises(DocumentError, match="FETCHWORKER_DOCUMENTS_MEGAPIXELS") as caught:
        pages(content)
    assert caught.value.context == {"reason": "too_big", "cap": "megapixels"}


@pytest.mark.parametrize("format", ["JPEG", "PNG", "TIFF", "WEBP", "AVIF", "BMP"])
def test_half_a_picture_is_an_error(format):  # noqa: A002
    noise = np.random.default_rng(1).integers(0, 255, (200, 200, 3), dtype="uint8")
    content = saved(Image.fromarray(noise), format)
    with pytest.raises(DocumentError) as caught:
        pages(content[: len(content) // 2])
    assert caught.value.reason == "truncated"


JPEG = saved(half_black("RGB", "white", "black"), "JPEG")
PNG = saved(half_black("RGB", "white", "black"), "PNG")
TIFF = saved(half_black("RGB", "white", "black"), "TIFF", compression="tiff_lzw")


# Pillow warns of what it finds odd, and goes on
@pytest.mark.filterwarnings("ignore::UserWarning")
@given(st.sampled_from([JPEG, PNG, TIFF]), st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=6))
def test_damage_is_a_page_or_a_typed_error(content, changes):
    damaged = bytearray(content)
    for place, value in changes:
        damaged[place % len(damaged)] = value
    found, reason = [], "truncated"
    try:
        found = pages(bytes(damaged), megapixels=1)
    except DocumentError as exc:
        reason = exc.reason
    assert all(page.mode == "RGB" for page in found)
    assert reason in {"truncated", "too_big"}
