"""The sixth set: attacks that were called same the first time, one of each class, and what is the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from .attacks import Attack, said_of
from .sixth_attacks import HARMLESS, SIXTH

FOOLED = (
    "a factor that nobody gives",
    "a temperature of one",
    "a scale that training may turn negative",
    "an axis counted from the front",
    "a last piece that is left out",
    "numbers that are drawn in vain",
    "layers made in another order",
    "a part by its number",
    "a hook on what is loaded",
    "a second network that shares with the first",
)


@pytest.mark.parametrize("attack", [each for each in SIXTH if each.name in FOOLED], ids=str)
def test_what_fooled_the_verdict_does_so_no_longer(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) != "same"


@pytest.mark.parametrize("twin", HARMLESS, ids=str)
def test_what_is_the_same_on_both_sides_is_called_same(twin: Attack, tmp_path: Path) -> None:
    assert said_of(twin, tmp_path) == "same"
