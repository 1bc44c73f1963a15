"""Which networks of a run can be compared by themselves: the calls that made them as they were written, and what nobody called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.artifacts import Comparison, Coverage, Difference, Gap, Outcome
from mindferry.observation import Input, Maker, Network, Observation, load_observation
from mindferry.observe.use import Comparable, comparables, is_factory
from mindferry.observe.verified import joined

NET = """import torch
from torch import nn
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self, width=None, sizes=(), options=None):
        super().__init__()
        width = width or 5
        sizes = [4, *sizes, width]
        depth = options.pop("depth", 1)
        self.layers = nn.Sequential(*(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])))
        self.gain = nn.Parameter(torch.ones(depth))

    def encode(self, x):
        return self.layers[0](x)

    def forward(self, x):
        return self.layers(x) * self.gain[0]


class Score(nn.Module):  # as torchmetrics' Metric: while it is being made, it has no hash
    def __init__(self):
        super().__init__()
        self.states = {"right": 0}

    def __hash__(self):
        return hash(tuple(self.states))


class Loader(DataLoader):
    def __eq__(self, other):
        return len(self) == len(other)


def build(cfg, **more):
    cfg = {"width": 3, **cfg}
    more.setdefault("sizes", (7,))
    return Net(cfg["width"], options={"depth": 2}, **more)
"""
TRAIN = """import torch

from net import Loader, Net, Score, build


def main():
    used, unused = build({}, sizes=(6,)), Net(9, options={})
    score, loader = Score(), Loader(torch.ones(2, 4), batch_size=2)
    for _ in range(2):
        (x,) = loader
    used.layers[0](x)
    used(x).sum().backward()
    torch.optim.SGD(used.parameters(), lr=0.1).step()


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    folder = tmp_path_factory.mktemp("seen")
    (folder / "project").mkdir()
    (folder / "project" / "net.py").write_text(NET)
    (folder / "project" / "train.py").write_text(TRAIN)
    words = [sys.executable, "-m", "mindferry", "observe", "project", "-o", "seen.zip", "--", "python", "train.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return load_observation(folder / "seen.zip")


def test_arguments_are_those_of_the_call_whatever_the_function_does_with_them(seen: Observation) -> None:
    (network,) = seen.networks
    assert [maker.text for maker in network.makers] == [
        "Net(width=3, sizes=(6,), options={'depth': 2})",
        "build(cfg={}, sizes=(6,))",
        "main()",
    ]
    assert is_factory(network.makers[0], Path(seen.project))


def test_a_part_that_is_called_alone_is_no_network_of_its_own_and_what_nobody_calls_is_told(seen: Observation) -> None:
    assert [network.name for network in seen.networks] == ["net.Net"]
    assert seen.uncalled == ("net.Net: it was made and never called",)


CACHED = """import copy
import sys
from functools import partial

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Net(nn.Module):
    def __init__(self, layer=partial(nn.Linear, bias=False)):
        super().__init__()
        self.fc = layer(3, 3)

    def forward(self, x, past=None):
        return self.fc(x) if past is None else self.fc(torch.cat([past, x]))


if __name__ == "__main__":
    net, x = Net(), torch.randn(2, 3)
    net(x)
    average, wider = copy.deepcopy(net), copy.deepcopy(net)
    wider.fc = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3))
    average(x), wider(x), AveragedModel(net)(x)
    if sys.argv[1:] == ["sample"]:
        net(x, net(x))
"""


def test_a_way_of_calling_that_only_a_later_command_has_is_compared_and_copies_are_not_by_themselves(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "go.py").write_text(CACHED)
    words = [
        sys.executable,
        "-m",
        "mindferry",
        "observe",
        "project",
        "-o",
        "o",
        "--",
        "python go.py && python go.py sample",
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found, missing = comparables(load_observation(tmp_path / "o"), tmp_path / "o", tmp_path / "arrays")
    known = [(each.model, len(each.inputs), len(each.network.structure)) for each in found]
    assert not missing and known == [("go:Net()", 1, 2), ("go:Net()", 1, 4), ("go:Net()", 2, 2)]
    assert len({each.weights for each in found}) == 3 and all(Path(each.weights).is_file() for each in found)


def compared(outcome: Outcome, *gaps: Gap) -> Comparison:
    row = Difference("fc", "output", (2,), 0.0, 0.0, 1.0, 1e-5, 0.0, 0.0, outcome is not Outcome.DIFFERENT)
    first = "fc" if outcome is Outcome.DIFFERENT else ""
    same = outcome is Outcome.SAME
    return Comparison("m", "", (row,), None, same, first, outcome=outcome, coverage=Coverage({"output": 1}, gaps))


def comparable(name: str) -> Comparable:
    network = Network(name, (Maker("net", "Net", "net.py", {}, True, "", 1),), 1, (), (Input((), {}, True),), (), 1)
    return Comparable(network, f"net:{name}()", (), "")


def test_objects_are_told_apart_whatever_they_say_of_their_own_equality(seen: Observation) -> None:
    assert [(each.batches, each.passes) for each in seen.loaders] == [(1, 2)]


def test_of_several_networks_the_least_that_can_be_said_is_said() -> None:
    both = [comparable("net.A"), comparable("net.A")]
    same, different = compared(Outcome.SAME), compared(Outcome.DIFFERENT)
    partial = compared(Outcome.PARTIAL, Gap("module", "aux", "not reached", "never called"))
    assert joined(both, [same, same], ()).outcome is Outcome.SAME
    told = joined(both, [same, partial], ())
    assert told.outcome is Outcome.PARTIAL and not told.passed and told.first_divergence == ""
    assert [gap.name for gap in told.coverage.gaps] == ["A 2.aux"]  # type: ignore[union-attr]
    assert joined(both, [partial, different], ()).first_divergence == "A 2.fc"
    assert {row.name for row in joined(both, [same, same], ()).differences} == {"A.fc", "A 2.fc"}


def test_a_network_that_was_not_compared_keeps_the_others_from_being_called_the_same() -> None:
    same = compared(Outcome.SAME)
    for told in (
        joined([comparable("net.A")], [same], ["net.B: its inputs are not plain arrays"]),
        joined([comparable("net.A")], [same], (), ["net.B: it was made and never called"]),
        joined([], [], ["net.B: its inputs are not plain arrays"]),
    ):
        assert told.outcome is Outcome.PARTIAL and not told.passed
        assert [gap.name for gap in told.coverage.gaps if gap.subject == "network"] == ["net.B"]  # type: ignore[union-attr]
