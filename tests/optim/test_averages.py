"""Averaged weights beside torch's: the same updates of a network with batch norm, and its statistics estimated anew."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry import convert_source, load_torch_weights

SOURCE = """import torch
from torch import nn, optim
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn


def network():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))


def average(model, kind):
    if kind == "ema":
        return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    if kind == "own":
        return AveragedModel(model, avg_fn=lambda averaged, p, n: 0.3 * averaged + 0.7 * p)
    return AveragedModel(model)


def estimate(batches, model):
    update_bn(batches, model)


def schedule(params):
    optimizer = optim.SGD(params, lr=0.1)
    return SWALR(optimizer, swa_lr=0.02, anneal_epochs=5, anneal_strategy="linear")
"""


def module(path: Path, text: str) -> Any:
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder: Path = tmp_path_factory.mktemp("averages")
    conversion = convert_source(SOURCE)
    assert not [finding for finding in conversion.findings if finding.severity == "error"]
    return module(folder / "averages_torch.py", SOURCE), module(folder / "averages_ms.py", conversion.code)


@pytest.mark.parametrize("kind", ["swa", "ema", "own"])
def test_averages_and_statistics_follow_torch(pair: tuple[Any, Any], kind: str) -> None:
    import mindspore as ms
    import torch

    theirs, ours = pair[0].network(), pair[1].network()
    load_torch_weights(ours, theirs.state_dict())
    averaged, subject = pair[0].average(theirs, kind), pair[1].average(ours, kind)
    random = np.random.default_rng(2)
    for _ in range(3):
        with torch.no_grad():
            for p in theirs.parameters():
                p.copy_(torch.from_numpy(random.standard_normal(p.shape).astype("float32")))
        load_torch_weights(ours, theirs.state_dict())
        averaged.update_parameters(theirs)
        subject.update_parameters(ours)
    batches = [random.standard_normal((6, 4)).astype("float32") for _ in range(3)]
    pair[0].estimate([torch.from_numpy(each) for each in batches], averaged)
    pair[1].estimate([ms.Tensor(each) for each in batches], subject)
    averaged.eval()
    subject.set_train(False)
    expected = averaged(torch.from_numpy(batches[0])).detach().numpy()
    assert np.allclose(subject(ms.Tensor(batches[0])).asnumpy(), expected, atol=1e-5)
    assert not np.allclose(theirs.eval()(torch.from_numpy(batches[0])).detach().numpy(), expected, atol=1e-2)


def test_the_rate_of_averaging_follows_torch(pair: tuple[Any, Any]) -> None:
    import mindspore as ms
    import torch

    theirs = pair[0].schedule([torch.nn.Parameter(torch.ones(2))])
    ours = pair[1].schedule([ms.Parameter(ms.Tensor(np.ones(2, "float32")), name="p")])
    rates = []
    for _ in range(8):
        assert ours.get_last_lr() == pytest.approx(theirs.get_last_lr(), rel=1e-9)
        rates += theirs.get_last_lr()
        theirs.optimizer.step()
        theirs.step()
        ours.step()
    assert rates[0] == 0.1 and rates[-1] == pytest.approx(0.02)
