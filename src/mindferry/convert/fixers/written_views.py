"""`flat = out.view(-1, 3); flat[index] = rows`: torch writes into `out`, MindSpore into a tensor of its own, so `out` is bound to what was written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ..facts import Facts
from ..plan import AtEnd, AtNode, Change, Edit, InsertAfter, InsertBefore, ReplaceSpan, Texts
from .bindings import Names

AFTER = ("in_place",)
RESHAPES = frozenset({"view", "view_as", "squeeze", "unsqueeze"})
MAY_COPY = frozenset({"reshape", "flatten", "ravel"})  # torch copies what does not lie in memory in one piece


def plan(facts: Facts) -> Iterator[Change]:
    statements: list[ast.Assign | ast.AugAssign] = [*facts.source.of(ast.Assign), *facts.source.of(ast.AugAssign)]
    for node in statements:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) != 1 or not isinstance(targets[0], ast.Subscript) or facts.source.indent(node).strip():
            continue
        match targets[0].value:
            case ast.Call() as view if (base := _viewed(facts, view)) is not None and _is_read(facts, base, node):
                yield AtNode(node, partial(_name_view, facts, node, view, base))
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as owner, attr=method)) if (
                method in RESHAPES
                and facts.reading.type(owner).is_tensor
                and facts.reading.type(targets[0].slice).is_tensor
            ):
                yield facts.found(
                    node,
                    findings.MF140,
                    f"in place: {facts.source.text(owner)} is changed through a view",
                    "name the view, write into it, and write it back: owner[...] = view.reshape(owner.shape)",
                )
            case ast.Name() as name if (made := _view_of_name(facts, name)) is not None:
                base = _viewed(facts, made)
                if base is not None and _is_read(facts, base, node) and not _is_bound_later(facts, base):
                    yield AtEnd(partial(_bind_base, facts, node, name.id, made, base))


def _viewed(facts: Facts, call: ast.Call) -> ast.Name | None:
    """The name of the tensor that the call shows in another shape."""
    match call.func:
        case ast.Attribute(value=ast.Name() as base, attr=method) if facts.reading.type(base).is_tensor:
            if method in RESHAPES or (method in MAY_COPY and facts.derived(Names).binding(base).how == "fresh"):
                return base
            if (method == "t" and not call.args) or (method == "transpose" and len(call.args) == 2):
                return base
    return None


def _view_of_name(facts: Facts, name: ast.Name) -> ast.Call | None:
    """What makes the view, if the function gives the name nothing else."""
    names = facts.derived(Names)
    stores = names.stores(names.scope(name), name.id)
    match [facts.parents.get(store) for store in stores]:
        case [ast.Assign(targets=[ast.Name()], value=ast.Call() as call)]:
            return call
    return None


def is_written_back(facts: Facts, name: ast.Name) -> bool:
    """Whether the name stands for a view that a line of ours writes back into what it shows."""
    made = _view_of_name(facts, name)
    base = _viewed(facts, made) if made is not None else None
    return base is not None and not _is_bound_later(facts, base)


def _is_read(facts: Facts, base: ast.Name, node: ast.Assign | ast.AugAssign) -> bool:
    return facts.derived(Names).is_loaded_after(base.id, node.value)


def _is_bound_later(facts: Facts, base: ast.Name) -> bool:
    """Then the view shows the old tensor."""
    names = facts.derived(Names)
    stores = names.stores(names.scope(base), base.id)
    return any(facts.source.start(store) > facts.source.start(base) for store in stores)


def _back(view: str, call: ast.Call, base: str, texts: Texts) -> str:
    """The written view in the shape of what it shows."""
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "t":
        return f"{base} = {view}.T"
    if call.func.attr == "transpose":
        return f"{base} = {view}.swapaxes({', '.join(texts.of(each) for each in call.args)})"
    return f"{base} = {view}.reshape({base}.shape)"


def _bind_base(
    facts: Facts, node: ast.Assign | ast.AugAssign, name: str, call: ast.Call, base: ast.Name, texts: Texts
) -> Iterator[Edit]:
    line = f"{facts.source.newline()}{facts.source.indent(node)}"
    yield InsertAfter(node, line + _back(name, call, base.id, texts))
    yield facts.record(node, "written view", facts.source.text(node), texts.of(node))


def _name_view(
    facts: Facts, node: ast.Assign | ast.AugAssign, call: ast.Call, base: ast.Name, texts: Texts
) -> Iterator[Edit]:
    source, names = facts.source, facts.derived(Names)
    name = f"{base.id}_view"
    while names.stores(names.scope(base), name):
        name += "_"
    line = f"{source.newline()}{source.indent(node)}"
    yield InsertBefore(node, f"{name} = {texts.of(call)}{line}")
    yield ReplaceSpan(source.start(call), source.end(call), name)
    yield InsertAfter(node, line + _back(name, call, base.id, texts))
    yield facts.record(node, "written view", source.text(node), texts.of(node))
