"""Sizes, axes and indices that a network is given or computes: what a tensor's shape depends on besides its input's."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from ..artifacts import Place
from .scan import FUNCTIONS, CallSite, FileScan, argument, line_of

FIXED = "compute a fixed upper bound, pad to it, and mask what is over"
AXIS = "write the axes as constants, or keep this function out of the graph (PyNative)"
INDEX = "pad the index to a fixed length, gather, and mask what is over"
LONGEST = "pad every batch to the same length, or to a few (buckets)"
# function -> the position and the name of the argument that its result's size follows
COUNTS = {
    "topk": (1, "k"),
    "multinomial": (1, "num_samples"),
    "repeat_interleave": (1, "repeats"),
    "segment_reduce": (-1, "lengths"),
}
INDEXED = {"gather": (2, "index"), "index_select": (2, "index"), "take": (1, "index"), "take_along_dim": (1, "indices")}
REDUCED = frozenset(
    "sum mean prod amax amin max min argmax argmin norm std var logsumexp all any cumsum softmax".split()
)
ARRANGED = frozenset("permute transpose flip movedim swapaxes unsqueeze squeeze".split())
PADDED = frozenset("zeros ones full empty pad new_zeros new_ones new_full new_empty".split())


class Known(Protocol):
    """What is known of a function's names (`dynamic._Names`)."""

    parameters: set[str]
    numbers: set[str]

    def is_number_from_data(self, node: ast.expr) -> bool: ...

    def is_ragged(self, node: ast.expr) -> bool: ...


def from_call(call: CallSite, scan: FileScan, names: Known) -> list[Place]:
    """The call, if the size, the axis or the index that it is given varies."""
    if _pads_text(call.node, scan):
        return [_place("padding to the batch's longest", call, scan, LONGEST)]
    if call.last in PADDED and (scan.framework.has(call.name) or call.name.startswith("numpy.")):
        arguments = [*call.node.args, *(each.value for each in call.node.keywords)]
        if any(_is_longest(each, call, scan) for each in arguments):
            return [_place("padding to the batch's longest", call, scan, LONGEST)]
    if not scan.framework.has(call.name):
        return []

    def varies(node: ast.expr) -> bool:
        is_argument = isinstance(node, ast.Name) and node.id in names.parameters
        return is_variable(node, call.home, scan, names) or is_argument

    is_method = scan.framework.is_of_tensor(call.name)
    if call.last in COUNTS:
        return _if_any(call, scan, COUNTS, is_method, varies, f"{call.last} with a variable number", FIXED)
    if call.last in INDEXED:
        return _if_any(
            call,
            scan,
            INDEXED,
            is_method,
            lambda node: names.is_ragged(node) or is_given(node, call.home, scan, names),
            f"{call.last} with an index of variable length",
            INDEX,
        )
    if call.last in REDUCED | ARRANGED:
        given = call.node.args if is_method else call.node.args[1:]
        named = [each.value for each in call.node.keywords if each.arg in ("dim", "dims", "dim0", "dim1", "axis")]
        if any(_is_axis_from_data(each, names) or _is_tensor_axis(each, call, scan) for each in (*given, *named)):
            return [_place(f"{call.last} over computed axes", call, scan, AXIS)]
    return []


def _if_any(
    call: CallSite,
    scan: FileScan,
    table: dict[str, tuple[int, str]],
    is_method: bool,
    varies: Callable[[ast.expr], bool],
    what: str,
    advice: str,
) -> list[Place]:
    position, name = table[call.last]
    given = argument(call.node, position - is_method if position > 0 else position, name)
    return [_place(what, call, scan, advice)] if given is not None and varies(given) else []


def _place(what: str, call: CallSite, scan: FileScan, advice: str) -> Place:
    return Place(what, scan.text(call.node), scan.path, line_of(call.node), advice)


def is_variable(node: ast.expr, home: str, scan: FileScan, names: Known) -> bool:
    """A number from data, a tensor used as a number, or what a network's forward is given."""
    if names.is_number_from_data(node) or scan.reading.type(node).is_tensor:
        return True
    match node:
        case ast.BinOp(left=left, right=right):
            return any(is_variable(each, home, scan, names) for each in (left, right))
        case ast.Call(func=ast.Name(id="int" | "min" | "max" | "round"), args=arguments):
            return any(is_variable(each, home, scan, names) for each in arguments)
    return is_given(node, home, scan, names)


def is_given(node: ast.expr, home: str, scan: FileScan, names: Known) -> bool:
    """A parameter of `forward` without default and plain type: each call may give another."""
    is_forward = home.endswith(".forward") and scan.reading.symbols.is_module(home.rpartition(".")[0])
    return (
        is_forward and isinstance(node, ast.Name) and node.id in names.parameters and not _is_set_anew(node, home, scan)
    )


def _is_set_anew(node: ast.Name, home: str, scan: FileScan) -> bool:
    function = scan.functions.get(home)
    return function is not None and any(
        isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store)
        for each in ast.walk(function)
    )


def _is_axis_from_data(node: ast.expr, names: Known) -> bool:
    match node:
        case ast.Starred(value=inner) | ast.Call(func=ast.Name(id="tuple" | "list" | "sorted"), args=[inner]):
            return _is_axis_from_data(inner, names)
    return names.is_number_from_data(node)


def _is_tensor_axis(node: ast.expr, call: CallSite, scan: FileScan) -> bool:
    """`x.sum(dim=d)` with a tensor d; max(a, b) compares two tensors and has no axis."""
    is_named = any(each.value is node and (each.arg or "").startswith("dim") for each in call.node.keywords)
    return is_named and scan.reading.type(node).is_tensor


def _is_longest(node: ast.expr, call: CallSite, scan: FileScan) -> bool:
    """`max(len(each) for each in batch)`, a name that holds it, or arithmetic on it."""
    match node:
        case ast.Name(id=name):
            function = scan.functions.get(call.home, scan.reading.source.tree)
            return any(
                isinstance(each, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
                and takes_longest(each.value)
                for each in _own(function)
            )
        case ast.BinOp(left=left, right=right):
            return _is_longest(left, call, scan) or _is_longest(right, call, scan)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return any(_is_longest(each, call, scan) for each in elements)
    return takes_longest(node)


def takes_longest(node: ast.expr) -> bool:
    """`max(len(each) for each in batch)`, `max(map(len, batch))`, `max(x.shape[0] for x in batch)`."""
    match node:
        case ast.Call(func=ast.Name(id="max"), args=[ast.GeneratorExp(elt=element) | ast.ListComp(elt=element), *_]):
            return any(_is_length(each) for each in ast.walk(element))
        case ast.Call(
            func=ast.Name(id="max"), args=[ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="len"), _]), *_]
        ):
            return True
    return False


def _is_length(node: ast.AST) -> bool:
    match node:
        case (
            ast.Call(func=ast.Name(id="len")) | ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size"))
        ):
            return True
    return False


def _pads_text(node: ast.Call, scan: FileScan) -> bool:
    """A tokenizer that is told to pad to the longest text of its batch."""
    given = argument(node, -1, "padding")
    is_longest = isinstance(given, ast.Constant) and given.value in (True, "longest")
    return is_longest and "tokenizer" in scan.text(node.func).lower()


def _own(function: ast.AST) -> list[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    found, waiting = [], list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))
    return found
