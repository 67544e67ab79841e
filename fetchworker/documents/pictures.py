"""Pictures as upright RGB pages on white, under the caps; a damaged file is an error and never half a page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import Image

    from fetchworker.documents.caps import Caps

_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "HEIF", "JPEG2000")
#: what Pillow and its plug-ins raise for damaged files
_DAMAGED = (OSError, SyntaxError, ValueError, EOFError, RuntimeError, KeyError, IndexError, TypeError, OverflowError)
#: only these hold pages; the frames of other formats are films
_PAGED = "TIFF"
_GREY_16 = 65_535


class Pictures:
    """The pages of a picture file.

    Args:
        content: the file.
        caps: what may be decoded.

    Raises:
        DocumentError: it cannot be opened.
    """

    def __init__(self, content: bytes, caps: Caps) -> None:
        self._image = _opened(content)
        self._caps = caps
        paged = self._image.format == _PAGED
        self.total = int(getattr(self._image, "n_frames", 1)) if paged else 1

    def __iter__(self) -> Iterator[Image.Image]:
        """Each page that the caps allow.

        Raises:
            DocumentError: a page is damaged, or more than may be decoded.
        """
        for number in range(min(self.total, self._caps.pages)):
            try:
                self._image.seek(number)
                self._caps.check_pixels(*self._image.size)
                self._image.draft("RGB", (self._caps.edge, self._caps.edge))
                self._image.load()
                page = _on_white(self._image)
            except _DAMAGED as exc:
                raise _damaged(exc) from exc
            yield scaled(page, self._caps.edge)


def _opened(content: bytes) -> Image.Image:
    import pillow_heif  # noqa: PLC0415  # of an extra
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415  # as above

    pillow_heif.register_heif_opener()
    Image.MAX_IMAGE_PIXELS = None  # the caps are asked instead, and name themselves
    try:
        return Image.open(io.BytesIO(content), formats=_FORMATS)
    except UnidentifiedImageError as exc:
        raise DocumentError("truncated", "the picture cannot be recognised: it is damaged or cut") from exc
    except _DAMAGED as exc:
        raise _damaged(exc) from exc


def _damaged(error: BaseException) -> DocumentError:
    return DocumentError("truncated", f"the picture is damaged or cut ({str(error)[:100]})")


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image as Pillow  # noqa: PLC0415  # of an extra
    from PIL import ImageOps  # noqa: PLC0415  # as above

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith(("I", "F")):
        return _eight_bits(upright).convert("RGB")
    if "A" in upright.getbands() or "transparency" in upright.info:
        clear = upright.convert("RGBA")
        white = Pillow.new("RGBA", clear.size, "white")
        white.alpha_composite(clear)
        return white.convert("RGB")
    return upright.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey levels of more than 8 bits, scaled: Pillow's own conversion would cut them off."""
    import numpy as np  # noqa: PLC0415  # of an extra
    from PIL import Image as Pillow  # noqa: PLC0415  # as above

    grey: Any = np.asarray(image).astype("float32")
    top = float(grey.max(initial=0))
    if top > 255:  # noqa: PLR2004  # 8 bits
        grey = grey * (255 / max(top, _GREY_16))
    elif top <= 1:
        grey = grey * 255
    return Pillow.fromarray(np.clip(grey, 0, 255).astype("uint8"))


def scaled(image: Image.Image, edge: int) -> Image.Image:
    """The picture, made smaller when an edge is longer than ``edge`` pixels."""
    if max(image.size) > edge:
        image.thumbnail((edge, edge))
    return image
