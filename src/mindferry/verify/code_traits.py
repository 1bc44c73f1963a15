"""What a piece of text does that the values of a few calls may not show: it decides, asks for something outside, keeps something, or is called by itself."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from .literals import SIZES, walked
from .reached_code import Piece

VALUES = {"mindspore", "numpy", "math", "typing", "collections", "__future__", "ms_compat", "ms_keras", "einops"}
PLAIN = set(  # builtins that give the same for the same
    "abs all any bool callable classmethod complex dict divmod enumerate filter float frozenset getattr hasattr int isinstance "
    "issubclass len list map max min next object pow print property range repr reversed round set slice sorted staticmethod str "
    "sum super tuple type zip".split()
)
# Plain ones by which a size may turn into a choice.
DECIDING = set("max min bool divmod sorted any all int round str repr".split())
COMPARED = {
    name: kind
    for kind, names in (
        ("Gt", "gt greater"),
        ("Lt", "lt less"),
        ("GtE", "ge greater_equal"),
        ("LtE", "le less_equal"),
        ("Eq", "eq equal"),
        ("NotEq", "ne not_equal"),
    )
    for name in names.split()
}
CUTS = set(
    "stop_gradient bprop backward detach no_grad custom_gradient Custom register_hook set_grad grad set_requires_grad "
    "requires_grad_ requires_grad".split()
)
WATCHED = set("assign assign_add assign_sub set_data copy_ append extend set_train train".split())  # calls that show
CALLED_BY_FRAMEWORK = set(
    "train set_train set_grad to_float parameters_and_names get_parameters trainable_params untrainable_params parameters_dict "
    "cells name_cells cells_and_names insert_param_to_cell update_parameters_name load_parameter_slice set_inputs "
    "get_inputs compile compile_and_run recompute apply init_parameters_data".split()
)
FIXED = (
    ast.Constant
    | ast.Tuple
    | ast.UnaryOp
    | ast.BinOp
    | ast.operator
    | ast.unaryop
    | ast.expr_context
    | ast.Name
    | ast.Attribute
)
ROUNDING = ast.FloorDiv | ast.Mod | ast.RShift | ast.LShift
SILENT = ast.Raise | ast.Assert  # errors are compared by their kinds


class Kind(Enum):
    DECIDES = "it decides"
    OUTSIDE = "it asks for something outside of the network"
    KEEPS = "it changes something that stays"
    IMPORT = "it runs when the file is imported"
    BY_ITSELF = "it is called by the framework or by Python itself"
    GRADIENT = "it takes part in gradients"


COUNTED = {Kind.DECIDES, Kind.KEEPS}  # of the others, having one of a name is enough


@dataclass(frozen=True, slots=True)
class Trait:
    kind: Kind
    key: str
    file: str
    line: int
    text: str


def traits_of(pieces: Iterable[Piece], imports: dict[str, dict[str, str]]) -> list[Trait]:
    """`imports`: of each file, its names for modules and what comes from them."""
    pieces = list(pieces)
    mentioned = {each.attr for piece in pieces for each in walked(piece.node) if isinstance(each, ast.Attribute)}
    found = []
    for piece in pieces:
        for kind, key, node in _of_piece(piece.node, imports.get(piece.file, {}), mentioned):
            text = ast.unparse(node).split("\n")[0]
            found.append(Trait(kind, key, piece.file, getattr(node, "lineno", 0), text))
    return found


def imports_of(text: str) -> dict[str, str]:
    """Name in the file -> module that it comes from."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, str] = {}
    for node in walked(tree):
        if isinstance(node, ast.Import):
            found |= {(each.asname or each.name.split(".")[0]): each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {(each.asname or each.name): f"{node.module}.{each.name}" for each in node.names}
    return found


Found = tuple[Kind, str, ast.AST]


def _of_piece(top: ast.stmt, imports: dict[str, str], mentioned: set[str]) -> Iterator[Found]:
    if not isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _at_import(top)
    quiet = {id(each) for node in walked(top) if isinstance(node, SILENT) for each in walked(node)}
    for node in walked(top):
        if id(node) not in quiet:
            yield from _deciding(node)
            yield from _outside(node, imports)
            yield from _gradient(node)
    for node in walked(top):
        if isinstance(node, ast.ClassDef):
            yield from _of_class(node, mentioned)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            wrapping = [
                each for each in node.decorator_list if imports.get(_root(each), "").split(".")[0] not in VALUES
            ]
            yield from ((Kind.BY_ITSELF, f"@{_root(each)}", each) for each in wrapping)
            if node.name != "__init__":
                yield from _kept(node)
            else:
                stores = [each for each in _foreign_stores(node) if each.attr not in CUTS]
                yield from ((Kind.KEEPS, f"{_root(each)}.{each.attr}", each) for each in stores)


def _at_import(node: ast.stmt) -> Iterator[Found]:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        yield Kind.IMPORT, ast.unparse(node).split("\n")[0], node
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    is_kept = node.value is not None and not _is_fixed(node.value)
    if is_kept or not all(isinstance(each, ast.Name) for each in targets):
        yield Kind.IMPORT, ",".join(ast.unparse(each) for each in targets), node


def _is_fixed(node: ast.expr) -> bool:
    """A number, a text, a name, or a row of such: what no call changes."""
    return all(isinstance(each, FIXED) for each in walked(node))


def _deciding(node: ast.AST) -> Iterator[Found]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield Kind.DECIDES, "if", node.test
    elif isinstance(node, ast.Match):
        yield Kind.DECIDES, "if", node.subject
    elif isinstance(node, ast.Try):
        yield Kind.DECIDES, "try", node
    elif isinstance(node, ast.comprehension):
        yield from ((Kind.DECIDES, "if", each) for each in node.ifs)
    elif isinstance(node, ast.Compare) and not _is_of_values(node):
        yield from ((Kind.DECIDES, type(each).__name__, node) for each in node.ops)
    elif isinstance(node, ast.BoolOp):
        yield Kind.DECIDES, "and, or", node
    elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ROUNDING):
        yield Kind.DECIDES, "//", node
    elif isinstance(node, ast.Subscript):
        yield from _of_subscript(node)
    elif isinstance(node, ast.Call):
        name = _last(node.func)
        if name.rstrip("_") in COMPARED:
            kind = COMPARED[name.rstrip("_")]
            compared = [
                node.func,
                *node.args,
                *(each.value for each in node.keywords),
            ]  # of a method, what it is one of
            if not _are_values(compared, kind in ("Eq", "NotEq")):
                yield Kind.DECIDES, kind, node
        elif isinstance(node.func, ast.Name) and name in DECIDING:
            yield Kind.DECIDES, name, node
        elif name == "get" and isinstance(node.func, ast.Attribute):
            yield Kind.DECIDES, "[]", node


def _of_subscript(node: ast.Subscript) -> Iterator[Found]:
    if isinstance(node.value, ast.List | ast.Tuple | ast.Dict):
        yield Kind.DECIDES, "[]", node
    elif isinstance(node.value, ast.Attribute) and isinstance(node.slice, ast.Slice) and _root(node) == "self":
        yield Kind.DECIDES, "self[:]", node  # a history that is cut


def _is_of_values(node: ast.Compare) -> bool:
    """`x > 0`, `labels != ignored`: values on both sides of zero are among the inputs, and whole numbers from the least to the largest."""
    return _are_values([node.left, *node.comparators], all(isinstance(each, ast.Eq | ast.NotEq) for each in node.ops))


def _are_values(compared: list[ast.expr], is_equal: bool) -> bool:
    is_zero = any(isinstance(each, ast.Constant) and each.value == 0 for each in compared)
    inside = (each for node in compared for each in walked(node))
    sizes = (each for each in inside if isinstance(each, ast.Attribute) or getattr(each, "id", "") == "len")
    return (is_zero or is_equal) and not any(_last(each) in SIZES for each in sizes)


def _outside(node: ast.AST, imports: dict[str, str]) -> Iterator[Found]:
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
        return
    home = imports.get(node.id, "")
    if home and home.split(".")[0] not in VALUES:
        yield Kind.OUTSIDE, home.split(".")[0], node
    elif not home and hasattr(builtins, node.id) and node.id not in PLAIN and not node.id[:1].isupper():
        yield Kind.OUTSIDE, node.id, node


def _gradient(node: ast.AST) -> Iterator[Found]:
    name = node.name if isinstance(node, ast.FunctionDef) else _last(node) if isinstance(node, ast.expr) else ""
    if name in CUTS:
        yield Kind.GRADIENT, "cut", node
    elif name.endswith("_hook"):
        yield Kind.BY_ITSELF, "hook", node


def _of_class(node: ast.ClassDef, mentioned: set[str]) -> Iterator[Found]:
    for base in (*node.bases, *(keyword.value for keyword in node.keywords)):
        if isinstance(base, ast.Name) and hasattr(builtins, base.id) and base.id != "object":
            yield Kind.BY_ITSELF, f"{base.id} as a base", base
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            is_special = each.name.startswith("__") or each.name in CALLED_BY_FRAMEWORK
            if is_special and each.name != "__init__":
                yield Kind.BY_ITSELF, each.name.replace("set_train", "train"), each
        elif isinstance(each, ast.Assign | ast.AnnAssign | ast.Expr) and not _is_fixed_in_class(each):
            yield Kind.IMPORT, f"{node.name}: {ast.unparse(each)[:40]}", each


def _is_fixed_in_class(node: ast.Assign | ast.AnnAssign | ast.Expr) -> bool:
    return node.value is None or isinstance(node.value, ast.Constant) or _is_fixed(node.value)


def _kept(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Found]:
    for node in walked(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            if node.attr not in CUTS:
                yield Kind.KEEPS, node.attr, node
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield Kind.KEEPS, "global", node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _last(node.value.func) not in WATCHED:
            yield Kind.KEEPS, f"{_last(node.value.func)}()", node
    local = _locals(function)
    for node in walked(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del) and _root(node) not in local:
            yield Kind.KEEPS, f"{_root(node)}[]", node


def _foreign_stores(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Attribute]:
    """In a constructor: what is written into another object than the one that is made."""
    for node in walked(function):
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                pass
            case ast.Attribute(ctx=ast.Store()):
                yield node


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    stored = {each.id for each in walked(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return stored | {each.arg for each in walked(function) if isinstance(each, ast.arg)} - {"self", "cls"}


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
