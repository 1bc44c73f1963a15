"""A layer's setting that is read: `m.affine`, `conv.padding`. MindSpore's own layers keep these otherwise, or not at all."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from ...read.types import MODULE, Type
from ...read.uses import Use
from ..dispatch import is_named_like_layer
from ..facts import Facts
from ..plan import Change, ReplaceNode, Texts, claim_all

HELPER = "compat.layer_setting"
OF_NORMS = frozenset("affine track_running_stats elementwise_affine".split())
OF_CONVOLUTIONS = frozenset("padding padding_mode transposed output_padding".split())
OF_POOLS = frozenset("padding dilation ceil_mode return_indices count_include_pad divisor_override output_size".split())
OF_EMBEDDINGS = frozenset("max_norm norm_type scale_grad_by_freq sparse".split())
SETTINGS = OF_NORMS | OF_CONVOLUTIONS | OF_POOLS | OF_EMBEDDINGS | {"inplace", "reduction"}
# Nothing but a layer has these, whatever it is called.
UNMISTAKABLE = frozenset(
    "track_running_stats elementwise_affine padding_mode output_padding ceil_mode count_include_pad divisor_override "
    "return_indices scale_grad_by_freq negative_slope".split()
)
OF_LINES = frozenset({"kernel_size", "stride"})  # MindSpore's convolutions and pools over a line keep two numbers
RENAMED = frozenset({"eps", "negative_slope"})  # a layer that is known has them under MindSpore's name
OF_VOLUME_NORMS = frozenset({"eps", "momentum", "num_features"})  # MindSpore's holds a layer that has these
# Where nothing tells what the object is, it may be a layer by what it is called; anything else keeps its own attribute.
_LAYERS = re.compile(
    r"m|l|mod|child|activation|criterion|.*(?:conv|pool|bn|norm|layer|module|act|relu|drop|dropout|loss|loss_fn)\d*",
    re.IGNORECASE,
)


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and _is_setting(facts, node) and _is_read(facts, node):
            owner = facts.source.text(node.value)
            yield ReplaceNode(node, _writer(owner, node.attr), helper=HELPER)
            yield facts.record(node, facts.framework.network, facts.source.text(node), f"{owner}, '{node.attr}'")
            yield claim_all(node)


def _is_setting(facts: Facts, node: ast.Attribute) -> bool:
    if node.attr in SETTINGS:
        return True
    kind = facts.reading.type(node.value)
    if node.attr in OF_LINES and facts.uses.has(Use.FLAT_LAYER, facts.reading.symbols.origin(kind.qual)):
        return True
    if node.attr in OF_VOLUME_NORMS and facts.uses.has(Use.VOLUME_NORM, facts.reading.symbols.origin(kind.qual)):
        return True
    return node.attr in RENAMED and (kind == MODULE or kind.kind != "instance")


def _writer(owner: str, name: str) -> Callable[[Texts], str]:
    return lambda texts: f"{texts.name(HELPER)}({owner}, '{name}')"


def _is_read(facts: Facts, node: ast.Attribute) -> bool:
    """Of a layer of torch's own, or of what may be one. A network reads its own attributes by itself."""
    if not facts.source.mentions(facts.framework.name) or not _is_plain(node.value):
        return False
    kind = facts.reading.type(node.value)
    if kind.kind == "instance" and kind != MODULE:
        base = facts.reading.symbols.torch_base(kind.qual)  # of a class of the project's, that of torch's behind it
        if node.attr == "output_size" and facts.uses.has(Use.ADAPTIVE_POOL, base):
            return True
        return any(_is_layer(facts, each) for each in kind.items or (kind,))
    if kind == MODULE:
        return not (isinstance(node.value, ast.Name) and node.value.id == "self")
    is_layer = node.attr in UNMISTAKABLE or _LAYERS.fullmatch(_last_word(node.value)) is not None
    return kind.kind in ("unknown", "method") and is_layer and is_named_like_layer(node.value)


def _is_layer(facts: Facts, kind: Type) -> bool:
    qual = facts.reading.symbols.origin(kind.qual)
    return facts.framework.has(qual) and facts.uses.has(Use.NETWORK_PART, qual)


def _is_plain(node: ast.expr) -> bool:
    """A name, or what names and numbers lead to: it is written again as it stands."""
    while isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Name | ast.UnaryOp)
    ):
        node = node.value
    return isinstance(node, ast.Name)


def _last_word(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
