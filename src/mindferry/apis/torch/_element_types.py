"""Tensors of several types in one list: torch.cat and torch.stack promote them, MindSpore's refuse."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice

from ...read.infer import Reading
from ...read.selections import assigned_values, function_around

CASTS = frozenset("float double half bfloat16 long int short byte char bool type type_as".split())
TYPED = frozenset(
    "arange randint randperm one_hot argmax argmin argsort nonzero bincount LongTensor IntTensor BoolTensor ByteTensor "
    "isnan isinf isfinite eq ne lt le gt ge logical_and logical_or logical_not".split()
)
WHOLE = frozenset("long int short byte char bool int64 int32 int16 int8 uint8".split()) | TYPED
LIKE = frozenset("ones_like zeros_like full_like empty_like".split())
SAME_TYPE = frozenset(
    "view reshape unsqueeze squeeze expand expand_as repeat permute transpose t flatten clone detach contiguous cuda cpu".split()
)


def may_differ_in_type(reading: Reading, tensors: ast.expr | None) -> bool:
    """Whether one of the tensors is written with a type of its own: a cast, a comparison, counted places. Or they come from elsewhere."""
    match tensors:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return len({_written_type(reading, part) for part in parts}) > 1
        case ast.Name():
            if _is_given_to_plain_function(reading, tensors):
                return True
            return len({_written_type(reading, part) for part in _appended(reading, tensors)}) > 1
    return False


def mixes_parameters(reading: Reading, tensors: ast.expr | None) -> bool:
    """Whether parameters or buffers stand beside plain tensors, which ops.stack takes for two types."""
    match tensors:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return len({_is_parameter(reading, part) for part in parts}) > 1
        case ast.Name():
            return len({_is_parameter(reading, part) for part in _appended(reading, tensors)}) > 1
    return False


def _is_parameter(reading: Reading, node: ast.expr) -> bool:
    named = node.value if isinstance(node, ast.Subscript) else node
    names = reading.once(_parameter_lists if named is not node else _parameters)
    return getattr(named, "attr", getattr(named, "id", "")) in names


def _parameters(reading: Reading) -> frozenset[str]:
    """Names and attributes that are given a parameter, a tensor to derive by, or a buffer."""
    registered = {
        str(call.args[0].value)
        for call in reading.source.of(ast.Call)
        if getattr(call.func, "attr", "") in ("register_parameter", "register_buffer")
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    return frozenset({"weight", "bias"} | registered | _given(reading, _makes_parameter))


def _parameter_lists(reading: Reading) -> frozenset[str]:
    return frozenset(_given(reading, lambda call: _called(call) in ("ParameterList", "ParameterDict")))


def _makes_parameter(call: ast.Call) -> bool:
    is_leaf = any(each.arg == "requires_grad" and getattr(each.value, "value", None) is True for each in call.keywords)
    return is_leaf or _called(call) in ("Parameter", "requires_grad_")


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _given(reading: Reading, is_wanted: Callable[[ast.Call], bool]) -> set[str]:
    return {
        str(getattr(target, "attr", getattr(target, "id", "")))
        for each in reading.source.of(ast.Assign)
        if isinstance(each.value, ast.Call) and is_wanted(each.value)
        for target in each.targets
    }


def _is_given_to_plain_function(reading: Reading, name: ast.Name) -> bool:
    """An argument of a function that is no network's: a network's own features have one type, boxes and their labels don't."""
    function = function_around(reading, name)
    if not isinstance(function, ast.FunctionDef) or next(assigned_values(reading, name), None) is not None:
        return False
    arguments = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    owner = reading.owners.get(function, "").rpartition(".")[0]
    return name.id in arguments and not reading.symbols.is_module(owner)


def _appended(reading: Reading, name: ast.Name) -> Iterator[ast.expr]:
    """What the function around appends to the list."""
    parents, function = reading.source.parents, function_around(reading, name)
    for each in reading.source.named_within(name.id, function or reading.source.tree):
        match parents.get(parents.get(each, each)):
            case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[part]) if owner is each:
                if function_around(reading, each) is function:
                    yield part


def _written_type(reading: Reading, node: ast.expr, known: frozenset[str] = frozenset()) -> str:
    """What the text says about the type; '' if nothing. `known`: names on the way here, for `x = x[1:]`."""
    match node:
        case ast.Compare():
            return "bool"
        case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
            return _written_type(reading, inner, known)
        case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in SAME_TYPE:
            return _written_type(reading, owner, known)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in CASTS | TYPED:
            types = [ast.unparse(each.value) for each in node.keywords if each.arg == "dtype"]
            return types[0] if types else name
        case ast.Call(func=ast.Attribute(attr="tensor" | "as_tensor"), args=[given, *_], keywords=[]):
            return _number_type(given)
        case ast.Call(func=ast.Attribute(attr=name), args=[like, *_], keywords=keywords) if name in LIKE:
            return _given_type(keywords) or _written_type(reading, like, known)
        case ast.Call(keywords=keywords):
            return _given_type(keywords)
        case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Add() | ast.Sub()):
            found = {_written_type(reading, left, known), _written_type(reading, right, known)} - {""}
            return f"computed.{found.pop()}" if len(found) == 1 and _is_whole(*found) else ""
        case ast.Name(id=name) if name not in known:
            values = [
                *islice(assigned_values(reading, node), 3),
                *reading.once(_assigned_beside_others).get(name, ())[:2],
            ]
            types = [_written_type(reading, each, known | {name}) for each in values]
            return types[-1] if len(types) == 1 or (types and all(_is_whole(each) for each in types)) else ""
    return ""


def _given_type(keywords: list[ast.keyword]) -> str:
    return next((ast.unparse(each.value) for each in keywords if each.arg == "dtype"), "")


def _is_whole(type_name: str) -> bool:
    return type_name.rpartition(".")[2] in WHOLE


def _assigned_beside_others(reading: Reading) -> dict[str, list[ast.expr]]:
    """By name, as `b` of `a, b = torch.ones(3), torch.arange(3)`: what it gets, or the whole value where that is no list of as many."""
    found: dict[str, list[ast.expr]] = {}
    for each in reading.source.of(ast.Assign):
        for target in each.targets:
            if isinstance(target, ast.Tuple | ast.List):
                is_paired = isinstance(each.value, ast.Tuple | ast.List) and len(each.value.elts) == len(target.elts)
                values = each.value.elts if is_paired else [each.value] * len(target.elts)  # type: ignore[attr-defined]
                for part, value in zip(target.elts, values, strict=True):
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, []).append(value)
    return found


def _number_type(node: ast.expr) -> str:
    """Of `torch.tensor([1, 2])`; '' of decimals, which are what tensors hold if nothing is said."""
    match node:
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]) | ast.UnaryOp(operand=first):
            return _number_type(first)
        case ast.Constant(value=bool()):
            return "bool"
        case ast.Constant(value=int()):
            return "long"
    return ""
