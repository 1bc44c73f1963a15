"""Keras projects in several styles train the same once they are converted: every number that they print."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from two_processes import PROJECTS, REASON, has_tensorflow

from mindferry.artifacts import ProjectConversion

NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
NAMES = [path.name for path in PROJECTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_project_converts_without_a_finding(name: str, converted: dict[str, tuple[Path, ProjectConversion]]) -> None:
    folder, result = converted[name]
    assert [found for file in result.files for found in file.findings] == []
    text = (folder / "train.py").read_text()
    assert "import ms_keras" in text and "tensorflow" not in re.sub(r'"[^"]*"', "", text)


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
@pytest.mark.parametrize("name", NAMES)
def test_a_project_prints_the_same_numbers(
    name: str, reference_prints: dict[str, dict[str, str]], converted_prints: dict[str, dict[str, str]]
) -> None:
    reference, got = reference_prints[name], converted_prints[name]
    assert not reference["error"], reference["error"]
    assert not got["error"], got["error"]
    wanted, found = (np.array(NUMBER.findall(each["printed"]), float) for each in (reference, got))
    assert len(wanted) >= 6 and np.ptp(wanted) > 0
    assert NUMBER.sub("#", got["printed"]).split() == NUMBER.sub("#", reference["printed"]).split()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-4)
