"""The baseline: the reference runs under a recorder, and what it writes stays out of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze.baseline import run_baseline
from mindferry.errors import MindferryError

SCRIPT = """
import torch
torch.manual_seed(7)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(6):
    loss = ((net(x) - y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
torch.save(net.state_dict(), "net.pth")
"""


def test_losses_steps_seed_and_parameters_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    baseline = run_baseline(project, "python train.py")
    printed = [float(line) for line in (tmp_path / ".mindferry/baseline/log.txt").read_text().splitlines()[:6]]
    assert list(baseline.losses) == printed and printed[-1] < printed[0]
    assert (baseline.steps, baseline.seed, baseline.parameters) == (6, 7, ("net.pth",))
    assert baseline.steps_per_second > 0 and baseline.peak_memory > 2**25 and "torch" in baseline.versions
    assert [item.name for item in project.iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    ("script", "command", "words"),
    [
        ("raise SystemExit(3)", "python train.py", "ended with code 3"),
        ("", "no-such-program train.py", "cannot run"),
        ("", "'", "cannot run"),
        ("", "true", "ran without torch"),
    ],
)
def test_a_command_that_fails_is_named_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, command: str, words: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(script)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MindferryError, match=words):
        run_baseline(project, command)
