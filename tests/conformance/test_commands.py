"""The list of commands for public projects: every entry can be tried, and the data that it reads can be made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpus.commands import Row, entries, summary
from corpus.listed import projects
from corpus.made_up import KINDS, make


def test_every_command_is_of_a_listed_project_and_reads_data_that_can_be_made() -> None:
    known = {project.name for project in projects()}
    found = entries()
    assert len(found) >= 20 and len({each.name for each in found}) == len(found)
    assert {each.project for each in found} <= known
    assert {kind for each in found for kind in each.data.values()} <= set(KINDS)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"images", "pictures", "masked"}))
def test_made_up_data_are_the_same_every_time(tmp_path: Path, kind: str) -> None:
    for side in ("a", "b"):
        make(kind, tmp_path / side / "made")
    first, second = (
        {
            path.relative_to(tmp_path / side): path.read_bytes()
            for path in (tmp_path / side).rglob("*")
            if path.is_file()
        }
        for side in ("a", "b")
    )
    assert first == second and (first or kind == "empty")


def test_made_up_digits_are_read_as_idx_files(tmp_path: Path) -> None:
    make("mnist", tmp_path)
    raw = np.fromfile(tmp_path / "MNIST/raw/train-labels-idx1-ubyte", np.uint8)
    assert len(raw) == 8 + 640 and raw[8:].max() == 9


def test_what_is_counted_is_what_was_seen() -> None:
    rows = [
        Row("a", "x", exit_code=0, unclear=10, unresolved=1),
        Row("b", "x", exit_code=1, unclear=10),
        Row("c", "x", exit_code=3, crash="Traceback"),
        Row("d", "x", missing="no clone"),
        Row("e", "x", exit_code=4),
    ]
    told = summary(rows)
    assert told[0].startswith("commands tried: 4 of ") and told[1:4] == [
        "behave like the original: 1",
        "the same as far as compared: 1",
        "named by a finding or a verdict: 1",
    ]
    assert told[5].endswith(": 1") and "20 before the watched run, 1 after it (95 % resolved)" in told[7]
