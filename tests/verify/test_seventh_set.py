"""The seventh set: attacks that were called same the first time, methods that are tried, and what is the same on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from .attacks import Attack, said_of
from .seventh_attacks import RIGHT, SEVENTH

FOOLED = (
    "infinity in the input",
    "a quotient of zeros",
    "rounding to the even number",
    "division towards zero for division down",
)
LISTED = (  # before methods were called: all methods were listed
    "a branch of a method by an option",
    "an option of a method that is another one",
    "an epsilon in a method",
    "a limit in a method",
    "a method that freezes less",
    "a part of a random buffer",
)


@pytest.mark.parametrize("attack", [each for each in SEVENTH if each.name in (*FOOLED, *LISTED)], ids=str)
def test_what_is_not_the_same_is_not_called_so(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) != "same"


@pytest.mark.parametrize("twin", RIGHT, ids=str)
def test_what_is_the_same_on_both_sides_is_called_same_and_nothing_is_listed(twin: Attack, tmp_path: Path) -> None:
    assert said_of(twin, tmp_path) == "same"
