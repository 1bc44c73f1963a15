"""A layer's setting changed after the layer was built: `m.momentum = 0.01`, `backbone[16].ceil_mode = True`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...read.types import MODULE
from ...read.uses import Use
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, Found, InsertAfter, InsertBefore, ReplaceNode, ReplaceSpan, Texts, claim

# What `compat.set_layer_setting` carries through to what a layer computes.
SETTINGS = frozenset(
    "momentum eps p track_running_stats ceil_mode count_include_pad stride padding dilation groups kernel_size".split()
)
# Of a layer whose class is known, what changes nothing that is computed, or is kept by other means.
HARMLESS = frozenset(
    "weight bias inplace device dtype affine elementwise_affine in_channels out_channels in_features out_features num_features num_channels "
    "num_embeddings embedding_dim".split()
)
ADVICE = "give it where the layer is built, and convert again"
# Where nothing tells what the object is, it may be a layer by what it is called. What is none only gets the attribute.
_LAYERS = re.compile(
    r"m|mod|(?!.*(?:cfg|cnf|conf|args|opt|param)).*(?:conv|pool|bn|norm|drop|layer|module|block|backbone|features|downsample|model|net).*",
    re.IGNORECASE,
)


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Attribute):
        if not isinstance(node.ctx, ast.Store) or not _is_setting(facts, node):
            continue
        parent = facts.parents[node]
        if node.attr in SETTINGS and isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            yield AtEnd(partial(_write, facts, parent, node))
        else:
            yield _report(facts, node)
    for call in facts.source.calls_named("setattr"):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), _]) if _may_be(
                facts, owner, name
            ):
                yield from _by_name(facts, call)


def _report(facts: Facts, node: ast.Attribute) -> Found:
    entry = facts.rules.get(facts.reading.symbols.torch_base(facts.reading.type(node.value).qual))
    is_helper = entry is not None and entry.to.startswith("compat.")
    return facts.found(
        node,
        findings.MF122,
        f"{facts.source.text(node)}: MindSpore's layer {'may read' if is_helper else 'reads'} {node.attr} only when it is built",
        ADVICE,
        "warning" if is_helper else "error",
    )


def _is_setting(facts: Facts, node: ast.Attribute) -> bool:
    """Whether the attribute is a setting of a layer of torch's own, or may be one."""
    return node.attr not in HARMLESS and _may_be(facts, node.value, node.attr)


def _may_be(facts: Facts, owner: ast.expr, name: str) -> bool:
    kind = facts.reading.type(owner)
    if kind.kind == "instance" and kind != MODULE:
        return any(_has_setting(facts, each.qual, name) for each in kind.items or (kind,))
    if name not in SETTINGS:
        return False
    if kind == MODULE:
        return not (isinstance(owner, ast.Name) and owner.id == "self")
    return kind.kind in ("unknown", "method") and _is_named_like_layer(owner, name) and _may_hold_layers(facts, owner)


def _may_hold_layers(facts: Facts, node: ast.expr) -> bool:
    """A file that doesn't name torch has none of its layers, unless a network of the project's is defined there."""
    owner = facts.enclosing(node, ast.ClassDef)
    is_network = owner is not None and facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))
    return is_network or facts.source.mentions(facts.framework.name)


def _has_setting(facts: Facts, qual: str, name: str) -> bool:
    """A class of torch's has it as an argument; one of the project's that computes otherwise keeps it for itself."""
    symbols = facts.reading.symbols
    base = symbols.torch_base(qual)
    entry = facts.rules.get(base)
    names = (
        SETTINGS if "._" in base else entry.args if entry is not None else ()
    )  # torch.nn.modules.batchnorm._BatchNorm has no arguments here
    if not facts.uses.has(Use.NETWORK_PART, base) or name not in names:
        return False
    return qual == base or (name in SETTINGS and symbols.method(qual, "forward") is None)


def _is_named_like_layer(owner: ast.expr, name: str) -> bool:
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    last = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return ("drop" in last.lower() or last == "m") if name == "p" else _LAYERS.fullmatch(last) is not None


def _by_name(facts: Facts, call: ast.Call) -> Iterator[Change]:
    """`setattr(m, "momentum", 0.01)`."""
    yield ReplaceNode(call.func, lambda texts: texts.name("compat.set_layer_setting"))
    yield claim(call.func)
    yield facts.record(call, facts.framework.network, "setattr", lambda texts: texts.of(call.func))


def _write(facts: Facts, statement: ast.Assign, node: ast.Attribute, texts: Texts) -> Iterator[Edit]:
    """Written once both sides are converted."""
    source, value = facts.source, statement.value
    dot = source.find_token(b".", source.end(node.value), source.end(node))
    equals = source.find_token(b"=", source.end(node), source.start(value))
    is_bare = isinstance(value, ast.Tuple | ast.Yield | ast.YieldFrom) and source.data[
        source.skip_trivia(equals + 1)
    ] != ord("(")
    opening, before = texts.name("compat.set_layer_setting") + "(", source.text(statement)
    if source.start(statement) < source.start(node):  # (norm.eps) = 1e-3
        yield ReplaceSpan(source.start(statement), source.start(node), opening)
    else:
        yield InsertBefore(statement, opening)
    yield ReplaceSpan(dot, equals + 1, f", '{node.attr}',", swallows=True)  # the helper goes by torch's name
    if is_bare:
        yield InsertBefore(value, "(")
    yield InsertAfter(statement, "))" if is_bare else ")")
    after = f"{opening}{source.text(node.value)}, '{node.attr}', {source.text(value)})"
    yield facts.record(statement, facts.framework.network, before, after)
