"""Tensors that may hold nothing, since a mask or a search selects their rows: followed through names, functions and attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .framework import Role
from .uses import Use
from .walk import walk

if TYPE_CHECKING:
    from .infer import Reading

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Variable = tuple[str, ast.AST | None]  # a name, and the function that it is of


@dataclass(slots=True)
class Selections:
    """What a project hands on of what is selected, by bare names: a helper too many costs little, a sum of garbage much."""

    given_back: set[str] = field(default_factory=set)  # functions that return such tensors, attributes that hold them
    arguments: set[str] = field(default_factory=set)  # "function:argument" or "function:place"
    by_losses: bool = False  # a loss that is held in a variable is given such tensors

    def copy(self) -> Selections:
        return Selections(set(self.given_back), set(self.arguments), self.by_losses)

    def as_row(self) -> list[object]:
        return [sorted(self.given_back), sorted(self.arguments), self.by_losses]


def note_selections(reading: Reading) -> None:
    """Add to the project's facts what this file gives back and hands on."""
    known = reading.symbols.selections
    if not known.given_back and not known.arguments and not _has_selection(reading):
        return
    before = -1
    while before < (before := len(known.given_back) + len(known.arguments)):
        _note_once(reading, known)
        reading.selections.clear()  # told before the rest of the file had its say


def _note_once(reading: Reading, known: Selections) -> None:
    source = reading.source
    for returned in source.of(ast.Return):
        if returned.value is not None and is_selected(reading, returned.value):
            known.given_back |= _names_of_function(reading, function_around(reading, returned))
    for assigned in source.of(ast.Assign):
        held = [each.attr for each in assigned.targets if isinstance(each, ast.Attribute)]
        if held and is_selected(reading, assigned.value):
            known.given_back |= set(held)
    for call in source.of(ast.Call):
        _note_arguments(reading, call)


def _has_selection(reading: Reading) -> bool:
    source = reading.source
    return any(_selects_rows(reading, each) for each in source.of(ast.Subscript)) or any(
        _is_selecting_call(reading, each) for each in source.of(ast.Call)
    )


def _names_of_function(reading: Reading, function: ast.AST | None) -> set[str]:
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    if function.name not in reading.symbols.framework.forward:
        return {function.name}
    owner = reading.source.parents.get(function)
    return {owner.name} if isinstance(owner, ast.ClassDef) else set()  # a network that is called


def _note_arguments(reading: Reading, call: ast.Call) -> None:
    given = [
        *((str(place), value) for place, value in enumerate(call.args)),
        *((each.arg, each.value) for each in call.keywords if each.arg),
    ]
    selected = [place for place, value in given if is_selected(reading, value)]
    if not selected:
        return
    known, kind = reading.symbols.selections, reading.type(call.func)
    if kind.kind == "instance" and reading.symbols.role(kind.qual) is not Role.LOSS:
        known.arguments |= {f"{kind.qual.rpartition('.')[2]}:{place}" for place in selected}
    elif kind.kind == "ref" and reading.symbols.framework.has(reading.symbols.origin(kind.qual)):
        pass  # the table's, which looks at the call itself
    else:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        known.arguments |= {f"{name}:{place}" for place in selected}
        known.by_losses |= kind.kind in ("instance", "unknown")


def is_selected(reading: Reading, node: ast.expr) -> bool:
    """Whether the expression is what a mask selects, or computed from that."""
    is_direct, names = _looked_into(reading, node)
    return is_direct or any(_holds_selection(reading, each) for each in names)


def _holds_selection(reading: Reading, name: ast.Name) -> bool:
    """Whether the function gives the name what a mask selects, or what is computed from that.

    Told once for a name: without a selection, none of the names that were come by has one; with one, all on the way to it.
    """
    known = reading.selections
    first = name.id, function_around(reading, name)
    way: dict[Variable, Variable | None] = {first: None}  # names that were come by, and from which
    waiting = [(first, name)]
    while waiting and first not in known:
        here, use = waiting.pop()
        is_reached = known.get(here, False) or _is_given_selection(reading, use.id, here[1])
        for value in assigned_values(reading, use) if here not in known else ():
            is_direct, names = _looked_into(reading, value)
            is_reached = is_reached or is_direct
            for each in names:
                following = each.id, function_around(reading, each)
                if following not in way:
                    way[following] = here
                    waiting.append((following, each))
        step: Variable | None = here if is_reached else None
        while step is not None:
            known[step] = True
            step = way[step]
    if first not in known:
        known.update(dict.fromkeys(way, False))
    return known[first]


def _is_given_selection(reading: Reading, name: str, function: ast.AST | None) -> bool:
    """Whether the name is an argument of the function for which some call gives it what a mask selects."""
    handed = reading.symbols.selections.arguments
    if not handed or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if name not in arguments and name not in {each.arg for each in function.args.kwonlyargs}:
        return False
    is_method = isinstance(reading.source.parents.get(function), ast.ClassDef)
    place = arguments.index(name) - is_method if name in arguments else -1
    return any(
        f"{called}:{spelled}" in handed for called in _names_of_function(reading, function) for spelled in (name, place)
    )


def _looked_into(reading: Reading, node: ast.expr) -> tuple[bool, list[ast.Name]]:
    """(whether something is selected in the expression, the tensors that it names)."""
    names: list[ast.Name] = []
    for part in walk(node):
        if type(part) is ast.Name:
            if reading.type(part).kind in ("tensor", "unknown"):
                names.append(part)
        elif (
            (type(part) is ast.Subscript and _selects_rows(reading, part))
            or (type(part) is ast.Call and _is_selecting_call(reading, part))
            or (type(part) is ast.Attribute and part.attr in reading.symbols.selections.given_back)
        ):
            return True, []
    return False, names


def _selects_rows(reading: Reading, node: ast.Subscript) -> bool:
    """`x[mask]`, `x[:, mask]`, `x[scores > 0.5]`; not `x[rows, columns]`, which picks as many as there are."""
    if not isinstance(node.ctx, ast.Load) or reading.type(node.value).kind not in ("tensor", "unknown"):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    chosen = [each for each in parts if _may_be_mask(reading, each)]
    is_known = reading.type(node.value).is_tensor or any(reading.type(each).is_tensor for each in chosen)
    return len(chosen) == 1 and (is_known or _is_index_of_tensors(chosen[0]))


def _may_be_mask(reading: Reading, index: ast.expr) -> bool:
    if isinstance(index, ast.Slice | ast.Constant | ast.BinOp | ast.JoinedStr):
        return False
    return reading.type(index).kind in ("tensor", "unknown") or isinstance(index, ast.Compare)


def _is_index_of_tensors(index: ast.expr) -> bool:
    """Where nothing is known of either: a comparison, a negation and a name of its own, but no item or attribute of another."""
    return isinstance(index, ast.Compare | ast.UnaryOp | ast.Name)


def _is_selecting_call(reading: Reading, node: ast.Call) -> bool:
    framework, known, kind = reading.symbols.framework, reading.symbols.selections, reading.type(node.func)
    if kind.kind == "instance":
        return kind.qual.rpartition(".")[2] in known.given_back
    name = node.func.attr if isinstance(node.func, ast.Attribute) else kind.qual.rpartition(".")[2]
    api = framework.of_tensor(name)  # a function of that name does the same
    is_search = len(node.args) + len(node.keywords) < 2 and framework.uses.has(Use.SEARCH, api)
    return is_search or framework.uses.has(Use.SELECTION, api) or name in known.given_back


def function_around(reading: Reading, node: ast.AST) -> ast.AST | None:
    scope = reading.source.parents.get(node)
    while scope is not None and not isinstance(scope, FUNCTIONS):
        scope = reading.source.parents.get(scope)
    return scope


def assigned_values(reading: Reading, name: ast.Name) -> Iterator[ast.expr]:
    """What the function around gives the name."""
    outer = function_around(reading, name) or reading.source.tree
    return (each.value for each in reading.source.assigned_within(name.id, outer))
