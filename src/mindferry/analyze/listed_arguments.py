"""Tricks that are asked for by an argument, or by a method of a data set: `fit(epochs=5)`, `SGD(clipnorm=1.0)`, `.shuffle(100)`."""

from __future__ import annotations

import ast

from .scan import CallSite, FileScan, argument

Given = list[tuple[str, ast.expr]]


def from_arguments(call: CallSite, scan: FileScan) -> list[tuple[str, str, Given]]:
    """(topic, name, value) of each; nothing where the framework lists none."""
    listed = scan.framework.listed_arguments
    if not listed:
        return []
    is_method = isinstance(call.node.func, ast.Attribute)
    found = list(_from_dataset(call, scan)) if is_method else []
    for keyword in call.node.keywords:
        known = listed.get(keyword.arg or "")
        is_off = isinstance(keyword.value, ast.Constant) and keyword.value.value in (None, False)
        if known is None or is_off:
            continue
        is_meant = (is_method and call.last in known.functions) or (
            call.last in known.functions if known.functions else scan.framework.has(call.name)
        )
        if is_meant:
            found.append((known.topic, known.title, [("", keyword.value)]))
    if call.last == "compile" and is_method:
        optimizer = argument(call.node, 0, "optimizer")
        if isinstance(optimizer, ast.Constant) and isinstance(optimizer.value, str):
            found.append(("optimizer", optimizer.value, []))
    return found


def _from_dataset(call: CallSite, scan: FileScan) -> list[tuple[str, str, Given]]:
    """tf.data has methods where torch's loader has arguments."""
    size = argument(call.node, 0, "batch_size", "buffer_size")
    if call.last in ("batch", "padded_batch") and size is not None:
        return [("batch size", "batch size", [("", size)])]
    is_made = not isinstance(scan.reading.source.parents.get(call.node), ast.Expr)  # rng.shuffle(x) returns nothing
    if call.last == "shuffle" and size is not None and is_made and call.name.startswith((".", "tensorflow.data")):
        return [("shuffling", "shuffle", [("", size)])]
    return []
