"""Python's operators that mean something else for MindSpore's tensors: `~` is a logical not there, and shifts are missing."""

from __future__ import annotations

import ast
from functools import partial

from ..context import Context

SHIFTS: dict[type[ast.operator], tuple[str, str]] = {
    ast.LShift: ("torch.bitwise_left_shift", "*"),
    ast.RShift: ("torch.bitwise_right_shift", "//"),
}
BOOLEAN = frozenset(
    "bool eq ne lt le gt ge less less_equal greater greater_equal not_equal equal isnan isinf isfinite isneginf isposinf isreal isin isclose "
    "logical_and logical_or logical_xor logical_not any all signbit is_nonzero".split()
)
SAME_KIND = frozenset(
    "view reshape unsqueeze squeeze expand expand_as permute transpose t flatten repeat clone detach contiguous cuda cpu view_as".split()
)
ATOMS = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant


def prepare(context: Context) -> None:
    for node in context.source.of(ast.UnaryOp):
        if (
            isinstance(node.op, ast.Invert)
            and context.reading.type(node.operand).is_tensor
            and not _is_boolean(context, node.operand)
        ):
            context.turns[node] = partial(_flip_bits, context, node)
    for each in context.source.of(ast.BinOp):
        if type(each.op) in SHIFTS and context.reading.type(each).is_tensor:
            context.turns[each] = partial(_shift, context, each)


def _is_boolean(context: Context, node: ast.expr, known: frozenset[str] = frozenset()) -> bool:
    """Whether the code itself says that the tensor holds true and false."""
    match node:
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert(), operand=inner) | ast.Subscript(value=inner):
            return _is_boolean(context, inner, known)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return _is_boolean(context, node.left, known) and _is_boolean(context, node.right, known)
        case ast.Call(func=ast.Attribute(attr=name, value=owner)):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if name in BOOLEAN or any(context.api(each) == "torch.bool" for each in given):
                return True
            return name in SAME_KIND and context.reading.type(owner).is_tensor and _is_boolean(context, owner, known)
        case ast.Name(id=name) if name not in known:
            return _holds_booleans(context, node, known | {name})
    return False


def _holds_booleans(context: Context, name: ast.Name, known: frozenset[str]) -> bool:
    """Every assignment of the name in its function gives it such a tensor, and it is no argument."""
    scope = context.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    if isinstance(scope, ast.Lambda) or (
        scope is not None and name.id in {each.arg for each in ast.walk(scope) if isinstance(each, ast.arg)}
    ):
        return False
    stores = [
        each
        for each in context.stores(name.id)
        if context.enclosing(each, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda) is scope
    ]
    owners = [context.parents.get(store) for store in stores]
    return bool(owners) and all(
        isinstance(owner, ast.Assign) and _is_boolean(context, owner.value, known) for owner in owners
    )


def _flip_bits(context: Context, node: ast.UnaryOp) -> None:
    before = context.source.text(node)
    text = context.edits.text(node.operand)
    context.edits.replace_node(node, f"{context.imports.spell('compat.bitwise_not')}({text})")
    context.rewritten(node, "torch.bitwise_not", before, context.edits.text(node))


def _shift(context: Context, node: ast.BinOp) -> None:
    """A product or a floor division by a power of two, as of torch.bitwise_left_shift."""
    before, (api, symbol) = context.source.text(node), SHIFTS[type(node.op)]
    left, right = (
        context.edits.text(each) if isinstance(each, ATOMS) else f"({context.edits.text(each)})"
        for each in (node.left, node.right)
    )
    text = f"{left} {symbol} 2 ** {right}"
    source, parent = context.source, context.parents.get(node)
    is_enclosed = (
        source.data[source.start(node) - 1 : source.start(node)] == b"("
        and source.data[source.end(node) : source.end(node) + 1] == b")"
    )
    context.edits.replace_node(node, text if is_enclosed or isinstance(parent, ast.stmt | ast.keyword) else f"({text})")
    context.rewritten(node, api, before, context.edits.text(node))


def finish(context: Context) -> None:
    pass
