"""Python's operators on tensors: both frameworks run the same source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindferry.convert import convert_source

INPUTS = {
    "int64": np.array([-7, -1, 0, 3, 8]),
    "int32": np.array([-50, 2, 1, 3, 8], np.int32),
    "uint8": np.array([0, 1, 2, 200, 255], np.uint8),
    "bool": np.array([True, False, True, True, False]),
}


def run(expression: str, x: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    import mindspore as ms
    import torch

    source = f"import torch\n\ndef f(x: torch.Tensor):\n    return {expression}\n"
    torch_scope: dict[str, Any] = {}
    exec(source, torch_scope)
    expected = torch_scope["f"](torch.from_numpy(x))
    scope: dict[str, Any] = {}
    exec(convert_source(source).code, scope)
    return expected.numpy(), scope["f"](ms.Tensor(x)).asnumpy()


@pytest.mark.parametrize("dtype", INPUTS)
@pytest.mark.parametrize("expression", ["~x", "~x.clone()", "~x[1:]", "~(x > 2)", "~(~x)"])
def test_a_tilde_flips_bits_as_in_torch(expression: str, dtype: str) -> None:
    expected, actual = run(expression, INPUTS[dtype])
    assert actual.tolist() == expected.tolist() and actual.dtype == expected.dtype


@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("expression", ["x << 2", "(x >> 1) + 3", "1 << (x & 3)", "x >> (x & 1)"])
def test_shifts_are_products_and_floor_divisions(expression: str, dtype: str) -> None:
    expected, actual = run(expression, INPUTS[dtype])
    assert actual.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "line",
    [
        "y = ~(x > 2)",
        "m = x == 1; y = ~m",
        "m = torch.isnan(x) | (x < 0); y = ~m[0]",
        "m = x.bool(); n = m; y = ~n.unsqueeze(0)",
        "y = ~torch.zeros(3).to(device=d, dtype=torch.bool)",
    ],
)
def test_what_is_plainly_boolean_keeps_its_tilde(line: str) -> None:
    code = convert_source(f"import torch\n\ndef f(x: torch.Tensor, d):\n    {line}\n    return y\n").main
    assert "y = ~" in code and "bitwise_not" not in code


def test_numbers_and_arrays_keep_their_operators() -> None:
    source = "import numpy as np\nimport torch\na = ~np.arange(3)\nb = ~5 << 2\nc = torch.zeros(2)\n"
    assert "a = ~np.arange(3)\nb = ~5 << 2\n" in convert_source(source).main
