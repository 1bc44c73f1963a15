"""Fixers read the tree and never write to it: what a file's tree was before its conversion, it is after."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry.apis import table
from mindferry.apis._framework import framework
from mindferry.convert.engine import plan_file
from mindferry.convert.settings import Settings
from mindferry.layout import source_of
from mindferry.read.infer import read
from mindferry.read.source import Source
from mindferry.read.symbols import Symbols
from mindferry.read.walk import children_of

TESTS = Path(__file__).resolve().parent.parent
FOLDERS = [*TESTS.glob("projects/*"), *TESTS.glob("trainers/*"), *TESTS.parent.glob("examples/*")]
IN_PLACE = """
import torch
from torch import nn

def noise(x):
    x.clamp_(0, 1)
    kept = x.mul_(2)
    return kept + x

net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in batches:
    x.mul_(2)
    with torch.no_grad():
        y.add_(1)
    out = net(x)
    out.div_(3)
    loss = nn.functional.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
total = torch.zeros(3)
total.add_(1)
print(total, net.weight.data.mul_(2))
"""


def convert_and_compare(text: str, settings: Settings) -> str:
    source = Source(text)
    before, nodes = ast.dump(source.tree, include_attributes=True), list(ast.walk(source.tree))
    written_for = source_of(source.data)
    symbols = Symbols(framework(written_for))
    read(source, symbols, is_api=table(written_for).is_api)
    planned = plan_file(source, symbols, settings=settings)
    code = planned.write().code
    assert ast.dump(source.tree, include_attributes=True) == before
    assert [*map(id, ast.walk(source.tree))] == [*map(id, nodes)]
    if planned.facts is not None:  # statements that share a line are set apart, in a source of their own
        known = set(planned.facts.source.nodes)
        assert all(part in known for node in known for part in children_of(node))
    return code


@pytest.mark.parametrize("style", ["functional", "cell", "model"])
def test_changes_in_place_are_read_without_touching_the_tree(style: str) -> None:
    code = convert_and_compare(IN_PLACE, Settings(style=style))
    assert "total = total + 1" in code and "x = x * 2" in code


@pytest.mark.parametrize("folder", sorted(each for each in FOLDERS if each.is_dir()), ids=lambda each: each.name)
def test_converting_a_project_leaves_its_trees_as_they_were(folder: Path) -> None:
    for path in sorted(folder.rglob("*.py")):
        convert_and_compare(path.read_text("utf-8"), Settings())
