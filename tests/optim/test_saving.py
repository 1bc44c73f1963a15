"""Saving and loading: files of any name, nested checkpoints, strictness, and training that goes on where it stopped."""

from __future__ import annotations

import importlib.util
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry import convert_source

SOURCE = """import argparse
import torch
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.norm(x))


def save_weights(model: Net, path):
    torch.save(model.state_dict(), path)


def load_weights(model: Net, path):
    model.load_state_dict(torch.load(path, map_location="cpu"))


def store(value, path):
    torch.save(value, path)


def fetch(path):
    return torch.load(path)


def fetch_trusted(path):
    return torch.load(path, weights_only=False)


def fit(batches, path, start, stop, resume):
    model = Net()
    optimizer = optim.Adam(model.parameters(), lr=0.05, weight_decay=0.01)
    scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3)
    criterion = nn.MSELoss()
    model.train()
    if resume:
        checkpoint = torch.load(path)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        assert checkpoint["epoch"] == start
    losses = []
    for epoch in range(start, stop):
        for x, y in batches:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        scheduler.step()
        if epoch + 1 == 2:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
                        "epoch": epoch + 1, "best": float("inf")}, path)
    return losses
"""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("saving") / "saving_converted.py"
    conversion = convert_source(SOURCE)
    assert not [finding for finding in conversion.findings if finding.severity == "error"]
    path.write_text(conversion.code, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def perturbed(model: Any) -> Any:
    import mindspore as ms

    random = np.random.default_rng(5)
    for parameter in model.get_parameters():
        parameter.set_data(ms.Tensor(random.standard_normal(parameter.shape).astype("float32")))
    return model


@pytest.mark.parametrize("name", ["net.ckpt", "net.pth", "net", "folder.d/net.pth.tar"])
def test_weights_come_back_from_a_file_of_any_name(converted: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    model = perturbed(converted.Net())
    converted.save_weights(model, str(path))
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]
    other = converted.Net()
    converted.load_weights(other, str(path))
    assert all(
        np.array_equal(a.asnumpy(), b.asnumpy())
        for a, b in zip(model.get_parameters(), other.get_parameters(), strict=True)
    )


def test_weights_saved_here_are_a_checkpoint_that_mindspore_reads(converted: Any, tmp_path: Path) -> None:
    import mindspore as ms

    path = tmp_path / "net.ckpt"
    converted.save_weights(perturbed(converted.Net()), path)
    assert set(ms.load_checkpoint(str(path))) == set(converted.Net().state_dict())


def test_missing_and_unexpected_weights_raise(converted: Any, tmp_path: Path) -> None:
    path = tmp_path / "half.pth"
    state = dict(converted.Net().state_dict())
    state["extra.weight"] = state.pop("head.weight")
    converted.store(state, path)
    with pytest.raises(RuntimeError, match=r"(?s)head\.weight.*extra\.weight|extra\.weight.*head\.weight"):
        converted.load_weights(converted.Net(), path)


def test_a_nested_value_comes_back_as_it_was(converted: Any, tmp_path: Path) -> None:
    import mindspore as ms

    value = {
        "epoch": 3,
        "best": float("inf"),
        7: [1, (2.5, None, True)],
        "names": {"a", "b"},
        "raw": b"\0\xff",
        "empty": ms.Tensor(np.zeros((0, 3), "float32")),
        "array": np.arange(4, dtype="int16"),
        "complex": ms.Tensor(np.array([1 + 2j], "complex64")),
        "weights": {"w": ms.Tensor([1.5, 2.5])},
    }
    converted.store(value, tmp_path / "all.pt")
    loaded = converted.fetch(tmp_path / "all.pt")
    assert list(loaded) == list(value)
    assert loaded["best"] == float("inf") and loaded[7] == [1, (2.5, None, True)] and loaded["names"] == {"a", "b"}
    assert loaded["raw"] == b"\0\xff" and loaded["empty"].shape == (0, 3) and loaded["array"].dtype == np.int16
    assert loaded["complex"].asnumpy().tolist() == [1 + 2j] and loaded["weights"]["w"].asnumpy().tolist() == [1.5, 2.5]


def test_a_file_object_will_do(converted: Any) -> None:
    buffer = io.BytesIO()
    converted.store({"epoch": 3}, buffer)
    buffer.seek(0)
    assert converted.fetch(buffer) == {"epoch": 3}


def test_objects_that_only_pickle_restores_are_loaded_on_request_alone(converted: Any, tmp_path: Path) -> None:
    converted.store({"args": converted.argparse.Namespace(lr=0.1)}, tmp_path / "a.pt")
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        converted.fetch(tmp_path / "a.pt")
    assert converted.fetch_trusted(tmp_path / "a.pt")["args"].lr == 0.1


def test_a_pytorch_file_is_refused_with_the_command_that_converts_it(converted: Any, tmp_path: Path) -> None:
    import torch

    torch.save({"w": torch.ones(2)}, tmp_path / "theirs.pth")
    with pytest.raises(ValueError, match="mindferry weights convert"):
        converted.fetch(tmp_path / "theirs.pth")


def test_what_cannot_be_pickled_leaves_no_file_behind(converted: Any, tmp_path: Path) -> None:
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        converted.store({"step": lambda: 1}, tmp_path / "net.pth")
    assert not list(tmp_path.iterdir())


def test_resumed_training_has_the_losses_of_training_that_never_stopped(converted: Any, tmp_path: Path) -> None:
    import mindspore as ms

    random = np.random.default_rng(9)
    batches = [
        tuple(ms.Tensor(random.standard_normal(shape).astype("float32")) for shape in [(6, 4), (6, 2)])
        for _ in range(2)
    ]
    ms.set_seed(1)
    whole = converted.fit(batches, tmp_path / "last.pth", 0, 4, False)
    ms.set_seed(2)
    resumed = converted.fit(batches, tmp_path / "last.pth", 2, 4, True)
    assert resumed == whole[4:]
    assert len(set(whole)) == len(whole)
