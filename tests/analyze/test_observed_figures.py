"""`analyze --observed`: figures, epochs and shapes come from the run, and not from another version of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze import analyze_project
from mindferry.analyze.observed import TOPIC, with_observation
from mindferry.analyze.sheets import sheets
from mindferry.observation import Observation
from mindferry.observe import observe

SCRIPT = """import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(5)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(torch.randn(7, 3), batch_size=4)
for epoch in range(2):
    for x in loader:
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch}, accuracy: {50 + epoch}%")
torch.save(net.state_dict(), "net.pth")
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Observation]:
    folder = tmp_path_factory.mktemp("analyzed")
    project = folder / "project"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    return project, observe(project, [["python", "train.py"]], folder / "scratch").observation


def test_figures_and_shapes_are_those_of_the_run(seen: tuple[Path, Observation]) -> None:
    project, told = seen
    inventory = with_observation(analyze_project(project), told, project)
    baseline = inventory.baseline
    assert baseline is not None and (baseline.steps, baseline.epochs, baseline.seed) == (4, 2, 5)
    assert baseline.metrics == {"accuracy": "51%"} and baseline.parameters == ("net.pth",)
    assert len(set(baseline.losses)) == 4 and baseline.peak_memory > 2**25 and "torch" in baseline.versions
    (shapes,) = [each.what for each in inventory.dynamic if each.topic == TOPIC]
    assert "float32[4,3]; float32[3,3]" in shapes
    (sheet,) = [each for each in sheets(inventory) if each.title == "Baseline"]
    assert ("epochs", "2") in sheet.rows


def test_figures_of_another_version_are_refused(seen: tuple[Path, Observation], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("lr=0.1", "lr=0.2"))
    inventory = with_observation(analyze_project(tmp_path), seen[1], tmp_path)
    assert inventory.baseline is None
    assert [(each.code, each.path) for each in inventory.findings] == [("MF907", "train.py")]
