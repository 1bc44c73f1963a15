"""The README: every command in it is run by a test, every file that it links to is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks

README = (ROOT / "README.md").read_text("utf-8")
SYNOPSIS = next(block.text for block in blocks(ROOT / "README.md") if "mindferry migrate  PROJECT" in block.text)
NAMED = sorted(set(re.findall(r"^mindferry (\w+)", SYNOPSIS, re.MULTILINE)))
# What stands in the README's `sh` blocks -> the test that runs it.
RUN_BY = {
    "make demo": "test_make_demo_ends_with_the_path_of_the_report",
    "make test": "test_make_test_is_what_ci_runs",
    "source .venv/bin/activate": "test_a_project_of_your_own_from_the_environment_that_it_names",
    "mindferry migrate my_project -o my_project_ms": "test_a_project_of_your_own_from_the_environment_that_it_names",
}
MODEL = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))

    def forward(self, x):
        return self.body(x)
"""
TRAIN = """import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from model import Net


def main():
    dice = np.random.default_rng(0)
    images, labels = torch.from_numpy(dice.normal(size=(32, 4)).astype("float32")), torch.from_numpy(dice.integers(0, 3, 32))
    loader = DataLoader(TensorDataset(images, labels), batch_size=8)
    net, loss_of = Net(), nn.CrossEntropyLoss()
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in loader:
            sgd.zero_grad()
            loss = loss_of(net(x), y)
            loss.backward()
            sgd.step()
            print(loss.item())


if __name__ == "__main__":
    main()
"""
SETTINGS = """[verify]
model = "model:Net"
inputs = ["float32[2,4]"]

[train]
script = "train.py"
steps = 5
"""


def commands(text: str) -> list[str]:
    return [line.partition(" #")[0].strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mindferry", *arguments], cwd=folder, capture_output=True, text=True)


def test_every_command_in_its_sh_blocks_is_run_by_a_test_of_this_file() -> None:
    found = {line for block in blocks(ROOT / "README.md") if block.language == "sh" for line in commands(block.text)}
    assert found == set(RUN_BY)
    assert [name for name in RUN_BY.values() if name not in globals()] == []


def test_no_command_hides_in_a_block_that_is_not_run() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs/tutorials").glob("*.md"))]
    for page in pages:
        fences = re.findall(r"^```(.*)$", page.read_text("utf-8"), re.MULTILINE)
        assert set(fences[::2]) <= {"sh", "text", "toml", "python", "cpp", "diff"}, (
            page.name
        )  # opening fences; no bare ones
        assert set(fences[1::2]) == {""}, page.name


@pytest.mark.slow
def test_make_demo_ends_with_the_path_of_the_report(tmp_path: Path) -> None:
    for name in ("Makefile", "scripts", "examples"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    venv = Path(sys.executable).parents[1]
    done = subprocess.run(["make", "-o", "setup", f"VENV={venv}", "demo"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "The conversion behaves like the original.",
        "report: build/resnet50_ms/mindferry-report.html",
    ]
    assert (tmp_path / "build/resnet50_ms/mindferry-report.html").is_file()


def test_make_test_is_what_ci_runs() -> None:
    """It runs these tests, so it can't be run by one: its lines are those of scripts/test, and pytest is among them."""
    told = subprocess.run(
        ["make", "--no-print-directory", "-n", "-o", "setup", "test"], cwd=ROOT, capture_output=True, text=True
    ).stdout.splitlines()
    script = [line.removeprefix("exec ") for line in (ROOT / "scripts/test").read_text().splitlines()]
    lines = [re.sub(r"^\S*/bin/", ".venv/bin/", line) for line in told]
    assert [line for line in lines if line not in script] == []
    assert any("-m pytest" in line for line in lines)


def test_a_project_of_your_own_from_the_environment_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "my_project").mkdir()
    (tmp_path / "my_project/model.py").write_text(MODEL)
    block = next(block.text for block in blocks(ROOT / "README.md") if "source .venv" in block.text)
    script = block.replace(".venv/bin/activate", str(Path(sys.executable).parent / "activate"))
    done = subprocess.run(
        ["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PS1": ""}
    )
    assert done.returncode == 0, done.stderr
    assert (
        'model = "model:Net"' in done.stdout
        and done.stdout.splitlines()[-1] == "report: my_project_ms/mindferry-report.html"
    )


# The synopsis with a project in place of its capitals; 1 is an answer too, where there is something to find.
LINES = {
    "analyze": ["analyze PROJECT"],
    "convert": ["convert PROJECT -o OTHER"],
    "migrate": ["migrate PROJECT -o OUT"],
    "observe": ["observe PROJECT -o seen.zip -- python train.py"],
    "weights": [
        "weights convert model.pth -o model.ckpt --model model:Net --project OUT",
        "weights inspect model.ckpt",
        "weights diff model.pth model.ckpt",
    ],
    "verify": ["verify OUT", "verify OUT --data"],
    "record": ["record PROJECT --model model:Net --input float32[2,4] -o net.golden"],
    "train": ["train OUT"],
    "tune": ["tune OUT --steps 2"],
    "launch": ["launch OUT/train.py --workers 1"],
    "export": ["export OUT"],
    "report": ["report OUT", "report OUT --format markdown", "report OUT --json"],
    "rules": ["rules list torch.nn.Li", "rules show torch.nn.Linear", "rules check torch.nn.Linear"],
    "env": ["env"],
}


@pytest.mark.slow
def test_every_line_of_the_synopsis_runs(tmp_path: Path) -> None:
    assert sorted(LINES) == NAMED
    for name, text in {"model.py": MODEL, "train.py": TRAIN, "mindferry.toml": SETTINGS}.items():
        (tmp_path / "PROJECT").mkdir(exist_ok=True)
        (tmp_path / "PROJECT" / name).write_text(text)
    save = "import sys, torch; sys.path.insert(0, 'PROJECT'); from model import Net; torch.save(Net().state_dict(), 'model.pth')"
    subprocess.run([sys.executable, "-c", save], cwd=tmp_path, check=True)
    order = ["migrate", *(name for name in LINES if name not in ("migrate", "report")), "report"]
    for line in (line for name in order for line in LINES[name]):
        done = run(tmp_path, *line.split())
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr, (
            f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
        assert done.returncode == 0 or line.startswith("tune"), f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    told = json.loads(run(tmp_path, "report", "OUT", "--json").stdout)
    assert told["overview"]["state"] == "same" and {
        each["stage"] for each in told["overview"]["stages"] if each["state"] == "absent"
    } == {"weights"}


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:`|^)make (\w+)", README, re.MULTILINE))))
def test_every_make_target_is_in_the_makefile(target: str) -> None:
    assert subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True).returncode == 0


def test_the_synopsis_names_every_command_and_no_other() -> None:
    from mindferry.cli import cli

    assert sorted(cli.list_commands(None)) == NAMED


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 10 and [link for link in links if not (ROOT / link).exists()] == []


MEASURED = (ROOT / "docs/reference/measured.md").read_text("utf-8")
MEASURING = sorted(set(re.findall(r"`python (?:-m )?((?:benchmarks|tests)[\w/.]+)", README + MEASURED)))


@pytest.mark.parametrize("script", MEASURING)
def test_every_script_that_measures_is_there_and_tells_its_options(script: str) -> None:
    """They take minutes to hours; the figures are what they wrote when they were run."""
    path = ROOT / (script if script.endswith(".py") else f"{script.replace('.', '/')}.py")
    text = path.read_text("utf-8")
    compile(text, path, "exec")
    if "argparse" in text:
        start = [script] if script.endswith(".py") else ["-m", script]
        done = subprocess.run([sys.executable, *start, "--help"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0 and "usage" in done.stdout, done.stderr


def test_there_are_scripts_that_measure() -> None:
    assert len(MEASURING) > 6
