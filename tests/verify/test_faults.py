"""A sample of the planted faults, the attacks and the right runs; `python tests/verify/faults.py` runs them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import command_attacks, second_faults, second_twins, third_faults
from .attacks import ATTACKS, Attack, said_of
from .behaviour_attacks import BEHAVIOUR, HARMLESS
from .code_attacks import CODE
from .command_attacks import COMMAND_ATTACKS, CommandAttack
from .conduct_attacks import CONDUCT
from .fault import Fault
from .faults import FAULTS, false_alarm, names_of, plant, run_case
from .fresh_attacks import FRESH
from .hidden_attacks import HIDDEN
from .more_attacks import MORE
from .outside_attacks import OUTSIDE
from .separate import Separate
from .twins import TWINS, Twin

SAMPLE = (*FAULTS[2::12], *second_faults.OPEN[::16], *second_faults.SEALED[::21])
MISSED = (  # of the third set, when it was first run
    "rounding that stops the gradient",
    "range of the levels",
    "gradient through the teacher",
    "no positive place divides by zero",
)
THIRD = [
    each for each in third_faults.THIRD if each.name in (*MISSED, "conjugate of the transform", "pace of the teacher")
]
QUICK = ("labels that are shifted",)  # of those on whole projects; all take many minutes
PATCHING = ("a patched comparison", "a tensor that is read otherwise")  # they change the process that they run in
SEEN = [each for each in CONDUCT if each.name not in PATCHING]
FOOLING = (*ATTACKS[:6], *ATTACKS[11:24:3], *ATTACKS[25::6], *MORE[1::6], *OUTSIDE[::5], *SEEN[::3], *FRESH[::2])
FOOLED = (  # those of the last ones that were called same at first
    "a count in a closure",
    "a count in an iterator",
    "a count in the environment",
    "a result in a global",
    "a result on the class",
    "a dictionary with an attribute",
    "keys that are texts",
    "results that a list collects",
    "a parameter that starts otherwise",
    "weights that share their memory",
    "weights that the reference alone writes into",
    "a count in an array of numpy's",
    "a count in bytes",
    "what is done after an error",
    "a second condition that is never asked",
    "a count that is not set back",
    "a part of a parameter that starts otherwise",
)
BELIEVED = (  # of the attacks by behaviour, those that were called same at first
    "names of a tuple",
    "a tuple without its names",
    "a hook on a gradient of a weight",
    "a hook on the gradients of a module",
    "a weight that is kept from the first call",
    "an error that the conversion alone raises",
    "an error that the reference alone raises",
    "an error on values",
    "an assertion that the conversion alone makes",
    "another kind of error",
    "a seed that every call sets",
    "a seed of MindSpore's",
    "a seed of Python's",
    "how numpy treats errors",
    "a warning that is switched off",
    "an entry that one side adds to a dictionary",
    "an entry that the conversion takes out of a dictionary",
    "a list that the conversion adds to",
    "an output that is cut off in eval mode",
)
UNFOUND = (
    "an output that is not cut off",
    "a place that is not brought back to the start",
    "a target that follows at another pace",
)  # of the fourth set, likewise
FOURTH = [each for each in third_faults.FOURTH if each.name in UNFOUND]


@pytest.mark.parametrize("fault", [*SAMPLE, *THIRD, *FOURTH, FAULTS[25]], ids=str)
def test_a_planted_fault_is_found_and_named(fault: Fault, tmp_path: Path) -> None:
    found, named, said = plant(fault, tmp_path)
    assert found and named, said


@pytest.mark.parametrize("attack", [*FOOLING, *CODE, *(each for each in HIDDEN if each.name in FOOLED)], ids=str)
def test_an_attack_is_not_called_same(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) != "same"


@pytest.mark.parametrize("attack", [each for each in BEHAVIOUR if each.name in BELIEVED], ids=str)
def test_an_attack_by_behaviour_is_not_called_same(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) != "same"


@pytest.mark.parametrize("twin", HARMLESS, ids=str)
def test_what_behaves_alike_on_both_sides_is_called_same(twin: Attack, tmp_path: Path) -> None:
    assert said_of(twin, tmp_path) == "same"


def test_an_attack_on_the_judge_is_refused() -> None:
    separate = Separate(run_case)
    cases = [index for index, (name, _) in enumerate(names_of("attacks")) if name.removeprefix("attack ") in PATCHING]
    said = [separate.ask(("attacks", index), "attacks") for index in cases]
    separate.close()
    assert len(said) == 2 and all(each and str(each[0]).startswith("refused") for each in said), said


@pytest.mark.parametrize("twin", TWINS[::2], ids=lambda twin: twin.name)
def test_a_correct_conversion_is_not_called_wrong(twin: Twin, tmp_path: Path) -> None:
    assert false_alarm(twin, 5, tmp_path) == ""


@pytest.mark.parametrize(
    "twin", [*third_faults.TWINS[1::3], *third_faults.LAST, second_twins.DETECTOR], ids=lambda twin: twin.name
)
def test_a_correct_conversion_in_another_style_is_not_called_wrong(twin: Twin, tmp_path: Path) -> None:
    assert false_alarm(twin, 14, tmp_path) == ""  # of the detector's scores some are equal there


@pytest.mark.parametrize("attack", [each for each in COMMAND_ATTACKS if each.name in QUICK], ids=str)
def test_an_attack_on_a_whole_project_is_not_called_same(attack: CommandAttack, tmp_path: Path) -> None:
    outcome, why = command_attacks.said_of(attack, tmp_path)
    assert outcome == "different", why
