"""How the names of a file are used, told from its text alone: as tensors, or as no tensor is. Walked once, however often the file is read."""

from __future__ import annotations

import ast
import weakref
from collections import Counter

from .framework import Framework
from .host_numbers import draws_host_numbers
from .source import Source
from .symbols import Classes

GIVEN = ""  # no method: what is given to a function of torch.nn.functional


def names_in(source: Source, framework: Framework) -> NameUses:
    """The same for every reading of the file."""
    found = source.kept.get(framework.name)
    if not isinstance(found, NameUses):
        found = source.kept[framework.name] = NameUses(source, framework)
    return found


class NameUses:
    def __init__(self, source: Source, framework: Framework) -> None:
        self._source, self._framework = weakref.proxy(source), framework
        self._used: dict[ast.AST, tuple[Counter[str], dict[str, set[str]]]] = {}
        self._foreign: dict[ast.AST, set[str]] = {}
        distinctive = framework.members.distinctive
        self.suspects = frozenset(
            [
                *(_holder(node) for node in source.of(ast.Attribute) if node.attr in distinctive),
                *(self._given(node) for node in source.of(ast.Call)),
            ]
        )  # names that are used as tensors somewhere in the file
        self.draws_host_numbers = draws_host_numbers(source.data)
        self.differentiates_arguments = source.mentions("backward") and any(
            _differentiates_arguments(source, each) for each in source.of(ast.FunctionDef)
        )

    def stores(self, part: ast.AST) -> Counter[str]:
        """How often a function or loop binds each name."""
        return self._uses(part)[0]

    def is_tensor(self, name: str, part: ast.AST, classes: Classes) -> bool:
        """Whether a function or loop uses the name as nothing but a tensor can be used, classes of the project's own included."""
        hints = self._uses(part)[1].get(name, ())
        return any(hint == GIVEN or not any(classes.with_method(hint)) for hint in hints)

    def _uses(self, part: ast.AST) -> tuple[Counter[str], dict[str, set[str]]]:
        found = self._used.get(part)
        if found is None:
            stores: Counter[str] = Counter()
            hints: dict[str, set[str]] = {}
            for node in self._source.walk(part):
                if type(node) is ast.Name:
                    if type(node.ctx) is ast.Store:
                        stores[node.id] += 1
                elif type(node) is ast.Call:
                    hints.setdefault(self._given(node), set()).add(GIVEN)
                    hints.setdefault(self._distinctive(node), set()).add(getattr(node.func, "attr", ""))
            hints.pop("", None)
            found = self._used[part] = stores, hints
        return found

    def used_otherwise(self, function: ast.FunctionDef) -> set[str]:
        """Names with a method that no tensor has, or read by a text: a cache, a dictionary."""
        found = self._foreign.get(function)
        if found is None:
            found, of_tensors = set(), self._framework.members.of_all_tensors
            for node in self._source.walk(function):
                if type(node) is ast.Attribute:
                    if type(node.value) is ast.Name and node.attr not in of_tensors:
                        found.add(node.value.id)
                elif type(node) is ast.Subscript:
                    match node:
                        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
                            found.add(name)
            self._foreign[function] = found
        return found

    def _distinctive(self, node: ast.Call) -> str:
        """x in x.unsqueeze(0). None of these methods takes a string."""
        method = node.func
        if type(method) is not ast.Attribute or method.attr not in self._framework.members.distinctive:
            return ""
        if any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.args):
            return ""
        return _holder(method)

    def _given(self, node: ast.Call) -> str:
        """x in F.pad(x, sides): all of torch.nn.functional takes a tensor first."""
        if not node.args or type(node.func) is not ast.Attribute or type(node.args[0]) is not ast.Name:
            return ""
        (module, alias), home = self._framework.functional, node.func.value
        is_functional = (type(home) is ast.Name and home.id == alias) or (
            type(home) is ast.Attribute and home.attr == module
        )
        return node.args[0].id if is_functional else ""


def _holder(node: ast.Attribute) -> str:
    """x in x.add_ and in x.data.add_."""
    owner = node.value
    if isinstance(owner, ast.Attribute) and owner.attr in ("data", "grad"):
        owner = owner.value
    return owner.id if isinstance(owner, ast.Name) else ""


def _differentiates_arguments(source: Source, function: ast.FunctionDef) -> bool:
    """`def step(loss, optimizer): loss.backward()`: whoever calls it has computed the graph."""
    arguments = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    nodes = list(source.walk(function))
    bound = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    given = arguments - bound - {"self", "cls", "ctx"}
    return any(
        isinstance(part, ast.Name) and part.id in given
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
        for part in ast.walk(node.func.value)
    )
