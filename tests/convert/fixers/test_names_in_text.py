"""Texts that name torch's layers and optimizers: in strings and configurations, evaluated or imported when the program runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from mindferry import convert_project, convert_source
from mindferry.apis import table
from mindferry.convert.names_in_text import renamed

LAYERS = {
    "layers": [
        [1, "Block", [8]],
        [1, "nn.Upsample", [None, 2, "nearest"]],
        [2, "nn.Conv2d", [3, 1]],
        [1, "torch.nn.BatchNorm2d", []],
    ],
    "optimizer": {"_target_": "torch.optim.AdamW", "lr": 0.05, "weight_decay": 0.1},
    "activation": "Hardswish",
}
NET = """
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, given, channels):
        super().__init__()
        self.conv = nn.Conv2d(given, channels, 3, padding=1)

    def forward(self, x):
        return torch.tanh(self.conv(x))


def parse(layers, channels, act):
    made = []
    for count, kind, args in layers:
        kind = eval(kind) if isinstance(kind, str) else kind
        if kind in (Block, nn.Conv2d):
            channels, args = args[0], [channels, *args]
        elif kind is nn.BatchNorm2d:
            args = [channels]
        for _ in range(count):
            made.append(kind(*args))
            args = [channels, *args[1:]] if kind is nn.Conv2d else args
            made[-1].type = kind.__name__
    net = nn.Sequential(*made)
    print([m.type for m in net])
    return nn.Sequential(net, getattr(nn, act)())
"""
TRAIN = """
import importlib
import json

import torch
from net import parse


def locate(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


config = json.load(open("config.json"))
net = parse(config["layers"], 3, config["activation"])
with torch.no_grad():
    for number, p in enumerate(net.parameters()):
        p.copy_(torch.linspace(-0.4, 0.5 + number / 10, p.numel()).view(p.shape))
options = dict(config["optimizer"])
optimizer = locate(options.pop("_target_"))(net.parameters(), **options)
x = torch.linspace(-1, 1, 2 * 3 * 5 * 5).view(2, 3, 5, 5)
for step in range(4):
    optimizer.zero_grad()
    loss = (net(x) - 0.3).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")
"""


VALUES = """DEFAULT = "torch.optim.Adam"
KIND = "torch.float32"
x = torch.zeros(3).roll(1)


def is_default(name):
    return name == "torch.optim.Adam"
"""


def run(folder: Path) -> list[float]:
    done = subprocess.run([sys.executable, "train.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(each) for each in re.findall(r"loss (\S+)", done.stdout)]


def test_layers_and_optimizers_that_a_configuration_names_train_as_in_torch(tmp_path: Path) -> None:
    project, output = tmp_path / "project", tmp_path / "output"
    project.mkdir()
    (project / "net.py").write_text(NET)
    (project / "train.py").write_text(TRAIN)
    (project / "config.json").write_text(json.dumps(LAYERS, indent=1))
    found = convert_project(project, output).findings
    assert [each.code for each in found if each.severity != "note"] == ["MF102"]  # which of nn it may be
    assert '"torch.nn.BatchNorm2d"' not in (output / "config.json").read_text()
    assert '"_target_": "ms_compat.AdamW"' in (output / "config.json").read_text()
    theirs, ours = run(project), run(output)
    assert len(theirs) == 4 and theirs[0] > theirs[-1]
    assert all(abs(one - other) < 2e-5 for one, other in zip(theirs, ours, strict=True)), (theirs, ours)


def test_texts_stay_where_no_code_imports_what_they_name(tmp_path: Path) -> None:
    project, output = tmp_path / "project", tmp_path / "output"
    project.mkdir()
    table = 'import torch\nTABLE = {"torch.optim.Adam": torch.optim.Adam}\n'
    (project / "net.py").write_text(f"{table}# importlib.import_module\n")
    (project / "config.yaml").write_text("optimizer: torch.optim.Adam\n")
    convert_project(project, output)
    assert (output / "config.yaml").read_text() == "optimizer: torch.optim.Adam\n"
    assert '"torch.optim.Adam":' in (output / "net.py").read_text()


def test_names_in_a_package_are_found_through_the_package(tmp_path: Path) -> None:
    project, output = tmp_path / "project", tmp_path / "output"
    (project / "pkg").mkdir(parents=True)
    (project / "pkg" / "__init__.py").write_text("")
    locate = "import importlib\nimport torch\n\n\ndef locate(name):\n    return importlib.import_module(name)\n\n\n"
    (project / "pkg" / "net.py").write_text(f"{locate}{VALUES}")
    text = "# torch.optim.SGD is the default\ndtype: torch.float32\na: {_target_: torch.optim.Adam}  # or torch.optim.SGD\nb: torch.nn.quantized.Linear\n"
    (project / "config.yaml").write_text(text)
    result = convert_project(project, output)
    assert (output / "config.yaml").read_text() == text.replace("_target_: torch.optim", "_target_: pkg.ms_compat")
    code = (output / "pkg" / "net.py").read_text().replace("'", '"')
    assert 'DEFAULT = "pkg.ms_compat.Adam"\nKIND = "torch.float32"\n' in code
    assert 'return name == "pkg.ms_compat.Adam"\n' in code
    assert "class Adam" in (output / "pkg" / "ms_compat.py").read_text()
    assert not (output / "ms_compat.py").exists()
    assert all(each.path != "config.yaml" for each in result.findings if each.code == "MF901")


def test_json_has_no_comments_and_one_long_line_is_read_once() -> None:
    text = "[" + ", ".join(['{"use # 1": "torch.optim.AdamW"}'] * 20_000) + "]"
    made = renamed("config.json", text, "ms_compat", table())
    assert made.text == text.replace("torch.optim", "ms_compat") and len(made.rewrites) == 20_000
    assert (made.rewrites[1].line, made.rewrites[1].column) == (1, text.index("torch", 40) + 1)
    assert renamed("config.yaml", "a: b  # torch.optim.AdamW\n", "ms_compat", table()).rewrites == ()
    assert renamed("config.ini", "; torch.optim.AdamW\n", "ms_compat", table()).rewrites == ()


def test_what_a_text_from_elsewhere_names_is_said() -> None:
    head = "import torch\nfrom torch import nn\n\n"
    elsewhere = convert_source(f"{head}def f(text):\n    return eval(text), nn.ReLU()\n")
    assert [(each.code, each.severity) for each in elsewhere.findings] == [("MF102", "note")]
    chosen = convert_source(f'{head}def f(name):\n    return eval("nn." + name)\n')
    assert [(each.code, each.severity) for each in chosen.findings] == [("MF102", "warning")]
    for lacking in ("torch.nested.nested_tensor([x])", "torch.no_such_function(x)"):
        without = convert_source(f'{head}def f(x):\n    return eval("{lacking}")\n')
        assert [(each.code, each.severity) for each in without.findings] == [("MF102", "error")]


def test_statements_in_a_text_that_name_torch_are_a_finding() -> None:
    source = 'import torch\nimport torch.nn as nn\n\nexec("layer = nn.Linear(2, 3)")\nexec("count = 1")\n'
    found = convert_source(source).findings
    assert [(each.code, each.line, each.severity) for each in found] == [("MF102", 4, "error")]
