"""What a Trainer of transformers is told: every argument is known, and one that can't be honoured is refused aloud."""

from __future__ import annotations

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
