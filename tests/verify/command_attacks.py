"""Attacks on the verdict of `migrate -- COMMAND`: whole projects whose conversion is sabotaged, or whose run tells too little.

An attack is what it changes in a small project, in its conversion, or in the command. It is migrated as a user would; the
conversion is sabotaged when the convert stage has ended. None may be called same; `right` is the project as it is.

    python tests/verify/command_attacks.py [--keep FILE] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from mindferry.errors import MindferryError
from mindferry.migrate import Command, Outcome, migrate, write_page
from mindferry.report.verdict import MEASURED

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.a, self.b = nn.Linear(4, width), nn.Linear(width, 3)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
"""
TRAIN = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from net import Net


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.sin(torch.arange(192.0)).view(48, 4), torch.arange(48) % 3)
    loader = DataLoader(data, batch_size=6, shuffle=True)
    net = Net(8)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.5)
    loss_fn = nn.CrossEntropyLoss()
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
    print("done")


if __name__ == "__main__":
    main()
"""
LOOP = TRAIN[TRAIN.index("    for x, y") : TRAIN.index('    print("done")')]

Edit = tuple[str, str, str]  # file, what stands there, what shall stand there


@dataclass(frozen=True)
class CommandAttack:
    name: str
    original: tuple[Edit, ...] = ()  # changes of the torch project
    converted: tuple[Edit, ...] = ()  # sabotage of the conversion
    command: str = "python train.py"
    more: dict[str, str] = field(default_factory=dict)  # further files of the project
    is_right: bool = False

    def __str__(self) -> str:
        return self.name


def sabotage(name: str, before: str, after: str, file: str = "train.py") -> CommandAttack:
    return CommandAttack(name, converted=((file, before, after),))


def script(name: str, before: str, after: str, *converted: Edit) -> CommandAttack:
    """A script that tells little, and perhaps a conversion that is wrong where nobody looks."""
    return CommandAttack(name, ((("train.py"), before, after),), converted)


WRONG_NET = ("net.py", "ops.relu(self.a(x))", "ops.tanh(self.a(x))")

RIGHT = CommandAttack("right", is_right=True)
COMMAND_ATTACKS = (
    # the conversion is wrong
    sabotage(
        "a weight that is frozen",
        "net = Net(8).set_train()",
        "net = Net(8).set_train()\n    net.a.bias.requires_grad = False",
    ),
    sabotage("a rate that is slightly other", "lr=0.05", "lr=0.051"),
    sabotage("batches in a fixed order", "shuffle=True", "shuffle=False"),
    sabotage("the last batch is dropped", "batch_size=6,", "batch_size=5, drop_last=True,"),
    sabotage("other samples", "ops.sin(", "ops.cos("),
    sabotage("labels that are shifted", "% 3)", "// 16)"),
    sabotage("a script that ends at once", "    main()", "    pass"),
    sabotage("an early stop", "        opt(grads)", "        opt(grads)\n        break"),
    sabotage("an exit code other than zero", 'print("done")', 'print("done")\n    raise SystemExit(3)'),
    sabotage(
        "an error that is swallowed",
        "        opt(grads)",
        "        try:\n            opt(grads[:1])\n        except Exception:\n            pass",
    ),
    sabotage(
        "a network that is replaced by a function",
        "loss = loss_fn(net(x), y)",
        "loss = loss_fn((lambda x: net.b(net.a(x)))(x), y)",
    ),
    sabotage(
        "eval mode for training",
        ".set_train()",
        ".set_train()\n    net.construct = lambda x: Net.construct(net, x) * 1.01",
    ),
    CommandAttack(
        "a loss of the network's weights alone",
        (("train.py", "loss_fn(net(x), y)", "sum((p ** 2).sum() for p in net.parameters())"),),
        (WRONG_NET,),
    ),
    # the run tells nothing, and the conversion is wrong where nobody looks
    script("a loss that is constant", "loss_fn(net(x), y)", "loss_fn(net(x) * 0, y * 0)"),
    script("a loss that is no number", "loss_fn(net(x), y)", "loss_fn(net(x), y) * float('nan')"),
    script("no optimizer step", "        opt.step()\n", ""),
    script("no step at all", "in loader:", "in []:"),
    script(
        "a run of evaluation alone",
        LOOP,
        "    net.eval()\n    with torch.no_grad():\n        for x, y in loader:\n            net(x)\n",
    ),
    script("a network that is built and never called", "    loss_fn =", "    other = Net(5)\n    loss_fn ="),
    script(
        "an empty loader",
        "DataLoader(data, batch_size=6, shuffle=True)",
        "DataLoader(data, batch_size=64, drop_last=True)",
    ),
    script(
        "an error that both swallow",
        "        loss.backward()\n",
        "        try:\n            loss.backward(1, 2, 3, 4, 5)\n        except Exception:\n            continue\n",
    ),
    CommandAttack(
        "a network in a process of its own",
        command="python outer.py",
        more={
            "outer.py": "import subprocess\nimport sys\n\nimport torch\n\nsubprocess.run([sys.executable, 'train.py'], check=True)\n"
        },
    ),
    CommandAttack(
        "two networks of which one can't be built alone, and is wrong where it does not count",
        (
            ("train.py", "    loss_fn =", "    head = torch.nn.Linear(3, 3)\n    loss_fn ="),
            ("train.py", "loss_fn(net(x), y)", "loss_fn(net(x) + 0 * head(net(x)), y)"),
        ),
        (("train.py", "0 * head(net(x))", "0 * head(2 * net(x))"),),
    ),
    CommandAttack(
        "a loader without an end",
        (
            (
                "train.py",
                "in loader:",
                "in loader:\n        break\n    for x, y in DataLoader(Endless(), batch_size=6):",
            ),
            (
                "train.py",
                "def main",
                ENDLESS
                := "class Endless(torch.utils.data.IterableDataset):\n    def __iter__(self):\n        n = 0\n        while True:\n            n += 1\n            yield torch.full((4,), float(n % 7)), n % 3\n\n\ndef main",
            ),
        ),
        (WRONG_NET,),
    ),
)


class Told(Exception):
    """A stage was not well: whatever comes after it, the verdict is not "same"."""


def said_of(attack: CommandAttack, folder: Path) -> tuple[str, str]:
    """(outcome, why); a migration that is refused is not called same."""
    source, output = folder / "project", folder / "out"
    source.mkdir()
    for path, text in {"net.py": NET, "train.py": TRAIN, **attack.more}.items():
        (source / path).write_text(text)
    _edit(source, attack.original)

    def show(outcome: Outcome) -> None:
        if outcome.stage == "convert":
            _edit(output, attack.converted)
        elif outcome.stage in MEASURED and not outcome.ok:
            raise Told(f"{outcome.stage}: {outcome.summary}")

    try:
        migrate(source, output, show, Command(tuple(shlex.split(attack.command))))
        told = write_page(output)
    except Told as stage:
        return "different", str(stage)
    except MindferryError as error:
        return "refused", str(error)
    return str(told.outcome or "not compared"), "; ".join(told.missing) or told.detail


def _edit(folder: Path, edits: tuple[Edit, ...]) -> None:
    for file, before, after in edits:
        text = (folder / file).read_text()
        assert before in text, f"{before!r} is not in {file}:\n{text}"
        (folder / file).write_text(text.replace(before, after))


def main() -> None:
    parser = argparse.ArgumentParser(description="Attacks on the verdict of migrate.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep", type=Path, help="results so far; a second run goes on from there")
    options = parser.parse_args()
    lines = options.keep.read_text().splitlines() if options.keep and options.keep.is_file() else []
    known = dict(json.loads(line) for line in lines)
    for attack in (RIGHT, *COMMAND_ATTACKS):
        if (options.names and attack.name not in options.names) or (attack.name in known and not options.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            known[attack.name] = said_of(attack, Path(folder))
        print(f"{attack}: {known[attack.name][0]}: {known[attack.name][1][:300]}", flush=True)
        if options.keep:
            with options.keep.open("a") as file:
                file.write(json.dumps([attack.name, known[attack.name]]) + "\n")
    fooled = [attack.name for attack in COMMAND_ATTACKS if known.get(attack.name, ("",))[0] == "same"]
    print(
        f"{len(known) - ('right' in known)} attacks on migrate: {len(fooled)} called same; the right one: {known.get('right', ('not run',))[0]}"
    )


if __name__ == "__main__":
    main()
