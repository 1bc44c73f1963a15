"""The page of Keras projects says what the last measurement wrote down, of every project."""

from __future__ import annotations

import json

from keras_pages import PAGES, PROJECTS, STYLES, Row, page


def test_the_page_is_made_from_its_figures_and_leaves_no_project_out() -> None:
    rows = [Row(**each) for each in json.loads((PAGES / "keras-projects.json").read_text())]
    assert sorted(row.name for row in rows) == sorted(STYLES)
    assert sorted(STYLES) == sorted(each.name for each in PROJECTS.iterdir() if (each / "train.py").is_file())
    assert (PAGES / "keras-projects.md").read_text() == page(rows)


def test_a_loss_that_is_too_far_off_is_not_called_following() -> None:
    assert "1 of 1 follow." in page([Row("lenet", 10, 9e-5, 0.0, 4, 0)])
    assert "| differs |" in page([Row("lenet", 10, 2e-4, 0.0, 4, 0)])
    assert "| differs |" in page([Row("lenet", 0, 0.0, 0.0, 0, 0)])
