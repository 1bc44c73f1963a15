"""The zoos' models: which there are, how one is built in either framework, and what it is given."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

from mindferry.frameworks.worker import Link

LARGEST = (
    145e6  # parameters; of larger variants only a file's smallest is measured: they differ in numbers, not in code
)
DETECTION = ("fasterrcnn", "maskrcnn", "keypointrcnn", "retinanet", "ssd", "fcos")
SEGMENTATION = ("deeplabv3", "fcn_", "lraspp")
VIDEO = ("mc3_18", "r3d_18", "r2plus1d_18", "s3d", "swin3d", "mvit")
NOT_MEASURED = (
    "quantized_",
    "raft_",
)  # eager quantization is torch's own; RAFT takes two images and gives a list of flows


def declare_missing_operators() -> None:
    """torchvision's import asks for two operators that a CPU-only torch can't load."""
    import torch

    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.impl("nms", suppress, "CPU")
        declare_missing_operators.library = library  # type: ignore[attr-defined]
        boxes: Any = importlib.import_module("torchvision.ops.boxes")
        boxes._assert_has_ops = lambda: None
        _mend_roi_align(importlib.import_module("torchvision.ops.roi_align"))


def _mend_roi_align(module: Any) -> None:
    """torchvision's stand-in for its compiled roi_align repeats the map's border where that one takes zeros, and gives the boxes a gradient."""
    repeated, align = module._bilinear_interpolate, module._roi_align.__wrapped__  # which is not compiled anew

    def bordered(input: Any, image: Any, y: Any, x: Any, *masks: Any) -> Any:
        rows, columns = (y >= -1) & (y <= input.shape[2]), (x >= -1) & (x <= input.shape[3])
        return repeated(input, image, y, x, *masks) * (
            rows[:, None, :, None, :, None] & columns[:, None, None, :, None, :]
        )

    def fixed(input: Any, rois: Any, *settings: Any) -> Any:
        return align(input, rois.detach(), *settings)

    module._bilinear_interpolate, module._roi_align = bordered, fixed


def suppress(boxes: Any, scores: Any, limit: float) -> Any:
    """torchvision's nms for the reference, where its compiled one can't be loaded: greedy, best score first."""
    import torch

    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order, kept = scores.argsort(descending=True, stable=True), []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(int(best))
        low, high = torch.maximum(boxes[best, :2], boxes[order, :2]), torch.minimum(boxes[best, 2:], boxes[order, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        order = order[~(shared / (area[best] + area[order] - shared) > limit)]  # two empty boxes keep each other
    return torch.tensor(kept, dtype=torch.int64)


def models(payload: dict[str, Any], link: Link) -> list[dict[str, Any]]:
    """The zoo's models with file and number of parameters: every file's smallest first, then the others."""
    declare_missing_operators()
    names = _torchvision_names() if payload["zoo"] == "torchvision" else _timm_names()
    rows = []
    for name in names:
        link.doing(name)
        rows.append({"model": name, **size(payload["zoo"], name)})
    rows.sort(key=lambda row: (row["parameters"] or float("inf"), row["model"]))
    first: dict[str, str] = {}
    for row in rows:
        first.setdefault(row["file"], row["model"])
    smallest = [row for row in rows if first[row["file"]] == row["model"]]
    others = [row for row in rows if row not in smallest and (row["parameters"] or 0) <= LARGEST]
    return smallest if payload["zoo"] == "timm" else smallest + others


def size(zoo: str, name: str) -> dict[str, Any]:
    """The model's file, and how many parameters it has: built without memory where it can be."""
    import torch

    try:
        with torch.device("meta"):
            model = build(zoo, name)
    except Exception:  # its constructor looks at numbers
        try:
            model = build(zoo, name)
        except Exception as error:
            return {"file": _registered_file(zoo, name), "parameters": None, "reason": str(error)[:200]}
    return {"file": file_of(zoo, name, model), "parameters": sum(each.numel() for each in model.parameters())}


def file_of(zoo: str, name: str, model: Any) -> str:
    if zoo == "timm":
        return _registered_file(zoo, name)
    file = Path(sys.modules[type(model).__module__].__file__ or "")
    return str(file.relative_to(next(parent for parent in file.parents if parent.name == "models")))


def _registered_file(zoo: str, name: str) -> str:
    if zoo != "timm":
        return "?"
    home: str = importlib.import_module("timm.models._registry")._model_to_module[name]
    return f"{home}.py"


def _torchvision_names() -> list[str]:
    names: list[str] = importlib.import_module("torchvision.models").list_models()
    return [name for name in names if not name.startswith(NOT_MEASURED)]


def _timm_names() -> list[str]:
    return sorted(importlib.import_module("timm.models._registry")._model_entrypoints)


def build(zoo: str, name: str) -> Any:
    if zoo == "timm":
        return importlib.import_module("timm.models").create_model(name, pretrained=False)
    options: dict[str, Any] = (
        {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    )
    if name.startswith((*SEGMENTATION, *DETECTION)):
        options = {"weights_backbone": None}
    if name.startswith(DETECTION):
        options["num_classes"] = 7
        if not name.startswith("ssd"):  # the others enlarge every image to 800 pixels
            options |= {"min_size": 160, "max_size": 192}
    return importlib.import_module("torchvision.models").get_model(name, weights=None, **options)


def input_shapes(zoo: str, name: str, model: Any) -> list[list[int]]:
    """What to try, smallest first: a small image shows the same mistakes for a fraction of the time."""
    if zoo == "timm":
        given = getattr(model, "default_cfg", {}).get("input_size", (3, 224, 224))
        return [[1, given[0], 128, 128], [1, *given]]
    if name.startswith(VIDEO):
        frames, side = (4, 64) if name.endswith("18") else (8, 112) if name.startswith("swin3d") else (16, 224)
        return [[1, 3, frames, side, side]]
    if name.startswith(
        "ssd"
    ):  # their own size: torch's bilinear resizing is off by 1.6e-5, enough to swap boxes of like scores
        return [[1, 3, 320, 320]] if name.startswith("ssdlite") else [[1, 3, 300, 300]]
    if name.startswith(DETECTION):
        return [[1, 3, 160, 192]]
    return [[1, 3, 128, 128], [1, 3, 224, 224], [1, 3, 299, 299]]


def arguments(name: str, x: Any) -> Any:
    """What the model is called with: detectors take a list of images."""
    return [x[index] for index in range(x.shape[0])] if name.startswith(DETECTION) else x


# Files of torchvision that only serve torch: its compiled operators and its ONNX exporter. The models call none of them.
STAND_INS = {
    "torchvision.extension": ("_assert_has_ops", "_has_ops"),
    "torchvision.ops._register_onnx_ops": ("_register_custom_op",),
}


def skip_package_init(zoo: str, link: Link) -> None:
    """torchvision/__init__.py loads image readers and data sets, which models don't need."""
    if zoo == "torchvision" and "torchvision" not in sys.modules:
        assert link.project is not None
        package = types.ModuleType("torchvision")
        package.__path__ = [str(link.project / "torchvision")]
        setattr(package, "_is_tracing", is_nothing)  # noqa: B010 -- the one function of __init__.py that models call
        sys.modules["torchvision"] = package
        for name, functions in STAND_INS.items():
            sys.modules[name] = types.ModuleType(name)
            for function in functions:
                setattr(sys.modules[name], function, is_nothing)


def is_nothing() -> bool:
    """Stands for a question that is answered with no. A lambda could not be compiled."""
    return False
