"""Names that mean the same whenever they are read: what compiled code may take from outside, since it is read but once.

Everything else may change where no text shows it: a list through another name, a variable of a closure, an iterator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..apis import framework
from ..read.source import Source
from ..read.walk import walk_again as walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BUILTINS = frozenset(
    "range len enumerate zip reversed isinstance issubclass hasattr tuple list dict set int float bool str super abs min max sum any all "
    "round slice print type sorted map filter property staticmethod classmethod object NotImplementedError ValueError TypeError "
    "RuntimeError AssertionError Exception NotImplemented".split()
)
PURE = frozenset({"math", "typing", "dataclasses", "abc", "collections", "__future__", "functools", "enum"})
MAKES_NUMBERS = frozenset({"int", "float", "bool", "str", "sqrt", "log", "exp", "pow", "device", "dtype", "len"})
ELEMENTS = frozenset(
    {"shape", "weight", "bias", "T", "data", "grad"}
)  # of tensors and layers, whose entries may be asked for
# Who takes a function and never runs it within a step.
OUTSIDE_STEPS = frozenset(
    "LambdaLR MultiplicativeLR sorted sort map filter max min apply DataLoader Lambda add_argument Thread Process spawn Timer "
    "register signal Pool partial_fit set_defaults reduce".split()
)


@dataclass(frozen=True, slots=True)
class Names:
    """Of one file, outside of its functions."""

    steady: frozenset[str]
    loose: frozenset[str]
    borrowed: frozenset[str]  # from other files
    given: frozenset[str]  # members that a method has from its arguments, whatever these are
    handed: frozenset[str]  # functions that are not called where they are named
    held: frozenset[str]  # what objects are given when they are made

    def __repr__(self) -> str:
        """The same in every process: conversions are compared by it."""
        return str(
            [sorted(each) for each in (self.steady, self.loose, self.borrowed, self.given, self.handed, self.held)]
        )


def names_of(source: Source) -> Names:
    known: dict[str, set[str]] = {}
    for name, kind in _bindings(source.tree.body):
        known[name] = {"loose"} if kind in ("value", "definition") and name in known else {*known.get(name, ()), kind}
    said = [*(each.names for each in source.of(ast.Global)), *(each.names for each in source.of(ast.Nonlocal))]
    known |= {name: {"loose"} for names in said for name in names}
    return Names(
        frozenset(name for name, kinds in known.items() if kinds <= {"value", "definition", "own"}),
        frozenset(name for name, kinds in known.items() if "loose" in kinds),
        frozenset(name for name, kinds in known.items() if kinds == {"import"}),
        frozenset(_given(source)),
        frozenset(_handed(source, known)),
        frozenset(held_by_objects(source)),
    )


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, "definition"
            case ast.Import(names=names):
                for each in names:
                    yield (each.asname or each.name).partition(".")[0], _kind_of(each.name)
            case ast.ImportFrom(module=module, names=names):
                for each in names:
                    yield each.asname or each.name, _kind_of(module or "") if not node.level else "import"
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                yield name, "value" if is_fixed(value) else "loose"
            case _:
                for inner in _blocks(node):
                    yield from _bindings(inner)
                yield from ((name, "loose") for name in _stored_here(node))


def _kind_of(module: str) -> str:
    is_own = framework().is_own(module) or module.partition(".")[0] in PURE
    return "own" if is_own else "import"


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """What an `if` or a `try` of the module's holds; in a loop, everything is bound more than once."""
    if isinstance(node, ast.If | ast.Try):
        yield from (node.body, node.orelse, *([node.finalbody] if isinstance(node, ast.Try) else []))
        yield from ([each.body for each in node.handlers] if isinstance(node, ast.Try) else [])


def _stored_here(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.If | ast.Try):
        return
    for each in walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            yield each.id


def is_fixed(value: ast.AST | None) -> bool:
    """A number, a text, or what is made of these and can't be written to."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=inner):
            return is_fixed(inner)
        case ast.BinOp(left=left, right=right):
            return is_fixed(left) and is_fixed(right)
        case ast.Tuple(elts=parts):
            return all(map(is_fixed, parts))
        case ast.IfExp(body=left, orelse=right):
            return is_fixed(left) and is_fixed(right)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name), args=args, keywords=[]):
            return name in MAKES_NUMBERS and all(map(is_fixed, args))
    return False


def _given(source: Source) -> Iterator[str]:
    for start in source.of(ast.FunctionDef):
        if start.args.args[:1] and start.args.args[0].arg == "self":
            shown = [None] * (len(start.args.args) - len(start.args.defaults)) + list(start.args.defaults)
            plain = {
                each.arg for each, default in zip(start.args.args, shown, strict=True) if not _is_number(each, default)
            } | {each.arg for each in start.args.kwonlyargs}
            for node in walk(start):
                match node:
                    case ast.Assign(targets=targets, value=value) if not _is_made(value, plain):
                        yield from (each.attr for each in targets if isinstance(each, ast.Attribute))


def _is_number(argument: ast.arg, default: ast.expr | None) -> bool:
    is_said = isinstance(argument.annotation, ast.Name) and argument.annotation.id in ("int", "float", "bool", "str")
    return is_said or (isinstance(default, ast.Constant) and default.value is not None)


def _is_made(value: ast.expr, given: set[str]) -> bool:
    """Whether nobody else has it: a call's result, a list that is written there, a number."""
    match value:
        case ast.Name(id=name):
            return name not in given
        case ast.Attribute() | ast.Subscript() | ast.Lambda():
            return False
        case ast.BoolOp(values=parts):
            return all(_is_made(part, given) for part in parts)
        case ast.IfExp(body=left, orelse=right):
            return _is_made(left, given) and _is_made(right, given)
    return True


def _handed(source: Source, known: dict[str, set[str]]) -> Iterator[str]:
    functions = {name for name, kinds in known.items() if kinds & {"definition", "import"}}
    for name in functions | {node.name for node in source.of(ast.FunctionDef)}:
        yield from (name for node in source.named.get(name, ()) if is_handed(source, node))


def is_handed(source: Source, node: ast.expr) -> bool:
    """A function that is given to somebody who may run it within a step."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.keyword):
        if parent.arg in ("collate_fn", "worker_init_fn", "key", "type", "target", "default"):
            return False
        parent = source.parents.get(parent)
    match parent:
        case ast.Call(func=called) if called is node:
            return False
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name not in OUTSIDE_STEPS
        case ast.ClassDef() | ast.Attribute():
            return False
    return not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load)


def unsteady_read(source: Source, function: ast.AST, names: Names) -> tuple[str, frozenset[str]]:
    """(what a function reads that may be another thing the next time, or '', and the names of other files that it reads)."""
    outer = _variables_around(source, function)
    own = {node.arg for node in walk(function) if isinstance(node, ast.arg)}
    own |= {node.id for node in walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {
        node.name for node in walk(function) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node is not function
    }
    own -= {name for node in walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    borrowed = set()
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            if node.id in names.borrowed and node.id not in outer:
                borrowed.add(node.id)
            elif node.id in outer | names.loose or node.id not in names.steady | BUILTINS:
                return node.id, frozenset()
    return "", frozenset(borrowed)


def _variables_around(source: Source, function: ast.AST) -> set[str]:
    """Of the functions that it stands in, which may give them other values."""
    found: set[str] = set()
    node = source.parents.get(function)
    while node is not None:
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            found |= {each.arg for each in walk(node) if isinstance(each, ast.arg)}
            found |= {each.id for each in walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        node = source.parents.get(node)
    return found


def looked_into(source: Source, roots: Iterable[ast.AST]) -> frozenset[str]:
    """Members that code does more with than compute, call them or ask whether they are there: a list may be among these."""
    return frozenset(
        node.attr
        for root in roots
        for node in walk(root)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not _is_computed_with(source, node)
    )


def _is_computed_with(source: Source, node: ast.expr) -> bool:
    match parent := source.parents.get(node):
        case ast.BinOp() | ast.UnaryOp() | ast.Slice():
            return True
        case ast.Compare(ops=ops):
            return not any(isinstance(each, ast.In | ast.NotIn) for each in ops)
        case ast.Subscript(slice=index):
            return index is node
        case ast.Call(func=called):
            return called is node or _computes(called)
        case ast.keyword():
            call = source.parents.get(parent)
            return isinstance(call, ast.Call) and _computes(call.func)
    return False


def _computes(called: ast.expr) -> bool:
    """A function or method of tensors: it can't be one of the project's own."""
    match called:
        case ast.Name(id=name):
            return name in ("int", "float", "range", "isinstance")
        case ast.Attribute(value=ast.Name(id="self")):
            return False
    return isinstance(called, ast.Attribute)


def held_by_objects(source: Source) -> Iterator[str]:
    """Names of what is given to an object when it is made, or set as a member: it may be written to under either name."""
    for call in source.of(ast.Call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name[:1].isupper() or name == "setattr":
            given = [*call.args, *(each.value for each in call.keywords)]
            yield from _names_in(part for each in given for part in walk(each))
    for start in source.of(ast.FunctionDef):
        if start.name == "__init__":
            yield from _names_in(walk(start))
    for node in source.of(ast.Assign):
        is_member = isinstance(source.parents.get(node), ast.ClassDef)
        if is_member or any(isinstance(each, ast.Attribute) for each in node.targets):
            yield from _names_in(walk(node.value))


def _names_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and node.id != "self" and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.attr


def pads(node: ast.AST) -> bool:
    """Whether a call pads with numbers, which MindSpore 2.10 differentiates wrongly from a compiled step's second call on."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), keywords=given):
            is_same = any(isinstance(each.value, ast.Constant) and each.value.value == "same" for each in given)
            is_pool = name in ("avg_pool2d", "AvgPool2d") and (
                len(node.args) > 2 or any(each.arg == "padding" for each in given)
            )
            return (
                name == "pad"
                or name.startswith(("ZeroPad", "ConstantPad"))
                or is_pool
                or (name == "Conv3d" and is_same)
            )
    return False
