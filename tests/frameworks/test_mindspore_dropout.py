"""What takes the place of the conversion's dropout while it is compared."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from mindferry.frameworks.mindspore_dropout import replaced_dropout


def fixed(input: Any, training: bool = True) -> Any:
    """As a conversion has it, each call of which has the same rate."""
    return input


def given(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    return input


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[float | None, bool]]] = {
    "no rate": (fixed, (True,), {}, (None, True)),
    "no rate, by name": (fixed, (), {"training": False}, (None, False)),
    "a rate": (given, (0.1, False), {}, (0.1, False)),
    "a rate by default": (given, (), {}, (0.5, True)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_function_is_asked_for_its_rate_by_its_own_arguments(
    call: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[float | None, bool]],
) -> None:
    original, arguments, options, expected = call
    helpers = ModuleType("ms_compat")
    helpers.dropout = original  # type: ignore[attr-defined]
    original.__module__ = "ms_compat"
    seen: list[tuple[float | None, bool]] = []

    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return helpers.dropout(x, *arguments, **options)

    def function(name: str, input: Any, rate: float | None, training: bool) -> Any:
        seen.append((rate, training))
        return input

    Net.construct.__globals__["_helpers_of_this_test"] = helpers
    try:
        with replaced_dropout(Net(), function):
            Net()(ms.Tensor(np.ones(2, np.float32)))
    finally:
        del Net.construct.__globals__["_helpers_of_this_test"]
    assert seen == [expected]
