"""What a script prints, where no loss tells what it computes."""

from __future__ import annotations

import pytest

from mindferry.train.printed import Printed, compare_printed, is_alike

THEIRS = """loaded last.pth, 3 images
a.png: class 2 (0.7126)
b.png: class 0 (0.4410)
/x/predict.py:9: UserWarning: 3 of 4 pages
  load(4)
took 0.31 s
"""
OURS = """loaded last.ckpt, 3 images
a.png: class 2 (0.7127)
b.png: class 0 (0.4410)
took 9.87 s
"""


def test_lines_that_chance_does_not_decide_are_compared() -> None:
    assert compare_printed(OURS, [THEIRS, THEIRS.replace("0.31", "0.29")]) == Printed(5)
    told = compare_printed(OURS.replace("class 0", "class 1"), [THEIRS, THEIRS])
    assert told.wrong == "it prints `b.png: class 1 (0.4410)`, the original `b.png: class 0 (0.4410)`"


def test_what_varies_with_the_seed_or_is_printed_otherwise_is_told_and_not_compared() -> None:
    assert compare_printed(OURS, [THEIRS, THEIRS.replace("0.71", "0.33")]).missed == "a.png: class 2 (0.7126)"
    assert compare_printed(OURS.replace("(0.4410)", "0.4410"), [THEIRS, THEIRS]).missed.startswith("b.png")
    assert compare_printed(OURS, [THEIRS]).compared == 0  # one run does not tell what chance decides
    assert compare_printed("nothing", ["nothing", "nothing"]) == Printed()


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("0.7126", "0.7127", True),
        ("0.7126", "0.7326", False),
        ("3", "3", True),
        ("3", "4", False),
        ("1.2345e-05", "1.2346e-05", True),
        ("1.2345e-05", "1.3e-05", False),
        ("1000.0", "1000.4", True),
        ("0.10", "0.11", True),
        ("-0.50", "0.50", False),
    ],
)
def test_numbers_are_alike_up_to_rounding(one: str, other: str, is_same: bool) -> None:
    assert is_alike(one, other) is is_same
