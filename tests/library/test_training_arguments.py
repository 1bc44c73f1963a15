"""What a Trainer of transformers is told: every argument is known, and one that can't be honoured is refused aloud; and what it does."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest

from mindferry.library.substitute import stand_in


class Strategy(StrEnum):
    NO = "no"
    STEPS = "steps"
    EPOCH = "epoch"
    LINEAR = "linear"
    EVERY_SAVE = "every_save"


@pytest.fixture
def arguments() -> Iterator[Any]:
    """The class that stands in for transformers' own, beside enumerations as transformers has them."""
    beside = types.ModuleType("tiny_transformers.trainer_utils")
    for name in ("HubStrategy", "IntervalStrategy", "SaveStrategy", "SchedulerType"):
        setattr(beside, name, Strategy)
    module = types.ModuleType("tiny_transformers.training_args")
    module.__package__ = "tiny_transformers"
    sys.modules |= {"tiny_transformers.trainer_utils": beside, module.__name__: module}
    exec(stand_in("transformers.training_args"), module.__dict__)
    yield module.TrainingArguments
    del sys.modules["tiny_transformers.trainer_utils"], sys.modules[module.__name__]


def test_arguments_that_change_nothing_in_one_process_are_taken(arguments: Any) -> None:
    made = arguments(
        "out",
        train_sampling_strategy="sequential",
        dataloader_persistent_workers=False,
        ddp_timeout=1800,
        save_on_each_node=False,
        log_on_each_node=True,
        hub_private_repo=None,
        use_liger_kernel=False,
    )
    assert made.train_sampling_strategy == "sequential"
    assert made.to_dict()["ddp_timeout"] == 1800


@pytest.mark.parametrize(
    "option",
    [
        {"train_sampling_strategy": "group_by_length"},
        {"optim_args": "beta=1"},
        {"neftune_noise_alpha": 5.0},
        {"fsdp": "full_shard"},
        {"deepspeed": "zero.json"},
        {"push_to_hub": True},
    ],
)
def test_an_argument_that_would_change_the_figures_is_refused(arguments: Any, option: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match="has no counterpart here"):
        arguments("out", **option)


class Beside(types.ModuleType):
    """A module of transformers' own, of which the class under test needs the names alone."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return types.SimpleNamespace(get_logger=lambda name: None)


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The Trainer that stands in for transformers' own."""
    text, package = stand_in("transformers.trainer"), "tiny_transformers"
    module = types.ModuleType(f"{package}.trainer")
    module.__package__ = package
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module == "accelerate"):
            name = f"{package}.{node.module}" if node.level else str(node.module)
            monkeypatch.setitem(sys.modules, name, Beside(name))
    for name in (package, f"{package}.data"):
        monkeypatch.setitem(sys.modules, name, Beside(name))
    exec(text, module.__dict__)
    return module.Trainer


class Network:
    """A network as far as a checkpoint concerns it."""

    training, config, made = True, "settings", 0
    filled: tuple[str, str] = ("", "")

    def __init__(self) -> None:
        Network.made += 1

    def save_pretrained(self, folder: str) -> None:
        raise NotImplementedError

    @classmethod
    def from_pretrained(cls, folder: str, config: str, into: Network | None = None) -> Network:
        found = cls() if into is None else into
        found.filled, found.training = (folder, config), False
        return found

    def train(self, mode: bool) -> None:
        self.training = mode

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


def test_the_best_weights_go_into_the_network_itself_and_no_second_one_is_made(trainer: Any) -> None:
    run, Network.made = object.__new__(trainer), 0
    run.model = Network()
    run.load_weights("best")
    assert (run.model.filled, run.model.training, Network.made) == (("best", "settings"), True, 1)


def test_what_a_trainer_for_sequences_asks_of_the_one_below_it_is_there(trainer: Any) -> None:
    run = object.__new__(trainer)
    assert run._prepare_inputs({"labels": 1}) == {"labels": 1}
    with run.compute_loss_context_manager():
        pass
