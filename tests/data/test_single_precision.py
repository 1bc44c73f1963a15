"""Data code computes with numpy, which makes float64 of integers where torch makes float32: what a network then gets must not differ."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from mindferry import convert_source

SAMPLES = {
    "image over a number": "torch.from_numpy(IMAGES[i]) / 255.0",
    "image over a whole number": "torch.from_numpy(IMAGES[i]).permute(1, 2, 0) / 255",
    "by a method": "torch.from_numpy(IMAGES[i]).div(255)",
    "less a number": "(torch.tensor(IMAGES[i]) - 127.5) / 127.5",
    "places times a number": "torch.arange(4) * 0.01",
    "list over a number": "torch.tensor([1, 2, i]) / 3",
    "ones of a type": "torch.ones(3, dtype=torch.long) * 0.5 + i",
    "power": "torch.arange(1, 4) ** 0.5",
    "root": "torch.sqrt(torch.arange(3))",
    "function of a quotient": "torch.exp(-torch.arange(3) / 2)",
    "two tensors": "torch.arange(3) / torch.tensor(2)",
    "whole numbers stay": "torch.arange(4) // 2",
    "float64 stays": "torch.from_numpy(np.arange(3) * 0.5) + 1",
    "floats stay": "torch.from_numpy(IMAGES[i]).float() / 255",
}
HEAD = """import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

IMAGES = np.random.RandomState(0).randint(0, 255, (6, 2, 4, 4)).astype(np.uint8)
"""
CLASS = """

class Samples{}(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return {}, i
"""
TAIL = """

def first(made):
    batch, _ = next(iter(DataLoader(made, batch_size=2)))
    return str(batch.dtype).split(".")[-1].lower(), batch.numpy()


def run():
    return [first(each()) for each in [{}]]
"""


def _loaded(text: str, path: Path) -> Any:
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_batches_have_torchs_types(tmp_path: Path) -> None:
    classes = [CLASS.format(number, made) for number, made in enumerate(SAMPLES.values())]
    text = HEAD + "".join(classes) + TAIL.format(", ".join(f"Samples{number}" for number in range(len(SAMPLES))))
    conversion = convert_source(text)
    assert [each for each in conversion.findings if each.severity != "note"] == []
    theirs = _loaded(text, tmp_path / "theirs_precision.py").run()
    ours = _loaded(conversion.code, tmp_path / "ours_precision.py").run()
    for name, (kind, values), (expected, others) in zip(SAMPLES, ours, theirs, strict=True):
        assert kind == expected, name
        assert abs(values - others).max() < 1e-6, name
        assert others.std() > 0, name
