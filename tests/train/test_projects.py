"""Each project of tests/projects, converted without a hand edit, follows its reference step by step."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mindferry.artifacts import Curves, ProjectConversion
from mindferry.config import read_config
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.train import train_side_by_side
from mindferry.train.side_by_side import allowed

from .gaps import GAPS

PROJECTS = Path(__file__).parents[1] / "projects"
NAMES = sorted(path.name for path in PROJECTS.iterdir() if (path / "mindferry.toml").is_file())
QUICK = ("linear_regression_by_hand", "matrix_factorization", "mnist_cnn", "spirals_script", "vae")  # these train in CI
TRAINED = [name for name in NAMES if name not in GAPS or GAPS[name].failure]
TORCHVISION_SHIM = Path(__file__).parents[2] / "examples" / "resnet50_cifar10" / "torchvision_ops.py"


def convert(name: str, folder: Path) -> tuple[Path, ProjectConversion]:
    source, output = folder / name, folder / f"{name}_ms"
    shutil.copytree(PROJECTS / name, source)
    return output, convert_project(source, output)


def make_torchvision_importable(source: Path) -> None:
    """Some wheels of torchvision miss operators. Done after the conversion, which sees the project as it is."""
    if any("torchvision" in path.read_text() for path in source.glob("*.py")):
        shutil.copy(TORCHVISION_SHIM, source)
        script = source / read_config(source).train.script
        script.write_text("import torchvision_ops\n" + script.read_text())


def errors(result: ProjectConversion) -> list[str]:
    return [str(finding) for finding in result.findings if finding.severity == "error"]


def too_far(curves: Curves) -> list[str]:
    """Steps whose loss is farther off than 1e-4 (the first ten), 1e-2 (the others), or three times torch's own rounding."""
    found = []
    for step, (theirs, ours) in enumerate(zip(curves.reference, curves.converted, strict=True)):
        limit = allowed(1e-4 if step < 10 else 1e-2, step, curves.drift)
        if not abs(ours.loss - theirs.loss) <= limit * abs(theirs.loss):
            found.append(f"step {step + 1}: {ours.loss:.7g} against {theirs.loss:.7g}, allowed {limit:.1e}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_project_converts_without_an_error_or_its_gap_is_known(name: str, tmp_path: Path) -> None:
    output, result = convert(name, tmp_path)
    gap = GAPS.get(name)
    if gap is not None and gap.finding:
        assert any(gap.finding in error for error in errors(result)), (
            f"the gap of {name} has closed: take it out of gaps.py"
        )
        return
    assert errors(result) == []
    for path in output.rglob("*.py"):
        unguarded = re.findall(r"^(?:import|from) torch\b.*", path.read_text(), re.MULTILINE)
        assert unguarded == [], path


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in TRAINED]
)
def test_a_converted_project_learns_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    output, _ = convert(name, tmp_path)
    gap = GAPS.get(name)
    make_torchvision_importable(tmp_path / name)
    try:
        curves = train_side_by_side(output, drift=True)
        seen = (
            curves.first_difference
            if len(curves.reference) != len(curves.converted)
            else "\n".join(too_far(curves)[:5])
        )
    except MindferryError as error:
        seen = str(error)
    if gap is not None:
        assert seen, f"the gap of {name} has closed: take it out of gaps.py"
        assert gap.failure in seen
        pytest.xfail(gap.reason)
    assert seen == ""


def test_every_gap_names_a_project() -> None:
    assert set(GAPS) <= set(NAMES)
    assert all(bool(gap.finding) != bool(gap.failure) for gap in GAPS.values())
