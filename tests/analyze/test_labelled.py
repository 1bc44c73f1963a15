"""The tables against code that was labelled by reading it; `python tests/analyze/score.py -v` names each difference."""

from __future__ import annotations

import pytest
import score  # beside this file


@pytest.fixture(scope="module")
def scores() -> dict[str, score.Score]:
    return score.measure()


@pytest.mark.parametrize("table", [*score.SHOWN, "move"])
def test_nine_in_ten_of_what_is_labelled_is_shown_and_of_what_is_shown_is_labelled(scores: dict[str, score.Score], table: str) -> None:
    result = scores[table]
    assert result.right > 0
    assert result.precision >= 0.9, result.wrong
    assert result.recall >= 0.9, result.missed


def test_a_label_that_nothing_shows_and_a_row_that_nobody_labelled_both_count() -> None:
    result = score.Score()
    score.compare("p", ["optimizer | Adam | lr=1", "training | EMA"], ["optimizer | Adam | lr=2", "training | EMA | ModelEma"], result)
    assert (result.right, result.wrong, result.missed) == (1, ["p: optimizer | Adam | lr=2"], ["p: optimizer | Adam | lr=1"])
