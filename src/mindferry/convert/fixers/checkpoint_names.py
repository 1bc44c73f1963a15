"""Checkpoint file names: MindSpore writes and reads .ckpt, so "model.pth" in a project that saves becomes "model.ckpt"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change, ReplaceSpan

_TORCH_FILE = re.compile(rb"\.(?:pth\.tar|pth|pt)(?=[\"'])")


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name) or _TORCH_FILE.search(facts.source.data) is None:
        return
    source, done = facts.source, set()
    for node in source.of(ast.Constant):
        if isinstance(node.value, str) and node.value.endswith((".pth", ".pt", ".pth.tar")) and "://" not in node.value:
            start, end = source.start(node), source.end(node)  # of an f-string's part: those of the whole string
            for ending in _TORCH_FILE.finditer(source.data, start, end):
                if ending.start() in done:
                    continue
                done.add(ending.start())
                yield ReplaceSpan(ending.start(), ending.end(), ".ckpt")
                yield facts.found(
                    node,
                    findings.MF401,
                    f"checkpoint name {node.value!r} now ends in .ckpt",
                    "convert existing files with `mindferry weights`",
                )
