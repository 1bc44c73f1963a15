"""Which class a layer is: `isinstance(m, types)`, `type(m) == nn.Linear`, a table by class, `type(m).__name__`.

A class as a value becomes a helper with torch's signature, while a layer that is built in the open becomes MindSpore's
own. Where a file compares classes, the helpers are told to count as the layers that they stand for.
"""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    if not context.source.mentions("torch"):
        return
    for call in context.source.of(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "issubclass") and len(call.args) == 2:
            if not _is_class(context, call.args[1]):
                _tell_apart(context)
        elif _asks_type(call) and context.parents.get(call) is not None:
            _use_of_type(context, call)
    for attribute in context.source.of(ast.Attribute):
        if attribute.attr == "__class__":
            _use_of_type(context, attribute)
    for table in context.source.of(ast.Dict):
        if any(key is not None and _is_layer(context, key) for key in table.keys):
            _tell_apart(context)
    for compared in context.source.of(ast.Compare):
        _compare(context, compared)


def _tell_apart(context: Context) -> None:
    context.imports.compat.add("Twin")


def _asks_type(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "type"
        and len(node.args) == 1
    )


def _is_class(context: Context, node: ast.expr) -> bool:
    """A class that is named where it is asked for, or a tuple of such."""
    if isinstance(node, ast.Tuple):
        return all(_is_class(context, each) for each in node.elts)
    return context.reading.type(node).kind == "ref"


def _is_layer(context: Context, node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and context.reading.symbols.framework.is_network(
        context.api(node)
    )


def _use_of_type(context: Context, node: ast.Call | ast.Attribute) -> None:
    """`type(m).__name__` is torch's name; any other use compares or looks up."""
    parent = context.parents.get(node)
    owner = node.args[0] if isinstance(node, ast.Call) else node.value
    kind, symbols = context.reading.type(owner), context.reading.symbols
    if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
        return
    may_be_layer = kind.kind == "unknown" or (kind.kind == "instance" and symbols.is_module(kind.qual))
    if not may_be_layer or node in context.handled:
        return
    if not (isinstance(parent, ast.Attribute) and parent.attr == "__name__"):
        _tell_apart(context)
        return
    if parent in context.handled:
        return
    new = f"{context.imports.spell('compat.layer_name')}({context.source.text(owner)})"
    context.rewritten(parent, "torch.nn.Module", context.source.text(parent), new)
    context.edits.replace_node(parent, new)
    context.handled |= set(ast.walk(parent))


def _compare(context: Context, node: ast.Compare) -> None:
    """`type(m) is nn.Linear` asks for equality: the helper is another object than MindSpore's layer."""
    operands = [node.left, *node.comparators]
    parts = [
        part
        for each in operands
        for part in (each.elts if isinstance(each, ast.Tuple | ast.List | ast.Set) else [each])
    ]
    if not any(_is_layer(context, part) for part in parts):
        return
    _tell_apart(context)
    source = context.source
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        if isinstance(operator, ast.Is | ast.IsNot) and (_is_layer(context, left) or _is_layer(context, right)):
            start, end = source.skip_trivia(source.end(left)), source.start(right)
            text = source.data[start:end].decode("utf-8")
            if text.split() in (["is"], ["is", "not"]):
                context.edits.replace(start, start + len(text.rstrip().encode()), "!=" if "not" in text else "==")
                context.rewritten(node, "torch.nn.Module", text.strip(), "==")


def finish(context: Context) -> None:
    pass
