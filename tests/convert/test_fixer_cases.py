"""Every fixer has cases (fixers/cases/NAME.txt): what it writes where it applies, and what it leaves alone. Without the fixer, no such line is there."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

import pytest

from mindferry.convert import engine
from mindferry.convert.fixers import discover
from mindferry.convert.project import convert_project

FIXERS = Path(__file__).parent / "fixers"
CASES = FIXERS / "cases"
HEAD = "import copy\nimport os\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
# Their work shows only beside another option or package: --with, --record-graphs, --target ascend, TensorFlow, a library.
ELSEWHERE = {
    "brought_imports": "tests/library",
    "keep_gradient_switches": "tests/train",
    "mixed_precision": "tests/convert/test_mixed_precision.py",
}


@dataclass(frozen=True, slots=True)
class FixerCase:
    """One block of a file: a title, a source, and after ---- the lines and findings that the fixer is the cause of."""

    fixer: str
    title: str
    source: str
    written: list[str]


def cases() -> list[FixerCase]:
    found = []
    for path in sorted(CASES.glob("*.txt")):
        for block in path.read_text("utf-8").split("\n====\n"):
            title, _, rest = block.strip("\n").partition("\n")
            source, _, written = rest.partition("\n----")
            found.append(
                FixerCase(path.stem, title.removeprefix("# "), source + "\n", written.strip("\n").splitlines())
            )
    return found


def test_every_fixer_has_cases_that_apply_and_cases_that_do_not() -> None:
    fixers = {each.name for each in discover() if each.source == "torch"}
    applied = {each.fixer for each in cases() if each.written}
    tested_alone = {path.stem.removeprefix("test_") for path in FIXERS.glob("test_*.py")}
    assert fixers - applied - tested_alone - set(ELSEWHERE) == set()
    assert {each.fixer for each in cases()} <= fixers
    assert applied - {each.fixer for each in cases() if not each.written} == set()


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.fixer}: {case.title}")
def test_a_fixer_writes_what_its_case_says(case: FixerCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines, found = _converted(case.source, tmp_path / "with")
    others = tuple(each for each in engine.FIXERS if each.name != case.fixer)
    assert len(others) == len(engine.FIXERS) - 1
    monkeypatch.setattr(engine, "FIXERS", others)
    without, known = _converted(case.source, tmp_path / "without")
    added = [line[2:] for line in difflib.ndiff(without, lines) if line.startswith("+ ")]
    gone = [f"- {line[2:]}" for line in difflib.ndiff(without, lines) if line.startswith("- ")] if not added else []
    assert [*added, *gone, *(f"! {code}" for code in found if code not in known)] == case.written


def _converted(source: str, project: Path) -> tuple[list[str], list[str]]:
    """(the lines of the file without its imports and our comments, the codes of its findings)."""
    project.mkdir()
    (project / "main.py").write_text(HEAD + source, "utf-8")
    texts: dict[str, bytes] = {}
    conversion = convert_project(project, project / "never written", check=True, texts=texts)
    lines = texts["main.py"].decode("utf-8").splitlines()
    left_out = ("import ", "from ", "# mindferry")
    codes = [finding.code for file in conversion.files for finding in file.findings]
    return [line for line in lines if line.strip() and not line.startswith(left_out)], codes
