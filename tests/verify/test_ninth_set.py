"""The ninth set: what was called same the first time, and right conversions that were called different or listed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry.artifacts import Outcome, save
from mindferry.convert import convert_project
from mindferry.verify.code_traits import traits_of
from mindferry.verify.far_weights import all_variants
from mindferry.verify.hand_edits import gaps_of_edits
from mindferry.verify.literals import literals_of
from mindferry.verify.reached_code import Piece
from mindferry.verify.variants import MORE, ORDER, TYPED

from .attacks import Attack, said_of
from .ninth_attacks import HARMLESS, NINTH
from .ninth_faults import PLANTED, compared, planted
from .ninth_loops import NINTH_LOOPS, PROJECT
from .sixth_attacks import SIXTH
from .twins import Twin, compare_twin

FOOLED = {  # what is said of it, or "different"
    "entries of a dictionary in the order of another": "the other order",
    "a third entry of a list": "an entry more",
    "a gradient where two are equal": "gradients",
    "a gradient at the border of a limit": "gradients",
    "a length of nothing": "gradients",
    "a buffer that is handed out itself": "output 1",
    "a list of tensors that is handed out itself": "kept",
    "a list that is handed out itself": "seen",
    "a variance that cancels": "values plus",
    "a buffer that the checkpoint leaves out in torch": "place",
    "a table that grows with the text": "different",
    "a table of one size for every batch": "different",
}


FOOLING = [each for each in (*NINTH, *SIXTH) if each.name in FOOLED]


@pytest.mark.parametrize("attack", FOOLING, ids=str)
def test_what_fooled_the_verdict_is_told(attack: Attack, tmp_path: Path) -> None:
    comparison = compare_twin(Twin(attack.name, attack.torch, attack.mindspore, attack.inputs), tmp_path)
    said = [gap.name for gap in comparison.coverage.gaps if gap.matters]
    wanted = FOOLED[attack.name]
    assert comparison.outcome == "different" or any(name.startswith(wanted) for name in said), (wanted, said)
    assert (comparison.outcome == "different") == (wanted == "different")


@pytest.mark.parametrize("attack", HARMLESS, ids=str)
def test_types_that_the_conversion_refuses_keep_the_word(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) == "same"


@pytest.mark.parametrize("seed", [0, 1])
def test_squares_of_tiny_values_that_vanish_are_no_difference(seed: int) -> None:
    assert compared("capsules", seed=seed).outcome is Outcome.SAME


def test_a_sample_of_the_planted_faults_is_found_and_named() -> None:
    chosen = [each for each in PLANTED if each.network == "a mixture"][2:]
    assert [planted(each)[:2] for each in chosen] == [(True, True)] * len(chosen)


def test_inputs_of_another_kind_are_what_was_given_in_another_way() -> None:
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, *parts: torch.Tensor) -> torch.Tensor:
            return self.fc(torch.stack(parts).sum(0))

    x, mask = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    groups = {said: given for group in all_variants(Net(), [("", x), ("", x)]) for said, given in group}
    more = groups[f"{MORE} behind a star"]
    assert [name for name, _ in more] == ["", "", ""] and torch.equal(more[2][1], x.roll(1, -1))
    assert groups[f"{TYPED} float16"][0][1].dtype == torch.float16
    special = next(given for said, given in groups.items() if said.endswith("many of them equal"))[0][1]
    assert set(special.unique().tolist()) <= {-1.0, 0.0, 1.0, 2.0}
    keyed = [("batch{'a'}", x), ("batch{'b'}", mask)]
    groups = {said: given for group in all_variants(Net(), keyed) for said, given in group}
    assert [name for name, _ in groups[f"{ORDER} of keys"]] == ["batch{'b'}", "batch{'a'}"]
    assert groups[f"{TYPED} bool"][1][1].dtype == torch.bool


def test_how_often_something_is_done_to_a_sample_is_no_matter_of_a_few_samples(tmp_path: Path) -> None:
    source, converted = tmp_path / "torch", tmp_path / "mindspore"
    source.mkdir()
    for name, text in PROJECT.items():
        (source / name).write_text(text)
    save(convert_project(source, converted), converted, "convert")
    assert gaps_of_edits(source, converted, ["net:Net"]) == []
    written = (converted / "train.py").read_text()
    for attack in (each for each in NINTH_LOOPS if each.name in ("a flip less often", "noise that is smaller")):
        ((_, before, after),) = attack.converted
        assert before in written
        (converted / "train.py").write_text(written.replace(before, after))
        assert [gap.name for gap in gaps_of_edits(source, converted, ["net:Net"])], attack.name


def _traits(text: str) -> list[str]:
    tree = ast.parse(f"def f(x):\n    return {text}\n")
    return [trait.key for trait in traits_of([Piece("net.py", tree.body[0])], {})]


@pytest.mark.parametrize(
    ("call", "operator"),
    [
        ("ops.eq(x, 0)", "x == 0"),
        ("x.gt(0)", "x > 0"),
        ("ops.gt(x, 3)", "x > 3"),
        ("x.shape[0].eq(7)", "x.shape[0] == 7"),
    ],
)
def test_a_comparison_counts_alike_as_a_call_and_as_an_operator(call: str, operator: str) -> None:
    assert _traits(call) == _traits(operator)


def test_the_order_of_axes_is_no_number_that_counts() -> None:
    def numbers(text: str) -> set[float]:
        tree = ast.parse(f"def f(x):\n    return {text}\n")
        return {each.value for each in literals_of([(tree, tree.body[0])])}

    assert numbers("x.transpose(0, 1, 4, 2, 5, 3)") == numbers("ops.transpose(x, (0, 5, 1, 2, 3, 4))") == set()
    assert numbers("(x * 7).transpose(0, 5, 1)") == {7.0}
