"""A layer's setting changed after the layer was built: `m.momentum = 0.01`, `backbone[16].ceil_mode = True`."""

from __future__ import annotations

import ast
import re

from ... import findings
from ...read.types import MODULE
from ..context import Context

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
_found: dict[int, list[ast.Assign]] = {}


def prepare(context: Context) -> None:
    found = _found[id(context)] = []
    for node in context.source.of(ast.Attribute):
        if not isinstance(node.ctx, ast.Store) or not _is_setting(context, node):
            continue
        parent = context.parents[node]
        if node.attr in SETTINGS and isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            found.append(parent)
        else:
            _report(context, node)
    for call in context.source.of(ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), _]) if _may_be(
                context, owner, name
            ):
                _by_name(context, call)


def _report(context: Context, node: ast.Attribute) -> None:
    entry = context.rules.get(context.reading.symbols.torch_base(context.reading.type(node.value).qual))
    is_helper = entry is not None and entry.to.startswith("compat.")
    context.find(
        node,
        findings.MF122,
        f"{context.source.text(node)}: MindSpore's layer {'may read' if is_helper else 'reads'} {node.attr} only when it is built",
        ADVICE,
        "warning" if is_helper else "error",
    )


def _is_setting(context: Context, node: ast.Attribute) -> bool:
    """Whether the attribute is a setting of a layer of torch's own, or may be one."""
    return node.attr not in HARMLESS and _may_be(context, node.value, node.attr)


def _may_be(context: Context, owner: ast.expr, name: str) -> bool:
    kind = context.reading.type(owner)
    if kind.kind == "instance" and kind != MODULE:
        return any(_has_setting(context, each.qual, name) for each in kind.items or (kind,))
    if name not in SETTINGS:
        return False
    if kind == MODULE:
        return not (isinstance(owner, ast.Name) and owner.id == "self")
    return kind.kind in ("unknown", "method") and _is_named_like_layer(owner, name)


def _has_setting(context: Context, qual: str, name: str) -> bool:
    """A class of torch's has it as an argument; one of the project's that computes otherwise keeps it for itself."""
    symbols = context.reading.symbols
    base = symbols.torch_base(qual)
    entry = context.rules.get(base)
    names = (
        SETTINGS if "._" in base else entry.args if entry is not None else ()
    )  # torch.nn.modules.batchnorm._BatchNorm has no arguments here
    if not base.startswith("torch.nn.") or name not in names:
        return False
    return qual == base or (name in SETTINGS and symbols.method(qual, "forward") is None)


def _is_named_like_layer(owner: ast.expr, name: str) -> bool:
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    last = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return ("drop" in last.lower() or last == "m") if name == "p" else _LAYERS.fullmatch(last) is not None


def _by_name(context: Context, call: ast.Call) -> None:
    """`setattr(m, "momentum", 0.01)`."""
    new = context.imports.spell("compat.set_layer_setting")
    context.edits.replace_node(call.func, new)
    context.handled.add(call.func)
    context.rewritten(call, "torch.nn.Module", "setattr", new)


def finish(context: Context) -> None:
    """Written once both sides are converted."""
    source, edits = context.source, context.edits
    for statement in _found.pop(id(context), []):
        node, value = statement.targets[0], statement.value
        assert isinstance(node, ast.Attribute)
        dot = source.find_token(b".", source.end(node.value), source.end(node))
        equals = source.find_token(b"=", source.end(node), source.start(value))
        is_bare = isinstance(value, ast.Tuple | ast.Yield | ast.YieldFrom) and source.data[
            source.skip_trivia(equals + 1)
        ] != ord("(")
        opening, before = context.imports.spell("compat.set_layer_setting") + "(", source.text(statement)
        edits.before(source.start(node), opening)
        edits.replace(dot, equals + 1, f", '{node.attr}',")
        if is_bare:
            edits.before(source.start(value), "(")
        edits.after(source.end(statement), "))" if is_bare else ")")
        context.rewritten(
            statement,
            "torch.nn.Module",
            before,
            f"{opening}{source.text(node.value)}, '{node.attr}', {source.text(value)})",
        )
