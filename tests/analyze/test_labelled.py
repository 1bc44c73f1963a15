"""The tables against code that was labelled by reading it; `python tests/analyze/score.py -v` names each difference."""

from __future__ import annotations

import pytest
import score  # beside this file


@pytest.fixture(scope="module")
def scores() -> dict[str, score.Score]:
    return score.measure()


@pytest.mark.parametrize("table", score.TABLES)
def test_nine_in_ten_of_what_is_labelled_is_shown_and_of_what_is_shown_is_labelled(
    scores: dict[str, score.Score], table: str
) -> None:
    result = scores[table]
    assert result.right > 0
    assert result.precision >= 0.9, result.wrong
    assert result.recall >= 0.9, result.missed


def test_the_labels_speak_of_ten_public_packages_and_of_every_table(scores: dict[str, score.Score]) -> None:
    names = {str(body["project"]) for _, body in score.label_files()}
    assert sum(name.startswith("tests/analyze/sources/") for name in names) >= 10
    assert sum(each.facts for each in scores.values()) >= 300 and all(each.facts for each in scores.values())


def test_the_figures_of_the_first_runs_are_kept() -> None:
    batches = {body["batch"] for _, body in score.label_files() if "batch" in body}
    assert set(score.blind()) == batches and all(set(tables) == set(score.TABLES) for tables in score.blind().values())


def test_a_label_that_nothing_shows_and_a_row_that_nobody_labelled_both_count() -> None:
    result = score.Score()
    score.compare(
        "p",
        ["optimizer | Adam | lr=1", "training | EMA"],
        ["optimizer | Adam | lr=2", "training | EMA | ModelEma"],
        result,
    )
    assert (result.right, result.wrong, result.missed) == (
        1,
        ["p: optimizer | Adam | lr=2"],
        ["p: optimizer | Adam | lr=1"],
    )
