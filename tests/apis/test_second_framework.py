"""A framework of its own folder is read and looked up without a word of torch's: what a second source has to bring."""

from __future__ import annotations

import ast

import pytest

from mindferry.apis import framework, table
from mindferry.apis._lookup import api_of, rule_for
from mindferry.read.infer import Reading, read
from mindferry.read.source import Source
from mindferry.read.symbols import Symbols
from mindferry.read.uses import Use

SMALL = "toys.small"
CODE = b"""import small as s
import torch

x = s.array([1, 2])
y = s.absolute(x)
z = y.absolute()
t = z.turned
y.absolute_()
w = torch.abs(x)
"""


@pytest.fixture(scope="module")
def reading() -> Reading:
    return read(Source(CODE, "small_script.py"), Symbols(framework(SMALL)), is_api=table(SMALL).is_api)


def named(reading: Reading, text: str) -> ast.expr:
    return next(node for node in reading.source.nodes if isinstance(node, ast.expr) and ast.unparse(node) == text)


@pytest.mark.parametrize(
    ("text", "api", "becomes"),
    [
        ("s.array", "small.array", "mindspore.Tensor"),
        ("s.absolute", "small.absolute", "mindspore.ops.abs"),
        ("y.absolute", "small.Array.absolute", "mindspore.ops.abs"),
        ("y.absolute_", "small.Array.absolute_", "mindspore.ops.abs"),
    ],
)
def test_its_names_are_told_and_have_their_entries(reading: Reading, text: str, api: str, becomes: str) -> None:
    found = api_of(named(reading, text), reading, table(SMALL))
    entry = rule_for(found, table(SMALL))
    assert found.api == api and entry is not None and entry.to == becomes


def test_an_attribute_has_an_entry_of_its_own(reading: Reading) -> None:
    api = api_of(named(reading, "z.turned"), reading, table(SMALL)).api
    entry = table(SMALL).attribute(api)
    assert entry is not None and entry.to == ".T"


def test_torch_is_a_stranger_to_it(reading: Reading) -> None:
    assert api_of(named(reading, "torch.abs"), reading, table(SMALL)).api == ""
    assert not any(entry.api.startswith("torch") for entry in table(SMALL))


def test_both_tables_and_descriptions_live_side_by_side() -> None:
    assert table().framework is framework() is not framework(SMALL)
    assert framework(SMALL).uses.has(Use.BACKWARD, "small.Array.differentiate")
    assert not framework().uses.has(Use.BACKWARD, "small.Array.differentiate")
    assert "torch.abs" in table() and "small.absolute" not in table()
