"""How a variable that is changed in place gets its new numbers: bound again, or written to, because others see the same memory.

MindSpore's views share memory as torch's do, but not while it records gradients: then only what is written through an index reaches the tensor.
"""

from __future__ import annotations

import ast
from enum import Enum

from ...facts import Facts
from ..bindings import Binding, Names
from .holders import is_for_the_caller, is_held, is_without_gradients, views


class How(Enum):
    """How a tensor gets its new value."""

    BIND = "bind"  # the name is bound again
    ASSIGN = "assign"
    OVERWRITE = "overwrite"
    WRITE_THROUGH = "write through"  # into memory that views share
    SET_DATA = "set_data"
    ITEM = "item"  # an indexed assignment
    WRITTEN = "written"  # bound to what it was, if that is a tensor, and to the new value if it is a number
    ENTRY = "entry"  # an entry of a dict or a list, which may be a parameter


def way(facts: Facts, names: Names, base: ast.Name, is_read_later: bool) -> How:
    """Bind the name again, or write to the tensor that others hold too: ops.assign would cut it off from gradients."""
    binding = names.binding(base)
    if binding.is_parameter:
        return How.SET_DATA
    if binding.how == "shared":
        return How.OVERWRITE
    is_argument = binding.how == "argument" and not is_in_forward(facts, base)
    if is_argument and (not is_read_later or is_for_the_caller(facts, base) or _has_default(facts, base)):
        return How.OVERWRITE
    if binding.how == "alias" and binding.other != base.id and names.is_loaded_after(binding.other, base):
        return How.OVERWRITE  # `y = x; y += 1`: x changes too
    if is_written_through(facts, names, base, binding):
        return How.OVERWRITE if _is_indexed(names, base) and _may_be_differentiated(facts, base) else How.WRITE_THROUGH
    if not may_record_gradients(facts, base) and any(views(facts, names, base)):
        return How.WRITE_THROUGH
    return How.OVERWRITE if is_held(facts, names, base) else How.BIND


def is_written_through(facts: Facts, names: Names, base: ast.Name, binding: Binding) -> bool:
    """`row = x[0]; row += 1`, and x is read below: what is written to a view reaches its tensor."""
    if binding.how != "view" or binding.other == base.id or names.is_gradient(base):
        return False
    is_read = binding.other.startswith("self.") or binding.is_of_shared or names.is_loaded_after(binding.other, base)
    if not is_read:
        return False
    return _is_indexed(names, base) or not may_record_gradients(facts, base)


def shared_with(facts: Facts, names: Names, base: ast.Name) -> str:
    """The variable that changes with it, in a function whose gradient a caller may take: then it would not in MindSpore."""
    if not _may_be_differentiated(facts, base):
        return ""
    binding = names.binding(base)
    if is_written_through(facts, names, base, binding):
        return "" if _is_indexed(names, base) else binding.other
    return next(views(facts, names, base), "")


def _may_be_differentiated(facts: Facts, node: ast.AST) -> bool:
    """In a function, whose gradient a caller may take; not under no_grad()."""
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    return (function is not None or may_record_gradients(facts, node)) and not is_without_gradients(facts, node)


def _is_indexed(names: Names, base: ast.Name) -> bool:
    """Whether nothing but indices lead from the tensor to what the name shows."""
    values = names.values(base)
    return len(values) == 1 and isinstance(values[0], ast.Subscript) and not isinstance(values[0].value, ast.Call)


def may_record_gradients(facts: Facts, node: ast.AST) -> bool:
    """A network's methods, and functions that take a gradient, run while MindSpore records; not under no_grad()."""
    if is_without_gradients(facts, node):
        return False
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    owner = facts.enclosing(node, ast.ClassDef)
    is_network = owner is not None and facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))
    if is_network and function is not None and getattr(function, "name", "") != "__init__":
        return True
    scope = function or facts.source.tree
    return any(
        facts.is_within(each, scope)
        for name in ("backward", "grad")
        for each in facts.source.members.get(name, ())
        if _is_called(facts, each)  # `p.grad` alone reads what was taken before
    )


def _is_called(facts: Facts, method: ast.Attribute) -> bool:
    call = facts.parents.get(method)
    return isinstance(call, ast.Call) and call.func is method


def is_in_forward(facts: Facts, node: ast.AST) -> bool:
    function = facts.enclosing(node, ast.FunctionDef)
    return isinstance(function, ast.FunctionDef) and function.name == "forward"


def _has_default(facts: Facts, base: ast.Name) -> bool:
    """`def add(x, total=torch.zeros(3))`: the tensor that the function was defined with keeps what every call adds."""
    function = facts.enclosing(base, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    defaults = dict(zip((each.arg for each in reversed(listed)), reversed(given.defaults), strict=False))
    defaults |= {each.arg: value for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
    return base.id in defaults and not isinstance(defaults[base.id], ast.Constant)
