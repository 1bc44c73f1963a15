"""The fifth set: attacks that were called same the first time, right conversions that were called different, and the mechanisms behind both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mindferry.verify.beside import drawn, drawn_otherwise
from mindferry.verify.layout import order_of

from . import third_faults
from .attacks import SAME, Attack, attack, said_of
from .fault import Fault
from .faults import false_alarm, plant
from .fifth_attacks import FIFTH, LATER, method, started, with_method
from .sixth_twins import CAUSAL, DENOISER, POLICY
from .twins import Twin

NOT_FOOLING = (  # the first time
    "a limit that is computed",
    "an epsilon that is computed",
    "an epsilon in a default of a function",
    "infinite inputs",
    "the remainder of negative numbers",
)
FOOLED = [each for each in FIFTH[:29] if each.name not in NOT_FOOLING]
FOOLED += [*LATER]
FOOLED += [each for each in FIFTH if each.name in ("a moving share that ends later", "arguments in another order")]
ENCODES = "def encode(self, x):\n    return self.fc(x)"
CALLED = "return self.encode(x)"
HARMLESS = (
    Attack(
        "a method that forward calls",
        attack("", CALLED, CALLED).torch + method(ENCODES),
        attack("", CALLED, CALLED).mindspore + method(ENCODES),
    ),
    with_method(
        "a method that tells a number",
        method("def width(self):\n    return 6"),
        method("def width(self):\n    return 6"),
    ),
    started(
        "weights drawn alike",
        "nn.init.normal_(self.big.weight, std=0.1)",
        "self.big.weight.set_data(initializer(Normal(sigma=0.1), (64, 6)))",
    ),
    attack("a table on both sides", SAME, SAME, "self.table = [0.1, 0.2]", "self.table = [0.1, 0.2]"),
    attack("a border on both sides", "y = self.fc(x)\nreturn y * (y >= 0.5)", "y = self.fc(x)\nreturn y * (y >= 0.5)"),
)


@pytest.mark.parametrize("attack", FOOLED, ids=str)
def test_what_fooled_the_verdict_does_so_no_longer(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) != "same"


@pytest.mark.parametrize("twin", HARMLESS, ids=str)
def test_the_same_on_both_sides_is_called_same(twin: Attack, tmp_path: Path) -> None:
    assert said_of(twin, tmp_path) == "same"


@pytest.mark.parametrize("twin", [POLICY, DENOISER, CAUSAL], ids=lambda twin: twin.name)
def test_a_right_network_is_not_called_different(twin: Twin, tmp_path: Path) -> None:
    assert false_alarm(twin, 3, tmp_path) == ""


@pytest.mark.parametrize("fault", third_faults.FIFTH[1::8], ids=str)
def test_a_planted_fault_is_found_and_named(fault: Fault, tmp_path: Path) -> None:
    found, named, said = plant(fault, tmp_path)
    assert found and named, said


def test_axes_in_another_order_are_recognized_and_other_values_are_not() -> None:
    reference = np.random.default_rng(0).normal(size=(3, 6, 17)).astype(np.float32)
    assert order_of(reference, reference.transpose(0, 2, 1).reshape(51, 6)) == (0, 2, 1)
    assert order_of(reference, reference.reshape(51, 6)) == (0, 1, 2)
    assert order_of(reference, reference.transpose(0, 2, 1).reshape(51, 6) * 1.1) is None


def test_chance_is_not_taken_for_another_distribution() -> None:
    generator = np.random.default_rng(0)
    for size in (16, 64, 400, 5000):
        for make in (
            lambda n: generator.normal(size=n),
            lambda n: generator.uniform(-1, 1, n),
            lambda n: generator.standard_t(5, n),
        ):
            for _ in range(100):
                assert not drawn_otherwise(drawn(make(size)), drawn(make(size)))
