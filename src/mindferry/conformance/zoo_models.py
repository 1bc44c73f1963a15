"""What the zoo's workers do: build a model, run it forward and backward, leave or compare the arrays."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

from ..verify.backends.worker import Link

LARGEST = 60e6  # parameters; larger variants differ from smaller ones only in numbers
VIDEO = ("mc3_18", "r3d_18", "r2plus1d_18", "s3d", "swin3d", "mvit")


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
        declare_missing_operators.library = library  # type: ignore[attr-defined]


def models(payload: dict[str, Any], link: Link) -> list[str]:
    """The zoo's models, smallest of each family first where that can be told."""
    if payload["zoo"] == "torchvision":
        declare_missing_operators()
        from torchvision import models as zoo

        skipped = ("quantized_", "raft_", "fasterrcnn", "maskrcnn", "keypointrcnn", "retinanet", "ssd", "fcos")
        return [name for name in zoo.list_models() if not name.startswith(skipped)]
    return _timm_models()


def _timm_models() -> list[str]:
    """For each file of timm/models, the model with the fewest parameters by name order of its registry."""
    import torch
    from timm.models import _registry, create_model

    by_file: dict[str, list[str]] = {}
    for name in sorted(_registry._model_entrypoints):
        by_file.setdefault(_registry._model_to_module[name], []).append(name)
    chosen = []
    for names in by_file.values():
        best: tuple[float, str] = (float("inf"), "")
        for name in names:
            try:
                with torch.device("meta"):
                    count = sum(p.numel() for p in create_model(name).parameters())
            except Exception:
                continue
            best = min(best, (count, name))
        if best[1]:
            chosen.append(best[1])
    return chosen


def input_shape(zoo: str, name: str, model: Any) -> list[int]:
    if zoo == "timm":
        channels, height, width = model.default_cfg.get("input_size", (3, 224, 224)) if hasattr(model, "default_cfg") else (3, 224, 224)
        return [1, channels, height, width]
    if name.startswith(VIDEO):
        size = 112 if name.endswith("18") else 224
        return [1, 3, 16 if size == 224 else 8, size, size]
    return [2, 3, 299, 299] if name == "inception_v3" else [2, 3, 224, 224]


def build(zoo: str, name: str) -> Any:
    if zoo == "timm":
        return importlib.import_module("timm.models").create_model(name, pretrained=False)
    options: dict[str, Any] = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if name.startswith(("deeplabv3", "fcn", "lraspp")):
        options = {"weights_backbone": None}
    return importlib.import_module("torchvision.models").get_model(name, weights=None, **options)


def reference(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Build in torch; leave weights, input, output and gradients in the folder."""
    import numpy as np
    import torch

    zoo, name, folder = payload["zoo"], payload["model"], Path(payload["folder"])
    link.doing(name)
    if zoo == "torchvision":
        declare_missing_operators()
    torch.manual_seed(0)
    model = build(zoo, name).eval()
    count = sum(parameter.numel() for parameter in model.parameters())
    _stir(model)
    shape = input_shape(zoo, name, model)
    x = torch.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    state = {key: value.numpy() for key, value in model.state_dict().items()}
    np.savez(folder / "weights.npz", **state)
    output, gradients = _run_torch(model, x)
    np.savez(folder / "output.npz", **{str(index): each for index, each in enumerate(output)})
    np.savez(folder / "gradients.npz", **gradients)
    own = 0.0
    if count < LARGEST:
        _, exact = _run_torch(model.double(), x.double())
        own = max(relative(gradients[key], exact[key]) for key in gradients) if gradients else 0.0
    file = sys.modules[type(model).__module__].__file__ or ""
    return {"input": shape, "parameters": count, "own_error": own, "file": Path(file).name}


def _stir(model: Any) -> None:
    """Give running statistics and scales that start at 0 or 1 other values, so that mistakes in them show."""
    import torch

    generator = torch.Generator().manual_seed(1)
    for key, value in model.state_dict().items():
        if key.endswith("running_mean"):
            value.copy_(0.1 * torch.randn(value.shape, generator=generator))
        elif key.endswith("running_var"):
            value.copy_(1 + 0.2 * torch.rand(value.shape, generator=generator))
        elif value.is_floating_point() and value.numel() > 1 and float(value.abs().max()) < 1e-5:
            value.copy_(0.02 * torch.randn(value.shape, generator=generator))


def _run_torch(model: Any, x: Any) -> tuple[list[Any], dict[str, Any]]:
    import torch

    outputs = leaves(model(x))
    total = sum((each * _weights(each)).sum() for each in outputs)
    parameters = {key: value for key, value in model.named_parameters() if value.requires_grad}
    found = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    gradients = {key: each.numpy() for key, each in zip(parameters, found, strict=True) if each is not None}
    return [each.detach().numpy() for each in outputs], gradients


def _weights(output: Any) -> Any:
    import torch

    return torch.from_numpy(cotangent(tuple(output.shape))).to(output.dtype)


def cotangent(shape: tuple[int, ...]) -> Any:
    import numpy as np

    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in leaves(each)]
    return [value] if hasattr(value, "shape") else []


def relative(value: Any, expected: Any) -> float:
    import numpy as np

    return float(np.linalg.norm(value - expected) / (np.linalg.norm(expected) or 1.0))


def converted(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Build the conversion, give it the weights, compare forward and gradients, and forward under jit."""
    import mindspore as ms
    import numpy as np

    from ..weights import load_torch_weights

    zoo, name, folder = payload["zoo"], payload["model"], Path(payload["folder"])
    link.doing(name)
    _skip_package_init(zoo, link)
    model = build(zoo, name).set_train(False)
    with np.load(folder / "weights.npz") as weights:
        load_torch_weights(model, {key: weights[key] for key in weights.files})
    x = ms.Tensor(np.random.default_rng(0).standard_normal(payload["input"]).astype(np.float32))
    with np.load(folder / "output.npz") as arrays:
        expected = [arrays[str(index)] for index in range(len(arrays.files))]
    outputs = [each.asnumpy() for each in leaves(model(x))]
    forward = _compare(outputs, expected)
    gradient, worst = _compare_gradients(model, x, folder) if forward < 1 else (float("nan"), "")
    try:
        compiled = _compare([each.asnumpy() for each in leaves(ms.jit(model.construct)(x))], expected)
    except Exception as error:
        return {"forward": forward, "gradient": gradient, "worst": worst, "jit": None, "jit_reason": " ".join(str(error).split())[:200]}
    return {"forward": forward, "gradient": gradient, "worst": worst, "jit": compiled}


# Files of torchvision that only serve torch: its compiled operators and its ONNX exporter. The models call none of them.
STAND_INS = {"torchvision.extension": ("_assert_has_ops", "_has_ops"), "torchvision.ops._register_onnx_ops": ("_register_custom_op",)}


def _skip_package_init(zoo: str, link: Link) -> None:
    """torchvision/__init__.py loads image readers and data sets, which models don't need."""
    if zoo == "torchvision" and "torchvision" not in sys.modules:
        assert link.project is not None
        package = types.ModuleType("torchvision")
        package.__path__ = [str(link.project / "torchvision")]
        sys.modules["torchvision"] = package
        for name, functions in STAND_INS.items():
            sys.modules[name] = types.ModuleType(name)
            for function in functions:
                setattr(sys.modules[name], function, lambda: False)


def _compare(outputs: list[Any], expected: list[Any]) -> float:
    import numpy as np

    if len(outputs) != len(expected) or any(a.shape != b.shape for a, b in zip(outputs, expected, strict=True)):
        return float("inf")
    return max(float(np.abs(a - b).max() / (np.abs(b).max() or 1.0)) for a, b in zip(outputs, expected, strict=True))


def _compare_gradients(model: Any, x: Any, folder: Path) -> tuple[float, str]:
    import mindspore as ms
    import numpy as np

    from ..weights.match import match
    from ..weights.tree import describe

    def total(x: Any) -> Any:
        return sum((each * ms.Tensor(cotangent(tuple(each.shape)))).sum() for each in leaves(model(x)))

    parameters = [p for p in model.get_parameters() if p.requires_grad]
    found = ms.grad(total, None, ms.ParameterTuple(parameters))(x)
    by_identity = {id(p): g.asnumpy() for p, g in zip(parameters, found, strict=True)}
    places = dict(model.parameters_and_names())
    worst, name = 0.0, ""
    with np.load(folder / "gradients.npz") as arrays, np.load(folder / "weights.npz") as weights:
        plan = match(describe(model), {key: weights[key].shape for key in weights.files})
        targets = {move.sources[0]: move.target for move in plan.moves}
        for key in arrays.files:
            place = places.get(targets.get(key, ""))
            if place is None or id(place) not in by_identity:
                return float("inf"), key
            error = relative(by_identity[id(place)].reshape(arrays[key].shape), arrays[key])
            if not error <= worst:
                worst, name = error, key
    return worst, name
