"""What a torch model consists of, apart from what it computes: modules, ties, buffers that its constructor made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import pairwise
from types import CodeType
from typing import Any

from ..frameworks.named_in_code import hidden_rate, is_torchs
from .capture import is_tensor
from .nesting import Opaque, containers, parts
from .state import LIGHT

Tensor = Any  # torch.Tensor
REPEATED = 4  # times the same number in a parameter
SMALL = 4096  # elements of a parameter that may be a gain, a bias or a scale
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


def computed_buffers(model: Any) -> dict[str, Tensor]:
    """Copies of the buffers, but for statistics, which every network starts with the same."""
    return {name: buffer.detach().clone() for name, buffer in model.named_buffers() if not name.endswith(STATISTICS)}


def tied_parameters(model: Any) -> list[list[str]]:
    """Names of one and the same parameter; first the one under which torch has its gradient."""
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return [found for found in names.values() if len(found) > 1]


def shared_memory(model: Any) -> list[list[str]]:
    """Pairs of parameters that are two, and lie in one place: a step of the one is a step of the other."""
    places = []
    for name, parameter in model.named_parameters():
        if parameter.numel() and parameter.is_contiguous():
            begin = parameter.data_ptr()
            places.append((begin, begin + parameter.numel() * parameter.element_size(), name))
    places.sort()
    return [[one[2], other[2]] for one, other in pairwise(places) if other[0] < one[1]]


def constant_parameters(model: Any) -> dict[str, float]:
    """Those that start with one number everywhere: gains, biases, scales of branches."""
    small = {name: each.detach() for name, each in model.named_parameters() if 1 < each.numel() <= SMALL}
    return {
        name: float(each.flatten()[0]) for name, each in small.items() if each.is_floating_point() and _is_uniform(each)
    }


def fixed_starts(model: Any, remake: Callable[[], Any]) -> dict[str, Tensor]:
    """Small parameters of which a part starts with numbers that nobody drew: rows of zeros, an identity. NaN stands for the rest.

    What is drawn comes out otherwise when the model is made again.
    """
    import torch

    small = {name: each.detach() for name, each in model.named_parameters() if 1 < each.numel() <= SMALL}
    found = {name: _where_plain(each) for name, each in small.items() if each.is_floating_point()}
    found = {name: each for name, each in found.items() if bool(each.any()) and not _is_uniform(small[name])}
    if not found or sum(parameter.numel() for parameter in model.parameters()) > LIGHT:
        return {}
    again = dict(remake().named_parameters())
    for name in found.keys() & again.keys():
        found[name] &= again[name].detach() == small[name]
    gap = torch.tensor(float("nan"))
    kept = {name: each for name, each in found.items() if name in again and bool(each.any())}
    return {name: torch.where(each, small[name].float().cpu(), gap) for name, each in kept.items()}


def _is_uniform(tensor: Tensor) -> bool:
    return bool((tensor == tensor.flatten()[0]).all())


def _where_plain(tensor: Tensor) -> Tensor:
    """Where it is zero or one, or a number that it holds several times: hardly drawn."""
    import torch

    _, places, counts = torch.unique(tensor, return_inverse=True, return_counts=True)
    return (tensor == 0) | (tensor.abs() == 1) | (counts[places] >= REPEATED)


def module_parts(model: Any) -> dict[str, dict[str, Any]]:
    """Module path -> class, where that is from, how many parameters and children it has itself, its hidden dropout."""
    return {
        path: {
            "kind": type(module).__name__,
            "home": type(module).__module__,
            "parameters": len(module._parameters),
            "children": len(module._modules),
            "rate": hidden_rate(module),
        }
        for path, module in model.named_modules()
    }


def own_hooks(model: Any) -> dict[str, int]:
    """Module path -> how many hooks the network's own code has put on it; torch's own, such as a weight norm's, are left out."""
    found = {}
    for path, module in model.named_modules():
        hooks = (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
        count = sum(not _home(hook).startswith("torch.") for hook in hooks)
        if count:
            found[path] = count
    return found


def gradient_hooks(model: Any) -> list[str]:
    """Modules and parameters of which the network's own code watches or changes the gradients: on these inputs that may not show."""
    found = []
    for path, module in model.named_modules():
        hooks = (*module._backward_hooks.values(), *module._backward_pre_hooks.values())
        found += [path or "the network"] if any(not _home(hook).startswith("torch.") for hook in hooks) else []
    for name, parameter in model.named_parameters():
        tables = (getattr(parameter, kept, None) or {} for kept in ("_backward_hooks", "_post_accumulate_grad_hooks"))
        found += (
            [name] if any(not _home(hook).startswith("torch.") for table in tables for hook in table.values()) else []
        )
    return found


def _home(hook: Any) -> str:
    return str(getattr(hook, "__module__", None) or type(hook).__module__)


def call_defaults(model: Any) -> dict[str, dict[str, Any]]:
    """Module path -> what forward takes for arguments that are not given, for classes of the network's own."""
    found = {path: plain_defaults(module.forward) for path, module in model.named_modules() if not is_torchs(module)}
    return {path: defaults for path, defaults in found.items() if defaults}


def plain_defaults(function: Any) -> dict[str, Any]:
    """Of its parameters that have a plain one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {each.name: each.default for each in parameters if isinstance(each.default, bool | int | float | str | None)}


def own_state(model: Any, changed: list[str]) -> list[str]:
    """Of what a call changed, what the network's own code keeps: not the statistics of torch's layers."""
    modules = dict(model.named_modules())
    return [name for name in changed if not is_torchs(modules[name.rpartition(".")[0]])]


def forward_codes(model: Any) -> set[CodeType]:
    """The forward methods of the model's own classes, wherever they are from."""
    found = set()
    for module in model.modules():
        if not is_torchs(module):
            code = getattr(getattr(type(module), "forward", None), "__code__", None)
            if isinstance(code, CodeType):
                found.add(code)
    return found


def loose_buffers(model: Any) -> dict[str, Tensor]:
    """Buffers that are not in the state dict."""
    kept = model.state_dict().keys()
    return {name: buffer for name, buffer in model.named_buffers() if name not in kept}


def output_structure(output: Any) -> list[dict[str, Any]]:
    """The way to each part of the output, its type, and its value if it is a plain one."""
    found = []
    for way, leaf in parts(output, is_tensor, objects=True):
        if is_tensor(leaf):
            found.append({"way": way, "dtype": str(leaf.dtype).removeprefix("torch.")})
        elif isinstance(leaf, Opaque):
            found.append({"way": way, "dtype": "", "opaque": leaf.kind})
        else:
            found.append({"way": way, "dtype": "", "value": leaf if not isinstance(leaf, complex) else str(leaf)})
    around = [{"way": way, "dtype": "", "container": kind} for way, kind in containers(output, is_tensor)]
    return [*found, *around]
