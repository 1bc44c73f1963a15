"""Functions that make batches, however a loader comes to them; if nothing tells which, a finding does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mindferry
from mindferry.convert import convert_project

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n"

JOINS = """import torch


def first(rows):
    return rows[0]["x"].ne(1)


def second(rows):
    return rows[0]["x"].ne(2)


def third(rows):
    return rows[0]["x"].ne(3)


def fourth(count, rows):
    return rows[0]["x"].ne(count)


TABLE = dict(first=first, second=second)
REGISTRY = {}


def register(name):
    def put(function):
        REGISTRY[name] = function
        return function

    return put


@register("fifth")
def fifth(rows):
    return rows[0]["x"].eq(5)


@register("sixth")
def sixth(rows):
    return rows[0]["x"].eq(6)


def build(name):
    return REGISTRY[name]


def make(name):
    if name == "second":
        return second
    return TABLE[name]


class Registry:
    def __init__(self):
        self._known = {}

    def register(self, name):
        def put(function):
            self._known[name] = function
            return function

        return put

    def get(self, name):
        return self._known[name]


BATCHES = Registry()


@BATCHES.register("seventh")
def seventh(rows):
    return rows[0]["x"].ge(7)
"""

ROWS = """import functools
import joins
import torch
from joins import BATCHES, REGISTRY, TABLE, build, make
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return {"x": torch.arange(6).reshape(2, 3) + 2 * i}


def looped(rows):
    return rows[0]["x"].ne(0)


def looped_too(rows):
    return rows[0]["x"].eq(0)


def of_table(rows):
    return rows[0]["x"].gt(1)


def of_attribute(rows):
    return rows[0]["x"].gt(2)


def of_settings(rows):
    return rows[0]["x"].gt(3)


def put_in_settings(rows):
    return rows[1]["x"].gt(3)


def given(rows):
    return rows[0]["x"].gt(4)


def else_one(rows):
    return rows[0]["x"].lt(4)


def assigned(rows):
    return rows[0]["x"].lt(2)


def by_default(rows):
    return rows[0]["x"].le(2)


def by_position(rows):
    return rows[0]["x"].le(3)


def factory(bound):
    def inner(rows):
        return rows[0]["x"].ge(bound)

    return inner


class Data:
    def __init__(self, join=by_default):
        self.join = join
        self.other = of_attribute

    def first(self):
        return DataLoader(Rows(), 2, collate_fn=self.join)

    def second(self):
        return DataLoader(Rows(), 2, collate_fn=self.other)


def load(join, **settings):
    return DataLoader(Rows(), 2, collate_fn=join, **settings)


def show(name, loader):
    for batch in loader:
        print(name, batch.tolist())


for function in (looped, looped_too):
    show("loop", DataLoader(Rows(), 2, collate_fn=function))
FUNCTIONS = {"a": of_table, "b": looped}
show("table", DataLoader(Rows(), 2, collate_fn=FUNCTIONS["a"]))
show("get", DataLoader(Rows(), 2, collate_fn=FUNCTIONS.get("a")))
show("attribute", Data().second())
show("default", Data().first())
show("position", Data(by_position).first())
settings = {"batch_size": 2, "collate_fn": of_settings}
show("settings", DataLoader(Rows(), **settings))
settings["collate_fn"] = put_in_settings
show("put", DataLoader(Rows(), **settings))
show("given", load(given))
show("or", DataLoader(Rows(), 2, collate_fn=None or else_one))
show("named", DataLoader(Rows(), 2, collate_fn=(held := assigned)))
show("factory", DataLoader(Rows(), 2, collate_fn=factory(2)))
show("another's table", DataLoader(Rows(), 2, collate_fn=TABLE["first"]))
show("made", DataLoader(Rows(), 2, collate_fn=make("second")))
show("registry", DataLoader(Rows(), 2, collate_fn=REGISTRY["fifth"]))
show("built", DataLoader(Rows(), 2, collate_fn=build("sixth")))
show("registry object", DataLoader(Rows(), 2, collate_fn=BATCHES.get("seventh")))
show("getattr", DataLoader(Rows(), 2, collate_fn=getattr(joins, "third")))
show("partial", DataLoader(Rows(), 2, collate_fn=functools.partial(joins.fourth, 2)))
"""


def test_functions_that_make_batches_are_found_on_every_way(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/joins.py").write_text(JOINS)
    (tmp_path / "source/rows.py").write_text(ROWS)
    assert convert_project(tmp_path / "source", tmp_path / "out").findings == ()
    theirs, ours = (
        subprocess.run(
            [sys.executable, "rows.py"], cwd=tmp_path / name, capture_output=True, text=True, check=True, timeout=600
        ).stdout.splitlines()
        for name in ("source", "out")
    )
    assert len(theirs) == 40 and ours == theirs


@pytest.mark.parametrize(
    "value", ["cfg['how']", "cfg.joiner", "getattr(options, cfg.name)", "globals()[cfg.name]", "find(cfg)"]
)
def test_what_only_the_running_program_knows_is_said(value: str) -> None:
    code = f"{HEAD}def load(rows, cfg, options, find):\n    return DataLoader(rows, 2, collate_fn={value})\n"
    assert [(each.code, each.line) for each in mindferry.convert_source(code).findings] == [("MF131", 4)]


@pytest.mark.parametrize("value", ["None", "join", "options['collate_fn']", "lambda rows: rows", "rows.collate"])
def test_nothing_is_said_of_what_is_known_or_asked_elsewhere(value: str) -> None:
    code = f"{HEAD}def load(rows, options, join=None):\n    return DataLoader(rows, 2, collate_fn={value})\n"
    assert mindferry.convert_source(code).findings == ()


def test_a_table_s_name_says_nothing_of_a_tensor_that_has_it_too() -> None:
    """What decorators fill may be called `rows`: a tensor of that name keeps its type."""
    code = (
        "import torch\nfrom tools import make\n\nrows = make()\n\n\n@rows.register\ndef first(x):\n    return x\n\n\n"
        "def use():\n    rows = torch.ones(2, 3)\n    return rows[0].repeat(2)\n"
    )
    assert "return rows[0].tile((2,))" in mindferry.convert_source(code).code
