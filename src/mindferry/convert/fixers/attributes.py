"""A layer's parameters under MindSpore's names: `self.bn.weight` is `self.bn.gamma`; a pair's parts by number."""

from __future__ import annotations

import ast
import re

from ... import findings
from ...read.types import MODULE, TENSOR, Type, tuple_of
from ..context import Context

PAIR = tuple_of(TENSOR, TENSOR)  # torch.return_types of max, topk, sort
ANY_LAYER = frozenset({"weight", "bias", "running_mean", "running_var", "__class__"})
RENAMED = ANY_LAYER - {"__class__"}
# Layers whose parameters MindSpore names otherwise, told by what they are called where their class isn't known.
_NORMS = re.compile(r"(?:.*_)?(?:bn|norm|ln|gn|embed|embedding)s?\d*(?:_.*)?")
FLAT = ("torch.nn.Conv1d", "torch.nn.ConvTranspose1d")
WRITTEN = frozenset("data grad requires_grad set_data assign_value register_hook name dtype device numel".split())
PARTS = {"values": "[0]", "indices": "[1]"}


def prepare(context: Context) -> None:
    for node in context.source.of(ast.Attribute):
        receiver = context.reading.type(node.value)
        if _is_set_by_name(context, node, receiver):
            _tie(context, node)
        elif receiver == MODULE and node.attr in ANY_LAYER and _is_any_layer(context, node.value):
            if isinstance(node.ctx, ast.Load):
                _look_up(context, node)
            else:
                _tie(context, node)
        elif receiver.kind == "instance" and receiver != MODULE:
            _rename(context, node, receiver)
        elif node.attr in RENAMED and isinstance(node.ctx, ast.Load) and _is_named_like_norm(receiver, node.value):
            _look_up(context, node)
        elif receiver == PAIR and node.attr in PARTS:
            _index(context, node)


def _is_set_by_name(context: Context, node: ast.Attribute, receiver: Type) -> bool:
    """`norm.bias = None` of any layer; `m.head.weight = m.embed.weight`, where nothing tells which layers these are."""
    parent = context.parents[node]
    if node.attr not in RENAMED or not isinstance(parent, ast.Assign) or parent.targets != [node]:
        return False
    if isinstance(parent.value, ast.Constant) and parent.value.value is None and node.attr == "bias":
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return receiver.kind in ("instance", "unknown") and not is_own and context.source.mentions("torch")
    is_tied = isinstance(parent.value, ast.Attribute) and parent.value.attr in RENAMED
    return is_tied and receiver.kind == "unknown" and context.source.mentions("torch")


def _is_any_layer(context: Context, node: ast.expr) -> bool:
    """An argument, or what a ModuleDict holds: several kinds of layers may stand there."""
    if isinstance(node, ast.Attribute):
        return context.reading.symbols.torch_base(context.reading.type(node.value).qual) == "torch.nn.ModuleDict"
    return isinstance(node, ast.Name)


def _is_named_like_norm(receiver: Type, node: ast.expr) -> bool:
    """`self.conv3.bn`, where nothing tells what was put there; what it holds is looked up when it runs."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return (receiver == MODULE or receiver.kind in ("unknown", "method")) and _NORMS.fullmatch(name) is not None


def _tie(context: Context, node: ast.Attribute) -> None:
    """`self.layers.embed.weight = self.head.weight`."""
    parent = context.parents[node]
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return
    _ties.setdefault(id(context), []).append((node, parent.value))
    context.handled |= set(ast.walk(node))


_ties: dict[int, list[tuple[ast.Attribute, ast.expr]]] = {}


def _look_up(context: Context, node: ast.Attribute) -> None:
    """`m.weight` of whatever layer `net.apply(init)` gives: its name is known when it runs."""
    if getattr(context.enclosing(node, ast.FunctionDef), "name", "") in ("forward", "construct"):
        return
    before, parent = context.source.text(node), context.parents[node]
    if node.attr != "__class__":
        new = f"{context.imports.spell('compat.layer_parameter')}({context.source.text(node.value)}, '{node.attr}')"
    elif isinstance(parent, ast.Attribute) and parent.attr == "__name__":
        new = f"{context.imports.spell('compat.layer_name')}({context.source.text(node.value)})"
        node, before = parent, context.source.text(parent)
    else:
        return
    context.edits.replace_node(node, new)
    context.rewritten(node, "torch.nn.Module", before, new)
    context.handled |= {node, *ast.walk(node)}


def _index(context: Context, node: ast.Attribute) -> None:
    """`x.max(1).indices`: a pair is a plain tuple."""
    source, new = context.source, PARTS[node.attr]
    dot = source.find_token(b".", source.end(node.value), source.end(node))
    context.edits.replace(dot, source.end(node), new)
    context.rewritten(node, "pair", f".{node.attr}", new)
    context.handled.add(node)


def _is_flat_weight(context: Context, node: ast.Attribute, base: str) -> bool:
    """`self.conv.weight.squeeze(1)` of a Conv1d: MindSpore's has an axis more, so what is read of it is put in torch's shape."""
    if base not in FLAT or node.attr != "weight" or not isinstance(node.ctx, ast.Load):
        return False
    match context.parents.get(node):
        case ast.Attribute(attr=name):
            return name not in WRITTEN and not name.endswith("_")
        case ast.BinOp() | ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Call(func=function) if node is not function:
            api = context.api(function)
            return api.startswith("torch.") and not api.startswith(
                ("torch.nn.init.", "torch.nn.Param", "torch.nn.utils.")
            )
    return False


def _rename(context: Context, node: ast.Attribute, receiver: Type) -> None:
    symbols = context.reading.symbols
    if _is_flat_weight(context, node, symbols.torch_base(receiver.qual)):
        new = f"{context.imports.spell('compat.flat_weight')}({context.source.text(node.value)})"
        context.rewritten(node, symbols.torch_base(receiver.qual), context.source.text(node), new)
        context.edits.replace_node(node, new)
        context.handled |= {node, *ast.walk(node)}
        return
    if (
        symbols.method(receiver.qual, node.attr) is not None
        or symbols.attribute(receiver.qual, node.attr).kind != "unknown"
    ):
        return
    options = [each.qual for each in receiver.items] or [receiver.qual]
    names = set()
    for qual in options:
        entry = context.rules.get(symbols.torch_base(qual))
        names.add(entry.params.get(node.attr, node.attr) if entry else node.attr)
    if names == {node.attr}:
        return
    if len(names) > 1:
        context.find(
            node,
            findings.MF121,
            f"{node.attr} is called {' or '.join(sorted(names))} in MindSpore, depending on the layer",
            "test for each layer in a branch of its own",
        )
        return
    new = names.pop()
    source = context.source
    context.edits.replace(source.end(node) - len(node.attr.encode()), source.end(node), new)
    context.rewritten(node, context.reading.symbols.torch_base(options[0]), f".{node.attr}", f".{new}")
    context.handled.add(node)


def finish(context: Context) -> None:
    """Ties are written once their value is converted."""
    source = context.source
    for node, value in _ties.pop(id(context), []):
        opening = f"{context.imports.spell('compat.set_layer_parameter')}({source.text(node.value)}, '{node.attr}', "
        context.edits.replace(source.start(node), source.start(value), opening)
        context.edits.after(source.end(value), ")")
        context.rewritten(node, "torch.nn.Module", source.text(node), opening)
