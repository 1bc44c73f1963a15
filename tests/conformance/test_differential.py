"""Samples become source text, and what both frameworks compute from it is compared."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conformance.samples import Sample, Writer, entries, samples

from mindferry.apis import table
from mindferry.apis.checks.cases import Mismatch
from mindferry.apis.checks.differential import Runner, compare_forms, compare_values


def sample(call: str, *shapes: tuple[int, ...]) -> Sample:
    import torch

    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    parameters = ", ".join(f"t{index}: torch.Tensor" for index in range(len(tensors)))
    return Sample(
        f"import torch\n\n\ndef case({parameters}):\n    return {call}\n", tensors, lambda output: output, True
    )


def test_arguments_are_written_as_torch_source() -> None:
    import torch

    writer = Writer()
    given = (
        torch.ones(2),
        3,
        0.5,
        float("inf"),
        None,
        "sum",
        (1,),
        [torch.zeros(1), True],
        torch.float64,
        slice(1, None),
    )
    expected = "(t0, 3, 0.5, float('inf'), None, 'sum', (1,), [t1, True], torch.float64, slice(1, None, None))"
    assert writer.write(given) == expected
    assert [tuple(each.shape) for each in writer.tensors] == [(2,), (1,)]


def test_an_operator_whose_arguments_op_db_moves_is_written_as_a_user_would() -> None:
    assert "torch.where(t1, t0, t2)" in next(samples(entries()["where"])).source


def test_a_right_conversion_passes(tmp_path: Path) -> None:
    Runner(tmp_path).check(sample("torch.cumprod(t0, 1) + torch.logsumexp(t1, 0)", (3, 4), (5, 4)))


def test_an_unconverted_call_is_a_mismatch_with_its_reason(tmp_path: Path) -> None:
    missing = table().calls["torch.fx.symbolic_trace"].missing
    with pytest.raises(Mismatch, match=f"not converted: .*{re.escape(missing)}"):
        Runner(tmp_path).check(sample("torch.fx.symbolic_trace(torch.nn.ReLU())(t0)", (3, 4)))


def test_a_gradient_that_torch_lacks_is_a_mismatch(tmp_path: Path) -> None:
    wrong = sample("torch.exp(t0)", (3, 4))
    runner = Runner(tmp_path)
    theirs, _ = runner.load_pair(wrong.source, "def case(t0):\n    return 0\n")
    ours = "from mindspore import ops\n\n\ndef case(t0):\n    return ops.exp(ops.stop_gradient(t0))\n"
    runner.loaded[wrong.source] = theirs, runner.load_pair(wrong.source, ours)[1]
    with pytest.raises(Mismatch, match="gradient 0 differs"):
        runner.check(wrong)


def test_a_random_operator_is_compared_by_its_moments(tmp_path: Path) -> None:
    runner, fair = Runner(tmp_path), sample("torch.nn.functional.dropout(t0, 0.3)", (40, 40))
    runner.check(fair)
    theirs, _ = runner.loaded[fair.source]
    unfair = "from mindspore import ops\n\n\ndef case(t0):\n    return ops.dropout(t0, 0.6)\n"
    runner.loaded[fair.source] = theirs, runner.load_pair(fair.source, unfair)[1]
    with pytest.raises(Mismatch, match="deviation of output 0"):
        runner.check(fair)


def test_shape_type_and_value_are_told_apart() -> None:
    one = np.ones((2, 3), np.float32)
    with pytest.raises(Mismatch, match="shape"):
        compare_forms([one], [one[0]])
    with pytest.raises(Mismatch, match="int64 in MindSpore"):
        compare_forms([one], [one.astype(np.int64)])
    with pytest.raises(Mismatch, match="differs by"):
        compare_values([one], [one * 1.1], "output")
    compare_forms([one], [one.astype(np.float64)])
    compare_values([one], [one * 1.0001], "output")
