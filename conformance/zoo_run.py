"""What the zoo's workers do: run a model forward and backward in torch and leave the arrays; do the same in MindSpore and compare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mindferry.frameworks.worker import Link

from .zoo_models import DETECTION, arguments, build, declare_missing_operators, input_shapes, skip_package_init

MEMORY = 14 << 30  # bytes that a worker may take
NUDGES = 12  # images a millionth away
GRADIENT, TIMES = (
    1e-3,
    3.0,
)  # what a parameter's gradient may differ by; or this many times torch's own error in float32


def hold_memory() -> None:
    """A model that wants more fails alone, not the machine."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def reference(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Build in torch; leave weights, input, output and gradients in the folder."""
    import numpy as np
    import torch

    zoo, name, folder = payload["zoo"], payload["model"], Path(payload["folder"])
    link.doing(name)
    hold_memory()
    declare_missing_operators()
    torch.manual_seed(0)
    model = build(zoo, name).eval()
    _stir(model)
    if name.startswith(DETECTION):
        spread_scores(
            model, arguments(name, torch.from_numpy(image(input_shapes(zoo, name, model)[0], payload["seed"])))
        )
    mend_batch_norm(model)
    for shape in (tried := input_shapes(zoo, name, model)):
        x = torch.from_numpy(image(shape, payload["seed"]))
        try:
            output, gradients = _run_torch(name, model, x)
        except Exception:
            if shape is tried[-1]:
                raise
        else:
            break
    np.savez(folder / "weights.npz", **{key: value.numpy() for key, value in model.state_dict().items()})
    np.savez(folder / "output.npz", **{str(index): each for index, each in enumerate(output)})
    np.savez(folder / "gradients.npz", **gradients)
    link.state["model"] = (name, model, x, gradients)
    return {"input": shape, "parameters": sum(each.numel() for each in model.parameters())}


def mend_batch_norm(model: Any) -> None:
    """torch 2.13's own gradient of a batch norm in eval mode is wrong on a CPU where it comes in permuted, as after a transpose."""
    import torch

    def plain(module: Any, inputs: Any, output: Any) -> None:
        if output.requires_grad:
            output.register_hook(lambda gradient: gradient.contiguous())

    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.register_forward_hook(plain)


def against_float64(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Both frameworks' float32 gradients by torch's float64 ones: the parameter that is furthest beyond what it may differ by."""
    import numpy as np
    import torch

    name, model, x, gradients = link.state["model"]
    link.doing(f"{name} in float64")
    try:
        _, exact = _run_torch(name, cast(model, torch.float64), x.double())
    finally:
        cast(model, torch.float32)
    with np.load(Path(payload["folder"]) / "found.npz") as found:
        rows = {key: excess(found[key], gradients[key], exact[key]) for key in gradients}
    worst = max(
        rows,
        key=lambda key: (rows[key]["gradient"] != rows[key]["gradient"], rows[key]["gradient"] / rows[key]["allowed"]),
    )
    row: dict[str, Any] = {**rows[worst], "worst": worst}
    if not row["gradient"] <= row["allowed"]:
        row["nudged"] = _nudge(name, model, x, worst, exact[worst])
    return row


def cast(model: Any, dtype: Any) -> Any:
    """With what a network keeps beside its buffers, and what it makes anew while it runs."""
    import torch

    torch.set_default_dtype(dtype)
    for module in model.modules():
        for key, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                setattr(module, key, value.to(dtype))
    return model.to(dtype)


def _nudge(name: str, model: Any, x: Any, parameter: str, exact: Any) -> float:
    """How far torch's own float32 gradient of a parameter goes when the image changes by a millionth of itself: across a kink, it jumps."""
    import numpy as np

    moved = (_run_torch(name, model, each)[1][parameter] for each in _nudged(x))
    return max(float(np.linalg.norm(each - exact)) / (float(np.linalg.norm(exact)) or 1.0) for each in moved)


def nudged_output(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """How far torch's own output goes when the image changes by a millionth of itself: where two boxes score alike, the other one stays."""
    import numpy as np
    import torch

    name, model, x, _ = link.state["model"]
    link.doing(f"{name} with images a millionth away")
    with np.load(Path(payload["folder"]) / "output.npz") as arrays:
        expected = [arrays[str(index)] for index in range(len(arrays.files))]
    with torch.no_grad():
        found = [
            _compare([leaf.numpy() for leaf in leaves(model(arguments(name, each)))], expected) for each in _nudged(x)
        ]
    return {"nudged_forward": max((each for each in found if each < float("inf")), default=0.0)}


def _nudged(x: Any) -> Iterator[Any]:
    import torch

    for seed in range(NUDGES):
        noise = torch.rand(x.shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1
        yield x * (1 + 1e-6 * noise)


def excess(found: Any, single: Any, exact: Any) -> dict[str, float]:
    """How far the conversion's gradient is from the exact one, and how far it may be."""
    import numpy as np

    own = float(np.linalg.norm(single - exact))
    size = float(np.linalg.norm(exact)) or own or 1.0
    return {
        "gradient": float(np.linalg.norm(found - exact)) / size,
        "own_error": own / size,
        "allowed": max(GRADIENT, TIMES * own / size),
    }


def image(shape: list[int], seed: int) -> Any:
    import numpy as np

    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


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


def spread_scores(model: Any, given: Any) -> None:
    """An untrained detector scores all boxes alike, so that rounding decides which are kept: scale each layer's output to a deviation of 1."""
    import torch

    def scale(layer: Any, inputs: Any, output: Any) -> Any:
        factor = 1 / float(output.std()) if output.numel() > 1 else 1.0
        bias = 0.0 if layer.bias is None else layer.bias[:, None, None] if output.ndim == 4 else layer.bias
        layer.weight.mul_(factor)
        hooks[layer].remove()  # a head serves several maps: the first one counts
        return (output - bias) * factor + bias

    hooks = {
        each: each.register_forward_hook(scale)
        for each in model.modules()
        if isinstance(each, torch.nn.Conv2d | torch.nn.Linear)
    }
    with torch.no_grad():
        model(given)


def _run_torch(name: str, model: Any, x: Any) -> tuple[list[Any], dict[str, Any]]:
    import torch

    model.train().eval()  # what a network keeps from an earlier evaluation has no gradient
    outputs = leaves(model(arguments(name, x)))
    total = sum(
        (each * torch.from_numpy(cotangent(tuple(each.shape))).to(each.dtype)).sum()
        for each in outputs
        if each.is_floating_point()
    )
    parameters = {key: value for key, value in model.named_parameters() if value.requires_grad}
    found = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    gradients = {key: each.numpy() for key, each in zip(parameters, found, strict=True) if each is not None}
    return [each.detach().numpy() for each in outputs], gradients


def cotangent(shape: tuple[int, ...]) -> Any:
    import numpy as np

    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in leaves(each)]
    return [value] if hasattr(value, "shape") else []


def errors(pairs: dict[str, tuple[Any, Any]]) -> dict[str, float]:
    """Each gradient's L2 difference by its norm."""
    import numpy as np

    return {
        key: float(np.linalg.norm(value - wanted)) / (float(np.linalg.norm(wanted)) or 1.0)
        for key, (value, wanted) in pairs.items()
    }


def converted(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Build the conversion, give it the weights, compare forward and gradients, and forward under jit."""
    import mindspore as ms
    import numpy as np

    from mindferry.weights import load_torch_weights

    zoo, name, folder = payload["zoo"], payload["model"], Path(payload["folder"])
    link.doing(name)
    hold_memory()
    skip_package_init(zoo, link)
    model = build(zoo, name).set_train(False)
    with np.load(folder / "weights.npz") as weights:
        load_torch_weights(model, {key: weights[key] for key in weights.files})
    given = arguments(name, ms.Tensor(image(payload["input"], payload["seed"])))
    with np.load(folder / "output.npz") as arrays:
        expected = [arrays[str(index)] for index in range(len(arrays.files))]
    row: dict[str, Any] = {"gradient": None, "worst": "", "jit": None}
    try:  # first, since some networks keep parts of an evaluation, which then have no gradient
        row["gradient"], row["worst"] = _compare_gradients(model, given, folder)
    except Exception as error:
        row["gradient_reason"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    link.doing(f"{name}, forward")
    row["forward"] = forward = _compare([each.asnumpy() for each in leaves(model(given))], expected)
    if payload["jit"] and forward < 1:
        link.doing(f"{name} under jit")
        try:
            row["jit"] = _compare([each.asnumpy() for each in leaves(ms.jit(model.construct)(given))], expected)
        except Exception as error:
            row["jit_reason"] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return row


def _compare(outputs: list[Any], expected: list[Any]) -> float:
    import numpy as np

    if len(outputs) != len(expected) or any(a.shape != b.shape for a, b in zip(outputs, expected, strict=True)):
        return float("inf")
    pairs = [(a, b) for a, b in zip(outputs, expected, strict=True) if b.size]
    return max((float(np.abs(a - b).max() / (np.abs(b).max() or 1.0)) for a, b in pairs), default=0.0)


def _compare_gradients(model: Any, given: Any, folder: Path) -> tuple[float, str]:
    import mindspore as ms
    import numpy as np

    from mindferry.weights.match import match
    from mindferry.weights.tree import describe

    def total(given: Any) -> Any:
        floats = [each for each in leaves(model(given)) if each.dtype in (ms.float32, ms.float16, ms.float64)]
        return sum((each * ms.Tensor(cotangent(tuple(each.shape)))).sum() for each in floats)

    parameters = [p for p in model.get_parameters() if p.requires_grad]
    found = ms.grad(total, None, ms.ParameterTuple(parameters))(given)
    by_identity = {id(p): g.asnumpy() for p, g in zip(parameters, found, strict=True)}
    places = dict(model.parameters_and_names())
    pairs = {}
    with np.load(folder / "gradients.npz") as arrays, np.load(folder / "weights.npz") as weights:
        plan = match(describe(model), {key: weights[key].shape for key in weights.files})
        targets = {move.sources[0]: move.path or move.target for move in (*plan.moves, *plan.aliases)}
        for key in arrays.files:
            place = places.get(targets.get(key, ""))
            if place is None or id(place) not in by_identity:
                return float("inf"), key
            pairs[key] = (by_identity[id(place)].reshape(arrays[key].shape), arrays[key])
    found_errors = errors(pairs)
    if not max(found_errors.values(), default=0.0) <= GRADIENT:
        np.savez(folder / "found.npz", **{key: value for key, (value, _) in pairs.items()})
    worst = max(found_errors, key=lambda key: (found_errors[key] != found_errors[key], found_errors[key]), default="")
    return found_errors.get(worst, 0.0), worst
