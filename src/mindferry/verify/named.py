"""What the user names on the torch side: a model, its inputs, its weights."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..frameworks.project_modules import import_of_project
from .arguments import read_arguments
from .goldenfile import RecordError, UnfitError

Tensor = Any  # torch.Tensor
SMALL = {
    "eps": ("epsilon",),
    "negative_slope": ("alpha",),
    "padding_idx": (),
    "momentum": (),
    "max_norm": (),
}  # torch's name -> MindSpore's


def build(spec: str) -> Any:
    """`package.module:factory` or `module:Class(depth=50)` -> what it makes."""
    name, bracket, rest = spec.partition("(")
    made = find(name)
    is_model = hasattr(made, "named_parameters") or hasattr(made, "parameters_and_names")
    if is_model and not isinstance(made, type):
        return made
    positional, named = read_arguments(spec, bracket + rest)
    return made(*positional, **named)


def find(spec: str) -> Any:
    """`package.module:name` or `package.module:Class.name` -> the object of that name."""
    match = re.fullmatch(r"([\w.]+):([\w.]+)", spec)
    if match is None:
        raise RecordError(f"{spec!r} names nothing; write module:name, for instance model:resnet50")
    module, name = match.groups()
    try:
        return functools.reduce(getattr, name.split("."), import_of_project(module))
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module}.".startswith(f"{error.name}."):
            raise
        raise RecordError(f"no module {module!r} in {sys.path[0]}; check {spec}") from None
    except AttributeError:
        raise RecordError(f"{module} has no {name!r}; check {spec}") from None


_SPEC = re.compile(
    r"(?:([*\w][^=]*)=)?(float32|float64|float16|int64|int32|bool)\[([\d,\s]*)\](?:@([-\d.e]+)\.\.([-\d.e]+))?"
)


def make_inputs(specs: Sequence[str], seed: int) -> list[tuple[str, Any]]:
    """(name or "", value) of each: made from `[name=]dtype[shape][@low..high]`, read from a file, or a literal."""
    made: list[tuple[str, Any]] = []
    for index, spec in enumerate(specs):
        match = _SPEC.fullmatch(spec.strip())
        if match is not None:
            made.append((match[1] or "", _random(match, seed * 1000 + index)))
        elif Path(spec).suffix in (".pt", ".pth", ".npy", ".npz"):
            made += _from_file(Path(spec))
        else:
            made.append(_literal(spec))
    return made


def _random(match: re.Match[str], seed: int) -> Tensor:
    import torch

    _, dtype, sizes, low, high = match.groups()
    shape = [int(size) for size in sizes.split(",") if size.strip()]
    generator = torch.Generator().manual_seed(seed)
    if dtype == "bool":
        return torch.randint(0, 2, shape, generator=generator).bool()
    if dtype.startswith("int"):
        return torch.randint(int(low or 0), int(high or 10), shape, generator=generator, dtype=getattr(torch, dtype))
    if low is None:
        return torch.randn(shape, generator=generator).to(getattr(torch, dtype))
    return (torch.rand(shape, generator=generator) * (float(high) - float(low)) + float(low)).to(getattr(torch, dtype))


def _from_file(path: Path) -> list[tuple[str, Any]]:
    import torch

    if not path.is_file():
        raise RecordError(f"no input file {path}")
    if path.suffix in (".pt", ".pth"):
        value = torch.load(path, map_location="cpu", weights_only=True)
    else:
        import numpy

        loaded = numpy.load(path, allow_pickle=False)
        value = torch.from_numpy(loaded) if path.suffix == ".npy" else {k: torch.from_numpy(loaded[k]) for k in loaded}
    if isinstance(value, dict):
        return list(value.items())
    return [("", item) for item in value] if isinstance(value, list | tuple) else [("", value)]


def _literal(spec: str) -> tuple[str, Any]:
    name, _, text = spec.rpartition("=")
    try:
        return name, ast.literal_eval(text)
    except (SyntaxError, ValueError):
        advice = "write 'float32[4,3,224,224]', 'ids=int64[2,16]@0..30522', a .npy, .npz or .pt file, or a literal"
        raise RecordError(f"{spec!r} is not an input; {advice}") from None


def shake(model: Any, seed: int) -> None:
    """Give constant parameters and statistics some spread, and move buffers of zeros off zero.

    A zero gamma or a unit variance would hide a fault. So would a copy of another parameter: a teacher that starts as its student
    is does not show how it follows, and layers that are alike may stand in each other's place.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    statistics = [b for name, b in model.named_buffers() if name.endswith(("running_mean", "running_var"))]
    with torch.no_grad():
        for tensor in [*model.parameters(), *statistics]:
            if tensor.is_floating_point() and tensor.numel() and bool((tensor == tensor.flatten()[0]).all()):
                tensor += (torch.rand(tensor.shape, generator=generator) * 0.8 - 0.4).to(tensor.device, tensor.dtype)
        for tensor in _copies(model):
            tensor *= (torch.rand(tensor.shape, generator=generator) * 0.4 + 0.8).to(tensor.device, tensor.dtype)
        for buffer in model.buffers():  # upwards: a root or a logarithm of it may be taken
            if buffer.is_floating_point() and buffer.numel() and not bool(buffer.any()):
                buffer += (torch.rand(buffer.shape, generator=generator) * 0.4).to(buffer.device, buffer.dtype)


def _copies(model: Any) -> list[Any]:
    """Parameters that hold what another one before them holds, in a place of their own."""
    import torch

    found: list[Any] = []
    seen: dict[Any, list[Any]] = {}
    for tensor in model.parameters():
        if tensor.is_floating_point() and tensor.numel() > 1:
            key = tensor.shape, float(tensor.flatten()[0]), float(tensor.flatten()[-1])
            others = seen.setdefault(key, [])
            if any(torch.equal(tensor, other) and tensor.data_ptr() != other.data_ptr() for other in others):
                found.append(tensor)
            else:
                others.append(tensor)
    return found


def load_weights(model: Any, path: str) -> None:
    """From a torch checkpoint; nothing in the file is executed."""
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise RecordError(f"no weights file {path}") from None
    except Exception as error:
        raise RecordError(f"cannot read weights from {path}: {one_line(error)}") from None
    for name in ("state_dict", "model_state_dict", "model", "net"):
        if isinstance(state, dict) and isinstance(state.get(name), dict):
            state = state[name]
    state = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise UnfitError(f"the weights in {path} do not fit the model: {one_line(error)}") from None


def plain_settings(module: Any) -> dict[str, Any]:
    """A module's or a cell's plain attributes: eps, stride, padding …"""
    plain = (bool, int, float, str)
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and name != "training"
        and (isinstance(value, plain) or (isinstance(value, tuple) and all(isinstance(item, plain) for item in value)))
    }


def small_settings(module: Any) -> dict[str, float]:
    """Settings of a layer that a value may not show: 1.1e-5 for 1e-5 beside a variance of 1, a row that no input names."""
    found = {}
    for name, others in SMALL.items():
        value = next((vars(module)[other] for other in (name, *others) if other in vars(module)), False)
        if not isinstance(value, bool) and isinstance(value, int | float | None):
            found[name] = -1.0 if value is None else float(value)
    return found


def source_of(function: Any) -> tuple[str, int, str]:
    """File, first line and text of a method; empty where it has none."""
    try:
        lines, first = inspect.getsourcelines(function)
        return str(inspect.getsourcefile(function)), first, "".join(lines)
    except (OSError, TypeError):
        return "", 0, ""


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
