"""A layer's setting that is read: `m.affine`, `conv.padding`. MindSpore's own layers keep these otherwise, or not at all."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from ...read.types import MODULE, Type
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, ReplaceNode, Texts, claim_all

HELPER = "compat.layer_setting"
OF_NORMS = frozenset("affine track_running_stats elementwise_affine".split())
OF_CONVOLUTIONS = frozenset("padding padding_mode transposed output_padding".split())
OF_POOLS = frozenset("padding dilation ceil_mode return_indices count_include_pad".split())
SETTINGS = OF_NORMS | OF_CONVOLUTIONS | OF_POOLS | {"inplace"}
# Where nothing tells what the object is, it may be a layer by what it is called; anything else keeps its own attribute.
_LAYERS = re.compile(r"m|mod|module|layer|.*(?:conv|pool|bn|norm)\d*", re.IGNORECASE)


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Attribute):
        if node.attr in SETTINGS and isinstance(node.ctx, ast.Load) and _is_read(facts, node):
            owner = facts.source.text(node.value)
            yield ReplaceNode(node, _writer(owner, node.attr), helper=HELPER)
            yield facts.record(node, facts.framework.network, facts.source.text(node), f"{owner}, '{node.attr}'")
            yield claim_all(node)


def _writer(owner: str, name: str) -> Callable[[Texts], str]:
    return lambda texts: f"{texts.name(HELPER)}({owner}, '{name}')"


def _is_read(facts: Facts, node: ast.Attribute) -> bool:
    """Of a layer of torch's own, or of what may be one. A network reads its own attributes by itself."""
    if not facts.source.mentions(facts.framework.name) or not _is_plain(node.value):
        return False
    kind = facts.reading.type(node.value)
    if kind.kind == "instance" and kind != MODULE:
        return any(_is_layer(facts, each) for each in kind.items or (kind,))
    is_open = kind == MODULE or kind.kind in ("unknown", "method")
    return is_open and _LAYERS.fullmatch(_last_word(node.value)) is not None


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
