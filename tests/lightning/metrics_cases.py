"""Metrics of torchmetrics with made-up scores: `python tests/lightning/metrics_cases.py`, where torchmetrics is installed, writes what they give."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REFERENCE = Path(__file__).with_name("metrics_reference.json")
BY_TASK = ("Accuracy F1Score Specificity HammingDistance ConfusionMatrix JaccardIndex MatthewsCorrCoef AUROC").split()
CLASSES: dict[str, Any] = {"task": "multiclass", "num_classes": 4}
TASKS: dict[str, dict[str, Any]] = {
    "classes": CLASSES,
    "binary": {"task": "binary"},
    "labels": {"task": "multilabel", "num_labels": 3},
}
CASES: list[tuple[str, str, dict[str, Any]]] = [
    *((name, data, options) for name in (*BY_TASK, "AveragePrecision") for data, options in TASKS.items()),
    *(
        (name, "classes", {**CLASSES, "average": average})
        for name in ("Specificity", "JaccardIndex", "AUROC", "AveragePrecision", "HammingDistance")
        for average in ("macro", "weighted", "none")
    ),
    ("CohenKappa", "classes", CLASSES),
    ("CohenKappa", "classes", {**CLASSES, "weights": "quadratic"}),
    ("CohenKappa", "binary", {"task": "binary"}),
    ("FBetaScore", "classes", {**CLASSES, "beta": 2.0, "average": "macro"}),
    ("Accuracy", "classes", {**CLASSES, "top_k": 2}),
    ("F1Score", "classes", {**CLASSES, "top_k": 2, "average": "macro"}),
    ("ConfusionMatrix", "classes", {**CLASSES, "normalize": "true"}),
    ("ConfusionMatrix", "classes", {**CLASSES, "ignore_index": 1}),
    ("AUROC", "labels", {"task": "multilabel", "num_labels": 3, "average": "micro"}),
    ("R2Score", "numbers", {}),
    ("PearsonCorrCoef", "numbers", {}),
    ("MeanAbsolutePercentageError", "numbers", {}),
    *(
        ("JaccardIndex", "classes", {**CLASSES, "ignore_index": 1, "average": each})
        for each in ("macro", "micro", "weighted")
    ),
    *((name, "few", {**CLASSES, "average": "none", "zero_division": 1}) for name in ("Precision", "Recall", "F1Score")),
    ("JaccardIndex", "few", {**CLASSES, "average": "none", "zero_division": 1}),
    ("FBetaScore", "few", {**CLASSES, "beta": 2.0, "average": "macro", "zero_division": 1}),
    ("Accuracy", "wide", {"task": "multiclass", "num_classes": 6, "average": "macro", "top_k": 2}),
    ("Precision", "wide", {"task": "multiclass", "num_classes": 6, "average": "macro", "top_k": 2}),
    ("MeanMetric", "gaps", {}),
    ("MeanMetric", "gaps", {"nan_strategy": 0.5}),
    ("MeanMetric", "gaps", {"nan_strategy": "disable"}),
]


def scores() -> dict[str, tuple[Any, Any]]:
    """Given and wanted, by kind; the binary scores have ties."""
    source = np.random.RandomState(0)
    return {
        "classes": (source.randn(40, 4).astype("float32"), source.randint(0, 4, 40)),
        "binary": (source.rand(40).astype("float32").round(1), source.randint(0, 2, 40)),
        "labels": (source.rand(40, 3).astype("float32"), source.randint(0, 2, (40, 3))),
        "few": (source.randint(0, 2, 40), source.randint(1, 4, 40)),
        "wide": (source.randn(40, 6).astype("float32"), source.randint(0, 4, 40)),
        "gaps": (
            np.where(np.arange(40) % 7, source.rand(40), np.nan).astype("float32"),
            source.rand(40).astype("float32"),
        ),
        "numbers": (source.randn(40).astype("float32"), source.randn(40).astype("float32")),
    }


def measure(metric: Any, given: Any, wanted: Any, tensor: Callable[[Any], Any]) -> list[Any]:
    """What the first batch gives by itself, and both batches together."""
    first = metric(tensor(given[:24]), tensor(wanted[:24]))
    metric.update(tensor(given[24:]), tensor(wanted[24:]))
    return [first.tolist(), metric.compute().tolist()]


if __name__ == "__main__":
    import torch
    import torchmetrics

    known = scores()
    found = [
        measure(getattr(torchmetrics, name)(**options), *known[data], torch.tensor) for name, data, options in CASES
    ]
    REFERENCE.write_text(json.dumps(found) + "\n")
