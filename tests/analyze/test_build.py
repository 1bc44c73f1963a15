"""Parameter counts: a network is built on request only, in a process of its own, and what can't be built is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze import analyze_project
from mindferry.analyze.build import built_networks
from mindferry.errors import MindferryError

CODE = """
import os
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.body = nn.Linear(3, width)
        self.norm = nn.BatchNorm1d(width)
        self.body.bias.requires_grad_(False)

class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(3, width)

def number():
    return 3

open(os.path.join(os.path.dirname(__file__), "imported"), "w")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(CODE)
    return tmp_path


def test_without_the_option_nothing_is_imported(project: Path) -> None:
    analyze_project(project)
    assert [item.name for item in project.iterdir()] == ["net.py"]


def test_every_network_without_arguments_is_counted_and_the_others_say_what_they_need(project: Path) -> None:
    parts = built_networks(project, "", analyze_project(project))
    assert [(part.kind, part.name) for part in parts] == [("as built", "Net"), ("as built", "net:Wide")]
    assert parts[0].children == (
        "24 parameters, 20 of them trained, 9 values in buffers",
        "body: Linear 16",
        "norm: BatchNorm1d 8",
    )
    assert parts[0].line == CODE.splitlines().index("class Net(nn.Module):") + 1
    assert (
        "missing 1 required positional argument: 'width'" in parts[1].children[0]
        and "net:Wide(...)" in parts[1].children[0]
    )
    assert (project / "imported").exists()


def test_arguments_may_be_given(project: Path) -> None:
    (part,) = built_networks(project, "net:Wide(5)", analyze_project(project))
    assert part.name == "Wide" and part.children[0].startswith("20 parameters")


def test_the_factory_of_mindferry_toml_is_the_default(project: Path) -> None:
    (project / "mindferry.toml").write_text('[verify]\nmodel = "net:Wide(2)"\n')
    (part,) = built_networks(project, "", analyze_project(project))
    assert part.children[0].startswith("8 parameters")


@pytest.mark.parametrize(
    ("spec", "words"), [("net", "write module:factory"), ("nope:Net", "no module 'nope'"), ("net:number", "gave a int")]
)
def test_what_names_no_network_is_refused_in_one_sentence(project: Path, spec: str, words: str) -> None:
    with pytest.raises(MindferryError, match=words):
        built_networks(project, spec, analyze_project(project))
