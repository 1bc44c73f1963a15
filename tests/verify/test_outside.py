"""What a network's code keeps outside of its modules is seen, wherever it is."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from mindferry.verify.outside import kept_outside, moved, new_tensors

HEAD = "import functools, itertools\nfrom collections import deque\nCOUNT = [0]\nLAST = None\n"
PLACES = {
    "a global": "global LAST\nLAST = 3",
    "a list of the file's": "COUNT[0] += 1",
    "the class": "Net.calls = getattr(Net, 'calls', 0) + 1",
    "a default": "self.with_default()",
    "a closure": "self.times()",
    "an iterator": "next(self.numbers)",
    "a generator": "next(self.made)",
    "an object": "self.box.n += 1",
    "an object with slots": "self.slots.n += 1",
    "a partial function": "self.part()",
    "a queue": "self.queue.append(1)",
}
NET = """
class Box:
    def __init__(self):
        self.n = 0

class Slots:
    __slots__ = ("n",)
    def __init__(self):
        self.n = 0

def counter():
    n = 0
    def times():
        nonlocal n
        n += 1
    return times

def generated():
    n = 0
    while True:
        n += 1
        yield n

def noted(seen):
    seen["n"] += 1

class Net:
    def __init__(self):
        self.times, self.numbers, self.made = counter(), itertools.count(), generated()
        self.box, self.slots, self.part, self.queue = Box(), Slots(), functools.partial(noted, {"n": 0}), deque()
        next(self.made)
    def with_default(self, seen=[0]):
        seen[0] += 1
    def forward(self):
"""


def network(name: str, body: str) -> Any:
    module = ModuleType(name)
    sys.modules[name] = module
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    exec(HEAD + NET + lines, vars(module))
    return module.Net()


def is_text(value: Any) -> bool:  # they stand for tensors here
    return isinstance(value, str) and value.startswith("tensor")


@pytest.mark.parametrize("place", PLACES)
def test_a_number_that_moves_is_seen(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "outside_of_test", ModuleType("outside_of_test"))
    net = network("outside_of_test", PLACES[place])
    before = kept_outside([net], is_text, frozenset())
    net.forward()
    assert moved(before, kept_outside([net], is_text, frozenset()), is_text)


def test_a_call_that_keeps_nothing_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "outside_of_test", ModuleType("outside_of_test"))
    net = network("outside_of_test", "return 2 * len(COUNT)")
    before = kept_outside([net], is_text, frozenset())
    net.forward()
    after = kept_outside([net], is_text, frozenset())
    assert moved(before, after, is_text) == [] and new_tensors(before, after, is_text) == {}


def test_a_tensor_in_a_global_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "outside_of_test", ModuleType("outside_of_test"))
    net = network("outside_of_test", "global LAST\nLAST = 'tensor of this call'")
    before = kept_outside([net], is_text, frozenset())
    net.forward()
    assert new_tensors(before, kept_outside([net], is_text, frozenset()), is_text) == {
        "global LAST": "tensor of this call"
    }
