"""A sample of the planted faults; `python tests/verify/faults.py` runs them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from .faults import FAULTS, TWINS, Fault, Twin, false_alarm, plant

SAMPLE = FAULTS[1::7]  # every network, forward and backward


@pytest.mark.parametrize("fault", SAMPLE, ids=str)
def test_a_planted_fault_is_found_and_named(fault: Fault, tmp_path: Path) -> None:
    found, named, said = plant(fault, tmp_path)
    assert found and named, said


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_a_correct_conversion_is_not_called_wrong(twin: Twin, tmp_path: Path) -> None:
    assert false_alarm(twin, 5, tmp_path) == ""
