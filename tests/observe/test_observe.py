"""`mindferry observe` with real scripts: what they show, how they are stopped, and what happens when they fail."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import torch

from mindferry.convert import convert_project
from mindferry.frameworks.watch.mindferry_watch.seeds import Seeds
from mindferry.frameworks.watch.mindferry_watch.session import Session, WatchRequest
from mindferry.frameworks.watched import Watch, run_watched
from mindferry.observation import Observation, load_observation
from mindferry.observe import split_commands
from mindferry.observe.run import runnable
from mindferry.observe.use import assignments, comparables, trained_by, training_of, written_since

TRAIN = """from __future__ import annotations
import sys
from collections import namedtuple

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from net import make

Item = namedtuple("Item", "x y")


def halves(item, store):
    a, b = item.x.chunk(2, dim=1)
    print(f"rows {item.y.size(0)}", len(store))
    return torch.cat([b, a], 1)


def never(x):
    return x + 1


def main():
    torch.manual_seed(3)
    data = TensorDataset(torch.randn(24, 4), torch.randint(0, 3, (24,)))
    net = make(8)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 1)
    with open("../beside.txt") as file:
        print(sys.argv[0], file.read())
    for x, y in DataLoader(data, batch_size=6):
        loss = nn.functional.cross_entropy(net(halves(Item(x, y), {"x": x})), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
    if len(sys.argv) > 3:
        print("many arguments")


if __name__ == "__main__":
    main()
"""
NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, classes=3):
        super().__init__()
        self.first, self.scale = nn.Linear(4, width), torch.ones(1)
        self.drop, self.last = nn.Dropout(0.1), nn.Linear(width, classes)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.first(x)))) * self.scale


def make(width):
    return Net(width)
"""


def mindferry(*words: object, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mindferry", *map(str, words)]
    return subprocess.run(command, cwd=cwd, input=given, capture_output=True, text=True, timeout=600)


def project(folder: Path, **files: str) -> Path:
    root = folder / "project"
    root.mkdir()
    (folder / "beside.txt").write_text("beside\n")
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    return root


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Observation]:
    folder = tmp_path_factory.mktemp("observed")
    root = project(folder, train=TRAIN, net=NET)
    before = sorted(folder.rglob("*"))
    done = mindferry("observe", root, "-o", "seen.zip", "--steps", 0, "--", "python", "train.py", "a", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "train.py beside" in done.stderr and "ended by itself, 4 steps" in done.stdout
    assert sorted(folder.rglob("*")) == sorted([*before, folder / "seen.zip"]), "nothing else is written"
    return folder, load_observation(folder / "seen.zip")


def test_the_run_its_networks_loaders_and_optimizers_are_seen(seen: tuple[Path, Observation]) -> None:
    _, told = seen
    (run,) = told.runs
    assert len(run.losses) == 4 and run.rates[0] == 0.1 and run.seeds == ("torch 3",) and run.ended == "itself"
    assert [Path(path).name for path in run.opened] == ["beside.txt"]
    (network,) = told.networks
    assert network.name == "net.Net" and network.calls == 4 and network.shapes == ("float32[6,4]",)
    assert [maker.text for maker in network.makers] == ["Net(width=8, classes=3)", "make(width=8)", "main()"]
    (loader,) = told.loaders
    assert (loader.batch_size, loader.batches, loader.dataset) == (6, 4, "torch.utils.data.TensorDataset")
    assert told.optimizers[0].name == "torch.optim.SGD" and told.optimizers[0].options["momentum"] == "0.5"
    assert told.schedules[0].name == "torch.optim.lr_scheduler.StepLR"
    assert "torch.cat" in told.apis and "torch" in told.versions


def test_lines_that_did_not_run_are_known(seen: tuple[Path, Observation]) -> None:
    files = {file.path: file for file in seen[1].files}
    lines = TRAIN.splitlines()
    missed = [lines[line - 1].strip() for line in files["train.py"].unreached]
    assert missed == ["return x + 1", 'print("many arguments")']
    assert not files["net.py"].unreached


def test_unclear_receivers_are_seen_inside_f_strings_too(seen: tuple[Path, Observation]) -> None:
    (file,) = [each for each in seen[1].files if each.path == "train.py"]
    lines = TRAIN.splitlines()
    texts = {lines[site.line - 1][site.column : site.end_column]: site.types for site in file.sites}
    assert {"item.x", "item.y"} <= set(texts)
    assert all(kind.kind == "tensor" for kinds in texts.values() for kind in kinds)


def test_what_was_seen_decides_and_says_so(seen: tuple[Path, Observation], tmp_path: Path) -> None:
    folder, told = seen
    alone = convert_project(folder / "project", tmp_path / "alone", check=True)
    result = convert_project(folder / "project", tmp_path / "seen", observation=told)
    marks = [each for file in result.files for each in file.rewrites if each.receiver == "observed"]
    assert marks and not [each for file in alone.files for each in file.rewrites if each.receiver]
    assert '"receiver": "observed"' in (tmp_path / "seen/.mindferry/convert.json").read_text()


def test_an_observation_of_another_version_is_refused_by_file(seen: tuple[Path, Observation], tmp_path: Path) -> None:
    root = project(tmp_path, train=TRAIN + "# changed\n", net=NET)
    done = mindferry("convert", root, "-o", "out", "--observed", seen[0] / "seen.zip", "--json", cwd=tmp_path)
    files = {file["path"]: file for file in json.loads(done.stdout)["files"]}
    assert [each["code"] for each in files["train.py"]["findings"]] == ["MF907"]
    assert not files["net.py"]["findings"]
    assert not [each for each in files["train.py"]["rewrites"] if each["receiver"]]


def test_its_networks_can_be_compared_without_a_toml(seen: tuple[Path, Observation], tmp_path: Path) -> None:
    (found,), missing = comparables(seen[1], seen[0] / "seen.zip", tmp_path)
    assert found.model == "net:Net(width=8, classes=3)" and not missing
    assert all(Path(each).is_file() for each in (*found.inputs, found.weights))


def test_two_runs_that_disagree_decide_nothing(tmp_path: Path) -> None:
    script = "import sys\nimport numpy as np\nimport torch\n\n\ndef turn(x):\n    return x.repeat(2)\n\n\n"
    script += "print(turn(torch.ones(2) if sys.argv[1] == 'a' else np.ones(2)))\n"
    root = project(tmp_path, go=script)
    both = mindferry("observe", root, "-o", "both", "--", "python go.py a && python go.py b", cwd=tmp_path)
    assert both.returncode == 0, both.stderr
    told = load_observation(tmp_path / "both")
    (site,) = told.files[0].sites
    assert [kind.kind for kind in site.types] == ["tensor", "ndarray"] and len(told.runs) == 2
    alone, result = (
        convert_project(root, tmp_path / "x", check=True, observation=each).files[0].rewrites for each in (None, told)
    )
    assert result == alone, "asked at run time, as without an observation"
    one = replace(told, files=(replace(told.files[0], sites=(replace(site, types=site.types[:1]),)),))
    result = convert_project(root, tmp_path / "x", check=True, observation=one).files[0].rewrites
    assert [each.receiver for each in result if "repeat" in each.before and each not in alone] == ["observed"]


def test_a_command_that_fails_speaks_for_itself(tmp_path: Path) -> None:
    script = (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', type=int, required=True)\n"
    )
    root = project(tmp_path, train=script + "parser.parse_args()\nopen('nothing.bin')\n")
    done = mindferry("observe", root, "-o", "seen", "--", "python", "train.py", cwd=tmp_path)
    assert done.returncode == 2 and "train.py: error: the following arguments are required: --size" in done.stderr
    done = mindferry("observe", root, "-o", "seen", "--", "python", "train.py", "--size", "3", cwd=tmp_path)
    assert done.returncode == 2 and "No such file or directory: 'nothing.bin'" in done.stderr
    assert "frozen runpy" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.txt", "project", "seen.log"]
    assert "nothing.bin" in (tmp_path / "seen.log").read_text()
    (tmp_path / "seen.log").write_text("what the user keeps\n")
    done = mindferry("observe", root, "-o", "seen", "--", "python", "train.py", cwd=tmp_path)
    assert done.returncode == 2 and "seen.command.log" in done.stderr
    assert (tmp_path / "seen.log").read_text() == "what the user keeps\n"
    assert "--size" in (tmp_path / "seen.command.log").read_text()
    done = mindferry("migrate", root, "-o", "out", "--", "no-such-program", cwd=tmp_path)
    assert done.returncode == 2 and "cannot run `no-such-program`" in done.stderr and not (tmp_path / "out").exists()


def test_a_script_that_never_ends_is_stopped_and_one_that_asks_is_answered(tmp_path: Path) -> None:
    asks = "name = input('name? ')\nprint('hello', name)\nfor line in open('/dev/stdin') if False else []: pass\n"
    forever = "import time\nprint('begin')\nwhile True:\n    time.sleep(0.05)\n"
    root = project(tmp_path, asks=asks, forever=forever)
    done = mindferry("observe", root, "-o", "a", "--", "python", "asks.py", cwd=tmp_path, given="Ada\n")
    assert done.returncode == 0 and "hello Ada" in done.stderr
    began = time.monotonic()
    done = mindferry("observe", root, "-o", "b", "--seconds", 2, "--", "python", "forever.py", cwd=tmp_path)
    assert done.returncode == 0 and "stopped by the clock" in done.stdout and time.monotonic() - began < 60
    assert load_observation(tmp_path / "b").files[0].lines == (1, 2, 3, 4)


LOOP = """import sys
import torch

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for number in range(int(sys.argv[1])):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
    print("step", number + 1)
torch.save(net.state_dict(), "net.pt")
if sys.argv[2:]:
    raise ValueError("no such metric")
"""


@pytest.mark.parametrize(
    ("arguments", "ended", "losses"),
    [("10000 x", "steps", 3), ("5", "itself", 5), ("5 x", "steps", 3)],
    ids=["a long one", "one that soon ends", "one that fails afterwards"],
)
def test_a_script_is_stopped_after_its_steps_unless_it_soon_ends(
    tmp_path: Path, arguments: str, ended: str, losses: int
) -> None:
    root = project(tmp_path, train=LOOP)
    done = mindferry("observe", root, "-o", "seen", "--steps", 3, "--", f"python train.py {arguments}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = load_observation(tmp_path / "seen").runs
    assert (run.ended, len(run.losses)) == (ended, losses)
    assert "step 31" not in done.stderr and ("no such metric" in done.stderr) == (arguments == "5 x")


def test_a_command_before_another_runs_to_its_end_and_its_files_are_there(tmp_path: Path) -> None:
    sample = "import torch\nprint('saved', sorted(torch.load('net.pt')))\n"
    root = project(tmp_path, train=LOOP, sample=sample)
    words = ["python", "train.py", "40", "&&", "python", "sample.py"]
    done = mindferry("observe", root, "-o", "seen", "--steps", 2, "--", *words, cwd=tmp_path)
    assert done.returncode == 0 and "saved ['bias', 'weight']" in done.stderr, done.stderr
    first, second = load_observation(tmp_path / "seen").runs
    assert (len(first.losses), first.ended, second.ended) == (40, "itself", "itself")
    failing = ["python", "train.py", "2", "x", "&&", "python", "sample.py"]
    for steps in (0, 2):  # 0: to its end, which an error is not
        done = mindferry("observe", root, "-o", "c", "--steps", steps, "--", *failing, cwd=tmp_path)
        assert done.returncode == 2 and "no such metric" in done.stderr and not (tmp_path / "c").exists()
    endless = ["python", "train.py", "100000000", "&&", "python", "missing.py"]
    done = mindferry("observe", root, "-o", "b", "--seconds", 4, "--", *endless, cwd=tmp_path)
    assert done.returncode == 2 and "had been stopped by --seconds" in done.stderr


def test_a_command_that_trains_after_another_finds_what_that_one_made(tmp_path: Path) -> None:
    """Rows are prepared first; what the training writes, and a file that it changes, are not what it found."""
    prepare = "for name in ('rows.txt', 'log.txt'):\n    open(name, 'w').write('8')\n"
    train = LOOP.replace("import torch\n", "import torch\nopen('rows.txt').read()\n", 1)
    words = ["python", "prepare.py", "&&", "python", "train.py", "4"]
    root = project(tmp_path, prepare=prepare, train=train)
    assert mindferry("observe", root, "-o", "seen", "--", *words, cwd=tmp_path).returncode == 0
    seen = load_observation(tmp_path / "seen")
    assert [run.written for run in seen.runs] == [("log.txt", "rows.txt"), ("net.pt",)]
    assert trained_by(seen) == (1, ("log.txt", "rows.txt")) and written_since(seen) == ("net.pt",)
    changed = replace(seen, runs=(replace(seen.runs[0], written=("rows.txt",)), seen.runs[1]))
    assert trained_by(changed) is None and written_since(changed) == ("log.txt", "net.pt", "rows.txt")
    assert trained_by(replace(seen, runs=seen.runs[:1])) == (0, ())


LONG = """import torch
from torch.utils.data import DataLoader, TensorDataset

net = torch.nn.Linear(1000, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
data = TensorDataset(torch.randn(2000, 1).expand(2000, 1000))
for number, (x,) in enumerate(batch for _ in range(20) for batch in DataLoader(data, batch_size=50)):
    states = [torch.randn(500 + number, 500) for _ in range(2)]  # 2 MB a step, each of another shape
    loss = net(x * states[0].mean()).square().mean() + states[1].sum() * 0
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_what_is_kept_of_a_long_run_is_bounded(tmp_path: Path) -> None:
    """800 steps go through more than 2 GB; the watched process holds a run's first ones alone."""
    root = project(tmp_path, train=LONG)
    done = mindferry("observe", root, "-o", "seen", "--steps", 0, "--", "python", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = load_observation(tmp_path / "seen").runs
    assert len(run.losses) == 800 and run.peak_memory < 900 << 20
    assert (tmp_path / "seen").stat().st_size < 10 << 20


def test_a_killed_run_says_so_and_leaves_no_process(tmp_path: Path) -> None:
    script = "import os, signal, subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    script += "open('child.txt', 'w').write(str(child.pid))\nos.kill(os.getpid(), signal.SIGKILL)\n"
    root = project(tmp_path, train=script)
    done = mindferry("observe", root, "-o", "seen", "--", "python", "train.py", cwd=tmp_path)
    assert done.returncode == 2 and f"was ended by signal {int(signal.SIGKILL)}" in done.stderr
    child = int((root / "child.txt").read_text())
    for _ in range(50):
        state = Path(f"/proc/{child}/stat").read_text().split()[2] if Path(f"/proc/{child}").exists() else "gone"
        if state in ("gone", "Z"):
            break
        time.sleep(0.1)
    assert state in ("gone", "Z")


def test_what_forked_workers_and_modules_reach_is_seen(tmp_path: Path) -> None:
    data = "class Squares:\n    def __len__(self):\n        return 8\n\n    def __getitem__(self, index):\n        return index * index\n"
    script = "from torch.utils.data import DataLoader\n\nfrom .data import Squares\n\nif __name__ == '__main__':\n"
    script += "    print(sum(int(batch.sum()) for batch in DataLoader(Squares(), batch_size=2, num_workers=2)))\n"
    root = project(tmp_path)
    (root / "pkg").mkdir()
    for name, text in {"__init__": "", "data": data, "train": script}.items():
        (root / f"pkg/{name}.py").write_text(text)
    done = mindferry("observe", root, "-o", "seen", "--", "python", "-m", "pkg.train", cwd=tmp_path)
    assert done.returncode == 0 and "140" in done.stderr, done.stderr
    told = load_observation(tmp_path / "seen")
    assert {file.path: file.unreached for file in told.files if file.statements} == {
        "pkg/data.py": (),
        "pkg/train.py": (),
    }
    assert told.loaders[0].workers == 2


def test_a_notebook_is_run_cell_by_cell(tmp_path: Path) -> None:
    cells = [
        "%matplotlib inline\nimport torch\n%time x = torch.ones(3)\n!ls",
        "%%time\nnet = torch.nn.Linear(3, 2)\nprint(net(x).shape)",
        "%%writefile made.txt\nhello",
        "%%bash\nexit 3",
        "get_ipython().run_line_magic('x', 'y')\nprint(open('made.txt').read())  # what?",
    ]
    body = {"cells": [{"cell_type": "code", "source": [text]} for text in cells], "nbformat": 4, "nbformat_minor": 5}
    root = project(tmp_path)
    (root / "demo.ipynb").write_text(json.dumps({**body, "metadata": {}}))
    done = mindferry("observe", root, "-o", "seen", "--", "demo.ipynb", cwd=tmp_path)
    assert done.returncode == 0 and "torch.Size([2])" in done.stderr and "hello" in done.stderr, done.stderr
    (root / "wrong.ipynb").write_text(json.dumps({**body, "cells": [{"cell_type": "code", "source": ["1 / 0"]}]}))
    failed = mindferry("observe", root, "-o", "wrong", "--", "wrong.ipynb", cwd=tmp_path)
    assert failed.returncode == 2 and "ZeroDivisionError" in failed.stderr
    assert "mindferry: `wrong.ipynb` ended with exit code 1" in failed.stderr
    assert load_observation(tmp_path / "seen").networks[0].name == "torch.nn.Linear"


def test_a_script_without_an_ending_is_read_as_python_and_anything_else_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path, train=TRAIN, net=NET)
    (root / "fit").write_text(TRAIN)
    (root / "LICENSE").write_text("import nothing, and\nfrom here on all is allowed\n")
    done = mindferry("observe", root, "-o", "seen", "--", "python", "fit", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = load_observation(tmp_path / "seen")
    assert next(file for file in seen.files if file.path == "fit").sites
    result = convert_project(root, tmp_path / "out", observation=seen)
    status = {file.path: file.status for file in result.files}
    assert status["fit"] == "converted" and status["LICENSE"] == "copied"
    assert "torch" not in (tmp_path / "out" / "fit").read_text()
    (root / "train").write_text("import torch\n")  # train.py has that module's name
    for name in ("train", "LICENSE"):
        done = mindferry("migrate", root, "-o", "other", "--", "python", name, cwd=tmp_path)
        assert done.returncode == 2 and f"{name}.py stands beside it" in done.stderr, done.stderr
        assert not (tmp_path / "other").exists()


def test_blocked_packages_are_as_if_not_installed(tmp_path: Path) -> None:
    script = "import importlib.util\nprint(importlib.util.find_spec('numpy'))\ntry:\n    import numpy\n"
    (tmp_path / "go.py").write_text(script + "except ModuleNotFoundError as error:\n    print(error)\n")
    run = run_watched(["python", "go.py"], tmp_path, Watch(tmp_path, "plain", blocked=("numpy",)), tmp_path / "s")
    assert run.output == "None\nNo module named 'numpy'\n"


def test_a_path_of_the_commands_own_keeps_what_watches_it(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/own.py").write_text("value = 3\n")
    (tmp_path / "go.py").write_text(
        "import own\ntry:\n    import numpy\nexcept ModuleNotFoundError:\n    print(own.value)\n"
    )
    words = runnable(["PYTHONPATH=lib", "python", "go.py", "a=b"])
    run = run_watched(words, tmp_path, Watch(tmp_path, "plain", blocked=("numpy",)), tmp_path / "s")
    assert run.output == "3\n" and run.records


def test_commands_are_read_as_a_user_writes_them() -> None:
    assert split_commands(["python train.py '&&' x && python b.py"]) == [
        ["python", "train.py"],
        ["x"],
        ["python", "b.py"],
    ]
    assert split_commands(["python", "a.py", "&&", "python", "b.py"]) == [["python", "a.py"], ["python", "b.py"]]
    assert runnable(["train.py", "-x"]) == ["python", "train.py", "-x"]
    told = training_of(["python", "-u", "train.py", "--lr", "1"], 5)
    assert told is not None and (told.script, told.args, told.steps) == ("train.py", ("--lr", "1"), 5)
    assert training_of(["python", "-m", "pkg.train"], 5).script == "-m pkg.train"
    assert training_of(["torchrun", "--nproc_per_node", "2", "train.py"], 5) is None
    assert training_of(["torchrun", "--nproc_per_node=1", "train.py", "a"], 5).script == "train.py"
    assert training_of(["python", "-W", "ignore", "train.py"], 5).script == "train.py"
    assert training_of(["python", "bin/train", "--lr", "1"], 5).script == "bin/train"
    assert training_of(["make", "train"], 5) is None
    named = ["CUDA_VISIBLE_DEVICES=", "NAME=a b", "python", "train.py"]
    assert runnable(named) == ["env", *named] and training_of(named, 5).script == "train.py"
    assert assignments(named) == {"CUDA_VISIBLE_DEVICES": "", "NAME": "a b"} and not assignments(["python", "a=b"])
    assert os.sep == "/"


ODD = """import torch
from torch import nn


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.lazy = nn.LazyLinear(2)

    def forward(self, x, edges):
        return torch.spmm(edges, self.lazy(x))


net = Graph()
edges = torch.eye(3).to_sparse()
print("out", net(torch.ones(3, 4), edges).shape)
"""


def test_inputs_that_are_no_arrays_and_lazy_layers_do_not_end_the_run(tmp_path: Path) -> None:
    root = project(tmp_path, train=ODD)
    done = mindferry("observe", root, "-o", "seen.zip", "--", "python", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (network,) = load_observation(tmp_path / "seen.zip").networks
    assert "out torch.Size([3, 2])" in done.stderr and network.calls == 1
    assert [each.kind for each in network.inputs[0].positional] == ["array", "other"]


CHECK = """import torch
from net import make


def test_forward():
    assert make(5)(torch.ones(2, 4)).shape == (2, 3)
"""


def test_a_launcher_and_a_test_runner_are_watched_as_python_is(tmp_path: Path) -> None:
    root = project(tmp_path, train=TRAIN, net=NET, test_net=CHECK)
    launched = ["torchrun", "--standalone", "--nproc_per_node=1", "train.py"]
    for words, calls, steps in ((launched, 4, 4), (["pytest", "-q", "test_net.py"], 1, 0)):
        done = mindferry("observe", root, "-o", f"{words[0]}.zip", "--", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        told = load_observation(tmp_path / f"{words[0]}.zip")
        assert [(each.name, each.calls) for each in told.networks] == [("net.Net", calls)]
        assert [len(run.losses) for run in told.runs] == [steps]
        others = {"torchrun": ("test_net.py",), "pytest": ("train.py",)}
        assert told.unloaded == others[words[0]]


STATEFUL = """import torch


class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(3, 4)

    def forward(self, x, state):
        return self.cell(x, state)


if __name__ == "__main__":
    net, state = Cell(), torch.zeros(2, 4)
    for x in torch.randn(3, 2, 3):
        state = net(x, state)
"""


def test_a_state_that_begins_at_zero_is_compared_where_it_is_no_longer(tmp_path: Path) -> None:
    root = project(tmp_path, train=STATEFUL)
    done = mindferry("observe", root, "-o", "seen.zip", "--", "python", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,), _ = comparables(load_observation(tmp_path / "seen.zip"), tmp_path / "seen.zip", tmp_path / "arrays")
    _, state = (numpy.load(each) for each in found.inputs)
    assert state.any()


@pytest.mark.parametrize(
    ("caller", "call", "given"),
    [
        ("lightning.fabric.utilities.seed", "seed(3)", 8),
        ("transformers.trainer_utils", "seed(seed=3)", 8),
        ("torch.utils.data._utils.worker", "seed(3)", 3),
    ],
)
def test_a_seed_that_a_library_sets_for_the_project_is_another_one_in_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caller: str, call: str, given: int
) -> None:
    for owner in (numpy.random, random):
        monkeypatch.setattr(owner, "seed", owner.seed)
    seeded: list[int] = []
    framework = SimpleNamespace(seed=lambda seed: seeded.append(seed))
    Seeds(Session(WatchRequest(str(tmp_path), str(tmp_path), "train", seed=5))).install([(framework, "seed", "torch")])
    exec(call, {"__name__": caller, "seed": framework.seed})
    assert seeded == [given]


def test_a_process_of_two_frameworks_keeps_what_both_saw(tmp_path: Path) -> None:
    session = Session(WatchRequest(str(tmp_path), str(tmp_path), "observe"))
    session.at_end(lambda is_last: {"networks": ["torch's"], "seeds": [["torch", 3]], "versions": {"torch": "2"}})
    session.at_end(lambda is_last: {"networks": [], "seeds": [], "versions": {"keras": "3"}, "stdin": ""})
    for _ in range(2):
        session.write("running")
    told = json.loads(next(tmp_path.glob("part-*.json")).read_text())
    assert told["networks"] == ["torch's"] and told["seeds"] == [["torch", 3]]
    assert told["versions"] == {"torch": "2", "keras": "3"}


def test_a_file_that_the_commands_write_themselves_is_not_what_they_were_given(tmp_path: Path) -> None:
    """An earlier run has left a checkpoint, which this one writes anew before it is loaded; another is read first."""
    save = (
        "import torch\ntorch.load('old.pt')\ntorch.save(torch.nn.Linear(2, 1), 'whole.pt')\ntorch.save({}, 'old.pt')\n"
    )
    load = "import torch\nprint(torch.load('whole.pt', weights_only=False)(torch.ones(1, 2)).shape)\n"
    root = project(tmp_path, save=save, load=load)
    for name in ("whole", "old"):
        torch.save({"a": torch.ones(2)}, root / f"{name}.pt")
    commands = ["python", "save.py", "&&", "python", "load.py"]
    done = mindferry("observe", root, "-o", "seen.zip", "--", *commands, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    opened = [name for run in load_observation(tmp_path / "seen.zip").runs for name in run.opened]
    assert [name for name in opened if name.endswith(".pt")] == ["old.pt"]
