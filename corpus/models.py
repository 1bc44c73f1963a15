"""What the workers do with one model: torch builds and runs it and leaves the arrays; MindSpore does the same and compares."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from conformance.zoo_models import declare_missing_operators
from conformance.zoo_run import cotangent, errors, hold_memory, leaves

from mindferry.frameworks.worker import Link

FORWARD, GRADIENT = 1e-4, 1e-3
TRIED_ROUNDINGS = 3


def built(code: str) -> Any:
    """Imports, then the value of the last expression."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), "the last statement of a model's code builds it"
    names: dict[str, Any] = {}
    exec(compile(tree, "corpus/projects.toml", "exec"), names)
    return eval(compile(ast.Expression(last.value), "corpus/projects.toml", "eval"), names)


def reference(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Build and run in torch; leave weights, inputs, outputs and gradients in the folder."""
    import numpy as np
    import torch

    from mindferry.verify.named import make_inputs

    folder = Path(payload["folder"])
    link.doing(payload["code"])
    hold_memory()
    declare_missing_operators()
    torch.manual_seed(0)
    model = built(payload["code"]).eval()
    _shake_what_travels(model)
    given = make_inputs(payload["inputs"], 0)
    positional = [value for name, value in given if not name]
    named = {name: value for name, value in given if name}
    outputs = [each for each in leaves(model(*positional, **named)) if isinstance(each, torch.Tensor)]
    again = [each for each in leaves(model(*positional, **named)) if isinstance(each, torch.Tensor)]
    if any(a.shape != b.shape or not torch.allclose(a, b, equal_nan=True) for a, b in zip(outputs, again, strict=True)):
        return {"refused": "two runs of the original in eval mode differ: it is random"}
    gradients = _torch_gradients(model, outputs)
    by_rounding = _by_rounding(model, positional, named, gradients)
    np.savez(folder / "weights.npz", **{key: value.numpy() for key, value in model.state_dict().items()})
    np.savez(folder / "output.npz", **{str(index): each.detach().numpy() for index, each in enumerate(outputs)})
    np.savez(folder / "gradients.npz", **gradients)
    arrays = {str(index): value.numpy() for index, (_, value) in enumerate(given) if isinstance(value, torch.Tensor)}
    np.savez(folder / "inputs.npz", **arrays)
    plain = {str(index): value for index, (_, value) in enumerate(given) if not isinstance(value, torch.Tensor)}
    requires = [each.requires_grad for each in outputs]
    return {"names": [name for name, _ in given], "plain": plain, "requires": requires, "by_rounding": by_rounding}


def _torch_gradients(model: Any, outputs: list[Any]) -> dict[str, Any]:
    import torch

    total = sum(
        (each * torch.from_numpy(cotangent(tuple(each.shape))).to(each.dtype)).sum()
        for each in outputs
        if each.is_floating_point() and each.requires_grad
    )
    parameters = {key: value for key, value in model.named_parameters() if value.requires_grad}
    if not isinstance(total, torch.Tensor) or not parameters:
        return {}
    found = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    return {key: each.numpy() for key, each in zip(parameters, found, strict=True) if each is not None}


def _by_rounding(model: Any, positional: list[Any], named: dict[str, Any], gradients: dict[str, Any]) -> float:
    """How far torch's own gradients move when every weight moves by a rounding error.

    An activation that close to zero, or to its neighbour in a pool, sends the gradient another way: CRNN's first layer is off
    by 1.2e-2 from float64 in torch's float32, and by 4e-7 in MindSpore's; RAFT's move by 2e-2.
    """
    import torch

    furthest = 0.0
    before = [value.detach().clone() for value in model.parameters()]
    for _ in range(TRIED_ROUNDINGS if gradients else 0):
        with torch.no_grad():
            for value in model.parameters():
                value += 2e-7 * value * torch.randn_like(value)
        outputs = [each for each in leaves(model(*positional, **named)) if isinstance(each, torch.Tensor)]
        furthest = max(furthest, _widest(_torch_gradients(model, outputs), gradients)[0])
        with torch.no_grad():
            for value, saved in zip(model.parameters(), before, strict=True):
                value.copy_(saved)
    return furthest


def _shake_what_travels(model: Any) -> None:
    """Buffers that no state dict holds are the same on both sides, and stay."""
    import torch

    from mindferry.verify.named import shake

    saved = set(model.state_dict())
    own = [(buffer, buffer.clone()) for name, buffer in model.named_buffers() if name not in saved]
    shake(model, 0)
    with torch.no_grad():
        for buffer, before in own:
            buffer.copy_(before)


def converted(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Build the conversion, give it the weights, compare outputs and gradients."""
    import mindspore as ms
    import numpy as np

    from mindferry.weights import load_torch_weights

    folder = Path(payload["folder"])
    link.doing(payload["code"])
    hold_memory()
    model = built(payload["code"]).set_train(False)
    with np.load(folder / "weights.npz") as weights:
        load_torch_weights(model, {key: weights[key] for key in weights.files})
    with np.load(folder / "inputs.npz") as arrays:
        values = {**payload["plain"], **{key: ms.Tensor(arrays[key]) for key in arrays.files}}
    given = [(name, values[str(index)]) for index, name in enumerate(payload["names"])]
    positional = [value for name, value in given if not name]
    named = {name: value for name, value in given if name}
    with np.load(folder / "output.npz") as arrays:
        expected = [arrays[str(index)] for index in range(len(arrays.files))]
    outputs = [each for each in leaves(model(*positional, **named)) if isinstance(each, ms.Tensor)]
    row: dict[str, Any] = {"limit": max(GRADIENT, min(2 * payload["by_rounding"], 0.1))}
    row |= {"forward": _furthest([each.asnumpy() for each in outputs], expected), "gradient": 0.0}
    if not row["forward"] <= FORWARD:
        return row
    row["gradient"], row["worst"] = _gradients(model, positional, named, payload["requires"], folder)
    return row


def _furthest(outputs: list[Any], expected: list[Any]) -> float:
    import numpy as np

    if [each.shape for each in outputs] != [each.shape for each in expected]:
        return float("inf")
    found = [0.0]
    for a, b in zip(outputs, expected, strict=True):
        finite = np.isfinite(b)
        if not np.array_equal(finite, np.isfinite(a)):
            return float("inf")
        if finite.any():
            gap = np.abs(a[finite].astype(np.float64) - b[finite].astype(np.float64)).max()
            found.append(float(gap / (np.abs(b[finite].astype(np.float64)).max() or 1.0)))
    return max(found)


def _gradients(
    model: Any, positional: list[Any], named: dict[str, Any], requires: list[bool], folder: Path
) -> tuple[float, str]:
    import mindspore as ms
    import numpy as np

    from mindferry.weights.match import match
    from mindferry.weights.tree import describe

    def total() -> Any:
        outputs = [each for each in leaves(model(*positional, **named)) if isinstance(each, ms.Tensor)]
        floats = [
            each
            for each, has in zip(outputs, requires, strict=True)
            if has and each.dtype in (ms.float32, ms.float16, ms.float64)
        ]
        return sum((each * ms.Tensor(cotangent(tuple(each.shape))).astype(each.dtype)).sum() for each in floats)

    with np.load(folder / "gradients.npz") as arrays, np.load(folder / "weights.npz") as weights:
        wanted = {key: arrays[key] for key in arrays.files}
        plan = match(describe(model), {key: weights[key].shape for key in weights.files})
    if not wanted:
        return 0.0, ""
    parameters = [p for p in model.get_parameters() if p.requires_grad]
    _, found = ms.value_and_grad(total, None, ms.ParameterTuple(parameters))()
    by_identity = {id(p): g.asnumpy() for p, g in zip(parameters, found, strict=True)}
    places = dict(model.parameters_and_names())
    targets = {move.sources[0]: move.path or move.target for move in (*plan.moves, *plan.aliases)}
    ours = {}
    for key, value in wanted.items():
        place = places.get(targets.get(key, ""))
        if place is None or id(place) not in by_identity:
            return float("inf"), key
        ours[key] = by_identity[id(place)].reshape(value.shape)
    return _widest(ours, wanted)


def _widest(ours: dict[str, Any], wanted: dict[str, Any]) -> tuple[float, str]:
    """The largest difference of a gradient, and whose it is; gradients that are nothing but rounding are left out."""
    import numpy as np

    whole = max(float(np.linalg.norm(value)) for value in wanted.values()) or 1.0
    gaps = errors(
        {key: (ours[key], value) for key, value in wanted.items() if float(np.linalg.norm(value)) > 1e-6 * whole}
    )
    worst = max(gaps, key=lambda key: (gaps[key] != gaps[key], gaps[key]), default="")
    return gaps.get(worst, 0.0), worst
