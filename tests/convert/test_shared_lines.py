"""Statements that a semicolon ends or joins: what goes takes nothing of its neighbours along, and every block keeps its own."""

from __future__ import annotations

import ast

import pytest

from mindferry import convert_source

HEAD = "import torch\n\n\ndef feed(x, y, has_gpu):\n"
BODIES = {
    "a block that empties": "    if has_gpu:\n        x = x.cuda(){0}\n        y = y.cuda(){0}\n    yield x, y{0}\n",
    "one statement of a block": "    for _ in range(2):\n        x = x.cuda(){0}\n        y = [y]{0}\n    yield x, y{0}\n",
    "statements on one line": "    if has_gpu:\n        x = x.cuda(); y = y.cuda(){0}\n    yield x, y\n",
    "the header's line": "    if has_gpu: x = x.cuda(); y = y.cuda(){0}\n    yield x, y\n",
    "the first of a line": "    x = x.cuda(); y = [y]{0}\n    yield x, y\n",
    "the last of a line": "    y = [y]; x = x.cuda(){0}\n    yield x, y\n",
    "the middle of a line": "    y = [y]; x = x.cuda(); y = (y,){0}\n    yield x, y\n",
}


@pytest.mark.parametrize("end", ["", ";", ";   ", ";  # a note"])
@pytest.mark.parametrize("case", BODIES)
def test_statements_without_effect_go_and_the_others_stay_where_they_are(case: str, end: str) -> None:
    conversion = convert_source(HEAD + BODIES[case].format(end))
    assert not [each for each in conversion.findings if each.severity == "error"]
    assert "cuda" not in conversion.code
    function = next(
        each for each in ast.parse(conversion.code).body if isinstance(each, ast.FunctionDef) and each.name == "feed"
    )
    assert isinstance(function.body[-1], ast.Expr) and isinstance(function.body[-1].value, ast.Yield)
    kept = [ast.unparse(each) for each in ast.walk(function) if isinstance(each, ast.Assign)]
    assert kept == [each for each in ("y = [y]", "y = (y,)") if each in BODIES[case]]
