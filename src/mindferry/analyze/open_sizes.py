"""Sizes that a Keras project leaves open: an input without one, and batches that are padded to their own longest sample."""

from __future__ import annotations

import ast

from ..artifacts import Place
from .scan import FileScan, argument, line_of

INPUTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
OPEN = "runs as it is; under `ms.jit` give the size, or pad to a few (buckets): each new one is compiled anew"
PADDED = "give padded_shapes, or pad every batch to the same length, or to a few (buckets)"
RAGGED = "MindSpore has no ragged tensors: pad them, and keep a mask or the lengths"


def open_sizes(scan: FileScan) -> list[Place]:
    if not scan.framework.listed_arguments:  # torch's layers have no declared sizes of inputs
        return []
    found = []
    for call in scan.calls:
        line = line_of(call.node)
        shape = argument(call.node, 0, "shape", "batch_shape") if call.name in INPUTS else None
        if isinstance(shape, ast.Tuple | ast.List) and any(_is_none(each) for each in shape.elts):
            found.append(Place("open size of an input", scan.text(call.node)[:80], scan.path, line, OPEN))
        if call.last == "padded_batch" and argument(call.node, 1, "padded_shapes") is None:
            found.append(Place("padded batch", scan.text(call.node)[:80], scan.path, line, PADDED))
        if call.name.startswith(("tensorflow.ragged.", "tensorflow.RaggedTensor")):
            found.append(Place("ragged tensor", scan.text(call.node)[:80], scan.path, line, RAGGED))
    return found


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
