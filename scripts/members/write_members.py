"""Writes apis/torch/members.tsv: what torch's classes call their methods and attributes, and which of a tensor's mean the same in MindSpore.

Run it where both frameworks are installed: `python scripts/members/write_members.py`. The column `same` is measured:
a method that MindSpore's tensor has too is called on numbers of several types, and results, types and shapes must agree.
The last column says that MindSpore's class has the name too, whatever it means there.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import torch

TARGET = Path(__file__).parents[2] / "src" / "mindferry" / "apis" / "torch" / "members.tsv"
CLASSES = {
    "Tensor": torch.Tensor,
    "Module": torch.nn.Module,
    "Optimizer": torch.optim.Optimizer,
    "LRScheduler": torch.optim.lr_scheduler.LRScheduler,
    "Dataset": torch.utils.data.Dataset,
    "DataLoader": torch.utils.data.DataLoader,
}
INSIDES = {"Module": ("_buffers", "_modules", "_parameters")}  # private, and read by public code all the same
SIZES = {"dims", "size", "sizes", "shape", "repeats"}  # given one by one, or as one tuple
ALSO = {"dim": "axis", "keepdim": "keepdims", "other": "x2"}  # NumPy's names, which torch takes too
NEVER = (
    {"share_memory_", "cuda", "ipu", "xpu", "mtia", "storage", "untyped_storage", "data_ptr", "module_load"}
    | {
        "reinforce",
        "record_stream",
        "backward",
        "retain_grad",
        "register_hook",
    }
    | {"chunk", "split", "tensor_split", "hsplit", "vsplit", "unbind", "transpose", "expand", "max", "min", "median"}
)
# the second set: MindSpore's methods differ under ms.jit


UNTOLD = {
    "std": ["dim, unbiased=True, keepdim=False"],
    "var": ["dim, unbiased=True, keepdim=False"],
    "sort": ["dim=-1, descending=False, stable=False"],
    "scatter": ["dim, index, src, reduce=None", "dim, index, value, reduce=None"],
    "split": ["split_size, dim=0", "split_size_or_sections, dim=0"],
    "max": ["other"],
    "min": ["other"],
    "clamp": ["min=None, max=None"],
    "pow": ["exponent"],
    "all": ["dim=None, keepdim=False"],
    "any": ["dim=None, keepdim=False"],
    "squeeze": ["dim=None"],
    **{name: [""] for name in "detach detach_ relu relu_ arccosh arccosh_ is_nonzero is_pinned".split()},
    **{name: ["other"] for name in "clamp_min clamp_max clamp_min_ clamp_max_ less prelu is_same_size".split()},
    "log_softmax": ["dim, dtype=None"],
    "split_with_sizes": ["split_sizes, dim=0"],
    "to": ["device=None, dtype=None, non_blocking=False, copy=False, memory_format=None, other=None"],
    "nonzero": ["*, as_tuple=False"],
    "stride": ["dim=None"],
    "refine_names": ["*names"],
}  # overloads that neither torch's docstrings nor its schemas tell


def signature(owner: type, name: str) -> tuple[int, str, list[str]]:
    """(least, most positional arguments, names); nothing is excluded where torch doesn't say."""
    member = getattr(owner, name)
    found: list[tuple[int, float, list[str]]] = []
    for text in re.findall(rf"^\s*(?:Tensor\.)?{name}\((.*?)\)\s*(?:->|→|$)", member.__doc__ or "", re.MULTILINE):
        found.append(parsed(text))
    if owner is torch.Tensor or name == "to":  # a network's takes the same
        found += [parsed(text) for text in UNTOLD.get(name, ())]
    if owner is torch.Tensor:
        found += [parsed(text) for text in schemas(name)]
    try:
        in_python = [", ".join(map(spelled, inspect.signature(member).parameters.values()))]
    except (TypeError, ValueError):
        in_python = []
    if not found or not any("*" in text for text in in_python):
        found += map(parsed, in_python)
    if not found:
        return 0, "*", ["*"]
    least = min(each[0] for each in found)
    most = max(each[1] for each in found)
    names = sorted({name for each in found for name in each[2]})
    return least, "*" if most == float("inf") else str(int(most)), names


def schemas(name: str) -> list[str]:
    """The overloads of a tensor's method as torch's operators declare them; docstrings leave many out."""
    overloads = getattr(torch.ops.aten, name, None)
    found = []
    for each in overloads.overloads() if hasattr(overloads, "overloads") else ():
        receiver, *rest = getattr(overloads, each)._schema.arguments or [None]
        if receiver is None or str(receiver.type) != "Tensor" or any(argument.is_out for argument in rest):
            continue
        texts = [f"{argument.name}=..." if argument.has_default_value() else argument.name for argument in rest]
        first = next((place for place, argument in enumerate(rest) if argument.kwarg_only), len(rest))
        found.append(", ".join([*texts[:first], "*", *texts[first:]]))
    return found


def spelled(parameter: inspect.Parameter) -> str:
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    return star + parameter.name + ("" if parameter.default is inspect.Parameter.empty else "=...")


def parsed(text: str) -> tuple[int, float, list[str]]:
    least, most, names, is_keyword = 0, 0.0, [], False
    for part in (each.strip() for each in re.split(r",(?![^(\[]*[)\]])", text)):
        name = part.partition("=")[0].strip()
        if name in ("", "self", "input", "/"):
            continue
        if part.startswith("**"):
            names.append("*")
        elif part == "*":
            is_keyword = True
        elif part.startswith("*") or name in SIZES:
            least, most = least + (name.lstrip("*") in SIZES and "=" not in part), float("inf")
            names.append(name.lstrip("*"))
        else:
            names += [name, ALSO.get(name, name)]
            if not is_keyword:
                most += 1
                least += "=" not in part
    return least, most, names


def plain(value: object) -> Any:
    if isinstance(value, torch.Tensor):
        return str(value.dtype).removeprefix("torch."), value.detach().numpy()
    if isinstance(value, ms.Tensor):
        return str(value.dtype).lower(), value.asnumpy()
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return type(value).__name__, np.asarray(value)


def agree(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, list) or isinstance(theirs, list):
        return (
            isinstance(ours, list)
            and isinstance(theirs, list)
            and len(ours) == len(theirs)
            and all(map(agree, ours, theirs))
        )
    (kind, values), (other, others) = ours, theirs
    return (
        kind == other
        and values.shape == others.shape
        and bool(np.allclose(values, others, rtol=1e-4, atol=1e-5, equal_nan=True))
    )


def forms() -> dict[str, list[tuple[np.ndarray, tuple[Any, ...]]]]:
    """Receivers and arguments: 0 without any, 1 with a tensor or a number, d with the number of a dimension."""
    random = np.random.default_rng(0)
    signed, other = (random.standard_normal((3, 3)).astype("float32") for _ in range(2))
    positive, whole, small = np.abs(signed) + 0.5, random.integers(1, 9, (3, 3)), random.integers(1, 4, (3, 3))
    truth, half, one = signed > 0, signed.astype("float16"), np.array([2.5], "float32")
    return {
        "0": [(each, ()) for each in (signed, positive, whole, truth, half, one)],
        "1": [
            (signed, (other,)),
            (positive, (positive,)),
            (whole, (small,)),
            (truth, (truth,)),
            (signed, (2.0,)),
            (whole, (2,)),
        ],
        "d": [(signed, (0,)), (signed, (1,)), (signed, (-1,)), (whole, (1,)), (truth, (0,))],
    }


def called(make: Any, receiver: np.ndarray, name: str, arguments: tuple[Any, ...]) -> Any:
    given = [make(each) if isinstance(each, np.ndarray) else each for each in arguments]
    return plain(getattr(make(receiver), name)(*given))


def same(name: str) -> str:
    """The forms of the call in which MindSpore's own method does the same."""
    if not hasattr(ms.Tensor, name) or name in NEVER or name.endswith("_"):
        return ""
    found = ""
    for form, cases in forms().items():
        results = []
        for receiver, arguments in cases:
            try:
                ours = called(torch.tensor, receiver, name, arguments)
            except Exception:
                continue  # torch doesn't take it either
            try:
                results.append(agree(ours, called(ms.Tensor, receiver, name, arguments)))
            except BaseException:
                results.append(False)
        found += form if results and all(results) else ""
    return found


def main() -> None:
    ms.set_context(pynative_synchronize=True)
    lines = [
        "# Written by scripts/members/write_members.py: class, name, kind, least and most arguments, names, same, held"
    ]
    twins = {"Tensor": ms.Tensor, "Module": ms.nn.Cell()}
    for owner, cls in CLASSES.items():
        for name in sorted([*INSIDES.get(owner, ()), *(each for each in dir(cls) if not each.startswith("_"))]):
            held = "held" if hasattr(twins.get(owner), name) else ""
            if callable(getattr(cls, name, None)):
                least, most, names = signature(cls, name)
                measured = same(name) if owner == "Tensor" else ""
                lines.append("\t".join([owner, name, "method", str(least), most, " ".join(names), measured, held]))
            else:
                lines.append("\t".join([owner, name, "attribute", "", "", "", "", held]))
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
