"""For the user's own tests: `assert_same(torch_module, cell, inputs)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .artifacts import Comparison


def assert_same(
    torch_module: Any, cell: Any, inputs: Any, *, modes: Sequence[str] = ("eval", "train"), k: float = 4.0
) -> Comparison:
    """Fail unless `cell` computes what `torch_module` does: outputs, gradients, statistics, of every module inside.

    The torch module's weights are copied into `cell` first. `inputs` is a tensor or array, a tuple of them, a
    dictionary of keyword arguments, or text such as 'float32[4,3,32,32]'. See docs/how-to/verify.md for `k`.

        def test_block():
            assert_same(torch_model.Block(8), model.Block(8), "float32[2,8,16,16]")
    """
    from .verify.judge import Rule
    from .verify.live import compare
    from .verify.table import failures

    comparison = compare(torch_module, cell, inputs, modes=modes, rule=Rule(k=k))
    if not comparison.passed:
        raise AssertionError("\n".join(failures(comparison)))
    return comparison
