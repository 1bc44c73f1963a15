"""A network's own methods are MindSpore's where no layer has other names, nothing holds buffers and nothing is frozen."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.convert import convert_project

SCRIPT = """import copy
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), {})
other = copy.deepcopy(net)
{}
for name, p in net.named_parameters():
    print(name, p.numel())
other.load_state_dict(net.state_dict())
best = copy.deepcopy(net.state_dict())
print(list(net.state_dict()), sum(p.numel() for p in net.parameters()), next(net.parameters()).shape)
net.load_state_dict(best, strict=True)
if __name__ == "__main__":
    print(net(torch.ones(1, 3)).shape)
"""
OWN = [
    "for name, p in net.parameters_and_names():",
    "other.load_state_dict(net.state_dict())",
    "list(net.state_dict())",
    "for p in net.trainable_params())",
    "net.load_state_dict(best, strict=True)",
]


def converted(folder: Path, layer: str = "nn.Linear(4, 2)", line: str = "") -> str:
    (folder / "main.py").write_text(SCRIPT.format(layer, line))
    convert_project(folder / "main.py", folder / "out")
    return (folder / "out/main.py").read_text()


def test_plain_networks_have_mindspores_methods(tmp_path: Path) -> None:
    text = converted(tmp_path)
    assert all(each in text for each in OWN)
    assert "next(ms_compat.parameters(net))" in text  # MindSpore's are a list
    names: dict[str, object] = {}
    exec(
        compile(
            text.replace("import ms_compat", "import mindferry.apis.torch.compat.layers_module as ms_compat"),
            "m",
            "exec",
        ),
        names,
    )
    assert list(names["best"]) == ["0.weight", "0.bias", "2.weight", "2.bias"]  # type: ignore[call-overload]


@pytest.mark.parametrize("layer", ["nn.LayerNorm(4)", "nn.PReLU()", "nn.Conv1d(4, 2, 1)", "nn.BatchNorm1d(4)"])
def test_layers_with_other_names_or_shapes_keep_the_helpers(tmp_path: Path, layer: str) -> None:
    text = converted(tmp_path, layer)
    assert "ms_compat.load_state_dict(net, best" in text and "ms_compat.named_parameters(net)" in text
    assert "for p in net.trainable_params())" in text


@pytest.mark.parametrize(
    "line", ["net[0].weight.requires_grad = False", "e = nn.Embedding.from_pretrained(torch.ones(2, 2))"]
)
def test_frozen_parameters_are_counted_by_the_helper(tmp_path: Path, line: str) -> None:
    assert "for p in ms_compat.parameters(net))" in converted(tmp_path, line=line)


def test_a_library_of_whose_users_nothing_is_known_keeps_the_helpers(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("from torch import nn\n\ndef save(net: nn.Module):\n    return net.state_dict()\n")
    convert_project(tmp_path / "net.py", tmp_path / "out")
    assert "ms_compat.state_dict(net)" in (tmp_path / "out/net.py").read_text()
