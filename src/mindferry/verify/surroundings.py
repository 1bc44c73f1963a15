"""What a torch model consists of, apart from what it computes: modules, ties, buffers that its constructor made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from types import CodeType
from typing import Any

from ..frameworks.named_in_code import hidden_rate, is_torchs
from .beside import argument_names, drawn, plain_properties, sample, special_methods, tables_of
from .capture import is_tensor
from .nesting import Opaque, containers, parts
from .state import LIGHT

Tensor = Any  # torch.Tensor
REPEATED = 4  # times the same number in a parameter
SMALL = 4096  # elements of a parameter that may be a gain, a bias or a scale
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


@dataclass(frozen=True, slots=True)
class Starts:
    """What a constructor made."""

    buffers: dict[str, Tensor]
    constants: dict[str, float]  # parameters that start with one number everywhere
    parts: dict[str, Tensor]  # those of which a part starts with known numbers
    drawn: dict[str, list[float]]  # and how the numbers of the others are spread


def starts_of(model: Any, remake: Callable[[], Any] | None) -> Starts:
    """Of a network that has just been made. Without `remake` it gets its weights from elsewhere, and only its buffers count."""
    if remake is None:
        return Starts(computed_buffers(model), {}, {}, {})
    constants = constant_parameters(model)
    floats = {name: each.detach() for name, each in model.named_parameters() if each.is_floating_point()}
    spreads = {name: drawn(sample(each.cpu()).float().numpy()) for name, each in floats.items() if each.numel() > 1}
    parts = fixed_starts(model, remake)
    buffers = {name: each for name, each in parts.items() if name not in floats}
    random = {name: each for name, each in computed_buffers(model).items() if name in buffers}
    spreads |= {name: drawn(sample(each.cpu()).float().numpy()) for name, each in random.items() if each.numel() > 1}
    return Starts(computed_buffers(model), constants, parts, spreads)


def what_is_beside(model: Any) -> dict[str, Any]:
    """Of the network's own classes: the names of forward's arguments in order, properties that give a plain value, methods such as
    `__len__`, defaults of constructors, and hooks on what is saved and loaded."""
    own = {path: module for path, module in model.named_modules() if not is_torchs(module)}
    names = {path: argument_names(module.forward) for path, module in own.items()}
    properties = {path: plain_properties(module, "torch.") for path, module in own.items()}
    facts = {"arguments": names, "properties": {path: each for path, each in properties.items() if each}}
    facts["special"] = {path: special_methods(type(module), "torch.") for path, module in own.items()}
    facts["makers"] = {path: plain_defaults(type(module).__init__) for path, module in own.items()}
    return facts | {"checkpoint hooks": checkpoint_hooks(model)}


def plain_tables(model: Any) -> dict[str, Tensor]:
    """Numbers in plain attributes of the network's own classes."""
    import torch

    own = [(path, module) for path, module in model.named_modules() if not is_torchs(module)]
    found = {}
    for path, module in own:
        for name, array in tables_of(module, "torch.", is_tensor, lambda tensor: tensor.detach().cpu().numpy()).items():
            found[f"{path}.{name}".lstrip(".")] = torch.from_numpy(array)
    return found


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
    """Small parameters of which a part starts with numbers that nobody drew: rows of zeros, an identity, a slope. NaN stands for the rest.

    What is drawn comes out otherwise when the model is made again. Of buffers, those of which a part is drawn: the others are compared.
    """
    import torch

    if sum(parameter.numel() for parameter in model.parameters()) > LIGHT:
        return {}
    small = {name: each.detach() for name, each in model.named_parameters() if 1 < each.numel() <= SMALL}
    small = {name: each for name, each in small.items() if each.is_floating_point() and not _is_uniform(each)}
    tables = {name: each for name, each in computed_buffers(model).items() if 1 < each.numel() <= SMALL}
    tables = {name: each for name, each in tables.items() if each.is_floating_point() and not _is_uniform(each)}
    made = remake() if small or tables else None
    again = dict(made.named_parameters()) | dict(made.named_buffers()) if made is not None else {}
    drawn_tables = {name: each for name, each in tables.items() if name in again and _is_drawn(again[name], each)}
    found = {name: again[name].detach() == each for name, each in small.items() if name in again}
    if all(bool(each.all()) for each in found.values()):  # it seeds itself, or nothing is drawn
        found = {name: each & _where_plain(small[name]) for name, each in found.items()}
    gap = torch.tensor(float("nan"))
    kept = {name: each for name, each in found.items() if name in again and bool(each.any())}
    parts = {name: torch.where(each, small[name].float().cpu(), gap) for name, each in kept.items()}
    same = {name: again[name].detach() == each for name, each in drawn_tables.items()}
    return parts | {name: torch.where(each, drawn_tables[name].float().cpu(), gap) for name, each in same.items()}


def _is_drawn(again: Tensor, first: Tensor) -> bool:
    return again.shape == first.shape and not bool((again.detach() == first).all())


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


def checkpoint_hooks(model: Any) -> list[str]:
    """Modules on whose saving or loading the network's own code has put a hook: no checkpoint goes through a comparison."""
    kinds = ("_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")
    found = []
    for path, module in model.named_modules():
        hooks = [hook for kind in kinds for hook in (getattr(module, kind, None) or {}).values()]
        found += [path or "the network"] if any(not _home(hook).startswith("torch.") for hook in hooks) else []
    return found


def _home(hook: Any) -> str:
    hook = getattr(hook, "hook", hook)  # torch wraps some
    return str(getattr(hook, "__module__", None) or type(hook).__module__)


def call_defaults(model: Any) -> dict[str, dict[str, Any]]:
    """Module path -> what forward takes for arguments that are not given, for classes of the network's own."""
    found = {path: plain_defaults(module.forward) for path, module in model.named_modules() if not is_torchs(module)}
    return {path: defaults for path, defaults in found.items() if defaults}


def plain_defaults(function: Any) -> dict[str, Any]:
    """Of its parameters that have a plain one; a list or a dictionary, which all calls share, by its kind."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}
    plain = {
        each.name: each.default for each in parameters if isinstance(each.default, bool | int | float | str | None)
    }
    shared = {each.name: each.default for each in parameters if isinstance(each.default, list | dict | set)}
    return plain | {name: f"a {type(value).__name__} that all share" for name, value in shared.items()}


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
