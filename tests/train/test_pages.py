"""The pages of projects and trainers say what the last measurement wrote down, of every project and trainer."""

from __future__ import annotations

import json

import pytest

from .pages import PAGES, PROJECTS, TRAINERS, Row, projects_page, trainers_page


@pytest.mark.parametrize(
    "what, home, page", [("projects", PROJECTS, projects_page), ("trainers", TRAINERS, trainers_page)]
)
def test_a_page_is_made_from_its_figures_and_leaves_nothing_out(what: str, home: object, page: object) -> None:
    rows = [Row(**each) for each in json.loads((PAGES / f"{what}.json").read_text())]
    assert [row.name for row in rows] == sorted(
        path.name for path in home.iterdir() if (path / "mindferry.toml").is_file()
    )  # type: ignore[attr-defined]
    assert (PAGES / f"{what}.md").read_text() == page(rows)  # type: ignore[operator]


def test_a_loss_that_is_too_far_off_is_not_called_following() -> None:
    near, far = Row("near", 50, 9e-5, 9e-3, 0.0, 1.0), Row("far", 50, 2e-4, 9e-3, 0.0, 1.0)
    assert "9.0e-03 | 0.0e+00 |  |  | follows |" in projects_page([near]) and "1 of 1 follow." in projects_page([near])
    assert "| differs |" in projects_page([far]) and "0 of 1 follow." in projects_page([far])
