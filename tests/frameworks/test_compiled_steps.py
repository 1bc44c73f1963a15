"""A compiled gradient function under a watch: the graph is compiled without the watch, which sees every loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindferry.frameworks.watch.mindferry_watch.compiled_steps import GRADIENT, compiling, update_as_called


@pytest.fixture
def seen() -> list[float]:
    return []


@pytest.fixture
def watched(seen: list[float]) -> Any:
    def watch(inner: Any, has_aux: bool) -> Any:
        def run(*args: Any) -> Any:
            try:  # which ms.jit refuses
                result = inner(*args)
            finally:
                seen.append(float("nan"))
            seen[-1] = float((result[0][0] if has_aux else result[0]).asnumpy())
            return result

        setattr(run, GRADIENT, (inner, has_aux))
        return run

    return watch


def test_a_watched_gradient_function_compiles_and_is_seen(watched: Any, seen: list[float]) -> None:
    import mindspore as ms
    from mindspore import nn, ops

    net = nn.Dense(3, 1)

    def loss(x: Any) -> Any:
        return ops.sum(net(x) * net(x))

    gradient = ms.value_and_grad(loss, None, net.trainable_params())
    inputs = [ms.Tensor(np.random.default_rng(seed).standard_normal((4, 3)), ms.float32) for seed in range(3)]
    expected = [float(gradient(x)[0].asnumpy()) for x in inputs]
    with pytest.raises(RuntimeError, match="Try"):
        ms.jit(watched(gradient, False))(inputs[0])
    seen.clear()
    compiled = compiling(ms.jit, watched)(watched(gradient, False))
    losses = [float(compiled(x)[0].asnumpy()) for x in inputs]
    assert losses == pytest.approx(expected, rel=1e-6) and seen == losses


def test_other_functions_are_compiled_as_they_are(watched: Any, seen: list[float]) -> None:
    import mindspore as ms

    double = compiling(ms.jit, watched)(_double)
    assert double(ms.Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 4.0] and not seen


def _double(x: Any) -> Any:
    return x * 2


def test_the_update_of_a_compiled_step_is_the_optimizers_own_call() -> None:
    class Helpers:
        @staticmethod
        def compiled_update(optimizer: str) -> str:
            return f"compiled {optimizer}"

    update_as_called(Helpers)
    assert Helpers.compiled_update("optimizer") == "optimizer"
