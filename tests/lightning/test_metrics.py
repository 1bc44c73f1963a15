"""torchmetrics' metrics, counted with numpy: the same as torchmetrics 1.9 gives, batch by batch and together."""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from metrics_cases import CASES, REFERENCE, measure, scores

from mindferry import convert_source

HOMES = ("metrics", "metrics_tables", "metrics_ranked")


def helper(name: str) -> Any:
    modules = [importlib.import_module(f"mindferry.apis.torch.compat.{home}") for home in HOMES]
    return next(getattr(each, name) for each in modules if hasattr(each, name))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{name}-{data}" for name, data, _ in CASES])
def test_a_metric_counts_as_torchmetrics_does(number: int) -> None:
    import mindspore as ms

    name, data, options = CASES[number]
    ours = measure(helper(name)(**options), *scores()[data], ms.Tensor)
    for mine, theirs in zip(ours, json.loads(REFERENCE.read_text())[number], strict=True):
        assert np.shape(mine) == np.shape(theirs)
        assert np.allclose(mine, theirs, atol=2e-6, equal_nan=True)


def test_a_collection_calls_metrics_by_torchmetrics_names_and_gives_each_what_it_counts_with() -> None:
    import mindspore as ms

    accuracy, f1, total = helper("Accuracy"), helper("F1Score"), helper("SumMetric")
    several = helper("MetricCollection")([accuracy(task="binary"), f1("multiclass", num_classes=2)], prefix="val_")
    given, wanted = ms.Tensor([0, 1, 1]), ms.Tensor([0, 1, 0])
    told = several(preds=given, target=wanted, weight=3)
    assert {name: round(each.item(), 4) for name, each in told.items()} == {
        "val_BinaryAccuracy": 0.6667,
        "val_MulticlassF1Score": 0.6667,
    }
    several.update(target=wanted, preds=given)
    assert several["BinaryAccuracy"].update_count == 2 and list(several.keys(keep_base=True)) == [
        "BinaryAccuracy",
        "MulticlassF1Score",
    ]
    with pytest.raises(ValueError, match="two metrics both named BinaryAccuracy"):
        several.add_metrics(accuracy(task="binary", threshold=0.7))
    with pytest.raises(NotImplementedError, match="Accuracy: subset"):
        accuracy(task="binary", subset=True)
    total = total()
    total.update(ms.Tensor([1.0, float("nan")]))
    total.update(2)
    assert total.compute().item() == 3


OWN = """
import torch
from torchmetrics import Metric


class Hits(Metric):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin
        self.add_state("hits", default=torch.tensor(0.0), dist_reduce_fx="sum")
        self.add_state("seen", default=torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("kept", default=[], dist_reduce_fx="cat")

    def update(self, preds: torch.Tensor, target: torch.Tensor):
        self.hits += ((preds - target).abs() < self.margin).float().sum()
        self.seen += target.numel()
        self.kept.append(preds)

    def compute(self):
        return self.hits / self.seen


def run():
    metric = Hits()
    first = metric(torch.tensor([1.0, 2.0]), torch.tensor([1.1, 5.0]))
    metric.update(torch.tensor([3.0, 4.0]), torch.tensor([3.0, 4.0]))
    together, kept = metric.compute().item(), len(metric.kept)
    metric.reset()
    metric.update(torch.tensor([3.0]), torch.tensor([0.0]))
    return [first.item(), together, kept, metric.compute().item(), len(metric.kept)]
"""


def test_a_metric_of_the_projects_own_keeps_its_states(tmp_path: Path) -> None:
    made = convert_source(OWN)
    assert [each.message for each in made.findings if each.severity == "error"] == []
    (tmp_path / "own.py").write_text(made.code)
    spec = importlib.util.spec_from_file_location("own", tmp_path / "own.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run() == [0.5, 0.75, 2, 0.0, 1]


def test_metrics_of_a_table_come_in_the_order_of_their_names_and_those_of_a_list_in_its_own() -> None:
    collection, mean, error = helper("MetricCollection"), helper("MeanSquaredError"), helper("MeanAbsoluteError")
    assert [name for name, _ in collection({"mse": mean(), "mae": error()}).clone(prefix="val_").items()] == [
        "val_mae",
        "val_mse",
    ]
    listed = collection([mean(), error()])
    assert [name for name, _ in listed.clone().items()] == ["MeanSquaredError", "MeanAbsoluteError"]


LOSSES = """
import torch
from torchmetrics import MeanSquaredError
from torchmetrics.functional import mean_absolute_error, r2_score
from torchmetrics.functional.classification import multiclass_accuracy


def run():
    net = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.ones_(net.weight)
    x, y = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([[2.0], [4.0]])
    metric = MeanSquaredError()
    loss = metric(net(x), y) + mean_absolute_error(net(x), y)
    loss.backward()
    scores = multiclass_accuracy(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), 2)
    return [f"{r2_score(net(x)[:, 0], y[:, 0]):.3f}", f"{scores:.3f}", net.weight.grad.tolist()]
"""


def test_an_error_of_numbers_can_be_a_loss(tmp_path: Path) -> None:
    made = convert_source(LOSSES)
    assert [each.message for each in made.findings if each.severity == "error"] == []
    (tmp_path / "losses.py").write_text(made.code)
    spec = importlib.util.spec_from_file_location("losses", tmp_path / "losses.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run() == ["-7.500", "0.750", [[15.0, 25.5]]]
