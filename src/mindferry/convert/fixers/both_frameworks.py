"""A file that imports TensorFlow beside torch: it goes by torch's table, so what it imports of TensorFlow is a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change
from .needs_torch import is_optional

ROOTS = ("tensorflow", "keras", "tf_keras")


def plan(facts: Facts) -> Iterator[Change]:
    own = facts.reading.symbols.roots
    imports: list[ast.Import | ast.ImportFrom] = [*facts.source.of(ast.Import), *facts.source.of(ast.ImportFrom)]
    for node in imports:
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        heads = [name.partition(".")[0] for name in names]
        head = next((each for each in heads if each in ROOTS and each not in own), "")
        if head and not (isinstance(node, ast.ImportFrom) and node.level) and not is_optional(facts, node):
            yield facts.found(
                node,
                findings.MF101,
                f"the file uses torch and {head}: torch's part is converted, and what is written for {head} stays as it is",
                "put the part for TensorFlow into a file of its own, which is converted by its own table, and convert again",
            )
