"""The plain run: a converted script must run by itself, as the original does, or be named with file and line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mindferry import artifacts
from mindferry.artifacts import PlainRun
from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.frameworks.mirror import mirror
from mindferry.frameworks.watched import Run, scratch_folder
from mindferry.observe import observe
from mindferry.train import train_side_by_side
from mindferry.train.band import outside_band
from mindferry.train.plain import _EXIT_NOISE, _by_chance, judge, plain_summary, run_plain

SCRIPT = """import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
scale = float(open("settings.txt").read())
data = TensorDataset(scale * torch.randn(48, 4), torch.randint(0, 3, (48,)))
loader = DataLoader(data, batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(4, 6), {layer}, nn.ReLU(), nn.Linear(6, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
print("argument", sys.argv[1])
open("done.txt", "w").write("done")
"""


def run(folder: Path, script: str, *edit: tuple[str, str]) -> PlainRun:
    project, output = folder / "project", folder / "out"
    project.mkdir()
    (project / "train.py").write_text(script)
    (project / "settings.txt").write_text("1.0")
    convert_project(project, output)
    text = (output / "train.py").read_text()
    for before, after in edit:
        assert before in text
        text = text.replace(before, after)
    (output / "train.py").write_text(text)
    return run_plain(project, output, [["python", "train.py", "a b"]], steps=50, seeds=2, most=2)


def test_a_script_that_runs_by_itself_passes_and_leaves_both_folders_alone(tmp_path: Path) -> None:
    done = run(tmp_path, SCRIPT.format(layer="nn.Dropout(0.2)"))
    assert done.passed and done.finding is None
    assert (done.ended, done.reference_ended) == ("itself", "itself")
    assert len(done.losses) == len(done.seeds[0]) == 12 and len(done.seeds) == 2
    assert len({losses[0] for losses in (*done.seeds, done.losses)}) == 3, "every run has its own random numbers"
    assert "argument a b" in done.output
    assert not list(tmp_path.glob("*/done.txt")) and not list(tmp_path.glob("*/__pycache__"))


def test_the_first_error_is_named_with_file_line_and_cause(tmp_path: Path) -> None:
    done = run(tmp_path, SCRIPT.format(layer="nn.Identity()"), ("print(", "import torch\nprint("))
    assert not done.passed and done.finding is not None
    line = (tmp_path / "out/train.py").read_text().splitlines().index("import torch") + 1
    assert (done.finding.path, done.finding.line) == ("train.py", line)
    assert "No module named 'torch'" in done.finding.message


def test_weights_that_never_change_are_told_by_their_losses(tmp_path: Path) -> None:
    script = SCRIPT.format(layer="nn.Identity()").replace("torch.randint(0, 3, (48,))", "torch.ones(48).long()")
    done = run(tmp_path, script, ("opt(grads)", "opt(tuple(each * 0 for each in grads))"))
    assert not done.passed and done.finding is not None and "outside of the band" in done.finding.message


@pytest.mark.parametrize("seed", range(5))
def test_one_more_seed_lies_in_the_band_and_a_runaway_does_not(seed: int) -> None:
    import random

    dice = random.Random(seed)

    def curve() -> list[float]:
        return [2.0 * 0.95**n + dice.gauss(0, 0.1) for n in range(40)]

    seeds = [curve() for _ in range(8)]
    assert outside_band(curve(), seeds)[1] == ""
    start = curve()[0]
    assert (
        "the loss falls by" in outside_band([start + dice.gauss(0, 0.02) for _ in range(40)], seeds)[1]
        or "outside" in (outside_band([start] * 40, seeds)[1])
    )
    assert "step" in outside_band([2.0 + 0.05 * n for n in range(40)], seeds)[1]
    assert outside_band([float("nan")] * 40, seeds)[1]


def test_a_mirror_has_the_conversion_the_data_and_the_neighbours(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name, text in {
        "data/x.txt": "x",
        "project/train.py": "old",
        "project/deep/y.bin": "y",
        "out/train.py": "new",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    folder = mirror(home / "project", tmp_path / "scratch", home / "out")
    assert (folder / "train.py").read_text() == "new" and (folder / "deep/y.bin").read_text() == "y"
    assert (folder / "../data/x.txt").read_text() == "x"
    (folder / "deep/y.bin").write_text("changed")
    assert (home / "project/deep/y.bin").read_text() == "y"


ASKING = """import torch

count = int(input("steps? "))
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(count):
    opt.zero_grad()
    loss = net(torch.ones(3, 2)).pow(2).sum()
    loss.backward()
    opt.step()
"""


def test_what_the_original_was_told_is_told_to_both_when_they_train(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/train.py").write_text(ASKING)
    convert_project(tmp_path / "project", tmp_path / "out")
    curves = train_side_by_side(tmp_path / "out", Train("train.py", steps=9), stdin="3\n")
    assert curves.passed and len(curves.reference) == len(curves.converted) == 3


def run_of(losses: int, ended: str) -> Run:
    steps = [{"loss": 1.0 / (1 + number), "lr": 0.1} for number in range(losses)]
    return Run(("python", "train.py"), 0, ended, 1.0, "", ({"steps": steps},), Path())


@pytest.mark.parametrize(("ended", "is_wrong"), [("steps", False), ("itself", True)])
def test_where_time_ended_the_original_the_steps_that_were_asked_for_are_enough(ended: str, is_wrong: bool) -> None:
    finding = judge(run_of(8, ended), [run_of(19, "seconds")] * 2).finding
    assert (finding is not None) == is_wrong


@pytest.mark.parametrize(("ours", "is_wrong"), [(12, False), (14, False), (9, True), (20, True)])
def test_how_many_steps_there_may_be_is_what_the_seeds_show(ours: int, is_wrong: bool) -> None:
    runs = [run_of(count, "itself") for count in (12, 15, 11)]
    finding = judge(run_of(ours, "itself"), runs).finding
    assert (finding is not None) == is_wrong
    if finding is not None:
        assert finding.message == f"the converted script made {ours} training steps, the original 11 to 15"


def test_a_run_without_steps_or_with_losses_that_are_no_numbers_does_not_speak_of_a_band() -> None:
    done = PlainRun("python a.py", "itself", "itself", (), ((), ()), True)
    assert plain_summary(done) == (
        "ran by itself, without torch, to its end, as the original does; neither makes a training step"
    )
    nothing = (float("nan"),)
    assert "tell nothing" in plain_summary(replace(done, losses=nothing, seeds=(nothing, nothing)))


CACHING = """import os
import sys
import torch

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
LAST = os.path.join(HERE, "runs", "last.pt")
if os.path.exists("cache.pt") or os.path.exists(LAST):
    raise SystemExit("the cache is there already")
torch.save({"x": torch.ones(2)}, LAST)
torch.save({"x": torch.ones(2)}, "cache.pt")
os.mkdir("made")
open("made/log.txt", "w").write("made")
net = torch.nn.Linear(2, 1)
torch.nn.init.constant_(net.weight, 0.5)
torch.nn.init.constant_(net.bias, 0.0)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    loss = net(torch.load("cache.pt")["x"]).pow(2).sum()
    loss.backward()
    opt.step()
"""


def test_later_runs_begin_as_the_observed_one_began(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(CACHING)
    (project / "runs").mkdir()
    (project / "runs" / "readme.txt").write_text("what was trained")
    with scratch_folder() as scratch:
        seen = observe(project, [["python", "train.py"]], scratch).observation
    assert (project / "cache.pt").exists() and seen.written == ("cache.pt", "made", "made/log.txt", "runs/last.pt")
    convert_project(project, tmp_path / "out", observation=seen)
    assert not (tmp_path / "out/cache.pt").exists()
    curves = train_side_by_side(tmp_path / "out", Train("train.py", steps=2), without=seen.written)
    done = run_plain(project, tmp_path / "out", [["python", "train.py"]], seeds=1, most=1, without=seen.written)
    assert curves.passed and done.passed and len(done.losses) == 2
    assert not any((tmp_path / "out").rglob("*.ckpt"))  # the conversion's first run at home begins there, too


def test_a_long_output_is_read_back(tmp_path: Path) -> None:
    done = PlainRun("python a.py", "itself", "itself", (), ((), ()), True, output="Namespace(x=1, " * 200)
    artifacts.save(done, tmp_path, "plain")
    assert artifacts.load(PlainRun, tmp_path, "plain") == done


def test_what_mindspore_says_at_the_very_end_is_not_the_scripts() -> None:
    noise = "Exception ignored in: <function Cell.__del__ at 0x7f>\nTraceback (most recent call last):\n"
    noise += '  File "cell.py", line 1040, in __del__\n  File "weakref.py", line 505, in pop\n'
    noise += "TypeError: 'NoneType' object is not callable\n"
    assert _EXIT_NOISE.sub("", f"loss 1.0\n{noise}{noise}TypeError: mine\n") == "loss 1.0\nTypeError: mine\n"


def test_one_run_outside_of_the_band_is_chance_where_two_more_lie_in_it() -> None:
    def run_with(*losses: float) -> Run:
        steps = [{"loss": loss, "lr": 0.1} for loss in losses]
        return Run(("python", "train.py"), 0, "itself", 1.0, "", ({"steps": steps},), Path())

    seeds = [run_with(1.0 + 0.01 * number, 0.9 + 0.01 * number) for number in range(8)]
    far, near = run_with(3.0, 2.9), run_with(1.03, 0.95)
    told = judge(far, seeds)
    assert not told.passed and _by_chance(told, [near, far], seeds) is told
    chance = _by_chance(told, [near, near], seeds)
    assert chance.passed and chance.left_band == 1 and "in 2 of 3 runs" in plain_summary(chance)


def at_rates(*rates: float) -> Run:
    steps = [{"loss": 1.0, "lr": rate} for rate in rates]
    return Run(("python", "train.py"), 0, "itself", 1.0, "", ({"steps": steps, "pid": 1},), Path())


def test_a_rate_that_falls_later_is_found_whatever_the_losses_say() -> None:
    falls = at_rates(0.1, 0.1, 0.1, 0.01, 0.01)
    told = judge(at_rates(0.1, 0.1, 0.1, 0.1, 0.1), [falls, falls]).finding
    assert told is not None and told.message == "step 5: a learning rate of 0.1, where the original has 0.01"
    assert judge(at_rates(0.1, 0.1, 0.01, 0.01, 0.01), [falls, falls]).finding is None  # it tells that of the next step
    by_chance = at_rates(0.1, 0.1, 0.1, 0.1, 0.05)
    assert judge(at_rates(0.1, 0.1, 0.1, 0.1, 0.02), [falls, by_chance]).finding is None
    assert judge(at_rates(*[float("nan")] * 5), [falls, falls]).finding is None
