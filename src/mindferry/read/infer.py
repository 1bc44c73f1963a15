"""Reads one module statement by statement and notes what every expression is."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .array_numbers import array_names
from .call_results import iterated
from .clearing_functions import clearing_functions
from .container_uses import container_uses
from .differentiated_arguments import called_with_losses, differentiated_arguments
from .expressions import Expressions
from .framework import Role
from .guesses import looks_like_class, looks_like_network
from .handed_functions import attributes_handed_on, collate_slots, given_by_default
from .name_uses import names_in
from .networks import is_used_as_network
from .plain_classes import plain_definitions
from .registries import filling_functions, note_registered
from .scope import Scope
from .selections import note_selections
from .source import Source
from .symbols import Symbols
from .tensor_words import meets_tensors
from .thawed_parameters import thawing_places
from .types import (
    MODULE,
    NONE,
    TENSOR,
    UNKNOWN,
    Provenance,
    Type,
    arithmetic,
    assumed,
    instance,
    join,
    one_of,
    options_of,
    ref,
    resting_on,
    tuple_of,
)
from .unreached_parameters import unsure_parameters
from .walk import children_of
from .written_arguments import writing_functions

T = TypeVar("T")


@dataclass(slots=True)
class Reading:
    """A module that has been read: the type of each expression, and where functions and classes stand."""

    source: Source
    module: str
    symbols: Symbols
    types: dict[ast.AST, Type]
    owners: dict[ast.AST, str]  # function or class -> its dotted name
    scope: Scope  # the module's own names
    observed: frozenset[ast.AST] = frozenset()  # whose types a watched run showed
    # What selections.py found out, by name and function.
    selections: dict[tuple[str, ast.AST | None], bool] = field(default_factory=dict)
    _asked: dict[Any, Any] = field(default_factory=dict)

    def once(self, compute: Callable[[Reading], T]) -> T:
        """What a rule asks of the whole file: looked for at the first call that asks, not at every one."""
        if compute not in self._asked:
            self._asked[compute] = compute(self)
        found: T = self._asked[compute]
        return found

    def forget(self) -> None:
        self._asked.clear()

    def type(self, node: ast.AST) -> Type:
        return self.types.get(node, UNKNOWN)

    def provenance(self, node: ast.AST) -> Provenance:
        """How the node's type is known."""
        return Provenance.OBSERVED if node in self.observed else self.types.get(node, UNKNOWN).provenance


def read(
    source: Source,
    symbols: Symbols,
    module: str = "__main__",
    is_package: bool = False,
    is_api: Callable[[str], bool] = lambda name: False,
    lines: list[int] | None = None,
) -> Reading:
    """Read the module; what it defines is added to `symbols`. Reading all files twice settles references between them."""
    reader = _Reader(symbols, module, is_package, is_api, source)
    reader.values.is_torch_file = meets_tensors(source, symbols)
    reader.values.seen = symbols.seen.of_file(source.path, lines)
    scope = Scope()
    reader.block(source.tree.body, scope)
    while reader.deferred:
        reader.deferred.popleft()()
    kinds = ("ref", "instance", "list", "dict", "tuple")
    symbols.listed |= {f"{module}.{name}" for name in _listed_privately(source)}
    symbols.export(
        module,
        {name: kind for name, kind in scope.names.items() if kind.kind in kinds or options_of(kind)},
        scope.stars,
    )
    symbols.fills.update(filling_functions(source, module))
    seen = frozenset(reader.values.observed)
    reading = Reading(source, module, symbols, reader.values.types, reader.owners, scope, seen)
    symbols.unsure |= unsure_parameters(reading)
    symbols.writing |= writing_functions(reading)
    symbols.clearing |= clearing_functions(source, symbols.clearing)
    symbols.differentiated |= differentiated_arguments(source, reader.owners, symbols.differentiated)
    symbols.called_with_losses |= called_with_losses(source, symbols.differentiated)
    symbols.plain -= set(reader.owners.values())
    symbols.plain |= plain_definitions(reading)
    symbols.array_names |= array_names(reading)
    symbols.container_uses |= set(container_uses(reading, module))
    symbols.thawing |= set(thawing_places(reading, module))
    note_selections(reading)
    symbols.draws_host_numbers = symbols.draws_host_numbers or reader.names.draws_host_numbers
    symbols.differentiates_arguments |= reader.names.differentiates_arguments
    return reading


class _Reader:
    def __init__(
        self, symbols: Symbols, module: str, is_package: bool, is_api: Callable[[str], bool], source: Source
    ) -> None:
        self.symbols, self.module, self.is_package, self.source = symbols, module, is_package, source
        self.framework = symbols.framework
        self.values = Expressions(symbols, is_api)
        self.deferred: deque[Callable[[], None]] = deque()
        self.owners: dict[ast.AST, str] = {}
        self._returned: list[list[Type]] = []
        self._functions: list[ast.FunctionDef] = []  # whose bodies are being read
        self.names = names_in(source, symbols.framework)
        self.suspects = self.names.suspects
        self._handed_on = attributes_handed_on(source) if source.mentions("collate_fn") else set()

    def block(self, statements: list[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.statement(statement, scope)

    def statement(self, node: ast.stmt | ast.ExceptHandler | ast.match_case, scope: Scope) -> None:
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            handler(self, node, scope)
            return
        for child in children_of(node):
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                self.statement(child, scope)
            else:
                self.values.visit(child, scope)

    def _Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            if alias.asname:
                scope.names[alias.asname] = ref(alias.name)
            else:
                head = alias.name.partition(".")[0]
                scope.names[head] = ref(head)

    def _ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = self.resolve(node)
        if node.names[0].name == "*" and not node.level:
            module = self._in_own_folder(module)
        for alias in node.names:
            if alias.name != "*":
                scope.names[alias.asname or alias.name] = self.values.exported(module, alias.name)
            elif module in self.symbols.exports:
                given = {k: v for k, v in self.symbols.exports[module].items() if self._is_given(module, k, v)}
                scope.names.update(given)
                scope.stars += self.symbols.stars.get(module, ())
            else:
                scope.stars.append(module)

    def _in_own_folder(self, module: str) -> str:
        """A script finds the files beside it by their bare names: `from data import *` in a folder of its own."""
        beside = ".".join([*self.module.split(".")[:-1], module])
        return beside if module not in self.symbols.exports and beside in self.symbols.exports else module

    def _is_given(self, module: str, name: str, kind: Type) -> bool:
        """Whether `*` brings the name; not what the other module has from this one: its own package, that it is a part of."""
        is_public = not name.startswith("_") or f"{module}.{name}" in self.symbols.listed
        return is_public and kind.qual != f"{self.module}.{name}"

    def resolve(self, node: ast.ImportFrom) -> str:
        """The absolute module of a possibly relative import."""
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        keep = len(parts) - node.level + (1 if self.is_package else 0)
        name = ".".join([*parts[: max(keep, 0)], *([node.module] if node.module else [])])
        is_foreign = self.framework.is_own(name) and not self.symbols.is_local(name)
        return f".{name}" if is_foreign else name  # a file torch.py of the project's own

    def _Assign(self, node: ast.Assign, scope: Scope) -> None:
        kind = self.values.visit(node.value, scope)
        for target in node.targets:
            is_told = kind.kind == "unknown" and isinstance(target, ast.Name) and self._is_tensor_throughout(target.id)
            self.values.bind(target, assumed(TENSOR) if is_told else kind, scope)

    def _is_tensor_throughout(self, name: str) -> bool:
        """Whether the function around binds the name once and calls a method on it that nothing but a tensor has."""
        if not self._functions or not self.values.is_torch_file or name not in self.suspects:
            return False
        function, names = self._functions[-1], self.names
        return names.is_tensor(name, function, self.symbols.classes) and names.stores(function)[name] == 1

    def _AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        promised = self.values.annotation(node.annotation, scope)
        kind = self.values.visit(node.value, scope) if node.value else UNKNOWN
        self.values.bind(node.target, promised if kind.kind in ("unknown", "none") else kind, scope)

    def _AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        right = self.values.visit(node.value, scope)
        left = self.values.visit(node.target, scope)
        is_kept = left.kind == "list" or self.symbols.torch_base(left.qual) in self.framework.lists_of_networks
        self.values.bind(node.target, left if is_kept else arithmetic(left, right, node.op), scope)

    def _For(self, node: ast.For, scope: Scope) -> None:
        kind = iterated(self.values.visit(node.iter, scope), self.symbols)
        if kind.kind == "unknown" and isinstance(node.target, ast.Name) and self.values.is_torch_file:
            kind = assumed(TENSOR) if self._is_tensor_in(node, node.target.id) else kind
        self.values.bind(node.target, kind, scope)
        self.block(node.body, scope)
        self.block(node.orelse, scope)

    _AsyncFor = _For

    def _is_tensor_in(self, loop: ast.For, name: str) -> bool:
        """Whether the loop calls a method on the name that nothing but a tensor has, or gives it to F.something first."""
        return name in self.suspects and self.names.is_given_tensor(name, loop, self.symbols.classes)

    def _With(self, node: ast.With, scope: Scope) -> None:
        for item in node.items:
            kind = self.values.visit(item.context_expr, scope)
            if item.optional_vars is not None:
                self.values.bind(item.optional_vars, kind, scope)
        self.block(node.body, scope)

    _AsyncWith = _With

    def _If(self, node: ast.If, scope: Scope) -> None:
        self.values.visit(node.test, scope)
        branches = [Scope(scope), Scope(scope)]
        for name, kind in self._narrowed(node.test, scope):
            branches[0].names[name] = kind
        narrowed = dict(branches[0].names)
        self.block(node.body, branches[0])
        self.block(node.orelse, branches[1])
        imported = {name for each in (*node.body, *node.orelse) for name in imported_names(each)}
        for name in {**branches[0].names, **branches[1].names}:
            if name in narrowed and branches[0].names[name] is narrowed[name] and name not in branches[1].names:
                continue
            before = scope.look_up(name)
            kinds = [branch.names.get(name, before) for branch in branches]
            own = [kind for kind in kinds if kind is not None and name in imported and self._is_own(kind)]
            if own:  # `if is_torch_available(): from torch.nn import ModuleList`, else: `ModuleList = object`
                scope.names[name] = own[0]
                continue
            scope.names[name] = self._joined(name, [each for each in kinds if each is not None])

    def _joined(self, name: str, kinds: list[Type]) -> Type:
        """Behind branches; `if isinstance(x, list): x = torch.stack(x)` leaves a tensor in what is then used as one."""
        found = join(*kinds)
        may_be = found.kind == "unknown" and {each.kind for each in kinds} == {"tensor", "unknown"}
        if may_be and self._functions and self.values.is_torch_file and name in self.suspects:
            return assumed(TENSOR) if self.names.is_tensor(name, self._functions[-1], self.symbols.classes) else found
        return found

    def _is_own(self, kind: Type) -> bool:
        """Whether it is a name of the framework's, not one of the project's."""
        return kind.kind == "ref" and self.framework.is_own(kind.qual) and not self.symbols.is_local(kind.qual)

    def _narrowed(self, test: ast.expr, scope: Scope) -> list[tuple[str, Type]]:
        """isinstance(name, Class): inside the branch the name is one."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return [each for value in test.values for each in self._narrowed(value, scope)]
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), classes]):
                options = classes.elts if isinstance(classes, ast.Tuple) else [classes]
                kinds = [self.values.promise(each, self.values.types.get(each, UNKNOWN)) for each in options]
                if len(kinds) > 1 and all(each.kind == "instance" for each in kinds):
                    return [(name, Type("instance", self.framework.network, tuple(kinds)))]
                return [(name, join(*kinds))]
        return []

    def _Try(self, node: ast.Try, scope: Scope) -> None:
        """A name that the body imports from torch stays torch's, whatever a handler puts in its place."""
        self.block(node.body, scope)
        imported = {
            name: scope.names[name] for each in node.body for name in imported_names(each) if name in scope.names
        }
        for handler in node.handlers:
            self.statement(handler, scope)
        for name, kind in imported.items():
            if kind.kind == "ref" and (self.values.is_api(kind.qual) or self.framework.packages.fullmatch(kind.qual)):
                scope.names[name] = kind
        self.block([*node.orelse, *node.finalbody], scope)

    def _ExceptHandler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        self.values.visit(node.type, scope)
        if node.name:
            scope.names[node.name] = UNKNOWN
        self.block(node.body, scope)

    def _match_case(self, node: ast.match_case, scope: Scope) -> None:
        for part in ast.walk(node.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                scope.names[part.name] = UNKNOWN
        self.values.visit(node.pattern, scope)
        self.values.visit(node.guard, scope)
        self.block(node.body, scope)

    def _Return(self, node: ast.Return, scope: Scope) -> None:
        kind = self.values.visit(node.value, scope)
        if self._returned:
            self._returned[-1].append(kind)

    def _ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        qual = self.owners.setdefault(node, f"{self._prefix(scope)}.{node.name}")
        bases = [self.values.visit(base, scope) for base in node.bases]
        for other in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
            self.values.visit(other, scope)
        note_registered(node, qual, self.values.types, self.symbols)
        info = self.symbols.define_class(qual, [self.symbols.origin(base.qual) for base in bases if base.kind == "ref"])
        scope.names[node.name] = ref(qual)
        inner = Scope(scope, owner=qual)
        self.block(node.body, inner)
        for name, kind in inner.names.items():
            if kind.kind != "ref" and not isinstance(kind, ast.AST):
                info.note(name, kind)

    def _prefix(self, scope: Scope) -> str:
        return scope.owner or self.module

    def _FunctionDef(self, node: ast.FunctionDef, scope: Scope) -> None:
        owner = scope.owner if scope.parent is not None and scope.parent.owner != scope.owner else ""
        qual = self.owners.setdefault(node, f"{owner or self.module}.{node.name}")
        for decorator in node.decorator_list:
            self.values.visit(decorator, scope)
        note_registered(node, qual, self.values.types, self.symbols)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self.values.visit(default, scope)
        returns = self.values.annotation(node.returns, scope)
        if owner:
            if node.name not in self.symbols.classes[owner].results:
                self.symbols.define_method(owner, node.name, returns)
        else:
            scope.names[node.name] = ref(qual)
            self.symbols.results.setdefault(qual, returns)
        self.deferred.append(lambda: self._body(node, scope, owner, qual, returns))

    _AsyncFunctionDef = _FunctionDef

    def _body(self, node: ast.FunctionDef, scope: Scope, owner: str, qual: str, returns: Type) -> None:
        inner = Scope(scope, part=owner or scope.part or qual)
        self._parameters(node, inner, owner, qual)
        if self.source.mentions("collate"):
            slots = set(collate_slots(node, qual, self._handed_on))
            self.symbols.collate_slots.update(slots)
            self.symbols.collates.update(given_by_default(node, qual, slots))
        self._returned.append([])
        self._functions.append(node)
        self.block(node.body, inner)
        self._functions.pop()
        given = self._returned.pop()
        result = returns if returns.kind != "unknown" else join(*given) if given else NONE
        decorated = {getattr(each, "id", getattr(each, "attr", "")) for each in node.decorator_list}
        if not owner:
            self.symbols.results[qual] = result if not decorated & {"contextmanager"} else UNKNOWN
            return
        if decorated & {"property", "cached_property"}:
            info = self.symbols.classes[owner]
            info.results.pop(node.name, None)
            info.note(node.name, result)
        else:
            self.symbols.define_method(owner, node.name, result)

    def _may_be_tensor(self, function: ast.FunctionDef, argument: ast.arg) -> bool:
        """A network is given tensors, unless the annotation names something else or the argument is used as no tensor is."""
        if argument.annotation is not None:
            return _says_tensor(argument.annotation)
        return argument.arg not in self.names.used_otherwise(function)

    def _is_used_as_tensor(self, function: ast.FunctionDef, argument: ast.arg, owner: str, is_forward: bool) -> bool:
        if is_forward and self._may_be_tensor(function, argument):
            return True
        if not self.values.is_torch_file or argument.arg not in self.suspects:
            return False
        is_of_network = bool(owner) and self.symbols.is_module(owner)
        return self.names.is_given_tensor(argument.arg, function, self.symbols.classes, is_of_network)

    def _is_used_as_network(self, function: ast.FunctionDef, argument: ast.arg) -> bool:
        return (
            self.values.is_torch_file
            and looks_like_network(argument.arg)
            and is_used_as_network(self.source, function, argument.arg, self.framework.members.of_networks)
            and not self.symbols.defines_like_network("train")
        )

    def _parameters(self, node: ast.FunctionDef, scope: Scope, owner: str, qual: str) -> None:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(
            arguments.defaults
        )
        marks = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
        static, of_class = "staticmethod" in marks, "classmethod" in marks
        is_forward = bool(owner) and node.name in self.framework.forward and self.symbols.is_module(owner)
        is_function = (
            bool(owner) and node.name in self.framework.gradient_methods and self.symbols.role(owner) is Role.GRADIENT
        )
        called = self.symbols.arguments.get(qual, {})
        for index, argument in enumerate([*positional, *arguments.kwonlyargs]):
            if index == 0 and owner and not static and positional:
                scope.names[argument.arg] = ref(owner) if of_class else instance(owner)
                continue
            default = defaults[index] if index < len(positional) else arguments.kw_defaults[index - len(positional)]
            kind = self.values.annotation(argument.annotation, scope)
            is_class = (
                looks_like_class(argument.arg) and kind == MODULE
            )  # `Model: nn.Module`, which is called to make one
            if kind.kind in ("unknown", "none") or is_class:
                kind = (
                    self.symbols.settle([*called.get(index, []), *called.get(argument.arg, [])]) if called else UNKNOWN
                )
            options = one_of(kind)
            if kind.kind in ("unknown", "none"):
                kind = assumed(self.values.types.get(default, UNKNOWN)) if default is not None else UNKNOWN
            if kind.kind in ("unknown", "none"):
                is_behind_context = is_function and index > int(of_class)
                if is_behind_context or self._is_used_as_tensor(node, argument, owner, is_forward):
                    kind = assumed(TENSOR)
                elif not is_class and self._is_used_as_network(node, argument):
                    kind = assumed(MODULE)
            if kind.kind == "ref":
                kind = resting_on(kind, Type("value", kind.qual))
            scope.names[argument.arg] = kind if kind.kind not in ("unknown", "none") else options
        if arguments.vararg:
            kind = self.values.annotation(arguments.vararg.annotation, scope)
            said = tuple_of(kind) if kind.is_tensor else Type("tuple")
            scope.names[arguments.vararg.arg] = tuple_of(assumed(TENSOR)) if is_forward else said
        if arguments.kwarg:
            self.values.annotation(arguments.kwarg.annotation, scope)
            scope.names[arguments.kwarg.arg] = Type("dict")


_STATEMENTS: dict[type, Callable[[_Reader, Any, Scope], None]] = {
    kind: getattr(_Reader, f"_{name}")
    for name, kind in vars(ast).items()
    if isinstance(kind, type) and hasattr(_Reader, f"_{name}")
}


def _says_tensor(annotation: ast.expr) -> bool:
    """`"Tensor"`, `Float[Tensor, "b c"]`, `FloatTensorType`: whatever else it may be, it is a tensor."""
    return "tensor" in ast.unparse(annotation).lower()


def _listed_privately(source: Source) -> Iterator[str]:
    """`__all__ = ["_ConvBN"]`: private by its name only."""
    if not source.mentions("__all__"):
        return
    for node in source.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if value is not None and any(isinstance(each, ast.Name) and each.id == "__all__" for each in targets):
            texts = (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))
            yield from (each for each in texts if isinstance(each, str) and each.startswith("_"))


def imported_names(node: ast.stmt) -> list[str]:
    """What an import statement binds."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
