"""Whether a device is only ever a place to put tensors: MindSpore places them itself, so its plain name will do."""

from __future__ import annotations

import ast

from ....read.infer import Reading
from ..._call import Call

CONSUMERS = frozenset(
    {"to", "to_empty", "cuda", "load", "load_state_dict", "set_device", "set_default_device", "isinstance"}
)
KEYWORDS = frozenset({"device", "map_location", "device_ids"})


def is_only_a_place(call: Call) -> bool:
    """False where somebody may ask the device for its type, its index or its text."""
    parents = call.reading.source.parents
    node: ast.AST = call.node
    while isinstance(parents.get(node), ast.IfExp | ast.BoolOp):
        node = parents[node]
    match parents.get(node):
        case ast.Expr():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return _is_consumed_everywhere(name, call)
        case ast.Assign(targets=[ast.Attribute(attr=name)]):
            return _is_consumed_everywhere(name, call)
        case ast.Return():
            return False
    return _is_consumed(node, call)


def _is_consumed_everywhere(name: str, call: Call) -> bool:
    """Asked once a name: every function may have a `device` of its own."""
    known = call.reading.once(_known_names)
    if name not in known:
        known[name] = all(_is_consumed(each, call) for each in _reads(name, call))
    return known[name]


def _known_names(reading: Reading) -> dict[str, bool]:
    return {}


def _reads(name: str, call: Call) -> list[ast.AST]:
    """Where the file reads a name, or an attribute of that name of anything but a tensor."""
    source, reading = call.reading.source, call.reading
    names = [node for node in source.named.get(name, ()) if isinstance(node.ctx, ast.Load)]
    attributes = [
        node
        for node in source.members.get(name, ())
        if isinstance(node.ctx, ast.Load)
        and not reading.type(node.value).is_tensor
        and reading.type(node).kind != "ref"  # torch.device itself
    ]
    return [*names, *attributes]


def _is_consumed(node: ast.AST, call: Call) -> bool:
    """Whether it is given to something that places tensors, or to a function of the same file, which is read as well."""
    parents = call.reading.source.parents
    parent = parents.get(node)
    if isinstance(parent, ast.keyword):
        return parent.arg in KEYWORDS
    if isinstance(parent, ast.With | ast.withitem):
        return True
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Attribute | ast.Name):
        target = parent.targets[0]
        return (target.attr if isinstance(target, ast.Attribute) else target.id) == _name_of(node)
    if not isinstance(parent, ast.Call) or node is parent.func:
        return False
    function = _name_of(parent.func)
    if function in CONSUMERS:
        return True
    return isinstance(parent.func, ast.Name) and _is_read_there(_name_of(node), function, call)


def _is_read_there(name: str, function: str, call: Call) -> bool:
    """Whether a function or class of the same file takes it under the same name, so that its reads have been looked at."""
    return name in call.reading.once(_arguments_by_definition).get(function, ())


def _arguments_by_definition(reading: Reading) -> dict[str, set[str]]:
    """What the functions and classes of the file take, those inside them included."""
    found: dict[str, set[str]] = {}
    definitions: list[ast.FunctionDef | ast.ClassDef] = [
        *reading.source.of(ast.FunctionDef),
        *reading.source.of(ast.ClassDef),
    ]
    for each in definitions:
        parts = reading.source.walk(each)
        found.setdefault(each.name, set()).update(part.arg for part in parts if isinstance(part, ast.arg))
    return found


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
