"""Modules that a project takes names out of when it runs: `getattr(models, name)`, `models.__dict__[name]`, `build(models, name)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .names import pattern_of

SHORTEST = 3  # letters: "vgg"


def used_as_values(tree: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """What is handed on whole, and not only asked for an attribute by its name. `models.__dict__` hands on `models`."""
    bases = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr != "__dict__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in bases:
            yield node


def patterns_in(tree: ast.AST) -> Iterator[re.Pattern[str]]:
    """The names that a text with gaps may become: f"resnet{depth}", "resnet" + str(depth), "resnet%d" % depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and (pattern := pattern_of(node, SHORTEST)) is not None:
            yield pattern
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Add | ast.Mod)
            and not isinstance(node.right, ast.Constant)
            and (known := _beginning(node.left))
        ):
            yield re.compile(re.escape(known) + r"\w*")


def _beginning(node: ast.expr) -> str:
    """The part of a text in front of its first gap, if it can begin a name."""
    text = node.value.partition("%")[0] if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return text if len(text) >= SHORTEST and text.isidentifier() else ""
