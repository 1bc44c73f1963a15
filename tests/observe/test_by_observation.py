"""After `convert --observed`, `verify` and `train` know what to compare without a mindferry.toml."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.by_observation import archive_of, observed_training
from mindferry.cli import cli
from mindferry.observation import save_observation
from mindferry.observe import observe

SCRIPT = """import sys
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.two = nn.Linear(3, width), nn.Linear(width, 2)

    def forward(self, x):
        return self.two(torch.tanh(self.one(x)))


if __name__ == "__main__":
    net = Net(int(sys.argv[1]))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.randn(3, 4, 3):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_verify_compares_the_networks_of_the_observed_run(tmp_path: Path) -> None:
    project, out, seen = tmp_path / "project", tmp_path / "out", tmp_path / "seen.zip"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    found = observe(project, [["python", "train.py", "5"]], tmp_path / "scratch")
    save_observation(found.observation, seen, found.parts)
    assert CliRunner().invoke(cli, ["convert", str(project), "-o", str(out), "--observed", str(seen)]).exit_code == 0
    assert archive_of(out).is_file()
    told = observed_training(out, 2)
    assert told is not None and (told.script, told.args, told.steps) == ("train.py", ("5",), 2)
    compared = CliRunner().invoke(cli, ["verify", str(out), "--json"])
    body = json.loads(compared.stdout)
    assert compared.exit_code == 0 and body["model"] == "train:Net(width=5)" and body["outcome"] == "same"


def test_each_way_in_which_the_run_called_a_network_is_compared(tmp_path: Path) -> None:
    """A flag that only evaluation gives: outputs and gradients of both ways, and no line is called unreached."""
    project, out, seen = tmp_path / "project", tmp_path / "out", tmp_path / "seen.zip"
    project.mkdir()
    flagged = SCRIPT.replace("forward(self, x)", "forward(self, x, full=False)")
    flagged = flagged.replace(
        "return self.two(torch.tanh(self.one(x)))",
        "h = torch.tanh(self.one(x))\n        return (self.two(h), h) if full else self.two(h)",
    )
    (project / "train.py").write_text(f"{flagged}    print(len(net(x, full=True)))\n")
    found = observe(project, [["python", "train.py", "5"]], tmp_path / "scratch")
    assert [len(each.inputs) for each in found.observation.networks] == [3]  # two calls, and one of another way
    save_observation(found.observation, seen, found.parts)
    assert CliRunner().invoke(cli, ["convert", str(project), "-o", str(out), "--observed", str(seen)]).exit_code == 0
    assert json.loads(CliRunner().invoke(cli, ["verify", str(out), "--json"]).stdout)["outcome"] == "same"
    text = (out / "train.py").read_text()
    assert "(self.two(h), h) if full" in text
    (out / "train.py").write_text(text.replace("(self.two(h), h) if full", "(self.two(h), h * 1.5) if full"))
    assert json.loads(CliRunner().invoke(cli, ["verify", str(out), "--json"]).stdout)["outcome"] == "different"
    (out / "train.py").write_text(
        text.replace("(self.two(h), h) if full", "(self.two(h), mindspore.ops.stop_gradient(h)) if full").replace(
            "import sys\n", "import sys\nimport mindspore\n"
        )
    )
    assert json.loads(CliRunner().invoke(cli, ["verify", str(out), "--json"]).stdout)["outcome"] == "different"


ADAPTED = """import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.low = base, nn.Parameter(torch.randn(base.out_features, base.in_features) / 9)

    def forward(self, x):
        return self.base(x) + x @ self.low.t()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.two(torch.tanh(self.one(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def build():
    net = Net()
    for block in net.blocks:
        block.one = Adapter(block.one)
    return net
"""
STEPS = """import torch
from net import Net, build, nn

if __name__ == "__main__":
    net = {made}
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.randn(3, 5, 4):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("build()", {"model": "net:build()", "outcome": "same"}),
        ("Net(); net.blocks[1].two = nn.Linear(4, 3)", {"model": "", "outcome": "same as far as compared"}),
    ],
)
def test_a_network_whose_layers_were_changed_is_compared_as_the_run_used_it(
    made: str, told: dict[str, str], tmp_path: Path
) -> None:
    """By the function that makes it so; where there is none, that is what the verdict says, and nothing is left for the user."""
    project, out, seen = tmp_path / "project", tmp_path / "out", tmp_path / "seen.zip"
    project.mkdir()
    (project / "net.py").write_text(ADAPTED)
    (project / "train.py").write_text(STEPS.format(made=made))
    found = observe(project, [["python", "train.py"]], tmp_path / "scratch")
    save_observation(found.observation, seen, found.parts)
    assert CliRunner().invoke(cli, ["convert", str(project), "-o", str(out), "--observed", str(seen)]).exit_code == 0
    compared = CliRunner().invoke(cli, ["verify", str(out), "--json"])
    body = json.loads(compared.stdout)
    assert {name: body[name] for name in told} == told, compared.output
