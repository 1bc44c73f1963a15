"""Fused kernels for Ascend: named and called as MindSpore documents them, and plain computation where they don't apply. No device runs them here."""

from __future__ import annotations

import ast
import inspect
import runpy
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from mindferry import convert_source
from mindferry.convert.render.helpers_module import render
from mindferry.convert.settings import Settings

CODE = "import torch\nimport torch.nn.functional as F\n\n\ndef f(q, k, v, w):\n    return {}\n"


@pytest.mark.parametrize(
    ("call", "helper"),
    [
        ("F.scaled_dot_product_attention(q, k, v, is_causal=True)", "flash_attention(q, k, v, is_causal=True)"),
        ("F.rms_norm(q, (4,), w, eps=1e-6)", "fused_rms_norm(q, (4,), w, eps=1e-6)"),
    ],
)
def test_ascend_gets_the_fused_kernel_and_portable_code_does_not(call: str, helper: str) -> None:
    assert helper in convert_source(CODE.format(call), settings=Settings("ascend")).main
    assert (
        "fused" not in convert_source(CODE.format(call)).main and "flash" not in convert_source(CODE.format(call)).main
    )


def test_every_fused_operator_exists_and_takes_what_it_is_given() -> None:
    from mindspore import ops

    tree = ast.parse(files("mindferry.apis.torch.compat").joinpath("fused_ascend.py").read_text("utf-8"))
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("ops.flash_attention_score", "ops.rms_norm")
    ]
    assert len(calls) == 2
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        signature = inspect.signature(getattr(ops, call.func.attr))
        signature.bind(*call.args, **{str(keyword.arg): keyword.value for keyword in call.keywords})


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_what_the_kernel_does_not_take_is_computed_plainly(tmp_path: Path, options: dict[str, object]) -> None:
    import mindspore as ms
    import torch

    (tmp_path / "fused_helpers.py").write_text(render({"flash_attention", "fused_rms_norm"}))
    helpers = runpy.run_path(str(tmp_path / "fused_helpers.py"))
    flash_attention, fused_rms_norm = helpers["flash_attention"], helpers["fused_rms_norm"]
    random = np.random.default_rng(3)
    arrays = [random.standard_normal((2, 2, 5, 4)).astype("float32") for _ in range(3)]
    ours = flash_attention(*map(ms.Tensor, arrays), **options).asnumpy()
    theirs = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, arrays), **options).numpy()  # type: ignore[arg-type]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    weight = random.standard_normal(4).astype("float32")
    normed = fused_rms_norm(ms.Tensor(arrays[0]), (4,), ms.Tensor(weight), 1e-6).asnumpy()
    expected = torch.nn.functional.rms_norm(torch.tensor(arrays[0]), (4,), torch.tensor(weight), 1e-6).numpy()
    np.testing.assert_allclose(normed, expected, atol=1e-5)
