"""`nets:small(classes=3)`, written once, is understood by every stage that builds the network."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from guide_projects import write

from mindferry.cli import cli
from mindferry.convert import convert_project
from mindferry.suggest import suggest_model, suggest_network

NETS = """from torch import nn


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, classes))

    def forward(self, x):
        return self.body(x)


def small(classes=10):
    return Net(8, classes)
"""
TRAIN = """import torch
from torch import nn

from nets import small

COUNT = 3
net = small(classes=COUNT)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch.save(net.state_dict(), "net.pth")
"""
SPEC = "nets:small(classes=3)"
TOML = f'[weights]\nfile = "net.pth"\n\n[verify]\nmodel = "{SPEC}"\ninputs = ["float32[5,4]"]\nseed = 7\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"nets.py": NETS, "train.py": TRAIN})


def test_the_call_that_is_suggested_is_the_one_that_the_project_makes(project: Path) -> None:
    told = suggest_model(project, "nets.py", "Net")
    assert (told.model, told.is_complete, told.inputs) == (SPEC, True, "float32[2,4]")
    assert suggest_network(project) == SPEC


def test_the_suggestion_the_generated_tests_and_the_trainer_say_the_same(project: Path, tmp_path: Path) -> None:
    from mindferry.convert.settings import Settings
    from mindferry.verify.unit_tests import write_tests

    write(project, {"mindferry.toml": TOML})
    result = convert_project(project, tmp_path / "out", settings=Settings(trainer=True))
    (test,) = write_tests(result)
    assert f"model='{SPEC}', inputs=['float32[5,4]'], seed=7" in test.read_text()
    trainer = (tmp_path / "out" / "trainer.py").read_text()
    assert "from nets import small as make_model" in trainer and "make_model(classes=3)" in trainer


def test_sets_of_inputs_are_read_and_the_generated_tests_take_the_first(project: Path, tmp_path: Path) -> None:
    from mindferry.verify.unit_tests import write_tests

    sets = TOML.replace('["float32[5,4]"]', '[["float32[5,4]"], ["float32[1,4]"]]')
    write(project, {"mindferry.toml": sets})
    (test,) = write_tests(convert_project(project, tmp_path / "out"))
    assert "inputs=['float32[5,4]']" in test.read_text()


def test_weights_verify_and_export_build_the_same_network(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    write(project, {"mindferry.toml": TOML})
    out = tmp_path / "out"
    convert_project(project, out)
    monkeypatch.syspath_prepend(str(project))
    torch.manual_seed(1)
    try:
        from nets import small

        torch.save(small(classes=3).state_dict(), project / "net.pth")
    finally:
        sys.modules.pop("nets", None)
    run = CliRunner().invoke
    carried = run(
        cli,
        [
            "weights",
            "convert",
            str(project / "net.pth"),
            "-o",
            str(out / "net.ckpt"),
            "--model",
            SPEC,
            "--project",
            str(out),
        ],
    )
    assert carried.exit_code == 0 and "4 tensors" in carried.output, carried.output
    verified = run(cli, ["verify", str(out)])
    assert verified.exit_code == 0, verified.output
    exported = run(cli, ["export", str(out), "-o", str(tmp_path / "exported")])
    assert exported.exit_code == 0 and re.search(r"small\.mindir", exported.output), exported.output
    wrong = run(
        cli,
        [
            "weights",
            "convert",
            str(project / "net.pth"),
            "-o",
            str(tmp_path / "x.ckpt"),
            "--model",
            "nets:small(classes=4)",
            "--project",
            str(out),
        ],
    )
    assert wrong.exit_code == 1 and "wrong shape" in wrong.output
