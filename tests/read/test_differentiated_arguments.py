"""Which functions differentiate what they are given, and what that is computed from on the way."""

from __future__ import annotations

import ast

import pytest

from mindferry import convert_source
from mindferry.read.differentiated_arguments import (
    Differentiated,
    called_with_losses,
    carried_argument,
    differentiated_arguments,
)
from mindferry.read.source import Source


def found(text: str, known: set[Differentiated] | None = None) -> set[tuple[str, str, int]]:
    source = Source(text.encode(), "own.py")
    owners: dict[ast.AST, str] = {each: f"own.{each.name}" for each in source.of(ast.ClassDef)}
    return {(each.function, each.name, each.place) for each in differentiated_arguments(source, owners, known or set())}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("def f(opt, loss):\n    loss.backward()\n", {("f", "loss", 1)}),
        ("def f(opt, *, loss):\n    loss.mean().backward(retain_graph=True)\n", {("f", "loss", -1)}),
        ("class A:\n    def g(self, loss, n):\n        loss = loss / n\n        loss.backward()\n", {("g", "loss", 0)}),
        (
            "class Scaler:\n    def __call__(self, loss):\n        self.s.scale(loss).backward()\n",
            {("Scaler", "loss", 0)},
        ),
        ("def f(accelerator, loss):\n    accelerator.backward(loss)\n", {("f", "loss", 1)}),
        ("def f(x, net):\n    y = net(x)\n    y.backward()\n", set()),
        ("def f(loss):\n    loss = compute()\n    loss.backward()\n", set()),
        ("def f(loss):\n    print(loss.item())\n", set()),
        ("class A:\n    def f(self, x):\n        (x * self.scale).sum().backward()\n", set()),  # a weight of its own
        ("def f(a, b):\n    (a + b).backward()\n", set()),  # which of them, or both
        ("def f(model, opt, x):\n    loss = -model.log_prob(x).mean(0)\n    loss.backward()\n", set()),
    ],
)
def test_an_argument_that_is_differentiated_is_found(text: str, expected: set[tuple[str, str, int]]) -> None:
    assert found(text) == expected


def test_a_function_that_hands_it_on_to_a_known_one_differentiates_it_too() -> None:
    known = {Differentiated("step", "loss", 1, "")}
    text = "def account(opt, loss, weight):\n    step(opt, loss * weight)\n"
    assert found(text, known) == {("account", "loss", 1)}
    assert found(text) == set()


def test_the_way_to_it_is_told_with_the_name_that_each_assignment_starts_from() -> None:
    source = Source(
        b"def f(loss, n):\n    total = loss / n\n    total *= 2\n    other = n\n    total.backward()\n", "own.py"
    )
    function = next(iter(source.of(ast.FunctionDef)))
    value = next(each for each in source.of(ast.Name) if each.lineno == 5)
    carried = carried_argument(function, value)
    assert (carried.argument, carried.name) == ("loss", "total")
    assert [(name, ast.unparse(each)) for name, each in carried.way] == [
        ("loss", "total = loss / n"),
        ("total", "total *= 2"),
    ]


def test_an_object_is_taken_for_one_of_the_class_by_its_name() -> None:
    known = [Differentiated("NativeScaler", "loss", 0, "own.NativeScaler"), Differentiated("step", "loss", 0, "")]
    assert called_with_losses(Source(b"loss_scaler(loss)\n", "own.py"), known) == {"NativeScaler"}
    assert called_with_losses(Source(b"step(loss); criterion(x)\n", "own.py"), known) == {"step"}


def test_a_network_that_is_handed_over_is_no_loss() -> None:
    text = """
import torch
from torch import nn

class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(3, 3)

    def log_prob(self, x):
        return -(self.scale(x) ** 2).sum(-1)

def step(flow, optimizer, x):
    loss = -flow.log_prob(x).mean(0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

flow = Flow()
step(flow, torch.optim.SGD(flow.parameters(), lr=0.1), torch.ones(2, 3))
"""
    made = convert_source(text)
    assert not made.findings and "forward_fn(x)" in made.code
