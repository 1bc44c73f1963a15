"""What optimizers promise beside their arithmetic: groups, state, compiled steps. The arithmetic itself is conformance/optim_db."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import optim_db, schedulers
from mindferry import convert_source

SOURCE = """import torch
from torch import nn, optim


class Lookahead(optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
        self.calls = 0

    def step(self, closure=None):
        self.calls += 1
        self.norms = [float((p.grad**2).sum()) for group in self.param_groups for p in group["params"]]


def make(params, kind):
    if kind == "Adam":
        return optim.Adam([{"params": params[:1]}, {"params": params[1:], "lr": 0.05, "weight_decay": 0.1}], lr=0.01)
    if kind == "SGD":
        return optim.SGD(params, lr=0.1, momentum=0.9)
    if kind == "Lookahead":
        return Lookahead(params, 0.1)
    return optim.NAdam(params)
"""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("optim") / "optim_converted.py"
    conversion = convert_source(SOURCE)
    assert not [finding for finding in conversion.findings if finding.severity == "error"]
    path.write_text(conversion.code, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # ms.jit imports it by name
    spec.loader.exec_module(module)
    return module


def parameters(seed: int = 0) -> list[Any]:
    import mindspore as ms

    random = np.random.default_rng(seed)
    return [
        ms.Parameter(ms.Tensor(random.standard_normal(shape).astype("float32")), name=f"p{i}")
        for i, shape in enumerate([(3, 2), (3,)])
    ]


def gradients(step: int) -> tuple[Any, ...]:
    import mindspore as ms

    random = np.random.default_rng(100 + step)
    return tuple(ms.Tensor(random.standard_normal(shape).astype("float32")) for shape in [(3, 2), (3,)])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Adam", "params, lr=0.01, weight_decay=0.1"),
        ("SGD", "params, lr=0.01, momentum=0.9, dampening=0.5, weight_decay=0.1"),
    ],
)
def test_an_optimizer_follows_torch_for_twenty_steps(name: str, arguments: str) -> None:
    record = optim_db.check(name, arguments)
    assert record.is_right, record.reason
    assert record.worst < 1e-6 < record.moved


@pytest.mark.slow
def test_every_optimizer_follows_torch_in_every_configuration() -> None:
    assert [record for record in optim_db.run() if not record.is_right] == []


@pytest.mark.slow
def test_every_scheduler_follows_torch_for_fifty_steps_with_a_restart() -> None:
    assert [record for record in schedulers.run() if not record.is_right] == []


def test_a_scheduler_follows_torch_and_can_be_resumed() -> None:
    assert [record for record in schedulers.run(["OneCycleLR", "LRScheduler"]) if not record.is_right] == []


def test_rates_of_groups_are_numbers_that_code_can_read_and_write(converted: Any) -> None:
    params = parameters()
    optimizer = converted.make(params, "Adam")
    assert [group["lr"] for group in optimizer.param_groups] == [0.01, 0.05]
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0, 0.1]
    before = [p.asnumpy().copy() for p in params]
    optimizer.param_groups[0]["lr"] *= 0.0
    optimizer(gradients(0))
    assert np.array_equal(params[0].asnumpy(), before[0])
    assert not np.allclose(params[1].asnumpy(), before[1])


def test_a_compiled_step_sees_a_changed_rate(converted: Any) -> None:
    import mindspore as ms

    params = parameters()
    optimizer = converted.make(params, "Adam")
    step = ms.jit(optimizer.construct)
    step(gradients(0))
    plain = parameters()
    reference = converted.make(plain, "Adam")
    reference(gradients(0))
    assert all(np.allclose(a.asnumpy(), b.asnumpy(), atol=1e-6) for a, b in zip(params, plain, strict=True))
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    before = [p.asnumpy().copy() for p in params]
    step(gradients(1))
    assert all(np.array_equal(p.asnumpy(), old) for p, old in zip(params, before, strict=True))


@pytest.mark.parametrize("kind", ["Adam", "SGD", "NAdam"])
def test_a_loaded_state_continues_as_if_never_stopped(converted: Any, kind: str) -> None:
    import copy

    import mindspore as ms

    params = parameters()
    optimizer = converted.make(params, kind)
    for step in range(3):
        optimizer(gradients(step))
    saved, weights = copy.deepcopy(optimizer.state_dict()), [p.asnumpy().copy() for p in params]
    again = [ms.Parameter(ms.Tensor(each), name=f"p{i}") for i, each in enumerate(weights)]
    resumed = converted.make(again, kind)
    resumed.load_state_dict(saved)
    for step in range(3, 5):
        optimizer(gradients(step))
        resumed(gradients(step))
    assert all(np.array_equal(a.asnumpy(), b.asnumpy()) for a, b in zip(params, again, strict=True))
    assert not np.allclose(params[0].asnumpy(), weights[0])


def test_a_state_of_another_shape_is_refused(converted: Any) -> None:
    with pytest.raises(ValueError, match="different number of parameter groups"):
        converted.make(parameters(), "SGD").load_state_dict(converted.make(parameters(), "Adam").state_dict())


def test_a_group_added_later_is_trained_with_its_own_count_of_steps(converted: Any) -> None:
    import mindspore as ms

    params = parameters()
    optimizer = converted.make(params, "SGD")
    optimizer(gradients(0))
    late = ms.Parameter(ms.Tensor(np.ones(3, "float32")), name="late")
    optimizer.add_param_group({"params": late, "lr": 0.5})
    optimizer((*gradients(1), ms.Tensor(np.ones(3, "float32"))))
    assert np.allclose(late.asnumpy(), 0.5)
    assert [float(group.count) for group in optimizer.param_groups] == [2.0, 1.0]
    assert len(optimizer.parameters) == 3


def test_frozen_parameters_and_those_without_a_gradient_stay(converted: Any) -> None:
    params = parameters()
    optimizer = converted.make(params, "Adam")
    before = [p.asnumpy().copy() for p in params]
    params[1].requires_grad = False
    optimizer(gradients(0))
    assert np.array_equal(params[1].asnumpy(), before[1]) and not np.allclose(params[0].asnumpy(), before[0])
    params[1].requires_grad = True
    moved = params[0].asnumpy().copy()
    optimizer((None, gradients(1)[1]))
    assert np.array_equal(params[0].asnumpy(), moved) and not np.allclose(params[1].asnumpy(), before[1])


def test_step_without_gradients_says_what_to_call(converted: Any) -> None:
    optimizer = converted.make(parameters(), "Adam")
    optimizer.zero_grad()
    with pytest.raises(RuntimeError, match="value_and_grad"):
        optimizer.step()


def test_a_closure_returns_loss_and_gradients(converted: Any) -> None:
    params = parameters()
    before = params[0].asnumpy().copy()
    assert converted.make(params, "SGD").step(lambda: (3.0, gradients(0))) == 3.0
    assert np.allclose(params[0].asnumpy(), before - 0.1 * gradients(0)[0].asnumpy(), atol=1e-6)


def test_a_users_own_optimizer_finds_its_gradients_on_the_parameters(converted: Any) -> None:
    optimizer = converted.make(parameters(), "Lookahead")
    optimizer(gradients(0))
    assert optimizer.calls == 1
    assert np.allclose(optimizer.norms, [float((g.asnumpy() ** 2).sum()) for g in gradients(0)], rtol=1e-5)
