"""Names that must be tensors, since the function uses something of theirs that only tensors have. For what types don't tell."""

from __future__ import annotations

import ast

from ..apis import framework

ATTRIBUTES = frozenset(["is_cuda", "requires_grad", "grad"])
METHODS = (
    frozenset(["clone", "size", "byte", "float", "half", "long", "numel", "dim", "gather", "scatter", "unflatten"])
    | framework().members.unmistakable
)
ARRAYS = frozenset(
    ["reshape", "squeeze", "cumsum", "cumprod", "argmax", "argsort"]
)  # numpy's too, so only where there is no numpy
WITHOUT_ARGUMENTS = frozenset(
    "abs sqrt exp log sin cos sigmoid tanh relu neg floor ceil".split()
)  # math.exp(x) has one
KEYWORDS = frozenset(["dim", "dims", "keepdim"])  # numpy says axis
TENSOR_PARTS = frozenset(["data", "grad", "T", "mT"])
NO_TENSORS = frozenset(
    "size dim numel nelement item tolist numpy stride element_size data_ptr type split chunk unbind shape get_device is_contiguous "
    "backward dtype device index format keys values items get".split()
)
ROUNDS = 3  # a name that follows from a name that follows from a tensor


def tensor_names(nodes: list[ast.AST], has_numpy: bool) -> frozenset[str]:
    """Of one function's nodes. A name that is computed from a tensor, or compared to make a mask for one, is one too."""
    names = {name for node in nodes if isinstance(node, ast.Call) and (name := _receiver(node, has_numpy))}
    names |= {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute)
        and node.attr in ATTRIBUTES
        and isinstance(node.value, ast.Name)
        and node.value.id != "self"
    }
    names |= {
        node.arg
        for node in nodes
        if isinstance(node, ast.arg) and node.annotation is not None and _is_tensor_type(node.annotation)
    }
    if not names:
        return frozenset()
    for _ in range(ROUNDS):
        before = len(names)
        for node in nodes:
            _follow(node, names)
        if len(names) == before:
            break
    return frozenset(names)


def _is_tensor_type(annotation: ast.expr) -> bool:
    """torch.Tensor, torch.LongTensor, Optional[Tensor]; a list of them is none."""
    match annotation:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.endswith("Tensor")
        case (
            ast.Subscript(value=ast.Name(id="Optional"), slice=inner)
            | ast.BinOp(left=inner, right=ast.Constant(value=None))
        ):
            return _is_tensor_type(inner)
    return False


def _receiver(call: ast.Call, has_numpy: bool) -> str:
    """The name whose method is called, if only a tensor has such a method."""
    if not isinstance(call.func, ast.Attribute):
        return ""
    name = call.func.attr
    is_telling = (
        name in METHODS
        or (name in WITHOUT_ARGUMENTS and not call.args)
        or (name in ARRAYS and not has_numpy)
        or any(each.arg in KEYWORDS for each in call.keywords)
    )
    value = call.func.value
    found = root(value) if is_telling and isinstance(value, ast.Name | ast.Subscript) else ""
    return "" if found in ("self", "torch", "F", "nn", "ops", "functional") else found


def _follow(node: ast.AST, names: set[str]) -> None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Compare(left=ast.Name(id=compared))) if name in names:
            names.add(compared)  # an array compares to an array, a tensor to a tensor
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if _is_computed(value, names):
                names.add(name)
        case ast.Assign(
            targets=[ast.Tuple(elts=targets)],
            value=ast.Call(func=ast.Attribute(attr="max" | "min" | "sort" | "topk")) as call,
        ):
            if isinstance(call.func, ast.Attribute) and _is_computed(call.func.value, names):
                names |= {each.id for each in targets if isinstance(each, ast.Name)}
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            names |= {
                each.id
                for each, value in zip(targets, values, strict=True)
                if isinstance(each, ast.Name) and _is_computed(value, names)
            }
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if _is_computed(value, names):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            masks = {each.id for each in parts if isinstance(each, ast.Name) and "mask" in each.id}
            names |= masks


def _is_computed(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(left=left, right=right):
            return _is_computed(left, names) or _is_computed(right, names)
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
            return _is_computed(inner, names)
        case ast.Compare(
            left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() | ast.Eq() | ast.NotEq()], comparators=[other]
        ):
            return _is_computed(left, names) or _is_computed(other, names)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            return name not in NO_TENSORS and _is_computed(inner, names)
        case ast.Attribute(value=inner, attr=name):
            return name in TENSOR_PARTS and _is_computed(inner, names)
    return False


def root(node: ast.expr) -> str:
    """The name that `x[i][:, a:b]` starts from."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):  # x.flip(0)[:, a:b]
        return root(node.func.value)
    return node.id if isinstance(node, ast.Name) else ""
