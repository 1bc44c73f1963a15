"""In a MindSpore worker: build the cell, note what it computes, export it; and, in a fresh one, run what was exported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..frameworks.mindspore import build_cell
from ..frameworks.requests import Cipher, ExportedRequest, ExportRequest, PrepareRequest
from ..frameworks.worker import Link
from ..verify.named import one_line
from ..verify.nesting import leaves
from .any_batch import keep_ranks

UNKNOWN_OPERATOR = re.compile(r"Can not find key (\w+) in convert map")


def prepare(request: PrepareRequest, link: Link) -> int:
    """What the cell computes on each set of inputs, and its parameters, as files; the number of outputs."""
    import mindspore as ms
    import numpy as np

    link.doing(f"building {request.model}")
    cell = built(request.model, request.weights)
    ms.save_checkpoint(cell, request.parameters)
    link.doing("running the cell")
    outputs: dict[str, Any] = {}
    with np.load(request.inputs) as arrays:
        for name in _sets(arrays):
            for index, array in enumerate(outputs_of(cell, _tensors(arrays, name))):
                outputs[f"{name}/{index}"] = array
    np.savez(request.expected, **outputs)
    return len(outputs)


def export(request: ExportRequest, link: Link) -> str:
    """Why there is no file, or ''."""
    import mindspore as ms
    import numpy as np

    cell = build_cell(request.model)
    ms.load_param_into_net(cell, ms.load_checkpoint(request.parameters))
    cell.set_train(False)
    with np.load(request.inputs) as arrays:
        inputs = _tensors(arrays, "0")
    if request.form == "mindir with any batch size":
        keep_ranks(cell)
        inputs = [ms.Tensor(shape=[None, *each.shape[1:]], dtype=each.dtype) if each.ndim else each for each in inputs]
    link.doing(f"exporting {request.form}")
    cipher = request.cipher
    options = {"enc_key": bytes.fromhex(cipher.key), "enc_mode": cipher.mode} if cipher.key else {}
    try:
        ms.export(
            cell,
            *inputs,
            file_name=request.path,
            file_format="ONNX" if request.form == "onnx" else "MINDIR",
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


def run(request: ExportedRequest, link: Link) -> int:
    """In a fresh worker: what the file computes, as a file; the number of outputs."""
    import numpy as np

    link.doing(f"loading {Path(request.path).name}")
    compute = _onnx(request.path) if request.form == "onnx" else _mindir(request.path, request.cipher)
    outputs: dict[str, Any] = {}
    with np.load(request.inputs) as arrays:
        for name in _sets(arrays):
            link.doing(f"running {Path(request.path).name} on input {name}")
            for index, array in enumerate(compute([arrays[key] for key in _keys(arrays, name)])):
                outputs[f"{name}/{index}"] = array
    np.savez(request.outputs, **outputs)
    return len(outputs)


def _mindir(path: str, cipher: Cipher) -> Any:
    import mindspore as ms
    from mindspore import nn

    options = {"dec_key": bytes.fromhex(cipher.key), "dec_mode": cipher.mode} if cipher.key else {}
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
