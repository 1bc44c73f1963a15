"""Helpers that ask a value what it is: `any_chunk(x, 2)` is torch's chunk if x is a tensor, and x.chunk(2) otherwise.

They are generated from the table: the function with torch's signature that stands for a tensor's or a network's method.
"""

from __future__ import annotations

import functools

from ...apis import Table
from ...apis._lookup import rule_of
from ...apis._table import table
from ...apis.torch._members import NUMPY_NAMES, members

PREFIX = "any_"
_TENSOR = {
    "size": "tensor_size",
    "dim": "tensor_ndim",
    "ndimension": "tensor_ndim",
    "numel": "tensor_numel",
    "nelement": "tensor_numel",
    "view": "tensor_view",
    "view_as": "tensor_view_as",
    "reshape": "reshape",
    "reshape_as": "tensor_view_as",
    "expand": "expand_copy",
    "expand_as": "tensor_expand_as",
    "repeat": "repeat_by",
    "tile": "tile",
    "flatten": "flatten",
    "permute": "tensor_permute",
    "transpose": "transpose",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "flip": "tensor_flip",
    "t": "t_matrix",
    "unsqueeze": "tensor_unsqueeze",
    "squeeze": "tensor_squeeze",
    "clone": "tensor_clone",
    "detach": "tensor_detach",
    "numpy": "tensor_numpy",
    "item": "tensor_item",
    "tolist": "tensor_tolist",
    "to": "tensor_to",
    "type": "tensor_type",
    "type_as": "tensor_type_as",
    "new": "new_of",
    "new_full": "tensor_new_full",
    "new_zeros": "tensor_new_zeros",
    "new_empty": "tensor_new_zeros",
    "new_ones": "tensor_new_ones",
    "masked_fill": "tensor_masked_fill",
    "element_size": "tensor_element_size",
    "get_device": "tensor_get_device",
    "requires_grad_": "tensor_requires_grad",
    **dict.fromkeys(("contiguous", "cpu", "cuda", "pin_memory", "to_dense", "as_subclass"), "tensor_same"),
    **{
        name: f"tensor_{name}"
        for name in ("float", "double", "half", "bfloat16", "long", "int", "short", "byte", "bool")
    },
}
_MODULE = {
    "parameters": "parameters",
    "named_parameters": "named_parameters",
    "buffers": "buffers",
    "named_buffers": "named_buffers",
    "children": "module_children",
    "named_children": "module_named_children",
    "modules": "module_modules",
    "named_modules": "module_named_modules",
    "train": "module_train",
    "eval": "module_eval",
    "forward": "module_forward",
    "add_module": "add_module",
    "register_module": "add_module",
    "register_buffer": "register_buffer",
    "state_dict": "state_dict",
    "load_state_dict": "load_state_dict",
    "register_parameter": "module_register_parameter",
    "get_submodule": "module_get_submodule",
    "get_parameter": "get_parameter",
    "get_buffer": "get_parameter",
    "reset_parameters": "reset_parameters",
    "reset_running_stats": "reset_running_stats",
    "requires_grad_": "set_requires_grad",
    "to": "cell_to",
    "type": "cell_to",
    "cuda": "module_same",
    "cpu": "module_same",
    "float": "module_float",
    "half": "module_half",
    "double": "module_double",
}
# Methods whose numbers may also come as one argument, by the name that torch gives it.
_STARRED = {
    **dict.fromkeys(("flip", "permute", "tile"), "dims"),
    **dict.fromkeys(("expand", "broadcast_to", "sum_to_size", "new_zeros", "new_ones", "new_empty"), "size"),
    "reshape": "shape",
    "repeat": "repeats",
    "squeeze": "dim",
}
# Names that torch's method takes and the function in its place calls otherwise.
_OTHER_NAMES = {
    "mm": {"mat2": "other"},
    "vdot": {"other": "tensor"},
    "true_divide": {"other": "divisor"},
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"},
    "cholesky_solve": {"input2": "other"},
    "split_with_sizes": {"split_sizes": "split_size_or_sections"},
    "split": {"split_sizes": "split_size_or_sections"},
    **{
        name: {"sections": "indices_or_sections", "indices": "indices_or_sections"}
        for name in ("hsplit", "vsplit", "dsplit")
    },
}
_INHERITED = frozenset(_MODULE) - {"forward"}  # a class of the project may have one of its own


def tensor_form(name: str, rules: Table) -> str:
    """The function that stands for a tensor's method, with torch's arguments after the tensor; '' if there is none."""
    if name in _TENSOR:
        return f"compat.{_TENSOR[name]}"
    known = members()["Tensor"].get(name)
    if name.endswith("_") or known is None or not known.is_method:
        return ""
    entry = rule_of(rules.framework.of_tensor(name), rules)
    if entry is None or entry.missing:
        return ""
    if entry.like and not entry.like.startswith("."):
        return entry.like
    return entry.to if entry.to.startswith("compat.") and entry.function is None else ""


def module_form(name: str, rules: Table) -> str:
    """The function that stands for a network's method; '' if MindSpore's does as it is."""
    entry = rules.calls.get(f"{rules.framework.network}.{name}")
    is_same = entry is not None and entry.to == f".{name}"
    return f"compat.{_MODULE[name]}" if name in _MODULE and not is_same else ""


def attribute_form(name: str, rules: Table) -> str:
    """What a tensor's attribute is, as an expression of {x}; '' if MindSpore's is the same, or there is none."""
    entry = rules.attribute(rules.framework.of_tensor(name))
    if entry is None or entry.missing or entry.to.startswith(".") or not entry.to:
        return ""
    return entry.to if "{" in entry.to or entry.to == "False" else f"{entry.to}({{x}})"


def is_dispatched(name: str, rules: Table) -> bool:
    return bool(tensor_form(name, rules) or module_form(name, rules))


def _short(qual: str) -> str:
    return qual.removeprefix("compat.").removeprefix("mindspore.")


def method_text(name: str, rules: Table) -> str:
    """The helper's source."""
    tensor, module = tensor_form(name, rules), module_form(name, rules)
    owners = " or ".join(each for each, form in (("a tensor", tensor), ("a network", module)) if form)
    lines = [
        f"def {PREFIX}{name}(owner, *args, **kwargs):",
        f'    """owner.{name}(...), as torch has it if the owner is {owners}."""',
    ]
    if tensor:
        lines += [
            "    if isinstance(owner, ms.Tensor):",
            *_renamed(name),
            f"        return {_short(tensor)}(owner, *args, **kwargs)",
        ]
    if module:
        own = f' and getattr(type(owner), "{name}", None) is getattr(nn.Cell, "{name}", None)'
        lines += [
            f"    if isinstance(owner, nn.Cell){own if name in _INHERITED else ''}:",
            f"        return {_short(module)}(owner, *args, **kwargs)",
        ]
    return "\n".join([*lines, f"    return owner.{name}(*args, **kwargs)", ""])


def _renamed(name: str) -> list[str]:
    """Lines that put other names of the arguments right; no more than a test of constants where there are none."""
    known, lines = members()["Tensor"].get(name), []
    if known is not None and known.names & set(NUMPY_NAMES):
        lines += ['        if "axis" in kwargs or "keepdims" in kwargs:', "            kwargs = torch_names(kwargs)"]
    for other, own in _OTHER_NAMES.get(name, {}).items():
        lines += [f'        if "{other}" in kwargs:', f'            kwargs["{own}"] = kwargs.pop("{other}")']
    if name in _STARRED:
        lines += [f'        if "{_STARRED[name]}" in kwargs:', f'            args = (kwargs.pop("{_STARRED[name]}"),)']
    return lines


def attribute_text(name: str, rules: Table) -> str:
    form = attribute_form(name, rules).replace("mindspore.", "").replace("compat.", "").replace("{x}", "value")
    return "\n".join(
        [
            f"def {PREFIX}{name}(value):",
            f'    """value.{name}, as torch has it if the value is a tensor."""',
            f"    return {form} if isinstance(value, ms.Tensor) else value.{name}",
            "",
        ]
    )


@functools.cache
def dispatchers() -> dict[str, str]:
    """Every generated helper: name and source."""
    rules = table()
    names = sorted({*members()["Tensor"], *_MODULE})
    found = {f"{PREFIX}{name}": method_text(name, rules) for name in names if is_dispatched(name, rules)}
    for name in names:
        if attribute_form(name, rules) and f"{PREFIX}{name}" not in found:
            found[f"{PREFIX}{name}"] = attribute_text(name, rules)
    return found
