"""The tables of the bundled ResNet-50, as the author of MindSpore's guide filled them in by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze import analyze_project
from mindferry.artifacts import Inventory

EXAMPLE = Path(__file__).parents[2] / "examples" / "resnet50_cifar10"


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return analyze_project(EXAMPLE)


def tricks(inventory: Inventory, topic: str) -> list[tuple[str, str]]:
    return [(trick.name, trick.value) for trick in inventory.tricks if trick.topic == topic]


def test_the_checklist_holds_what_the_author_wrote(inventory: Inventory) -> None:
    assert [name for name, _ in tricks(inventory, "augmentation")] == [
        "RandomCrop",
        "RandomHorizontalFlip",
        "Resize",
        "Normalize",
    ]
    assert tricks(inventory, "learning rate") == [("fixed", "0.001")]
    assert tricks(inventory, "optimizer") == [("Adam", "lr=0.001, weight_decay=1e-05")]
    assert tricks(inventory, "batch size") == [("batch size", "32")]
    assert tricks(inventory, "epochs") == [("epochs", "90")]
    assert tricks(inventory, "structure") == [("Bottleneck", "")]
    assert ("kaiming_normal_", "mode=fan_out, nonlinearity=relu") in tricks(inventory, "initialisation")


def test_every_entry_points_at_the_line_that_shows_it(inventory: Inventory) -> None:
    for trick in inventory.tricks:
        line = (EXAMPLE / trick.path).read_text().splitlines()[trick.line - 1]
        word = {
            "fixed": "Adam",
            "shuffle": "shuffle",
            "batch size": "batch_size",
            "epochs": "range",
            "seed": "manual_seed",
        }.get(trick.name, trick.name)
        assert word in line, (trick, line)


def test_four_layers_differ_and_three_do_not(inventory: Inventory) -> None:
    differs = {use.api.rpartition(".")[2]: bool(use.differs) for use in inventory.apis if use.path == "model.py"}
    assert [name for name in ("Conv2d", "BatchNorm2d", "MaxPool2d", "Linear") if differs[name]] == [
        "Conv2d",
        "BatchNorm2d",
        "MaxPool2d",
        "Linear",
    ]
    assert [name for name in ("ReLU", "AdaptiveAvgPool2d", "flatten") if differs[name]] == []


def test_the_structure_is_one_network_of_bottlenecks(inventory: Inventory) -> None:
    kinds = {(part.kind, part.name) for part in inventory.parts}
    assert kinds == {
        ("network", "ResNet"),
        ("block", "Bottleneck"),
        ("dataset", "CIFAR10"),
        ("entry point", "train.py"),
    }
    network = next(part for part in inventory.parts if part.name == "ResNet")
    assert (
        network.children[0] == "conv1: Conv2d" and network.children[-1] == "fc: Linear" and len(network.children) == 10
    )


def test_numpy_and_arguments_stay_and_the_rest_moves(inventory: Inventory) -> None:
    kinds = {entry.function: entry.kind for entry in inventory.code}
    assert kinds["synthetic_images"] == "numpy" and kinds["parse_args"] == "config"
    assert kinds["ResNet.__init__"] == "construction" and kinds["ResNet.forward"] == "execution"
    assert kinds["train_loader"] == "input" and kinds["train_epoch"] == "execution"
    assert sum(entry.lines for entry in inventory.code) == inventory.lines


def test_nothing_in_it_is_dynamic_or_special_and_a_port_exists(inventory: Inventory) -> None:
    assert inventory.dynamic == () and inventory.special == ()
    assert [(port.name, port.collection) for port in inventory.ports] == [("resnet", "MindCV")]
    assert inventory.effort is not None and inventory.effort.todo == ()
    assert inventory.effort.clean_sites == inventory.effort.sites > 70
