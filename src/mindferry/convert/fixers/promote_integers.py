"""`torch.log(torch.arange(1, 9))`: torch computes with floats where it is given integers; MindSpore's function refuses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertAfter, InsertBefore, Texts

COMPUTED = frozenset(
    "exp expm1 log log2 log10 log1p rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh arcsin arccos arctan "
    "arcsinh arccosh arctanh sigmoid erf erfc erfinv lgamma digamma rad2deg deg2rad i0".split()
)
COUNTED = frozenset(
    "randint randperm argmax argmin argsort nonzero bincount searchsorted bucketize count_nonzero".split()
)
CASTS = frozenset("long int short LongTensor IntTensor ShortTensor".split())
FILLED = frozenset(
    "zeros ones full empty zeros_like ones_like full_like new_zeros new_ones new_full arange range".split()
)
TYPES = frozenset("long int short int64 int32 int16 int8 uint8".split())
# Methods and functions whose result has the type of what they are given.
KEPT = frozenset(
    "view reshape unsqueeze squeeze expand expand_as repeat permute transpose t clone contiguous flatten flip roll cumsum sum "
    "prod clamp abs detach cpu cuda to rearrange tile repeat_interleave index_select gather stack cat diff tril triu".split()
)
EXACT = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow)


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Call):
        given = _given(facts, node)
        if given is not None and holds_integers(facts, given):
            yield AtNode(node, partial(_cast, facts, given))


def _cast(facts: Facts, given: ast.expr, texts: Texts) -> Iterator[Edit]:
    before, cast = texts.of(given), f".astype({texts.name('mindspore.float32')})"
    if isinstance(given, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        yield InsertAfter(facts.source.end(given), cast)
    else:
        yield InsertBefore(facts.source.start(given), "(")
        yield InsertAfter(facts.source.end(given), f"){cast}")
    yield facts.record(given, "integers", before, texts.of(given))


def _name(facts: Facts, call: ast.Call) -> str:
    """The last word of a function of torch's or of einops', or of a tensor's method; '' if it is neither."""
    api = facts.api(call.func)
    is_known = _is_method(facts, call) or facts.framework.has(api) or api.startswith("einops.")
    return facts.reading.type(call.func).qual.rpartition(".")[2] if is_known else ""


def _is_method(facts: Facts, call: ast.Call) -> bool:
    return facts.framework.is_of_tensor(facts.reading.type(call.func).qual)


def _given(facts: Facts, call: ast.Call) -> ast.expr | None:
    """What one of these functions computes with: its argument, or the tensor whose method it is."""
    word = facts.reading.type(call.func).qual.rpartition(".")[2]
    if word not in COMPUTED or _name(facts, call) not in COMPUTED:
        return None
    return _subject(facts, call)


def _subject(facts: Facts, call: ast.Call) -> ast.expr | None:
    if _is_method(facts, call) and isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def holds_integers(facts: Facts, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether the expression is certainly a tensor of integers, or one that float32 changes nothing of."""
    match node:
        case ast.Call():
            return _makes_integers(facts, node, seen)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, EXACT):
            parts = [holds_integers(facts, each, seen) for each in (left, right)]
            return any(parts) and all(
                part or _is_number(facts, each) for part, each in zip(parts, (left, right), strict=True)
            )
        case ast.Compare():
            return facts.reading.type(node).is_tensor  # what is counted in (x > 0).sum()
        case ast.UnaryOp(op=ast.USub(), operand=inner) | ast.Subscript(value=inner):
            return holds_integers(facts, inner, seen)
        case ast.Name(id=name) if name not in seen:
            values = _values(facts, node)
            return bool(values) and all(
                each is not None and holds_integers(facts, each, seen | {name}) for each in values
            )
    return False


def _makes_integers(facts: Facts, call: ast.Call, seen: frozenset[str]) -> bool:
    name = _name(facts, call)
    kinds = [each.value for each in call.keywords if each.arg == "dtype"]
    if name in ("to", "type") and call.args:
        kinds += call.args
    if any(_is_integer_type(facts, each) for each in kinds):
        return name in FILLED | KEPT | {"tensor", "as_tensor", "to", "type"}
    if any(each.arg == "dtype" for each in call.keywords) or any(_is_type(facts, each) for each in kinds):
        return False
    if name in ("arange", "range"):
        return bool(call.args) and not any(_may_be_float(facts, each) for each in call.args)
    if name in ("tensor", "as_tensor"):
        return bool(call.args) and _is_whole(facts, call.args[0])
    if name in KEPT:
        subject = _subject(facts, call)
        parts = subject.elts if isinstance(subject, ast.List | ast.Tuple) else [subject]
        return bool(parts) and all(each is not None and holds_integers(facts, each, seen) for each in parts)
    return name in COUNTED or name in CASTS


def _is_type(facts: Facts, node: ast.expr) -> bool:
    """A type by its name, and no device."""
    kind = facts.reading.type(node)
    return kind.kind in ("ref", "value") and facts.framework.has(kind.qual)


def _is_integer_type(facts: Facts, node: ast.expr) -> bool:
    api = facts.reading.type(node).qual
    return facts.framework.has(api) and api.rpartition(".")[2] in TYPES | CASTS


def _may_be_float(facts: Facts, node: ast.expr) -> bool:
    numbers = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    is_divided = any(isinstance(each, ast.Div) for each in ast.walk(node))
    return is_divided or any(isinstance(each, float) for each in numbers) or facts.reading.type(node).kind == "float"


def _is_whole(facts: Facts, node: ast.expr) -> bool:
    """`3`, `[1, 2]`, `[[1], [n]]`, where n is known to be a whole number."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(_is_whole(facts, each) for each in node.elts)
    return _is_number(facts, node)


def _is_number(facts: Facts, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    return facts.reading.type(node).kind == "int"


def _values(facts: Facts, node: ast.Name) -> list[ast.expr | None]:
    """What the function, or the file outside functions, assigns to the name; None for what can't be followed."""
    scope = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    found: list[ast.expr | None] = []
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = scope.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        if any(each is not None and each.arg == node.id for each in names):
            return []
    for each in facts.bound_within(node.id, scope):
        parent = facts.as_read(facts.parents[each])
        found.append(parent.value if isinstance(parent, ast.Assign) and parent.targets == [each] else None)
    return found
