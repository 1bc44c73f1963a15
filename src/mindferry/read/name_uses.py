"""How the names of a file are used, told from its text alone: as tensors, or as no tensor is. Walked once, however often the file is read."""

from __future__ import annotations

import ast
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .framework import Framework
from .guesses import looks_like_network, name_of
from .host_numbers import draws_host_numbers
from .source import Source
from .symbols import Classes

Place = tuple[int, int]  # line and column
GIVEN = ""  # no method: what is given to a function of torch.nn.functional


def names_in(source: Source, framework: Framework) -> NameUses:
    """The same for every reading of the file."""
    found = source.kept.get(framework.name)
    if not isinstance(found, NameUses):
        found = source.kept[framework.name] = NameUses(source, framework)
    return found


_NOWHERE = (1 << 60, 0)


@dataclass(slots=True)
class _Uses:
    stores: Counter[str] = field(default_factory=Counter)
    hints: dict[str, dict[str, Place]] = field(default_factory=dict)  # name -> what tells a tensor -> where first
    # Name -> behind which statements it holds something else than before, and whether that is what `self.…()` gave.
    replaced: dict[str, list[tuple[Place, bool]]] = field(default_factory=dict)

    def note(self, name: str, hint: str, node: ast.expr) -> None:
        if name:
            places, place = self.hints.setdefault(name, {}), (node.lineno, node.col_offset)
            places[hint] = min(place, places.get(hint, place))


class NameUses:
    def __init__(self, source: Source, framework: Framework) -> None:
        self._source, self._framework = weakref.proxy(source), framework
        self._used: dict[ast.AST, _Uses] = {}
        self._foreign: dict[ast.AST, set[str]] = {}
        self._home = framework.network.split(".")[-2]  # nn
        self._is_functional = self._names_functional()
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
        return self._uses(part).stores

    def is_tensor(self, name: str, part: ast.AST, classes: Classes) -> bool:
        """Whether a function or loop uses the name as nothing but a tensor can be used, classes of the project's own included."""
        return any(self._tells(hint, classes) for hint in self._uses(part).hints.get(name, ()))

    def is_given_tensor(self, name: str, part: ast.AST, classes: Classes, is_of_network: bool = False) -> bool:
        """The same of what comes in by that name: `img = img.resize(size); img = to_tensor(img); img.sub_(0.5)` is given a picture."""
        uses = self._uses(part)
        ends = (place for place, is_of_self in uses.replaced.get(name, ()) if not (is_of_self and is_of_network))
        end = min(ends, default=_NOWHERE)
        hints = uses.hints.get(name, {})
        return any(place < end and self._tells(hint, classes) for hint, place in hints.items())

    @staticmethod
    def _tells(hint: str, classes: Classes) -> bool:
        return hint == GIVEN or not any(classes.with_method(hint))

    def _uses(self, part: ast.AST) -> _Uses:
        found = self._used.get(part)
        if found is None:
            found = self._used[part] = _Uses()
            for node in self._source.walk(part):
                if type(node) is ast.Name:
                    if type(node.ctx) is ast.Store:
                        found.stores[node.id] += 1
                elif type(node) is ast.Call:
                    found.note(self._given(node), GIVEN, node)
                    found.note(self._distinctive(node), getattr(node.func, "attr", ""), node)
                elif type(node) is ast.Assign:
                    for name in _names_of(node.targets):
                        if not self._keeps(node.value, name):
                            found.replaced.setdefault(name, []).append((_end(node), _is_of_self(node.value)))
        return found

    def _keeps(self, value: ast.expr, name: str) -> bool:
        """Whether `name = value` leaves a tensor in the name only if one was there: `x = x.float()`, `x = x / 2`, `x = net(x)`."""
        if isinstance(value, ast.IfExp):
            return self._keeps(value.body, name) and self._keeps(value.orelse, name)
        if isinstance(value, ast.BinOp):
            return self._keeps(value.left, name) or self._keeps(value.right, name)
        if isinstance(value, ast.Call) and (self._given(value) == name or looks_like_network(name_of(value.func))):
            return True
        while isinstance(value, ast.Attribute | ast.Call):
            value = value.value if isinstance(value, ast.Attribute) else value.func
        return isinstance(value, ast.Name) and value.id == name

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

    def _names_functional(self) -> bool:
        """Whether the alias is its usual one's; not `import torchvision.transforms.functional as F`, which takes pictures."""
        module, alias = self._framework.functional
        homes = [
            each.name.split(".") if isinstance(node, ast.Import) else [*(node.module or "").split("."), each.name]
            for node in (*self._source.of(ast.Import), *self._source.of(ast.ImportFrom))
            for each in node.names
            if (each.asname or each.name) == alias
        ]
        return all(home[-2:] == [self._home, module] for home in homes)

    def _given(self, node: ast.Call) -> str:
        """x in F.pad(x, sides): all of torch.nn.functional takes a tensor first."""
        if not node.args or type(node.func) is not ast.Attribute or type(node.args[0]) is not ast.Name:
            return ""
        (module, alias), home = self._framework.functional, node.func.value
        is_functional = (type(home) is ast.Name and home.id == alias and self._is_functional) or (
            type(home) is ast.Attribute and home.attr == module and name_of(home.value) in ("", self._home)
        )
        return node.args[0].id if is_functional else ""


def _holder(node: ast.Attribute) -> str:
    """x in x.add_ and in x.data.add_."""
    owner = node.value
    if isinstance(owner, ast.Attribute) and owner.attr in ("data", "grad"):
        owner = owner.value
    return owner.id if isinstance(owner, ast.Name) else ""


def _names_of(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(each, ast.Name):
                yield each.id


def _end(node: ast.stmt) -> Place:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _is_of_self(value: ast.expr) -> bool:
    """`self.conv(x)`: in a network, a layer, which takes tensors."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
            return True
    return False


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
