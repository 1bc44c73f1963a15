"""Which API an expression refers to, and which rule answers for it."""

from __future__ import annotations

import ast

from ..read.infer import Reading
from ._framework import framework
from ._rule import Rule
from ._table import Table
from .torch._members import is_lost_when_sparse
from .torch._objects import SPARSE

FRAMEWORKS = framework().roots
LIGHTNING = ("pytorch_lightning.", "torchmetrics.")
IN_PLACE_HOMES = ("torch", "torch.Tensor", "torch.nn.functional")


def api_of(node: ast.expr, reading: Reading, rules: Table) -> tuple[str, ast.expr | None]:
    """(torch's dotted name, receiver if it is a method or attribute of a value) of what is named, or ('', None)."""
    kind = reading.type(node)
    if kind.kind == "ref":
        qual = reading.symbols.origin(kind.qual)
        is_own = qual.partition(".")[0] in reading.symbols.framework.roots and not reading.symbols.is_local(qual)
        return (qual, None) if is_own else ("", None)
    if isinstance(node, ast.Attribute):
        receiver = reading.type(node.value)
        if receiver.is_tensor or kind.qual.startswith("torch.Tensor."):
            return f"torch.Tensor.{node.attr}", node.value
        if receiver.kind == "instance":
            return _method_api(receiver.qual, node.attr, reading, rules), node.value
        if receiver.kind == "unknown" and kind.qual.startswith("torch.nn.Module."):  # told by its name or its methods
            return kind.qual, node.value
        if receiver.kind in ("unknown", "batch"):
            return f"any#{node.attr}", node.value
        if receiver.kind == "size":
            return f"torch.Size.{node.attr}", node.value
    return "", None


def rule_of(api: str, rules: Table) -> Rule | None:
    """The API's rule; `x.foo(y)` follows `torch.foo(x, y)` where the method has none of its own, and `foo_` follows `foo`."""
    entry = rules.get(api)
    if entry is not None:
        return entry
    if api.startswith("torch.Tensor."):
        name = api.removeprefix("torch.Tensor.")
        entry = rules.get(f"torch.{name}") or rules.get(f"torch.nn.functional.{name}")
        if entry is not None and entry.args[:1] in (("input",), ("self",)):
            return entry
    if is_in_place(api):
        return rule_of(api[:-1], rules)
    return None


def is_in_place(api: str) -> bool:
    """x.add_, torch.relu_, F.elu_: the value goes into the first argument too. The pass `in_place` sees to that."""
    home, _, name = api.rpartition(".")
    return home in IN_PLACE_HOMES and name.endswith("_") and not name.startswith("_")


def _method_api(qual: str, name: str, reading: Reading, rules: Table) -> str:
    """The table's name for a method of an instance, unless the project defines it itself."""
    symbols = reading.symbols
    if symbols.method(qual, name) is not None and name != "forward":
        return ""
    base = symbols.torch_base(qual)
    if base and (f"{base}.{name}" in rules or f"{base}.{name}@" in rules):
        return f"{base}.{name}"
    if symbols.is_module(qual):
        return f"torch.nn.Module.{name}"
    if base.startswith("torch.optim.lr_scheduler."):
        return f"torch.optim.lr_scheduler.LRScheduler.{name}"
    if base.startswith("torch.optim."):
        return f"torch.optim.Optimizer.{name}"
    if base == SPARSE and is_lost_when_sparse(name):
        return f"{base}.{name}"
    if base.startswith(("torch.utils.data.", "torchvision.", "torch.distributions.", "torch.sparse.", *LIGHTNING)):
        return ""  # what a dataset, a distribution, a sparse tensor or a trainer has, its helper class has too
    return f"{base}.{name}" if base else ""
