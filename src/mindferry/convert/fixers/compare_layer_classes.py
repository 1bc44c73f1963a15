"""Which class a layer is: `isinstance(m, types)`, `type(m) == nn.Linear`, a table by class, `type(m).__name__`.

A class as a value becomes a helper with torch's signature, while a layer that is built in the open becomes MindSpore's
own. Where a file compares classes, the helpers are told to count as the layers that they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertBefore, ReplaceNode, ReplaceSpan, Texts, claim

AFTER = ("rename_layer_parameters",)


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    if _compares_classes(facts):
        yield AtEnd(_tell_apart)
    for node in (*facts.source.calls_named("type"), *facts.source.members.get("__class__", ())):
        if (owner := _whose_type(node)) is not None:
            yield from _name_of_type(facts, node, owner)
    for compared in facts.source.of(ast.Compare):
        yield from _equal_instead_of_same(facts, compared)


def _tell_apart(texts: Texts) -> Iterator[Edit]:
    texts.name("compat.Twin")
    yield from ()


def _is_layer(facts: Facts, node: ast.AST | None) -> bool:
    """A class of torch's layers as a value."""
    return isinstance(node, ast.Name | ast.Attribute) and facts.reading.symbols.framework.is_network(facts.api(node))


def _compares_classes(facts: Facts) -> bool:
    of = facts.source.of
    groups: list[ast.Tuple | ast.List | ast.Set] = [*of(ast.Tuple), *of(ast.List), *of(ast.Set)]
    if any(_is_layer(facts, key) for table in of(ast.Dict) for key in table.keys):
        return True
    if any(_is_layer(facts, each.slice) for each in of(ast.Subscript)):  # table[nn.Linear] = …
        return True
    if any(_is_layer(facts, part) for each in of(ast.Compare) for part in (each.left, *each.comparators)):
        return True
    if any(
        each.elts and all(_is_layer(facts, part) for part in each.elts) and not _is_asked(facts, each)
        for each in groups
    ):
        return True
    asking = facts.source.calls_named("isinstance", "type")
    return any(_is_variable_asked(facts, call) for call in asking) and any(
        _is_layer(facts, each)
        for call in of(ast.Call)
        for each in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _is_asked(facts: Facts, group: ast.AST) -> bool:
    """`isinstance(m, (nn.Linear, nn.Conv2d))`: the classes are named there, and become MindSpore's own."""
    parent = facts.parents.get(group)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in ("isinstance", "issubclass")
    )


def _is_variable_asked(facts: Facts, call: ast.Call) -> bool:
    """`isinstance(m, types)`, `type(m) in types`."""
    if isinstance(call.func, ast.Name) and call.func.id == "isinstance" and len(call.args) == 2:
        return facts.reading.type(call.args[1]).kind not in ("ref", "tuple")
    return _whose_type(call) is not None and isinstance(facts.parents.get(call), ast.Compare | ast.Subscript)


def _whose_type(node: ast.AST) -> ast.expr | None:
    """m in type(m) and in m.__class__; None for anything else, and for an object that asks about itself."""
    match node:
        case (
            ast.Call(func=ast.Name(id="type"), args=[owner], keywords=[]) | ast.Attribute(attr="__class__", value=owner)
        ):
            return None if isinstance(owner, ast.Name) and owner.id in ("self", "cls") else owner
    return None


def _name_of_type(facts: Facts, node: ast.AST, owner: ast.expr) -> Iterator[Change]:
    """`type(m).__name__` is torch's name of the layer. A plain `m.__class__` of a network is seen to by `attributes`."""
    whole, kind = facts.parents.get(node), facts.reading.type(owner)
    if not isinstance(whole, ast.Attribute) or whole.attr != "__name__" or not isinstance(whole.ctx, ast.Load):
        return
    is_network = kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)
    if isinstance(node, ast.Attribute) and is_network and isinstance(owner, ast.Name):
        return
    is_unclear = kind.kind == "unknown" and not isinstance(owner, ast.Constant)
    if is_unclear or is_network:
        source = facts.source
        if isinstance(node, ast.Call):
            yield ReplaceNode(node.func, lambda texts: texts.name("compat.layer_name"))
            yield ReplaceSpan(source.end(node), source.end(whole), "")
            yield claim(node.func, node, whole)
        else:
            dot = source.find_token(b".", source.end(owner), source.end(node))  # an owner in parentheses keeps them
            yield InsertBefore(node, lambda texts: f"{texts.name('compat.layer_name')}(")
            yield ReplaceSpan(dot, source.end(whole), ")")
            yield claim(node, whole)
        yield facts.record(whole, facts.framework.network, source.text(whole), lambda texts: texts.of(whole))


def _are_classes(facts: Facts, left: ast.expr, right: ast.expr) -> bool:
    """Whether one of them is a layer's class, or one is the type of something and the other may be any class."""
    if _is_layer(facts, left) or _is_layer(facts, right):
        return True
    return any(
        _whose_type(one) is not None and isinstance(other, ast.Name) and facts.reading.type(other).kind == "unknown"
        for one, other in ((left, right), (right, left))
    )


def _equal_instead_of_same(facts: Facts, node: ast.Compare) -> Iterator[Change]:
    """`type(m) is nn.Linear` asks for equality: the helper is another object than MindSpore's layer."""
    source, operands = facts.source, [node.left, *node.comparators]
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        if not isinstance(operator, ast.Is | ast.IsNot) or not _are_classes(facts, left, right):
            continue
        start = source.skip_trivia(source.end(left))
        text = source.data[start : source.start(right)].decode("utf-8").strip()
        if text.split() in (["is"], ["is", "not"]):
            new = "!=" if isinstance(operator, ast.IsNot) else "=="
            yield ReplaceSpan(start, start + len(text.encode()), new)
            yield facts.record(node, facts.framework.network, text, new)
