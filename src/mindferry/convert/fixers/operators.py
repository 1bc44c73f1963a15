"""Python's operators that mean something else for MindSpore's tensors: `~` is a logical not there, shifts are missing.

A product over no elements is whatever was in memory; the gradient of `x ** 0` is nan where x is 0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...apis.quirks import applies
from ...apis.torch._selections import are_unseen
from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, ReplaceNode, Texts
from .bindings import Names

SHIFTS: dict[type[ast.operator], tuple[Use, str]] = {
    ast.LShift: (Use.LEFT_SHIFT, "*"),
    ast.RShift: (Use.RIGHT_SHIFT, "//"),
}
BOOLEAN = frozenset(
    "bool eq ne lt le gt ge less less_equal greater greater_equal not_equal equal isnan isinf isfinite isneginf isposinf isreal isin isclose "
    "logical_and logical_or logical_xor logical_not any all signbit is_nonzero".split()
)
SAME_KIND = frozenset(
    "view reshape unsqueeze squeeze expand expand_as permute transpose t flatten repeat clone detach contiguous cuda cpu view_as".split()
)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult)
ATOMS = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.UnaryOp):
        if (
            isinstance(node.op, ast.Invert)
            and facts.reading.type(node.operand).is_tensor
            and not is_boolean(facts, node.operand)
        ):
            yield AtNode(node, partial(_flip_bits, facts, node))
    for each in facts.source.of(ast.BinOp):
        if type(each.op) in SHIFTS and facts.reading.type(each).is_tensor:
            yield AtNode(each, partial(_shift, facts, each))
        elif isinstance(each.op, ARITHMETIC) and _mixes_complex(facts, each):
            yield facts.found(
                each,
                findings.MF101,
                f"{facts.source.text(each)}: MindSpore computes neither with a tensor and a complex number nor gradients of the product",
                "compute the real and the imaginary part by themselves",
            )
        elif isinstance(each.op, ast.MatMult) and _may_multiply_nothing(facts, each):
            yield AtNode(each, partial(_call_helper, facts, each, "matmul"))
        elif isinstance(each.op, ast.Pow) and _may_be_power_of_zero(facts, each):
            yield AtNode(each, partial(_call_helper, facts, each, "power"))


def _mixes_complex(facts: Facts, node: ast.BinOp) -> bool:
    """`1j * x`."""
    for number, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(number, ast.Constant) and isinstance(number.value, complex):
            return facts.reading.type(other).is_tensor
    return False


def _may_multiply_nothing(facts: Facts, node: ast.BinOp) -> bool:
    operands = (node.left, node.right)
    is_known = all(facts.reading.type(each).is_tensor for each in operands)
    if is_known and any(_ends_in_one(facts, each) for each in operands):
        return True
    return is_known and applies("product over nothing", facts.settings.target) and are_unseen(facts.reading, *operands)


def _ends_in_one(facts: Facts, node: ast.expr) -> bool:
    """`x.unsqueeze(-1)`, `x[:, None]`, or a variable for it: an outer product, whose gradient fails in MindSpore for a batch of one.

    So is `maps.flatten(2) @ y`, where the maps have shrunk to one place.
    """
    match node:
        case ast.Call(func=ast.Attribute(attr="flatten"), args=[ast.Constant(value=2)]):
            return True
        case ast.Call(func=ast.Attribute(attr="unsqueeze")):
            return True
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[_, *rest]):
            return any(isinstance(each, ast.Constant) and each.value == 1 for each in rest)
        case ast.Call(func=ast.Attribute(attr="requires_grad_", value=made)):
            return _ends_in_one(facts, made)
        case ast.Subscript(slice=ast.Constant(value=None)):
            return True
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(isinstance(each, ast.Constant) and each.value is None for each in parts)
        case ast.Name():
            values = facts.derived(Names).values(node)
            return any(not isinstance(each, ast.Name) and _ends_in_one(facts, each) for each in values)
    return False


def _may_be_power_of_zero(facts: Facts, node: ast.BinOp) -> bool:
    """A power of a tensor whose exponent may be zero: a variable, an attribute such as a focal loss's gamma, a tensor."""
    match node.right:
        case ast.Constant(value=value) | ast.UnaryOp(operand=ast.Constant(value=value)):
            return value == 0 and facts.reading.type(node.left).is_tensor
        case ast.BinOp(left=ast.Constant(), right=ast.Constant()):
            return False
    return facts.reading.type(node.left).is_tensor and applies("gradient of a zeroth power", facts.settings.target)


def is_boolean(facts: Facts, node: ast.expr, known: frozenset[str] = frozenset()) -> bool:
    """Whether the code itself says that the tensor holds true and false."""
    match node:
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert(), operand=inner) | ast.Subscript(value=inner):
            return is_boolean(facts, inner, known)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return is_boolean(facts, node.left, known) and is_boolean(facts, node.right, known)
        case ast.Call(func=ast.Attribute(attr=name, value=owner)):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if name in BOOLEAN or any(facts.is_use(Use.BOOLEAN, each) for each in given):
                return True
            return name in SAME_KIND and facts.reading.type(owner).is_tensor and is_boolean(facts, owner, known)
        case ast.Name(id=name) if name not in known:
            return _holds_booleans(facts, node, known | {name})
    return False


def _holds_booleans(facts: Facts, name: ast.Name, known: frozenset[str]) -> bool:
    """Every assignment of the name in its function gives it such a tensor, and it is no argument."""
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    if isinstance(scope, ast.Lambda) or (
        scope is not None and name.id in {each.arg for each in ast.walk(scope) if isinstance(each, ast.arg)}
    ):
        return False
    stores = [
        each
        for each in facts.stores(name.id)
        if facts.enclosing(each, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda) is scope
    ]
    owners = [facts.parents.get(store) for store in stores]
    return bool(owners) and all(
        isinstance(owner, ast.Assign) and is_boolean(facts, owner.value, known) for owner in owners
    )


def _flip_bits(facts: Facts, node: ast.UnaryOp, texts: Texts) -> Iterator[Edit]:
    before = facts.source.text(node)
    yield ReplaceNode(node, f"{texts.name('compat.bitwise_not')}({texts.of(node.operand)})")
    yield facts.record(node, facts.uses.name(Use.BITWISE_NOT), before, texts.of(node))


def _call_helper(facts: Facts, node: ast.BinOp, helper: str, texts: Texts) -> Iterator[Edit]:
    before = facts.source.text(node)
    yield ReplaceNode(node, f"{texts.name(f'compat.{helper}')}({texts.of(node.left)}, {texts.of(node.right)})")
    yield facts.record(node, f"operator {helper}", before, texts.of(node))


def _shift(facts: Facts, node: ast.BinOp, texts: Texts) -> Iterator[Edit]:
    """A product or a floor division by a power of two, as of torch.bitwise_left_shift."""
    before, (use, symbol) = facts.source.text(node), SHIFTS[type(node.op)]
    left, right = (
        texts.of(each) if isinstance(each, ATOMS) else f"({texts.of(each)})" for each in (node.left, node.right)
    )
    text = f"{left} {symbol} 2 ** {right}"
    source, parent = facts.source, facts.parents.get(node)
    is_enclosed = (
        source.data[source.start(node) - 1 : source.start(node)] == b"("
        and source.data[source.end(node) : source.end(node) + 1] == b")"
    )
    yield ReplaceNode(node, text if is_enclosed or isinstance(parent, ast.stmt | ast.keyword) else f"({text})")
    yield facts.record(node, facts.uses.name(use), before, texts.of(node))
