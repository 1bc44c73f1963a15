"""In a MindSpore worker: build the cell, note what it computes, export it; and, in a fresh one, run what was exported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MindferryError
from ..frameworks.mindspore import build_cell
from ..verify.named import one_line
from ..verify.nesting import leaves
from .any_batch import keep_ranks

if TYPE_CHECKING:
    from ..frameworks.worker import Json, Link

UNKNOWN_OPERATOR = re.compile(r"Can not find key (\w+) in convert map")


def prepare(payload: Json, link: Link) -> Json:
    """{"model", "weights", "inputs", "expected", "parameters"}: what the cell computes on each set of inputs, and its parameters, as files."""
    import mindspore as ms
    import numpy as np

    link.doing(f"building {payload['model']}")
    cell = built(payload["model"], payload["weights"])
    ms.save_checkpoint(cell, payload["parameters"])
    link.doing("running the cell")
    outputs: dict[str, Any] = {}
    with np.load(payload["inputs"]) as arrays:
        for name in _sets(arrays):
            for index, array in enumerate(outputs_of(cell, _tensors(arrays, name))):
                outputs[f"{name}/{index}"] = array
    np.savez(payload["expected"], **outputs)
    return len(outputs)


def export(payload: Json, link: Link) -> Json:
    """{"model", "parameters", "inputs", "form", "path", "key", "mode"} -> why there is no file, or ''."""
    import mindspore as ms
    import numpy as np

    cell = build_cell(payload["model"])
    ms.load_param_into_net(cell, ms.load_checkpoint(payload["parameters"]))
    cell.set_train(False)
    with np.load(payload["inputs"]) as arrays:
        inputs = _tensors(arrays, "0")
    if payload["form"] == "mindir with any batch size":
        keep_ranks(cell)
        inputs = [ms.Tensor(shape=[None, *each.shape[1:]], dtype=each.dtype) if each.ndim else each for each in inputs]
    link.doing(f"exporting {payload['form']}")
    options = {"enc_key": bytes.fromhex(payload["key"]), "enc_mode": payload["mode"]} if payload["key"] else {}
    try:
        ms.export(
            cell,
            *inputs,
            file_name=payload["path"],
            file_format="ONNX" if payload["form"] == "onnx" else "MINDIR",
            **options,
        )
    except Exception as error:
        return reason(error)
    return ""


def reason(error: BaseException) -> str:
    text = str(error)
    unknown = UNKNOWN_OPERATOR.search(text)
    if unknown:
        return f"MindSpore's ONNX exporter has no {unknown[1]}"
    if "pointer[prim] is null" in text:
        return "MindSpore's ONNX exporter takes no control flow that depends on data"
    return one_line(error)


def run(payload: Json, link: Link) -> Json:
    """In a fresh worker: {"path", "form", "inputs", "outputs", "key", "mode"}: what the file computes, as a file."""
    import numpy as np

    link.doing(f"loading {Path(payload['path']).name}")
    compute = (
        _onnx(payload["path"])
        if payload["form"] == "onnx"
        else _mindir(payload["path"], payload["key"], payload["mode"])
    )
    outputs: dict[str, Any] = {}
    with np.load(payload["inputs"]) as arrays:
        for name in _sets(arrays):
            link.doing(f"running {Path(payload['path']).name} on input {name}")
            for index, array in enumerate(compute([arrays[key] for key in _keys(arrays, name)])):
                outputs[f"{name}/{index}"] = array
    np.savez(payload["outputs"], **outputs)
    return len(outputs)


def _mindir(path: str, key: str, mode: str) -> Any:
    import mindspore as ms
    from mindspore import nn

    options = {"dec_key": bytes.fromhex(key), "dec_mode": mode} if key else {}
    cell = nn.GraphCell(ms.load(path, **options))
    return lambda arrays: outputs_of(cell, [ms.Tensor(array) for array in arrays])


def _onnx(path: str) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return lambda arrays: session.run(None, dict(zip(names, arrays, strict=True)))


def built(model: str, weights: str) -> Any:
    """The cell in evaluation mode, with the weights of a file in it."""
    cell = build_cell(model)
    if weights:
        load_file(cell, Path(weights))
    return cell.set_train(False)


def load_file(cell: Any, path: Path) -> None:
    """Weights of torch (.pth) or of MindSpore (.ckpt, .safetensors with the cell's own names)."""
    import mindspore as ms

    from ..weights import load_torch_weights
    from ..weights.convert import widen
    from ..weights.formats.files import TORCH_SUFFIXES, open_checkpoint

    if path.suffix in TORCH_SUFFIXES:
        with open_checkpoint(path) as checkpoint:
            load_torch_weights(cell, {entry.name: widen(entry) for entry in checkpoint.entries})
        return
    missing, _ = ms.load_param_into_net(
        cell, ms.load_checkpoint(str(path), format="safetensors" if path.suffix == ".safetensors" else "ckpt")
    )
    if missing:
        raise MindferryError(
            f"{path} has no {missing[0]} ({len(missing)} of the model's parameters are missing); convert it with `mindferry weights`"
        )


def outputs_of(cell: Any, tensors: list[Any]) -> list[Any]:
    return [each.asnumpy() for each in leaves(cell(*tensors), is_tensor)]


def is_tensor(value: Any) -> bool:
    import mindspore as ms

    return isinstance(value, ms.Tensor)


def _tensors(arrays: Any, name: str) -> list[Any]:
    import mindspore as ms

    return [ms.Tensor(arrays[key]) for key in _keys(arrays, name)]


def _sets(arrays: Any) -> list[str]:
    return list(dict.fromkeys(key.partition("/")[0] for key in arrays.files))


def _keys(arrays: Any, name: str) -> list[str]:
    return sorted(
        (key for key in arrays.files if key.startswith(f"{name}/")), key=lambda key: int(key.partition("/")[2])
    )
