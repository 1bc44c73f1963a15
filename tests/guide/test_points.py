"""The table of the guide's points: every claim names a test or a page that exists, and the page is made from the table."""

from __future__ import annotations

from collections import Counter

from points import PAGE, ROOT, STATUSES, page, read_points

SCOPE = (ROOT / "docs/explanation/scope.md").read_text("utf-8")


def test_what_is_called_automated_names_a_test_or_a_page_that_is_run() -> None:
    tutorials = (ROOT / "tests/docs/test_tutorials.py").read_text("utf-8")
    for point in read_points():
        if point.status != "automated":
            continue
        file, _, test = point.shown.partition("::")
        if file.startswith("docs/"):
            assert (ROOT / file).is_file(), point
            assert "tutorials/" in file or f'"{file.rpartition("/")[2].removesuffix(".md")}"' in tutorials, point
        else:
            path = ROOT / "tests" / file
            assert path.is_file() and test and f"def {test}(" in path.read_text("utf-8"), point


def test_what_is_not_automated_has_its_reason_on_the_scope_page() -> None:
    for point in read_points():
        assert point.status in STATUSES, point
        if point.status != "automated":
            assert f"## {point.shown}\n" in SCOPE, point


def test_most_of_the_guide_is_automated_and_no_point_is_told_twice() -> None:
    points = read_points()
    assert len({(point.chapter, point.what) for point in points}) == len(points)
    assert Counter(point.status for point in points)["automated"] >= 150


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text("utf-8") == page(read_points()), "run `python -m tests.guide.points`"
