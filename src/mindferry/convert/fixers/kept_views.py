"""`self.flat = self.table.view(-1)` beside `self.table += 1`: torch's view shows the change, MindSpore's is a tensor of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change

VIEWS = frozenset(
    "view view_as squeeze unsqueeze t transpose permute narrow select expand expand_as diagonal detach".split()
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ADVICE = "make the view where it is read, from what it shows"


def plan(facts: Facts) -> Iterator[Change]:
    for statement in facts.source.of(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value) if (
                (shown := _shown(facts, value)) is not None
                and name != shown.attr
                and facts.reading.type(shown).is_tensor
            ):
                owner = facts.enclosing(statement, ast.ClassDef)
                changed = _changed(facts, owner, statement, {name, shown.attr}) if owner is not None else None
                if changed is not None:
                    yield facts.found(
                        statement,
                        findings.MF140,
                        f"in place: self.{name} shows self.{shown.attr}, and line {changed.lineno} changes one of them",
                        ADVICE,
                    )


def _shown(facts: Facts, value: ast.expr) -> ast.Attribute | None:
    """The attribute that a view shows: self.table of `self.table.view(-1)` and of `self.table[0]`."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")) as shown, attr=method)):
            return shown if method in VIEWS else None
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self")) as shown, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return None if any(facts.reading.type(each).kind in ("tensor", "list") for each in parts) else shown
    return None


def _changed(facts: Facts, owner: ast.AST, statement: ast.stmt, names: set[str]) -> ast.stmt | None:
    """Where another method changes the tensor or its view, if the view is made nowhere else."""
    made, changed = 0, None
    for name in names:
        for node in facts.source.members.get(name, ()):
            if not (isinstance(node.value, ast.Name) and node.value.id == "self" and facts.is_within(node, owner)):
                continue
            parent = facts.parents.get(node)
            if isinstance(parent, ast.Assign) and node in parent.targets:
                made += 1
            elif _is_change(facts, node) and facts.enclosing(node, *FUNCTIONS) is not facts.enclosing(
                statement, *FUNCTIONS
            ):
                changed = facts.statement_of(node)
    return changed if made <= 2 else None  # once each


def _is_change(facts: Facts, node: ast.Attribute) -> bool:
    parent = facts.parents.get(node)
    match parent:
        case ast.AugAssign(target=target):
            return target is node
        case ast.Subscript(value=value, ctx=ast.Store()):
            return value is node
        case ast.Attribute(attr=method):
            return method in facts.framework.members.in_place
    return False
