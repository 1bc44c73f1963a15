"""The Trainer that stands in for transformers' own computes what that one does: figures noted from transformers 5.22."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from mindferry.convert import convert_source
from mindferry.library.substitute import stand_in, with_stand_ins

PARTS = """
import torch
from torch import nn
class LabelSmoother:
    def __init__(self, epsilon): pass
    def __call__(self, output, labels, shift_labels=False, num_items_in_batch=None):
        return 0 * output["loss"] + 10 * shift_labels + num_items_in_batch
def nested_detach(value): return value
def nested_numpify(value): return value.numpy()
def nested_concat(one, two, padding_index=-100): return np.concatenate([one, two])
def log_metrics(self, split, metrics): pass
save_metrics = save_state = log_metrics
"""


class Outcome(NamedTuple):
    predictions: Any
    label_ids: Any
    metrics: Any
    num_samples: int = 0


class State(types.SimpleNamespace):
    global_step, epoch, best_metric, best_model_checkpoint, log_history = 0, None, None, None, ()

    def compute_steps(self, args: Any, steps: int) -> None:
        self.log_history = []


class Events:
    """Calls of callbacks: everything is logged each step, and evaluated at the end of an epoch."""

    def __init__(self, *given: Any) -> None:
        self.seen: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(args: Any, state: Any, control: Any, *more: Any) -> Any:
            self.seen.append(name)
            control.should_log = name == "on_step_end"
            control.should_training_stop = state.global_step >= getattr(state, "max_steps", 1)
            control.should_evaluate = name == "on_epoch_end" and args.eval_strategy == "epoch"
            return control

        return called


def arguments(**words: Any) -> Any:
    known = {
        "seed": 1, "label_smoothing_factor": 0, "label_names": None, "remove_unused_columns": True, "max_steps": -1,
        "train_sampling_strategy": "sequential", "gradient_accumulation_steps": 1, "num_train_epochs": 1, "optim": "sgd",
        "train_batch_size": 2, "eval_batch_size": 4, "dataloader_drop_last": False, "dataloader_num_workers": 0,
        "learning_rate": 0.1, "weight_decay": 0.0, "lr_scheduler_type": "linear", "lr_scheduler_kwargs": None,
        "eval_on_start": False, "logging_nan_inf_filter": True, "max_grad_norm": 0.0, "metric_for_best_model": None,
        "save_strategy": "no", "load_best_model_at_end": False, "eval_strategy": "no", "prediction_loss_only": False,
        "get_warmup_steps": lambda steps: 0,
    }  # fmt: skip
    return types.SimpleNamespace(**known | words)


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Any:
    package = "few_transformers"
    control = types.SimpleNamespace(should_training_stop=False, should_epoch_stop=False, should_save=False)
    names = {
        "accelerate": {"Accelerator": lambda: None},
        f"{package}.data.data_collator": {"DataCollatorWithPadding": None, "default_data_collator": together},
        f"{package}.optimization": {"get_scheduler": falling},
        f"{package}.trainer_callback": dict.fromkeys(("DefaultFlowCallback", "PrinterCallback"))
        | {"CallbackHandler": Events, "TrainerControl": lambda: control, "TrainerState": State},
        f"{package}.trainer_utils": dict.fromkeys(("EvalPrediction", "EvalLoopOutput", "PredictionOutput"), Outcome)
        | {"SaveStrategy": types.SimpleNamespace(BEST="best"), "set_seed": torch.manual_seed, "TrainOutput": Outcome}
        | {"speed_metrics": lambda *given, **named: {}, "denumpify_detensorize": plain, "EvalPrediction": given_pair},
        f"{package}.training_args": {"TrainingArguments": arguments},
        f"{package}.utils": {"logging": types.SimpleNamespace(get_logger=lambda name: None)},
        package: {},
        f"{package}.data": {},
    }
    for name, held in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(held)
        monkeypatch.setitem(sys.modules, name, module)
    for name, text in (("trainer_pt_utils", PARTS), ("trainer", "")):
        module = types.ModuleType(f"{package}.{name}")
        module.__package__, module.__dict__["np"] = package, np
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(with_stand_ins(f"transformers.{name}", text), module.__dict__)
    return module.Trainer


def together(samples: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: torch.stack([torch.as_tensor(each[name]) for each in samples]) for name in samples[0]}


def plain(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: float(value) for name, value in metrics.items()}


def given_pair(predictions: Any, label_ids: Any) -> Any:
    return types.SimpleNamespace(predictions=predictions, label_ids=label_ids)


def falling(kind: str, optimizer: Any, num_training_steps: int, **words: Any) -> Any:
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / num_training_steps, 0))


class Network(nn.Module):
    """Its loss is the mean of what it is given, or the sum over the number of labels."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor, labels: Any = None) -> dict[str, Any]:
        return {"loss": (self.weight * x).mean(), "logits": self.weight * x}


class LMHeadModel(Network):
    loss_type = "ForCausalLM"

    def forward(self, x: torch.Tensor, labels: Any = None, **words: Any) -> dict[str, Any]:  # type: ignore[override]
        total = (self.weight * x).sum()
        return {"loss": total / words["num_items_in_batch"], "logits": self.weight * x}


def samples(count: int) -> list[dict[str, Any]]:
    return [{"x": np.float32([each, each + 1, each + 2]), "labels": np.array([5, 6, -100])} for each in range(count)]


def losses(run: Any) -> list[float]:
    return [round(each["loss"], 4) for each in run.state.log_history if "loss" in each]


def test_a_causal_loss_counts_the_labels_that_are_compared(trainer: Any) -> None:
    """labels[..., 1:]: the first of a row is never predicted, so 1 of 3 counts here, and not 2."""
    run = trainer(LMHeadModel(), arguments(gradient_accumulation_steps=2), train_dataset=samples(4))
    run.train()
    assert losses(run) == [30 / 4]
    assert "on_substep_end" in run.callback_handler.seen


def test_labels_are_smoothed_one_place_on_where_a_network_predicts_the_next(trainer: Any) -> None:
    given = arguments(label_smoothing_factor=0.1)
    assert losses(trained(trainer(LMHeadModel(), given, train_dataset=samples(2)))) == [10 + 2]
    given = arguments(label_smoothing_factor=0.1, gradient_accumulation_steps=1)
    run = trainer(Network(), given, train_dataset=samples(2))
    assert (run.smooths_shifted, run.shifts_labels) == (False, False)


def trained(run: Any) -> Any:
    run.train()
    return run


def test_a_loss_function_of_the_projects_own_is_a_share_of_the_step_already(trainer: Any) -> None:
    def summed(outputs: Any, labels: Any, num_items_in_batch: int) -> torch.Tensor:
        assert num_items_in_batch == 8
        return outputs["logits"].sum() / num_items_in_batch

    given = arguments(gradient_accumulation_steps=2)
    run = trainer(Network(), given, train_dataset=samples(4), compute_loss_func=summed)
    assert losses(trained(run)) == [30 / 8]


def test_an_epoch_is_told_in_batches_and_the_rate_is_the_last_steps(trainer: Any) -> None:
    run = trainer(Network(), arguments(gradient_accumulation_steps=2), train_dataset=samples(10))
    metrics = trained(run).state.log_history
    assert [round(each["epoch"], 4) for each in metrics] == [0.4, 0.8, 1.0, 1.0]
    assert [round(each["learning_rate"], 4) for each in metrics[:-1]] == [0.1, 0.0667, 0.0333]
    run.train()  # with a rate that begins anew
    assert round(run.state.log_history[0]["learning_rate"], 4) == 0.1


def test_a_stream_several_sets_and_an_optimizer_class_are_taken(trainer: Any) -> None:
    class Stream(torch.utils.data.IterableDataset[Any]):
        def __iter__(self) -> Any:
            return iter(samples(3))

    given = arguments(max_steps=3, eval_strategy="epoch")
    run = trainer(
        Network(),
        given,
        train_dataset=Stream(),
        eval_dataset={"a": samples(2), "b": samples(5)},
        compute_metrics=lambda found: {"mean": np.float32(found.predictions.mean())},
        optimizer_cls_and_kwargs=(torch.optim.RMSprop, {"lr": 0.5}),
    )
    run.train()
    assert (run.state.global_step, type(run.optimizer).__name__) == (3, "RMSprop")
    found = run.evaluate()
    assert {"eval_a_loss", "eval_b_loss", "eval_a_mean", "epoch"} <= found.keys()
    assert type(found["eval_b_mean"]) is float


def test_a_rate_that_waits_for_a_metric_gets_it(trainer: Any) -> None:
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    waiting = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, mode="max")
    given = arguments(num_train_epochs=3, eval_strategy="epoch", metric_for_best_model="loss", greater_is_better=False)
    trainer(network, given, None, samples(2), samples(2), optimizers=(optimizer, waiting)).train()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.001)


def test_the_last_and_the_best_checkpoint_stay(tmp_path: Path) -> None:
    made: dict[str, Any] = {}
    exec(with_stand_ins("transformers.trainer_pt_utils", ""), made)
    for step in (2, 4, 8, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
    made["remove_surplus"](str(tmp_path), 2, str(tmp_path / "checkpoint-4"))
    assert [Path(each).name for each in made["checkpoint_folders"](str(tmp_path))] == ["checkpoint-4", "checkpoint-10"]


def test_what_the_trainer_does_by_the_way_converts_whole() -> None:
    made = convert_source(stand_in("transformers.trainer_pt_utils"))
    assert [each.message for each in made.findings if each.severity == "error"] == []
