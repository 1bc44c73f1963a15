"""Tensors that may hold nothing, since a mask or a search selects their rows: followed through names, functions and attributes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .framework import Framework, Role
from .uses import Use
from .walk import walk

if TYPE_CHECKING:
    from .infer import Reading

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Function = ast.FunctionDef | ast.AsyncFunctionDef
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
    _Spread(reading).from_seeds()


class _Spread:
    """Goes from what is selected to whatever holds it, names and functions included: each place is come by once."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.source, self.known = reading, reading.source, reading.symbols.selections
        self.reached: set[ast.AST] = set()  # expressions in which something is selected
        self.variables: set[Variable] = set()
        self.waiting: list[ast.AST] = []  # reached, and what they stand in is not yet
        self.calls: dict[str, list[ast.Call]] = defaultdict(list)  # by the bare names of what is called
        self.functions: dict[str, list[Function]] = defaultdict(list)  # by the names that they are called by
        self.uses: dict[str, dict[ast.AST | None, list[ast.Name]]] = {}
        self.places: dict[ast.Call, dict[ast.AST, int]] = {}  # of a call's arguments

    def from_seeds(self) -> None:
        reading, known = self.reading, self.known
        self.waiting += [each for each in self.source.of(ast.Subscript) if _selects_rows(reading, each)]
        self._sort_calls()
        for name in known.given_back & (self.calls.keys() | self.source.members.keys()):
            self._give_back(name)
        given = {each.partition(":")[0] for each in known.arguments}
        functions: list[Function] = [*self.source.of(ast.FunctionDef), *self.source.of(ast.AsyncFunctionDef)]
        for function in functions:
            names = _names_of_function(reading, function)
            for called in names:
                self.functions[called].append(function)
            if not given.isdisjoint(names):
                self._take_arguments(function)
        while self.waiting:
            self._climb(self.waiting.pop())

    def _sort_calls(self) -> None:
        framework = self.reading.symbols.framework
        selects: dict[str, tuple[bool, bool]] = {}
        for call in self.source.of(ast.Call):
            name, is_api = _called_name(self.reading, call)
            self.calls[name].append(call)
            if is_api:
                if name not in selects:
                    selects[name] = _selecting_uses(framework, name)
                is_search, is_selection = selects[name]
                if is_selection or (is_search and len(call.args) + len(call.keywords) < 2):
                    self.waiting.append(call)

    def _give_back(self, name: str) -> None:
        self.known.given_back.add(name)
        self.waiting += self.calls.get(name, ())
        self.waiting += self.source.members.get(name, ())

    def _take_arguments(self, function: Function) -> None:
        for name in _given_arguments(self.reading, function):
            self._hold(name, function)

    def _hold(self, name: str, function: ast.AST | None) -> None:
        """Wherever the function names it, there is something selected."""
        if (name, function) in self.variables:
            return
        self.variables.add((name, function))
        if name not in self.uses:
            uses = self.uses[name] = {}
            for use in self.source.named.get(name, ()):
                if self.reading.type(use).kind in ("tensor", "unknown"):
                    uses.setdefault(function_around(self.reading, use), []).append(use)
        self.waiting += self.uses[name].get(function, ())

    def _climb(self, node: ast.AST) -> None:
        while node not in self.reached and not isinstance(node, ast.stmt):
            self.reached.add(node)
            parent = self.source.parents[node]
            if isinstance(parent, ast.Call):
                if node is not parent.func and not isinstance(node, ast.keyword):
                    self._note_argument(parent, str(self._place_of(node, parent)))
            elif isinstance(parent, ast.keyword):
                call = self.source.parents[parent]
                if parent.arg and isinstance(call, ast.Call):
                    self._note_argument(call, parent.arg)
            elif isinstance(parent, ast.Return):
                for name in _names_of_function(self.reading, function_around(self.reading, parent)):
                    if name not in self.known.given_back:
                        self._give_back(name)
            elif isinstance(parent, ast.Assign) and node is parent.value:
                self._assign(parent)
            node = parent

    def _place_of(self, node: ast.AST, call: ast.Call) -> int:
        if call not in self.places:
            self.places[call] = {each: place for place, each in enumerate(call.args)}
        return self.places[call][node]

    def _assign(self, assigned: ast.Assign) -> None:
        for target in assigned.targets:
            if isinstance(target, ast.Attribute) and target.attr not in self.known.given_back:
                self._give_back(target.attr)
            elif isinstance(target, ast.Name):
                function = function_around(self.reading, assigned)
                while function is not None:  # those around it see the assignment too
                    self._hold(target.id, function)
                    function = function_around(self.reading, function)
                self._hold(target.id, None)

    def _note_argument(self, call: ast.Call, place: str) -> None:
        symbols, kind = self.reading.symbols, self.reading.type(call.func)
        if kind.kind == "instance" and symbols.role(kind.qual) is not Role.LOSS:
            name = kind.qual.rpartition(".")[2]
        elif kind.kind == "ref" and symbols.framework.has(symbols.origin(kind.qual)):
            return  # the table's, which looks at the call itself
        else:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            self.known.by_losses |= kind.kind in ("instance", "unknown")
        if f"{name}:{place}" not in self.known.arguments:
            self.known.arguments.add(f"{name}:{place}")
            for function in self.functions.get(name, ()):
                self._take_arguments(function)


def _names_of_function(reading: Reading, function: ast.AST | None) -> set[str]:
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    if function.name not in reading.symbols.framework.forward:
        return {function.name}
    owner = reading.source.parents.get(function)
    return {owner.name} if isinstance(owner, ast.ClassDef) else set()  # a network that is called


def is_selected(reading: Reading, node: ast.expr) -> bool:
    """Whether the expression is what a mask selects, or computed from that."""
    is_direct, names = _looked_into(reading, node)
    return is_direct or any(_holds_selection(reading, each) for each in names)


def _holds_selection(reading: Reading, name: ast.Name) -> bool:
    """Whether the function gives the name what a mask selects, or what is computed from that.

    Told once for each name that is come by, and never looked into again.
    """
    known, first = reading.selections, (name.id, function_around(reading, name))
    if first in known:
        return known[first]
    readers: dict[Variable, list[Variable]] = {first: []}  # names that were come by, and whose values name them
    waiting, reached = [(first, name)], []
    while waiting:
        here, use = waiting.pop()
        is_reached = known.get(here, False) or _is_given_selection(reading, use.id, here[1])
        for value in assigned_values(reading, use) if here not in known else ():
            is_direct, names = _looked_into(reading, value)
            is_reached = is_reached or is_direct
            for each in names:
                following = each.id, function_around(reading, each)
                if following not in readers:
                    readers[following] = []
                    waiting.append((following, each))
                readers[following].append(here)
        if is_reached:
            reached.append(here)
    known.update(dict.fromkeys(readers, False))
    while reached:
        here = reached.pop()
        if not known[here]:
            known[here] = True
            reached += readers[here]
    return known[first]


def _is_given_selection(reading: Reading, name: str, function: ast.AST | None) -> bool:
    """Whether the name is an argument of the function for which some call gives it what a mask selects."""
    if not reading.symbols.selections.arguments or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return name in _given_arguments(reading, function)


def _given_arguments(reading: Reading, function: Function) -> Iterator[str]:
    """The arguments for which some call gives the function what a mask selects."""
    handed = reading.symbols.selections.arguments
    is_method = isinstance(reading.source.parents.get(function), ast.ClassDef)
    for called in _names_of_function(reading, function):
        for place, each in enumerate((*function.args.posonlyargs, *function.args.args)):
            if f"{called}:{each.arg}" in handed or f"{called}:{place - is_method}" in handed:
                yield each.arg
        yield from (each.arg for each in function.args.kwonlyargs if f"{called}:{each.arg}" in handed)


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
    name, is_api = _called_name(reading, node)
    if name in reading.symbols.selections.given_back:
        return True
    is_search, is_selection = _selecting_uses(reading.symbols.framework, name) if is_api else (False, False)
    return is_selection or (is_search and len(node.args) + len(node.keywords) < 2)


def _called_name(reading: Reading, node: ast.Call) -> tuple[str, bool]:
    """The bare name of what is called, and whether an API of the framework's may be meant."""
    kind = reading.type(node.func)
    if kind.kind != "instance" and isinstance(node.func, ast.Attribute):
        return node.func.attr, True
    return kind.qual.rpartition(".")[2], kind.kind != "instance"


def _selecting_uses(framework: Framework, name: str) -> tuple[bool, bool]:
    """Whether an API of this name searches, if it is given one argument, and whether it selects, whatever it is given."""
    api = framework.of_tensor(name)  # a function of that name does the same
    return framework.uses.has(Use.SEARCH, api), framework.uses.has(Use.SELECTION, api)


def function_around(reading: Reading, node: ast.AST) -> ast.AST | None:
    scope = reading.source.parents.get(node)
    while scope is not None and not isinstance(scope, FUNCTIONS):
        scope = reading.source.parents.get(scope)
    return scope


def assigned_values(reading: Reading, name: ast.Name) -> Iterator[ast.expr]:
    """What the function around gives the name."""
    outer = function_around(reading, name) or reading.source.tree
    return (each.value for each in reading.source.assigned_within(name.id, outer))
