"""Edits of a source file: what is put around a node is no part of what the node begins or ends with."""

from __future__ import annotations

import ast
from random import Random

import pytest

from mindferry import convert_source
from mindferry.read.edits import BLOCK, Edits
from mindferry.read.source import Source


def _edits(code: str) -> tuple[Edits, ast.Call, ast.expr]:
    """Edits of `x.view(2)`, its call, and the name that it begins with."""
    source = Source(code)
    call = source.of(ast.Call)[0]
    assert isinstance(call.func, ast.Attribute)
    return Edits(source), call, call.func.value


def test_the_prefix_of_a_call_is_no_part_of_its_receiver() -> None:
    edits, call, receiver = _edits("x.view(2)\n")
    edits.before_node(call, "ops.reshape(")
    assert edits.text(receiver) == "x"
    assert edits.text(call) == "ops.reshape(x.view(2)"


def test_the_suffix_of_a_whole_is_no_part_of_what_it_ends_with() -> None:
    source = Source("a + b\n")
    whole, edits = source.of(ast.BinOp)[0], Edits(source)
    edits.after_node(whole, ".sum()")
    edits.after_node(whole.right, "[0]")
    assert edits.text(whole.right) == "b[0]"
    assert edits.text(whole) == "a + b[0].sum()"  # what belongs to a part stays with it, though it came later


def test_the_prefix_of_a_part_stays_within_that_of_the_whole_in_either_order() -> None:
    for is_outer_first in (True, False):
        edits, call, receiver = _edits("x.view(2)\n")
        for node, name in [(call, "outer("), (receiver, "inner(")][:: 1 if is_outer_first else -1]:
            edits.before_node(node, name)
            edits.after_node(node, ")")
        edits.before_node(receiver, "middle(")
        assert edits.apply() == "outer(middle(inner(x).view(2))\n"


def test_a_receiver_that_is_replaced_keeps_the_prefix_of_its_call() -> None:
    edits, call, receiver = _edits("x.view(2)\n")
    edits.before_node(call, "(")
    edits.after_node(call, ")")
    edits.replace_node(receiver, "y")
    assert edits.apply() == "(y.view(2))\n"


def test_a_node_that_is_replaced_loses_its_own_prefix() -> None:
    edits, call, _ = _edits("x.view(2)\n")
    edits.before_node(call, "(")
    edits.after_node(call, ")")
    edits.replace_node(call, "z")
    assert edits.apply() == "z\n"


@pytest.mark.parametrize("seed", range(5))
def test_edits_far_apart_and_close_together_come_out_as_if_written_by_hand(seed: int) -> None:
    """Names of a file of several blocks, in any order: some replaced, some wrapped."""
    chance = Random(seed)
    words = [f"name_{number}_{'x' * chance.randrange(60)}" for number in range(BLOCK // 8)]
    source = Source("\n".join(words) + "\n")
    edits, wanted = Edits(source), list(words)
    nodes = source.of(ast.Name)
    for number in chance.sample(range(len(nodes)), len(nodes) // 2):
        if chance.random() < 0.5:
            edits.replace_node(nodes[number], "é")
            wanted[number] = "é"
        else:
            edits.before_node(nodes[number], "f(")
            edits.after_node(nodes[number], ")")
            wanted[number] = f"f({words[number]})"
        assert edits.text(nodes[number]) == wanted[number]
    assert edits.apply() == "\n".join(wanted) + "\n"


def test_what_is_written_into_a_part_that_was_replaced_goes_with_it() -> None:
    for text in (
        "dev = torch.device(xs[i].device.type, d)",
        "on = xs[i].device.index",
        "same = xs[i].device.type == 'cpu'",
    ):
        result = convert_source(f"import torch\n\n\ndef f(xs, i, d):\n    {text}\n    return torch.zeros(1)\n")
        assert not [each for each in result.findings if each.code == "MF901"], text
