"""The type of every expression, found by reading it in the scope where it stands."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from typing import Any

from .call_results import NUMBER, CallResults, iterated
from .guesses import looks_like_space, name_of
from .handed_functions import note_batch_function, note_handed_over, note_set_transform
from .networks import is_mode_call, is_named_like_network
from .observed import Span, span_of
from .promised_types import promised
from .registries import taken_from_table
from .scope import Scope
from .symbols import Symbols
from .types import (
    BOOL,
    EMPTY,
    FLOAT,
    INT,
    MODULE,
    NDARRAY,
    NONE,
    SIZE,
    STR,
    TENSOR,
    UNKNOWN,
    Assumed,
    Type,
    arithmetic,
    assumed,
    collection,
    instance,
    join,
    list_of,
    options_of,
    ref,
    resting_on,
    surest,
    tuple_of,
)
from .walk import children_of

_BUILTIN_NAMES = frozenset(dir(builtins))
_CONSTANTS = {int: INT, float: FLOAT, bool: BOOL, str: STR, type(None): NONE}


FILLS = frozenset({"append", "insert", "extend"})  # methods of a list


class Expressions:
    """`visit(node, scope)` returns the node's type and notes it, with those of all its parts, in `types`."""

    def __init__(self, symbols: Symbols, is_api: Callable[[str], bool]) -> None:
        self.symbols = symbols
        self.framework = symbols.framework
        self.members = symbols.framework.members
        self._tensor = f"{symbols.framework.tensor}."
        self._network = f"{symbols.framework.network}."
        self._parts = symbols.framework.network.rpartition(".")[0]  # torch.nn
        self.is_api = is_api
        self.is_torch_file = False  # a method that only tensors have tells a tensor, though not in a file that has none
        self.types: dict[ast.AST, Type] = {}
        self.calls = CallResults(symbols, self.types)
        self.seen: dict[Span, Type] = {}  # what a watched run showed in this file
        self.observed: set[ast.AST] = set()  # nodes whose type was seen, not inferred

    def visit(self, node: ast.AST | None, scope: Scope) -> Type:
        if node is None:
            return NONE
        visitor = _VISITORS.get(type(node))
        if visitor is not None:
            kind = visitor(self, node, scope)
        else:
            for child in children_of(node):
                self.visit(child, scope)
            kind = UNKNOWN
        if self.seen and kind.kind in ("unknown", "method", "none"):
            kind = self._look_at(node, kind)
        self.types[node] = kind
        return kind

    def _look_at(self, node: ast.AST, kind: Type) -> Type:
        """What stood there when the reference ran, where the text doesn't tell."""
        seen = self.seen.get(span_of(node), UNKNOWN)
        if seen == UNKNOWN and isinstance(node, ast.Attribute):
            owner = self.types.get(node.value, UNKNOWN)
            if owner.kind == "instance" and self.symbols.method(owner.qual, node.attr) is None:
                seen = self.symbols.seen.attribute(self.symbols.bases(owner.qual), node.attr)
        if seen == UNKNOWN:
            return kind
        self.observed.add(node)
        return seen

    def _Constant(self, node: ast.Constant, scope: Scope) -> Type:
        return _CONSTANTS.get(type(node.value), UNKNOWN)

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Type:
        for part in node.values:
            self.visit(part, scope)
        return STR

    def _Name(self, node: ast.Name, scope: Scope) -> Type:
        name, where = node.id, scope
        while where is not None:  # `scope.look_up`: there are more names than anything else
            if (found := where.names.get(name)) is not None:
                return found
            where = where.parent  # type: ignore[assignment]
        if found := self._starred(scope.stars, name):
            return found
        return ref(f"builtins.{node.id}") if node.id in _BUILTIN_NAMES else UNKNOWN

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> Type:
        base = self.visit(node.value, scope)
        name = node.attr
        if base.kind == "ref" and base.qual.endswith(".__version__"):
            return Type("method", f".{name}")  # a text's
        if base.kind == "ref":
            if base.qual.startswith(self._parts):  # nn.BatchNorm1d, which may tell whether networks have a mode
                self.symbols.mentioned.add(name)
            return self._member(base.qual, name)
        self.symbols.mentioned.add(name)
        if base.is_tensor:
            known = self.members.attributes.get(name) or self._method_of_tensor(name)
            if type(base) is Assumed and self.symbols.has_object_with(name):
                self.types[node.value] = UNKNOWN  # here it may be such an object
                return UNKNOWN
            is_other = type(base) is Assumed and name not in self.members.of_all_tensors
            return UNKNOWN if is_other else resting_on(base, known)  # the `loss` of an output with fields
        if base.kind == "ndarray":
            return SIZE if name == "shape" else NDARRAY if name in ("T", "real", "imag") else Type("method", f".{name}")
        if base.kind == "foreign":
            return base
        if base.kind == "instance":
            return resting_on(base, self._instance_member(base.qual, name))
        if base.kind == "tuple" and name in self.members.parts and all(each.is_tensor for each in base.items):
            return resting_on(base, self.members.parts[name])
        if base.kind != "unknown":
            return resting_on(base, Type("method", f".{name}"))
        if name == "n" and looks_like_space(name_of(node.value)):
            return NUMBER  # how many actions an environment knows
        return self._member_of_unknown(node, name)

    def _member_of_unknown(self, node: ast.Attribute, name: str) -> Type:
        """By its own name, or by its receiver's: never more than assumed."""
        if self.is_torch_file and name == self.framework.saved_tensors:
            return list_of(assumed(TENSOR))
        if self.is_torch_file and name == self.framework.gradient:
            return assumed(TENSOR)
        if self.is_torch_file and name in self.members.unmistakable and not any(self.symbols.classes.with_method(name)):
            return assumed(self._method_of_tensor(name))
        return assumed(self._method_of_network(name)) if self._is_of_network(node.value, name) else UNKNOWN

    def _method_of_tensor(self, name: str) -> Type:
        return Type("method", self._tensor + name)

    def _method_of_network(self, name: str) -> Type:
        return Type("method", self._network + name)

    def _is_of_network(self, receiver: ast.expr, name: str) -> bool:
        """Whether a method of something unknown is a network's: by itself, or because its receiver is named like one."""
        if name in self.members.of_networks:
            return True
        return (
            name in self.members.shared
            and self.is_torch_file
            and is_named_like_network(receiver)
            and not self.symbols.defines_like_network(name)
        )

    def _member(self, qual: str, name: str) -> Type:
        full = f"{qual}.{name}"
        if qual == self.framework.name and name in self.framework.dtypes:
            return instance(self.framework.dtype) if not self.is_api(full) else ref(full)
        return self.exported(qual, name)

    def exported(self, module: str, name: str) -> Type:
        """What a module's name stands for, also where it has it from another one by `*`."""
        found = self.symbols.exports.get(module, {}).get(name)
        return found or self._starred(self.symbols.stars.get(module, ()), name) or ref(f"{module}.{name}")

    def _starred(self, stars: Iterable[str], name: str) -> Type | None:
        return next((ref(f"{star}.{name}") for star in stars if self.is_api(f"{star}.{name}")), None)

    def _instance_member(self, qual: str, name: str) -> Type:
        known = self.symbols.attribute(qual, name)
        if known.kind != "unknown" or options_of(known):
            return known
        if self.symbols.method(qual, name) is not None:
            return Type("method", f"{qual}.{name}")
        base = self.symbols.torch_base(qual)
        if (held := self.framework.object_attribute(base, name)) != UNKNOWN:
            return held
        if base and self.symbols.is_module(qual) and name in self.members.parameters:
            return TENSOR
        is_table = base == self.framework.table_of_networks
        if is_table and name not in self.members.of_network_tables and not name.startswith("_"):
            return MODULE
        if base and self.symbols.is_module(qual) and self._is_own_field(base, name):
            return UNKNOWN
        return Type("method", f"{base}.{name}") if base else UNKNOWN

    def _is_own_field(self, base: str, name: str) -> bool:
        """Whether the framework's networks have nothing of that name: something that the project, or another, put there."""
        return name not in self.members.of_all_networks and not any(
            self.is_api(f"{home}.{name}") for home in (base, self.framework.network)
        )

    def _is_run(self, qual: str, scope: Scope) -> bool:
        """Whether it is a network of the project's own that is called by what is no network."""
        symbols = self.symbols
        return (
            symbols.origin(qual) in symbols.classes and symbols.is_module(qual) and not symbols.is_module(scope.owner)
        )

    def _Call(self, node: ast.Call, scope: Scope) -> Type:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("train", "eval"):
            self.symbols.sets_inner_mode |= self.symbols.is_module(scope.owner)
        function = self.visit(node.func, scope)
        arguments = [self.visit(argument, scope) for argument in node.args]
        for keyword in node.keywords:
            self.visit(keyword.value, scope)
        note_handed_over(node, function, scope, self.types, self.symbols)
        count = len(arguments) + len(node.keywords)
        self._fill(node, arguments, scope)
        if function.kind == "ref" and function.qual == "builtins.super":
            bases = self.symbols.classes[scope.owner].bases if scope.owner in self.symbols.classes else []
            return (
                instance(next((base for base in bases if self.symbols.is_module(base)), bases[0])) if bases else UNKNOWN
            )
        if function.kind == "ref" and function.qual == "builtins.map":
            return self._map(node, arguments, scope)
        if function.kind in ("ref", "value"):
            qual = self.symbols.origin(function.qual)
            if qual.startswith(self._parts):
                self.symbols.mentioned.add(qual.rpartition(".")[2])
            if qual.startswith(self.framework.takes_parameters):
                self._note_networks([*node.args, *(each.value for each in node.keywords)])
            return self.calls.of_reference(qual, node, arguments, count)
        if function.kind == "method":
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_module = function.qual.startswith(self._network)
            is_told = is_module and owner is not None and self.types[owner].kind == "unknown"
            if is_told and function.qual.endswith((".train", ".eval")) and not is_mode_call(node):
                self.types[node.func] = UNKNOWN
                return UNKNOWN
            if (
                isinstance(owner, ast.Name)
                and self.types[owner].kind == "unknown"
                and scope.look_up(owner.id) == UNKNOWN
            ):
                # it has a method that only they have, so it is one from here on
                scope.names[owner.id] = assumed(MODULE if is_module else TENSOR)
            made = resting_on(function, self.calls.of_method(node, function.qual, count))
            return made if made.kind != "unknown" else taken_from_table(node, self.symbols) or made
        if function.kind == "instance":
            self.symbols.runs_networks |= self._is_run(function.qual, scope)
            return resting_on(function, self.calls.of_instance(function.qual, arguments))
        return function if function.kind == "foreign" else taken_from_table(node, self.symbols) or UNKNOWN

    def _fill(self, node: ast.Call, arguments: list[Type], scope: Scope) -> None:
        """`rows = []` and then `rows.append(x)`: a list of what is put into it."""
        method = node.func
        if type(method) is not ast.Attribute or method.attr not in FILLS or type(method.value) is not ast.Name:
            return
        known = scope.look_up(method.value.id)
        if arguments and known is not None and known.kind == "list" and (known == EMPTY or known.items):
            added = arguments[-1] if method.attr != "extend" else iterated(arguments[-1], self.symbols)
            scope.names[method.value.id] = list_of(join(*known.items, added))

    def _map(self, node: ast.Call, arguments: list[Type], scope: Scope) -> Type:
        """`map(lambda t: …, tensors)` is a list of what the lambda makes of each."""
        match node.args:
            case [ast.Lambda(args=ast.arguments(args=names)) as function, *_] if len(names) == len(arguments) - 1:
                inner = Scope(scope)
                for name, values in zip(names, arguments[1:], strict=True):
                    inner.names[name.arg] = iterated(values, self.symbols)
                return list_of(self.visit(function.body, inner))
        return UNKNOWN

    def _note_networks(self, arguments: list[ast.expr]) -> None:
        """`SGD(thing.parameters())`: whatever it is called, an optimizer gets a network's parameters."""
        for argument in arguments:
            match argument:
                case ast.Call(func=ast.Attribute(attr="parameters", value=owner) as method) if (
                    self.types[owner].kind == "unknown"
                ):
                    self.types[method] = self._method_of_network("parameters")

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> Type:
        base = self.visit(node.value, scope)
        self.visit(node.slice, scope)
        item = resting_on(base, self._item(node, base))
        return item if item.kind != "unknown" else taken_from_table(node, self.symbols) or item

    def _item(self, node: ast.Subscript, base: Type) -> Type:
        if base.kind == "size":
            return SIZE if isinstance(node.slice, ast.Slice) else INT
        if base.kind == "tuple" and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            position = node.slice.value
            return base.items[position] if -len(base.items) <= position < len(base.items) else base.element()
        if base.kind == "instance" and self.symbols.is_module(base.qual):
            return MODULE
        if isinstance(node.slice, ast.Slice) and base.kind in ("list", "tuple", "str"):
            return list_of(base.element()) if base.kind != "str" else STR
        if base.kind == "ref":
            return base
        return base.element()

    def _Tuple(self, node: ast.Tuple, scope: Scope) -> Type:
        return tuple_of(*(self.visit(each, scope) for each in node.elts))

    def _List(self, node: ast.List, scope: Scope) -> Type:
        kinds = [self.visit(each, scope) for each in node.elts]
        return list_of(join(*kinds)) if kinds else EMPTY

    def _Set(self, node: ast.Set, scope: Scope) -> Type:
        return collection("set", join(*[self.visit(each, scope) for each in node.elts]))

    def _Dict(self, node: ast.Dict, scope: Scope) -> Type:
        for key in node.keys:
            self.visit(key, scope)
        kinds = [self.visit(each, scope) for each in node.values]
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "collate_fn":
                note_batch_function(value, self.types, self.symbols)
        return collection("dict", join(*kinds)) if kinds else Type("dict")

    def _Starred(self, node: ast.Starred, scope: Scope) -> Type:
        return self.visit(node.value, scope).element()

    def _BinOp(self, node: ast.BinOp, scope: Scope) -> Type:
        return arithmetic(self.visit(node.left, scope), self.visit(node.right, scope), node.op)

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Type:
        kind = self.visit(node.operand, scope)
        return BOOL if isinstance(node.op, ast.Not) else kind

    def _Compare(self, node: ast.Compare, scope: Scope) -> Type:
        kinds = [self.visit(each, scope) for each in (node.left, *node.comparators)]
        identity = any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
        if identity or not any(each.kind in ("tensor", "ndarray", "unknown") for each in kinds):
            return BOOL
        tensors = [each for each in kinds if each.is_tensor]
        arrays = [each for each in kinds if each.kind == "ndarray"]
        return surest(*tensors) if tensors else arrays[0] if arrays else UNKNOWN

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Type:
        return join(*[self.visit(each, scope) for each in node.values])

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Type:
        self.visit(node.test, scope)
        return join(self.visit(node.body, scope), self.visit(node.orelse, scope))

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Type:
        kind = self.visit(node.value, scope)
        self.bind(node.target, kind, scope)
        return kind

    def _Await(self, node: ast.Await, scope: Scope) -> Type:
        return self.visit(node.value, scope)

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> Type:
        inner = Scope(scope)
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            inner.names[argument.arg] = UNKNOWN
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self.visit(default, scope)
        self.visit(node.body, inner)
        return UNKNOWN

    def _ListComp(self, node: ast.ListComp, scope: Scope) -> Type:
        return list_of(self._comprehend(node.generators, node.elt, scope))

    def _SetComp(self, node: ast.SetComp, scope: Scope) -> Type:
        return collection("set", self._comprehend(node.generators, node.elt, scope))

    def _GeneratorExp(self, node: ast.GeneratorExp, scope: Scope) -> Type:
        return list_of(self._comprehend(node.generators, node.elt, scope))

    def _DictComp(self, node: ast.DictComp, scope: Scope) -> Type:
        return collection("dict", self._comprehend(node.generators, node.value, scope, node.key))

    def _comprehend(
        self, generators: list[ast.comprehension], element: ast.expr, scope: Scope, key: ast.expr | None = None
    ) -> Type:
        inner = Scope(scope)
        for generator in generators:
            self.bind(generator.target, iterated(self.visit(generator.iter, inner), self.symbols), inner)
            for condition in generator.ifs:
                self.visit(condition, inner)
        if key is not None:
            self.visit(key, inner)
        return self.visit(element, inner)

    def bind(self, target: ast.AST, kind: Type, scope: Scope) -> None:
        """Assign: names take the type, patterns its parts, attributes of self are remembered with the class."""
        if kind.kind == "ref" and (kind.qual.rpartition(".")[2][:1].isupper() or self.is_api(kind.qual)):
            kind = Type("value", kind.qual)  # a class or function in a variable: called with torch's arguments
        self.types[target] = kind
        if isinstance(target, ast.Name):
            scope.names[target.id] = assumed(TENSOR) if kind.kind == "batch" else kind
        elif isinstance(target, ast.Tuple | ast.List):
            for index, each in enumerate(target.elts):
                if kind.kind in ("tuple", "batch") and not isinstance(each, ast.Starred):
                    part = (
                        assumed(TENSOR)
                        if kind.kind == "batch"
                        else kind.items[index]
                        if index < len(kind.items)
                        else kind.element()
                    )
                else:
                    part = kind.element()
                self.bind(each, part, scope)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, list_of(kind), scope)
        elif isinstance(target, ast.Attribute):
            if target.attr == "collate_fn":
                note_batch_function(target, self.types, self.symbols)
            owner = self.visit(target.value, scope)
            note_set_transform(owner, kind, self.symbols)
            if owner.kind == "instance" and owner.qual in self.symbols.classes:
                self.symbols.classes[owner.qual].note(target.attr, kind)
            self.types[target] = kind
        else:
            if isinstance(target, ast.Subscript) and getattr(target.slice, "value", None) == "collate_fn":
                note_batch_function(target, self.types, self.symbols)
            self.visit(target, scope)
            match target:
                case ast.Subscript(value=ast.Name(id=name)):
                    self._put(name, kind, scope)

    @staticmethod
    def _put(name: str, kind: Type, scope: Scope) -> None:
        """`out[split] = loss`: the dictionary holds tensors, until it is given something else."""
        held = scope.look_up(name)
        if held == Type("dict"):
            if kind.is_tensor:
                scope.names[name] = collection("dict", kind)
        elif held is not None and held.kind == "dict" and held.items == (TENSOR,) and kind.kind != "none":
            items = tuple(assumed(each) if kind.kind == "unknown" else join(each, kind) for each in held.items)
            scope.names[name] = held._replace(items=items)

    def annotation(self, node: ast.expr | None, scope: Scope) -> Type:
        """The type that an annotation promises."""
        if node is None:
            return UNKNOWN
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self.annotation(ast.parse(node.value, mode="eval").body, scope)
            except SyntaxError:
                return UNKNOWN
        kind = self.visit(node, scope)
        return self.promise(node, kind)

    def promise(self, node: ast.expr, kind: Type) -> Type:
        return promised(node, kind, self.types, self.symbols)


# By class, not by instance: bound methods in an instance are a cycle, which only the garbage collector would free.
_VISITORS: dict[type, Callable[[Expressions, Any, Scope], Type]] = {
    getattr(ast, name[1:]): method for name, method in vars(Expressions).items() if name[1:2].isupper()
}
