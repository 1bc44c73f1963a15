"""A layer's parameters under MindSpore's names: `self.bn.weight` is `self.bn.gamma`; a pair's parts by number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...read.class_names import words_about, words_asked_for
from ...read.types import MODULE, TENSOR, Type, tuple_of
from ...read.uses import Use
from ..dispatch import is_asked_for_shape, is_named_like_layer
from ..facts import Facts
from ..plan import (
    LAYER_PARAMETER,
    AtEnd,
    Change,
    Edit,
    InsertAfter,
    InsertBefore,
    ReplaceNode,
    ReplaceSpan,
    Texts,
    claim,
    claim_all,
)
from .counted_batches import COUNTER, is_own_count
from .data_arrays import is_in_data

PAIR = tuple_of(TENSOR, TENSOR)  # torch.return_types of max, topk, sort
ANY_LAYER = frozenset({"weight", "bias", "running_mean", "running_var", "__class__"})
SAME_WORDS = {"Conv", "BatchNorm", "LayerNorm", "GroupNorm", "Embedding"}  # of names of both frameworks' classes
OF_NORMS = {"weight": "gamma", "bias": "beta"}
RENAMED = ANY_LAYER - {"__class__"}
# Layers whose parameters MindSpore names otherwise, told by what they are called where their class isn't known.
_NORMS = re.compile(r"(?:.*_)?(?:bn|norm|ln|gn|embed|embedding)s?\d*(?:_.*)?")
WRITTEN = frozenset("data grad requires_grad set_data assign_value register_hook name dtype device numel".split())
COUNT = "count the steps in a variable of your own, or leave the line out if it only copies statistics"
STATISTICS = frozenset({"running_mean", "running_var"})
PARTS = {"values": "[0]", "indices": "[1]", "min": "[0]", "max": "[1]"}
CONCERNED = ANY_LAYER | {COUNTER, *PARTS}  # whatever they belong to; other names only of a layer that is known


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Attribute):
        receiver = facts.reading.type(node.value)
        if receiver.kind != "instance" and node.attr not in CONCERNED:
            continue
        if is_own_count(facts, node):
            yield claim(node)
        elif node.attr == COUNTER and facts.reading.symbols.attribute(receiver.qual, COUNTER).kind == "unknown":
            yield facts.found(node, findings.MF101, f"{COUNTER}: MindSpore's norms don't count batches", COUNT)
        elif _is_set_by_name(facts, node, receiver):
            yield from _tie(facts, node)
        elif receiver == MODULE and node.attr in ANY_LAYER and _is_any_layer(facts, node.value):
            if isinstance(node.ctx, ast.Load) and (name := _told_by_class_name(facts, node)):
                yield from _call_otherwise(facts, node, name)
            elif isinstance(node.ctx, ast.Load):
                yield from _look_up(facts, node)
            else:
                yield from _tie(facts, node)
        elif receiver.kind == "instance" and receiver != MODULE:
            yield from _rename(facts, node, receiver)
        elif node.attr in RENAMED and isinstance(node.ctx, ast.Load) and _is_named_like_norm(receiver, node.value):
            yield from _look_up(facts, node)
        elif receiver == PAIR and node.attr in PARTS:
            yield from _index(facts, node)
        elif _may_be_part(facts, node, receiver):
            yield from _ask_for_part(facts, node)


def _told_by_class_name(facts: Facts, node: ast.Attribute) -> str:
    """What MindSpore calls `m.weight` where `classname.find("BatchNorm") != -1` was asked; '' where that does not tell."""
    words = words_about(facts.source, node)
    is_conv = node.attr == "weight" and all(word.startswith(("Conv", "Linear")) for word in words)
    is_norm = node.attr in OF_NORMS and all(word.startswith("BatchNorm") for word in words)
    classes = {qual.rpartition(".")[2] for qual in facts.reading.symbols.classes}
    if not words or any(word in name for word in words for name in classes):
        return ""
    # A BatchNorm3d holds another norm, which has the parameters.
    has_others = "BatchNorm3d" in facts.reading.symbols.mentioned or facts.source.mentions("BatchNorm3d")
    return "weight" if is_conv else OF_NORMS[node.attr] if is_norm and not has_others else ""


def _call_otherwise(facts: Facts, node: ast.Attribute, name: str) -> Iterator[Change]:
    if name != node.attr:
        end = facts.source.end(node)
        yield ReplaceSpan(end - len(node.attr.encode()), end, name)
        yield facts.record(node, facts.framework.network, f".{node.attr}", f".{name}")
    yield claim(node)


def _is_set_by_name(facts: Facts, node: ast.Attribute, receiver: Type) -> bool:
    """`norm.bias = None`, `m.bias = nn.Parameter(b)` of any layer; `m.head.weight = m.embed.weight` of who knows which."""
    parent = facts.parents[node]
    if node.attr not in RENAMED or not isinstance(parent, ast.Assign) or parent.targets != [node]:
        return False
    if node.attr == "bias" and _is_bias(facts, parent.value):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return receiver.kind in ("instance", "unknown") and not is_own and facts.source.mentions(facts.framework.name)
    is_tied = isinstance(parent.value, ast.Attribute) and parent.value.attr in RENAMED
    is_new = isinstance(parent.value, ast.Call) and facts.is_use(Use.PARAMETER, parent.value.func)
    is_statistic = node.attr in STATISTICS and is_named_like_layer(node.value)
    is_told = is_tied or is_new or is_statistic
    return is_told and receiver.kind == "unknown" and facts.source.mentions(facts.framework.name)


def _is_bias(facts: Facts, value: ast.expr) -> bool:
    """None, or a new parameter, which a layer that was built without a bias does not look for in MindSpore."""
    match value:
        case ast.Constant(value=None):
            return True
        case ast.Call(func=function):
            return facts.is_use(Use.PARAMETER, function)
    return False


def _is_any_layer(facts: Facts, node: ast.expr) -> bool:
    """An argument, or what a ModuleDict holds: several kinds of layers may stand there."""
    if isinstance(node, ast.Attribute):
        return (
            facts.reading.symbols.torch_base(facts.reading.type(node.value).qual) == facts.framework.table_of_networks
        )
    return isinstance(node, ast.Name)


def _is_named_like_norm(receiver: Type, node: ast.expr) -> bool:
    """`self.conv3.bn`, where nothing tells what was put there; what it holds is looked up when it runs."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return (receiver == MODULE or receiver.kind in ("unknown", "method")) and _NORMS.fullmatch(name) is not None


def _tie(facts: Facts, node: ast.Attribute) -> Iterator[Change]:
    """`self.layers.embed.weight = self.head.weight`: written once its value is converted."""
    parent = facts.parents[node]
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return
    source = facts.source

    def write(texts: Texts) -> Iterator[Edit]:
        opening = f"{texts.name('compat.set_layer_parameter')}({texts.of(node.value)}, '{node.attr}', "
        yield ReplaceSpan(source.start(node), source.value_start(parent), opening, swallows=True)
        yield InsertAfter(parent, ")")
        yield facts.record(node, facts.framework.network, source.text(node), opening)

    yield claim(node)
    yield AtEnd(write)


def _look_up(facts: Facts, node: ast.Attribute) -> Iterator[Change]:
    """`m.weight` of whatever layer `net.apply(init)` gives: its name is known when it runs."""
    if getattr(facts.enclosing(node, ast.FunctionDef), "name", "") in ("forward", "construct"):
        return
    owner, whole, parent = facts.source.text(node.value), node, facts.parents[node]
    if node.attr == "weight" and is_asked_for_shape(parent):
        helper, arguments = "compat.shaped_weight", f"({owner})"
    elif node.attr != "__class__":
        helper, arguments = LAYER_PARAMETER, f"({owner}, '{node.attr}')"
    elif isinstance(parent, ast.Attribute) and parent.attr == "__name__" and isinstance(parent.ctx, ast.Load):
        if (words := words_asked_for(facts.source, parent)) is not None and words <= SAME_WORDS:
            yield claim_all(parent)
            return
        helper, arguments, whole = "compat.layer_name", f"({owner})", parent
    else:
        return
    if any(isinstance(each, ast.Call) for each in ast.walk(node.value)):  # what it calls is converted too
        yield AtEnd(partial(_write_look_up, node, whole, helper, arguments.removeprefix(f"({owner}")))
        yield claim(node, whole)
    else:
        yield ReplaceNode(whole, lambda texts: texts.name(helper) + arguments, helper=helper)
        yield claim_all(whole)
    yield facts.record(whole, facts.framework.network, facts.source.text(whole), lambda texts: texts.of(whole))


def _write_look_up(node: ast.Attribute, whole: ast.expr, helper: str, rest: str, texts: Texts) -> Iterator[Edit]:
    yield ReplaceNode(whole, f"{texts.name(helper)}({texts.of(node.value)}{rest}", swallows=True, helper=helper)


def _index(facts: Facts, node: ast.Attribute) -> Iterator[Change]:
    """`x.max(1).indices`: a pair is a plain tuple."""
    source, new = facts.source, PARTS[node.attr]
    dot = source.find_token(b".", source.end(node.value), source.end(node))
    yield ReplaceSpan(dot, source.end(node), new)
    yield facts.record(node, "pair", f".{node.attr}", new)
    yield claim(node)


def _may_be_part(facts: Facts, node: ast.Attribute, receiver: Type) -> bool:
    """`found.indices`, read and not called, of a value that nothing is known of."""
    if receiver.kind != "unknown" or node.attr not in ("values", "indices") or not isinstance(node.ctx, ast.Load):
        return False
    parent = facts.parents.get(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return not is_called and facts.source.mentions(facts.framework.name) and not is_in_data(facts, node)


def _ask_for_part(facts: Facts, node: ast.Attribute) -> Iterator[Change]:
    """Around the value, which others may write anew: `logits.topk(3)` is asked at run time itself."""
    source, number = facts.source, PARTS[node.attr][1]
    dot = source.find_token(b".", source.end(node.value), source.end(node))
    yield InsertBefore(node, lambda texts: f"{texts.name('compat.named_part')}(")
    yield ReplaceSpan(dot, source.end(node), f", '{node.attr}', {number})")
    yield facts.record(node, "pair", source.text(node), f"named_part(…, '{node.attr}', {number})")
    yield claim(node)


def _is_flat_weight(facts: Facts, node: ast.Attribute, base: str) -> bool:
    """`self.conv.weight.squeeze(1)` of a Conv1d: MindSpore's has an axis more, so what is read of it is put in torch's shape."""
    if not facts.uses.has(Use.FLAT_CONVOLUTION, base) or node.attr != "weight" or not isinstance(node.ctx, ast.Load):
        return False
    match facts.parents.get(node):
        case ast.Attribute(attr=name):
            return name not in WRITTEN and not name.endswith("_")
        case ast.BinOp() | ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Call(func=function) if node is not function:
            api = facts.api(function)
            return facts.framework.has(api) and not facts.uses.has(Use.TAKES_PARAMETER, api)
    return False


def _rename(facts: Facts, node: ast.Attribute, receiver: Type) -> Iterator[Change]:
    symbols = facts.reading.symbols
    if _is_flat_weight(facts, node, symbols.torch_base(receiver.qual)):
        source = facts.source
        dot = source.find_token(b".", source.end(node.value), source.end(node))
        yield InsertBefore(node, lambda texts: f"{texts.name('compat.flat_weight')}(")
        yield ReplaceSpan(dot, source.end(node), ")")
        yield facts.record(node, symbols.torch_base(receiver.qual), source.text(node), lambda texts: texts.of(node))
        yield claim(node)
        return
    if (
        symbols.method(receiver.qual, node.attr) is not None
        or symbols.attribute(receiver.qual, node.attr).kind != "unknown"
    ):
        return
    options = [each.qual for each in receiver.items] or [receiver.qual]
    names = set()
    for qual in options:
        entry = facts.rules.get(symbols.torch_base(qual))
        names.add(entry.params.get(node.attr, node.attr) if entry else node.attr)
    if names == {node.attr}:
        return
    if len(names) > 1 and isinstance(node.ctx, ast.Load) and (changes := list(_look_up(facts, node))):
        yield from changes
        return
    if len(names) > 1:
        yield facts.found(
            node,
            findings.MF121,
            f"{node.attr} is called {' or '.join(sorted(names))} in MindSpore, depending on the layer",
            "test for each layer in a branch of its own",
        )
        return
    new = names.pop()
    source = facts.source
    yield ReplaceSpan(source.end(node) - len(node.attr.encode()), source.end(node), new)
    yield facts.record(node, facts.reading.symbols.torch_base(options[0]), f".{node.attr}", f".{new}")
    yield claim(node)
