"""Checkpoint file names: MindSpore writes and reads .ckpt, so "model.pth" in a project that saves becomes "model.ckpt"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change, ReplaceNode

_TORCH_FILE = re.compile(rb"\.(?:pth\.tar|pth|pt)(?=[\"'])")


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    for node in facts.source.of(ast.Constant):
        if isinstance(node.value, str) and node.value.endswith((".pth", ".pt", ".pth.tar")):
            source = facts.source
            start, end = source.start(node), source.end(node)
            new = _TORCH_FILE.sub(b".ckpt", source.data[start:end])
            if new != source.data[start:end] and "://" not in node.value:
                yield ReplaceNode(node, new.decode("utf-8"))
                yield facts.found(
                    node,
                    findings.MF401,
                    f"checkpoint name {node.value!r} now ends in .ckpt",
                    "convert existing files with `mindferry weights`",
                )
