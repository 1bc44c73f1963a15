"""Parentheses put around expressions of real projects change nothing: the same code is written, and it compiles."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import pytest
from conformance.digest import ROOT

from mindferry import convert_source

FILES = sorted(
    path for folder in ("tests/projects", "tests/trainers", "examples") for path in (ROOT / folder).rglob("*.py")
)
SHARE = 0.1


def in_parentheses(code: str, chance: Random) -> str:
    """Some expressions in parentheses, wherever that means the same to Python."""
    tree, data = ast.parse(code), code.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = {
        (starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0))
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and chance.random() < SHARE
    }
    meaning, written, last = ast.dump(tree), data, len(data)
    for start, end in sorted(spans, reverse=True):
        if end > last:  # around one that has got parentheses
            continue
        wrapped = written[:start] + b"(" + written[start:end] + b")" + written[end:]
        try:
            is_same = ast.dump(ast.parse(wrapped)) == meaning
        except SyntaxError:
            continue
        if is_same:
            written, last = wrapped, start
    return written.decode()


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_parentheses_change_no_code(path: Path) -> None:
    code = path.read_text("utf-8")
    plain, wrapped = convert_source(code), convert_source(in_parentheses(code, Random(path.name)))
    assert ast.dump(ast.parse(wrapped.main)) == ast.dump(ast.parse(plain.main))
    assert [each.code for each in wrapped.findings] == [each.code for each in plain.findings]


@pytest.mark.parametrize(
    "line",
    ["(x.size)(0)", "((x.index_select)\n    )(0, y)", "F.unfold(\n        input=(8 * x),\n        kernel_size=3)"],
)
def test_a_function_or_a_first_argument_in_parentheses_compiles(line: str) -> None:
    code = f"import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor, y):\n    return {line}\n"
    assert "MF901" not in [each.code for each in convert_source(code).findings]
