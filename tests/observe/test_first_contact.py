"""First contact: commands that the project names itself, and a toml whose lines fit the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.artifacts import Comparison, Coverage, Gap, Outcome
from mindferry.observation import CommandRun, Observation, SeenFile
from mindferry.observe.commands import propose_commands
from mindferry.observe.verified import as_the_run_reached
from mindferry.report.reach import unreached
from mindferry.suggest import suggest_model

NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, {signature}):\n        super().__init__()\n        self.a = {layer}\n"


def test_the_readme_speaks_first_and_training_before_the_rest(tmp_path: Path) -> None:
    files = {
        "README.md": "Run `python tools/plot.py` or:\n```bash\npip install -r x\n$ python train.py \\\n  --lr 1\npython missing.py\n```\n",
        "train.py": "import torch\nif __name__ == '__main__':\n    pass\n",
        "tools/plot.py": "if __name__ == '__main__':\n    pass\n",
        "pkg/main.py": "from . import data\nif __name__ == '__main__':\n    pass\n",
        "Makefile": "sample:\n\tpython sample.py -n 3\n",
        "sample.py": "import torch\n",
        "demo.ipynb": '{"cells": [{"source": "import torch"}]}',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = propose_commands(tmp_path, limit=9)
    commands = [each.command for each in found]
    assert commands[:2] == ["python train.py --lr 1", "python train.py"]
    assert {"python -m pkg.main", "python sample.py -n 3", "demo.ipynb", "python tools/plot.py"} < set(commands)
    assert not [each for each in commands if "missing" in each or "pip" in each]
    assert found[0].found_in == "README.md"


def test_what_can_be_run_as_it_stands_comes_before_what_cannot(tmp_path: Path) -> None:
    readme = (
        "python train.py --config {DATASET}.yml",
        "python train.py --data [your folder]",
        "python train.py $FLAGS",
        "python train.py --help",
        "python train.py --data /path/to/imagenet",
        "torchrun --nproc_per_node=8 train.py",
        "python train.py --eval --resume last.pt",
        "python train.py --data small",
    )
    files = {
        "README.md": "\n".join(f"```\n{line}\n```" for line in readme),
        "train.py": "import torch\nparser = 1\nargs = parser.parse_args()\nloss.backward()\n",  # no __main__
        "old.py": "import torch\nfor epoch in range(3):\n    print 'loss'\n    loss.backward()\n",  # Python 2's
        "data set.py": "import torch\nif __name__ == '__main__':\n    pass\n",
        "model.py": "import torch\nif __name__ == '__main__':\n    pass\n",
        "fit": "#!/usr/bin/env python\nimport torch\nmain()\n",
        "pkg/__main__.py": "import torch\nmain()\n",
        "pkg/parts.py": "import torch\n\ndef f(x):\n    return x.backward()\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = [each.command for each in propose_commands(tmp_path, limit=20)]
    assert found[:2] == ["python train.py --data small", "torchrun --nproc_per_node=8 train.py"]
    assert found.index("python train.py") < found.index("python train.py --data /path/to/imagenet")
    assert {"python old.py", "python fit", "python 'data set.py'", "python -m pkg"} < set(found)
    assert found.index("python old.py") < found.index("python model.py")
    assert not [
        each for each in found if "{" in each or "[" in each or "$" in each or "help" in each or "parts" in each
    ]


@pytest.mark.parametrize(
    ("signature", "layer", "call", "model", "inputs"),
    [
        ("channels, classes=10", "nn.Conv2d(channels, 8, 3)", "Net(1)", "net:Net(channels=1)", "float32[2,1,64,64]"),
        ("words=500", "nn.Embedding(words, 8)", "", "net:Net", "int64[2,16]@0..500"),
        ("a, *, b", "nn.Linear(7, 8)", "", "net:Net(a=…, b=…)", "float32[2,7]"),
        ("n=3", "nn.Linear(n, 8)", "Net(n=x)", "net:Net", "float32[2,3]"),
        ("n", "nn.LSTM(n, 8)", "Net(4)", "net:Net(n=4)", "float32[2,5,4]"),
        ("n", "nn.GRU(n, 8)", "build(6)", "main:build(6)", "float32[2,5,…]"),
        ("n", "nn.GRU(n, 8)", "build(n=args.size)", "main:build(n=5)", "float32[2,5,…]"),
        (
            "n, wide",
            "nn.Conv2d(n, 8, 3)",
            "Net(args.size, wide=args.wide)",
            "net:Net(5, wide=False)",
            "float32[2,5,64,64]",
        ),
        ("n, wide", "nn.Conv2d(n, 8, 3)", "Net(3, not args.wide)", "net:Net(3, True)", "float32[2,3,64,64]"),
        ("n", "make_layer(n)", "", "net:Net(n=…)", "…"),
    ],
)
def test_the_call_is_the_one_that_the_project_writes(
    tmp_path: Path, signature: str, layer: str, call: str, model: str, inputs: str
) -> None:
    (tmp_path / "net.py").write_text(NET.format(signature=signature, layer=layer))
    maker = "def build(n):\n    net = Net(n)\n    return net\n\n" if "build" in call else ""
    options = "parser.add_argument('--size', default=5)\nparser.add_argument('--wide', '-w', action='store_true')\n"
    (tmp_path / "main.py").write_text(f"from net import Net\n{maker}{options}{call}\n")
    told = suggest_model(tmp_path, "net.py", "Net")
    assert (told.model, told.inputs, told.is_complete) == (model, inputs, "…" not in model)


def test_the_first_layer_may_be_that_of_a_block_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "block.py").write_text(
        "from torch import nn\n\nclass Block(nn.Sequential):\n    def __init__(self, cin, cout=8):\n"
        "        super().__init__(nn.Conv2d(cin, cout, 3), Block(cout))\n"
    )
    net = "from torch import nn\nfrom block import Block\n\nclass Net(nn.Module):\n    def __init__(self, {}):\n"
    net += "        super().__init__()\n        self.down = Block({})\n        self.head = nn.Linear(8, 2)\n"
    for signature, given, inputs in (
        ("channels=3", "channels, cout=4", "float32[2,3,64,64]"),
        ("width=8", "cin=1", "float32[2,1,64,64]"),
        ("width", "width * 2", "float32[2,…,64,64]"),
    ):
        (tmp_path / "net.py").write_text(net.format(signature, given))
        assert suggest_model(tmp_path, "net.py", "Net").inputs == inputs


def test_what_did_not_run_is_told_by_line_and_option(tmp_path: Path) -> None:
    (tmp_path / "go.py").write_text("p.add_argument('-a', '--all')\np.add_argument('--lr')\np.add_argument('file')\n")
    told = Observation(
        str(tmp_path),
        (CommandRun(("python", "go.py", "--lr=3"), "itself", 1.0),),
        (SeenFile("go.py", "", (1, 2, 9), (1, 2, 4, 5, 9, 11)),),
        unloaded=("other.py",),
    )
    assert list(unreached(told, tmp_path)) == [
        ("go.py", 4, "3 of 6 statements did not run: lines 4-5, 11"),
        ("other.py", 1, "no command imported this file"),
        ("go.py", 1, "--all was not given: what it changes has not been measured"),
    ]


def test_a_branch_that_the_run_did_not_reach_either_is_no_gap() -> None:
    def gap(line: int, why: str) -> Gap:
        return Gap("branch", f"net.py line {line}", "not reached", why)

    theirs = gap(7, "never ran: Net.forward, `self.mask = None`")
    ours = gap(9, "never ran in the conversion: Net.construct, `self.mask = None`")
    other = gap(20, "never ran in the conversion: Net.construct, `x = 0`")
    seen = Observation("p", (), (SeenFile("net.py", "", (5, 6), (5, 6, 7)),))
    for gaps, is_same in (((theirs, ours), True), ((theirs, ours, other), False), ((ours,), False)):
        partial = Comparison("m", "x", (), None, False, outcome=Outcome.PARTIAL, coverage=Coverage({}, gaps))
        result = as_the_run_reached(partial, seen)
        assert (result.passed, result.outcome is Outcome.SAME) == (is_same, is_same)
    reached = Observation("p", (), (SeenFile("net.py", "", (5, 6, 7), (5, 6, 7)),))
    partial = Comparison("m", "x", (), None, False, outcome=Outcome.PARTIAL, coverage=Coverage({}, (theirs, ours)))
    assert not as_the_run_reached(partial, reached).passed, "the run did reach it, and the comparison did not"
