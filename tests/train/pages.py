"""Trains the projects and the trainers beside their references and writes what was measured:

    python -m tests.train.pages projects   → docs/reference/projects.md (about 15 minutes on two cores)
    python -m tests.train.pages trainers   → docs/reference/trainers.md; first, the packages, none of which changes another one:

    pip install --no-deps bert_pytorch deepctr-torch denoising-diffusion-pytorch pytorchyolo accelerate ema-pytorch scikit-learn joblib \
        threadpoolctl cloudpickle requests urllib3 idna certifi charset_normalizer terminaltables torchsummary imgaug tensorboard absl-py \
        opencv-python-headless imageio scikit-image shapely lazy_loader networkx tifffile matplotlib contourpy cycler fonttools \
        kiwisolver pyparsing python-dateutil six psutil pyyaml huggingface_hub packaging
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from mindferry.artifacts import Curves, ProjectConversion
from mindferry.config import Train, read_config
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.files import write_text
from mindferry.train import train_side_by_side

ROOT = Path(__file__).parents[2]
PROJECTS, TRAINERS, PAGES = ROOT / "tests" / "projects", ROOT / "tests" / "trainers", ROOT / "docs" / "reference"
SHIM = ROOT / "examples" / "resnet50_cifar10" / "torchvision_ops.py"
ACCURACY = {  # what a project prints last about its accuracy, after its whole training
    "ctc_digits": r"test [\d.]+ \(([\d.]+)\)",
    "distillation": r"student .*accuracy ([\d.]+)",
    "ema_resume": r"ema acc ([\d.]+)",
    "finetune_frozen": r"Best val Acc: ([\d.]+)",
    "mnist_cnn": r"Accuracy: (\d+/\d+)",
    "multitask_steps": r"kind accuracy ([\d.]+)",
    "spirals_script": r"acc ([\d.]+)",
    "transformer_tagger": r"accuracy ([\d.]+)",
}
WHOLE = """import contextlib, io, pathlib, runpy, sys
here, printed = pathlib.Path(__file__).parent, io.StringIO()
sys.argv[0] = str(here / SCRIPT)
try:
    with contextlib.redirect_stdout(printed):
        runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    if not (here / "printed.txt").exists():  # the reference runs again in float64
        (here / "printed.txt").write_text(printed.getvalue())
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What training both sides of one project showed."""

    name: str
    steps: int
    first: float  # largest relative difference of the first ten losses
    all: float  # of the first fifty
    drift: float  # the reference's own, float32 against float64
    seconds: float
    findings: tuple[str, ...] = ()
    failure: str = ""
    accuracy: tuple[str, ...] = ("", "")  # reference, conversion: the last one that a whole run prints


def train(name: str, source: Path, output: Path, result: ProjectConversion) -> Row:
    findings = tuple(
        dict.fromkeys(f"{each.path}:{each.line} {each.message}" for each in result.findings if each.severity == "error")
    )
    options, pattern = read_config(source).train, ACCURACY.get(name, "")
    make_torchvision_importable(source)
    if pattern:
        for folder in (source, output):
            (folder / "whole.py").write_text(WHOLE.replace("SCRIPT", repr(options.script)))
        options = Train("whole.py", options.args, 10**6, options.tolerance)
    try:
        curves = train_side_by_side(output, options, drift=True)
    except MindferryError as error:
        return Row(name, 0, 0.0, 0.0, 0.0, 0.0, findings, str(error))
    differences = relative(curves)
    failure = "" if len(curves.reference) == len(curves.converted) else curves.first_difference
    worst, first, drift = max(differences[:50]), max(differences[:10]), max(curves.drift[:50], default=float("nan"))
    accuracy = tuple(
        (re.findall(pattern, (folder / "printed.txt").read_text()) or [""])[-1] if pattern else ""
        for folder in (source, output)
    )
    return Row(name, len(differences), first, worst, drift, curves.seconds, findings, failure, accuracy)


def relative(curves: Curves) -> list[float]:
    pairs = zip(curves.reference, curves.converted, strict=False)
    return [abs(ours.loss - theirs.loss) / max(abs(theirs.loss), 1e-12) for theirs, ours in pairs]


def make_torchvision_importable(source: Path) -> None:
    """Some wheels of torchvision miss operators. Done after the conversion, which sees the project as it is."""
    if any("torchvision" in path.read_text("utf-8") for path in source.rglob("*.py")):
        shutil.copy(SHIM, source)
        script = source / (re.search(r'script = "(.*)"', (source / "mindferry.toml").read_text()) or [""])[1]
        script.write_text("import torchvision_ops\n" + script.read_text("utf-8"), "utf-8")


def measure(name: str, home: Path, packages: Iterable[str] = ()) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / name, Path(folder) / f"{name}_ms"
        shutil.copytree(home / name, source)
        for package in packages:
            spec = importlib.util.find_spec(package)
            if spec is None or spec.origin is None:
                raise MindferryError(f"{package} is not installed; the first lines of {Path(__file__).name} say how")
            shutil.copytree(Path(spec.origin).parent, source / package, ignore=shutil.ignore_patterns("__pycache__"))
        row = train(name, source, output, convert_project(source, output))
        print(f"{name}: {row.steps} steps, {row.first:.1e}, {row.all:.1e} {row.failure}", file=sys.stderr, flush=True)
        return row


def projects_page(rows: list[Row]) -> str:
    lines = [
        "# Projects that train on both sides",
        "",
        "Made by `python -m tests.train.pages projects`. Each project of `tests/projects` is converted without a hand edit and trained beside",
        "its reference from the same weights, on the same batches and random numbers, dropout off. Differences are relative to the",
        "reference's loss; drift is the reference's own, float32 against float64. A loss may be 1e-4 off in the first ten steps and 1e-2",
        "up to the fiftieth, or three times the drift. Those that classify train to their end: the last accuracy that each side prints.",
        "",
        "| project | steps | first 10 losses | first 50 | drift of the reference | accuracy: torch | MindSpore | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        limit = max(1e-4, 3 * row.drift), max(1e-2, 3 * row.drift)
        verdict = row.failure or ("follows" if row.first <= limit[0] and row.all <= limit[1] else "differs")
        lines.append(
            f"| {row.name} | {row.steps} | {row.first:.1e} | {row.all:.1e} | {row.drift:.1e} | {' | '.join(row.accuracy)} | {verdict} |"
        )
    followed = sum(line.endswith("| follows |") for line in lines)
    return "\n".join([*lines, "", f"{followed} of {len(rows)} follow."]) + "\n"


def trainers_page(rows: list[Row]) -> str:
    lines = [
        "# Trainers of published packages",
        "",
        "Made by `python -m tests.train.pages trainers`, which says what to install. The whole package is converted; its own trainer runs",
        "on both sides, called by the script in `tests/trainers`, on a little made-up data, from the same weights and batches, dropout off.",
        "Differences are relative to the reference's loss; drift is the reference's own, float32 against float64.",
        "",
        "| package | steps | first 10 losses | first 50 | drift of the reference | |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        if row.steps:
            limit = max(1e-4, 3 * row.drift), max(1e-2, 3 * row.drift)
            verdict = row.failure or ("follows" if row.first <= limit[0] and row.all <= limit[1] else "differs")
            lines.append(
                f"| {row.name} | {row.steps} | {row.first:.1e} | {row.all:.1e} | {row.drift:.1e} | {verdict} |"
            )
        else:
            lines.append(f"| {row.name} | 0 | | | | {row.failure} |")
    for row in rows:
        lines += ["", f"## {row.name}", ""]
        lines += [f"- {finding}" for finding in row.findings] or ["Nothing is left unconverted."]
        if row.failure:
            lines += ["", f"It stops: {row.failure}"]
    return "\n".join(lines) + "\n"


def main(what: str, *names: str) -> None:
    """All of them, or the named ones, whose rows are put among those already measured."""
    home = PROJECTS if what == "projects" else TRAINERS
    everything = sorted(path.name for path in home.iterdir() if (path / "mindferry.toml").is_file())
    for name in names or everything:
        row = measure(name, home, () if what == "projects" else (name,))
        put(what, row, everything)


def put(what: str, row: Row, everything: list[str]) -> None:
    page, data = PAGES / f"{what}.md", PAGES / f"{what}.json"
    known = {each["name"]: Row(**each) for each in json.loads(data.read_text())} if data.is_file() else {}
    known[row.name] = row
    rows = [known[name] for name in everything if name in known]
    write_text(data, json.dumps([asdict(each) for each in rows], indent=1) + "\n")
    write_text(page, projects_page(rows) if what == "projects" else trainers_page(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
