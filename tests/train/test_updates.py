"""A parameter that only one side trains is found, whatever the losses say; what rounding explains is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry.train.exchange import Exchange
from mindferry.train.updates import compare_updates

STEPS = 3
NAMES = ("0:a.weight", "0:a.bias", "1:b.weight")


def exchange(folder: Path, **changes: Any) -> Exchange:
    """Three steps of gradient descent on both sides, the conversion's off by rounding; `changes` spoil it.

    frozen, moving: a parameter that only the reference, or only the conversion, moves; faint: with a gradient that is rounding;
    double: one that the conversion moves twice as far; rate: by which it moves all of them farther; lone: one that the conversion does not have; output: what it gives.
    """
    rng, made = np.random.default_rng(3), Exchange(folder)
    weights = {name: rng.normal(size=8).astype("float32") for name in NAMES}
    made.write_weights(0, "A", {name[2:]: weights[name] for name in NAMES[:2]})
    made.write_weights(1, "B", {"b.weight": weights[NAMES[2]]})

    def factor(name: str) -> float:
        return 2.0 if name == changes.get("double") else float(changes.get("rate", 1.00001))

    theirs, ours = dict(weights), {name: each for name, each in weights.items() if name != changes.get("lone")}
    for step in range(STEPS):
        gradients = {name: rng.normal(size=8).astype("float32") for name in NAMES}
        for name in (changes.get("faint"),):
            if name:
                gradients[name] = gradients[name] * np.float32(1e-9)
        made.write_step(f"before-{step}", theirs)
        made.write_step(f"ours-before-{step}", ours)
        made.write_step(f"gradients-{step}", gradients)
        made.write_step(f"ours-gradients-{step}", gradients)
        rate = {name: 1e8 if name == changes.get("faint") else 0.1 for name in NAMES}
        theirs = {
            name: each if name == changes.get("moving") else each - np.float32(rate[name]) * gradients[name]
            for name, each in theirs.items()
        }
        ours = {
            name: each
            if name == changes.get("frozen")
            else each - np.float32(rate[name] * factor(name)) * gradients[name]
            for name, each in ours.items()
        }
        made.write_step(f"after-{step}", theirs)
        made.write_step(f"ours-after-{step}", ours)
    output = rng.normal(size=(4, 3)).astype("float32")
    for root in range(2):
        made.write_output("", root, [output])
        made.write_output("ours-", root, [changes.get("output", output * np.float32(1.000001))])
    return made


def test_updates_that_agree_within_rounding_pass_and_the_networks_are_alike(tmp_path: Path) -> None:
    found = compare_updates(exchange(tmp_path), STEPS)
    assert found.wrong == "" and found.compared == 3 and found.unmatched == () and found.networks == ("A", "B")


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ("frozen", "a.bias stays as it was, in torch it moves"),
        ("moving", "a.bias moves, in torch it stays as it was"),
        ("double", "the first update of a.bias is off by 1 of its size"),
    ],
)
def test_a_parameter_that_one_side_trains_otherwise_is_named(tmp_path: Path, spoilt: str, said: str) -> None:
    assert compare_updates(exchange(tmp_path, **{spoilt: "0:a.bias"}), STEPS).wrong == said


def test_a_rate_that_is_slightly_other_is_found_whatever_the_losses_say(tmp_path: Path) -> None:
    assert (
        "step 1 is off by 0.02 of its size, or more, in every"
        in compare_updates(exchange(tmp_path, rate=1.02), 3).wrong
    )


def test_a_parameter_that_rounding_moves_is_not_called_wrong(tmp_path: Path) -> None:
    """A bias before a norm: its gradient is rounding, and Adam makes steps of it on one side only."""
    assert compare_updates(exchange(tmp_path, frozen="0:a.bias", faint="0:a.bias"), STEPS).wrong == ""


def test_a_parameter_without_a_twin_is_listed_and_its_network_is_not_alike(tmp_path: Path) -> None:
    found = compare_updates(exchange(tmp_path, lone="0:a.bias"), STEPS)
    assert found.unmatched == ("a.bias",) and found.networks == ("B",)


@pytest.mark.parametrize("output", [np.ones((4, 3), "float32"), np.ones((4, 2), "float32"), np.full((4, 3), np.nan)])
def test_networks_with_other_outputs_are_not_alike(tmp_path: Path, output: Any) -> None:
    assert compare_updates(exchange(tmp_path, output=output), STEPS).networks == ()
