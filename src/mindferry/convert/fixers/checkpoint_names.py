"""Checkpoint file names: MindSpore writes and reads .ckpt, so "model.pth" in a project that saves becomes "model.ckpt"."""

from __future__ import annotations

import ast
import re

from ... import findings
from ..context import Context

_TORCH_FILE = re.compile(rb"\.(?:pth\.tar|pth|pt)(?=[\"'])")


def prepare(context: Context) -> None:
    if not context.source.mentions("torch"):
        return
    for node in context.source.of(ast.Constant):
        if isinstance(node.value, str) and node.value.endswith((".pth", ".pt", ".pth.tar")):
            source = context.source
            start, end = source.start(node), source.end(node)
            new = _TORCH_FILE.sub(b".ckpt", source.data[start:end])
            if new != source.data[start:end] and "://" not in node.value:
                context.edits.replace(start, end, new.decode("utf-8"))
                context.find(
                    node,
                    findings.MF401,
                    f"checkpoint name {node.value!r} now ends in .ckpt",
                    "convert existing files with `mindferry weights`",
                )


def finish(context: Context) -> None:
    pass
