"""`walk` gives what `ast.walk` gives, contexts and operators aside, in the same order."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mindferry
from mindferry import convert_source
from mindferry.convert.fixers.training import flow
from mindferry.read.walk import kept_by_node, walk, walk_again

SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
ODD = """
import a.b as c, d
from . import e as f
async def g(x: int = 1, /, *y, z=None, **w) -> f"{x!r:>{y}}":
    global h
    async with x as (i, *j), y: pass
    async for k in [l async for l in m if n]: yield {**o, p: q}
    else: return await r
@s
class T(u, metaclass=v):
    def w(self):
        nonlocal_ = lambda *x, y=1: (yield)
        try: raise x from y
        except* E as z: del a[1:2, ...], b.c
        else: assert a < b <= c, not d
        finally: x: int = 3
while (n := a if b else -c): a @= b; break
match a:
    case {"x": [1, *rest], **others} | C(x, y=None) as whole if ok: ...
    case b.c | "x" | -1 | True: continue_ = 1
"""
NEWER = "type A[T: int, *U, **V] = dict\ndef f[T](x: T) -> T: ...\n"


def compared(text: str) -> None:
    tree = ast.parse(text)
    assert walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, SIGNS)]


def test_odd_syntax() -> None:
    compared(ODD)


def test_syntax_of_python_3_12() -> None:
    try:
        ast.parse(NEWER)
    except SyntaxError:
        pytest.skip("this Python is older")
    compared(NEWER)


def test_real_sources() -> None:
    folder = Path(mindferry.__file__).parent
    for path in sorted(folder.glob("convert/*.py")):
        compared(path.read_text("utf-8"))


def test_nodes_of_a_class_of_our_own() -> None:
    class Own(ast.Assign):
        """An assignment that says more."""

    tree = ast.parse("x = y.z(1)")
    [statement] = tree.body
    assert isinstance(statement, ast.Assign)
    tree.body = [Own(targets=statement.targets, value=statement.value)]
    assert [type(each).__name__ for each in walk(tree)] == [
        "Module",
        "Own",
        "Name",
        "Call",
        "Attribute",
        "Constant",
        "Name",
    ]


def test_nothing_that_was_learnt_of_a_files_nodes_outlasts_its_conversion() -> None:
    seen = []
    again = kept_by_node(4)(lambda node: seen.append(node) or len(seen))
    name = ast.Name("x")
    assert (again(name), again(name)) == (1, 1)
    convert_source(
        "import torch\n\ndef f(net, x, optimizer):\n    loss = net(x).sum()\n    loss.backward()\n    optimizer.step()\n"
    )
    assert again(name) == 2
    assert not any(kept.cache_info().currsize for kept in (walk_again, flow.reads, flow.writes))
