"""The tenth set: what was called same the first time, and right conversions that must keep the word."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.verify.far_weights import all_variants
from mindferry.verify.update import LATER, LATER_OF_MANY, turns_for
from mindferry.verify.variants import BELOW, GRADIENTS, STEP, TRAINING, mode_of

from .attacks import Attack, said_of
from .tenth_attacks import HARMLESS_TENTH, TENTH
from .twins import Twin, compare_twin

FOOLED = {  # what is said of it, or "different"
    "a gradient that is no number for large values": "gradients at values times 100",
    "a gradient that overflows while the value does not": "gradients at values times 100",
    "large values in training alone": "in training, gradients at values times 100",
    "zeros in training alone": "in training, gradients at zeros",
    "a length in training alone": "in training, a step with size",
    "a batch that training splits": "different",
    "one sample in training alone": "different",
    "a parameter in half precision": "scale",
    "a parameter in double precision": "scale",
    "a buffer in half precision": "scale",
    "what is no number is taken out": "the network",
    "buckets of distances": "different",
    "pieces of a long text": "different",
    "a rectification that begins late": "different",
    "weights that are pulled back every fifth step": "different",
    "a warm-up that does not end": "different",
    "a norm in half precision": "different",
}
FOOLING = [each for each in TENTH if each.name in FOOLED]


@pytest.mark.parametrize("attack", FOOLING, ids=str)
def test_what_fooled_the_verdict_is_told(attack: Attack, tmp_path: Path) -> None:
    comparison = compare_twin(Twin(attack.name, attack.torch, attack.mindspore, attack.inputs), tmp_path)
    said = [gap.name for gap in comparison.coverage.gaps if gap.matters]
    wanted = FOOLED[attack.name]
    assert comparison.outcome == "different" or any(name.startswith(wanted) for name in said), (wanted, said)
    assert (comparison.outcome == "different") == (wanted == "different")


@pytest.mark.parametrize("attack", HARMLESS_TENTH, ids=str)
def test_right_ones_keep_the_word(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) == "same"


def test_gradients_are_taken_in_the_mode_that_the_network_asks_for() -> None:
    import torch
    from torch import nn

    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.fc(x)

    class Asking(Plain):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.fc(x) * 2 if self.training else self.fc(x)

    x = torch.randn(4, 3)
    plain, asking = (
        {said: given for group in all_variants(net, [("", x)]) for said, given in group} for net in (Plain(), Asking())
    )
    assert torch.equal(plain[f"{GRADIENTS} at values times 100"][0][1], x * 100)
    assert plain[f"{STEP} batch of 5"][0][1].shape == (5, 3) and f"{STEP} batch of 1" not in plain
    assert asking[f"{TRAINING}{STEP} batch of 1"][0][1].shape == (1, 3)
    assert {mode_of(said) for said in plain} == {"eval"} and {mode_of(said) for said in asking} == {"eval", "train"}
    numbers = {said: given for group in all_variants(Plain(), [("", torch.arange(4)[None])]) for said, given in group}
    assert numbers[BELOW][0][1].tolist() == [[-1, -2, -3, -4]]


def test_an_optimizer_of_few_parameters_takes_more_steps() -> None:
    assert [turns_for(sizes) for sizes in ([36, 6], [9] * 40, [1 << 20, 1])] == [LATER, LATER_OF_MANY, 0]
