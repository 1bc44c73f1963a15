"""docs/reference/guide.md from points.tsv: each point of the guide, what becomes of it, and the test that shows it.

python -m tests.guide.points
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/guide.md"
STATUSES = ("automated", "advice", "partly", "out of scope")


@dataclass(frozen=True, slots=True)
class Point:
    chapter: str
    what: str
    status: str
    shown: str  # "folder/test_file.py::test_name", "docs/page.md", or a heading of the scope page


def read_points() -> list[Point]:
    lines = (Path(__file__).parent / "points.tsv").read_text("utf-8").splitlines()
    return [Point(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def page(points: list[Point]) -> str:
    count = Counter(point.status for point in points)
    lines = [
        "# The migration guide, point by point",
        "",
        "What MindSpore's guide has an engineer do by hand, and what mindferry makes of it. Written from `tests/guide/points.tsv` by",
        "`python -m tests.guide.points`; a test checks that every test and page named here exists. An earlier count of the guide,",
        "whose list was not kept, had 172 points; this list was written anew from the same guide.",
        "",
        f"{len(points)} points: {', '.join(f'{count[status]} {status}' for status in STATUSES)}. What is not automated is explained in",
        "[What is automated, and what is not](../explanation/scope.md).",
    ]
    for chapter in dict.fromkeys(point.chapter for point in points):
        lines += ["", f"## {chapter.capitalize()}", "", "| point | status | shown by |", "| --- | --- | --- |"]
        for point in points:
            if point.chapter == chapter:
                shown = point.shown
                if shown.startswith("docs/"):
                    shown = f"[{Path(shown).stem}](../{shown.removeprefix('docs/')})"
                elif ".py" in shown:
                    shown = f"`{shown}`"
                lines.append(f"| {point.what} | {point.status} | {shown} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(read_points()), "utf-8")
