"""Defects of MindSpore that rules work around: each is still there, and only targets that have it pay for it."""

from __future__ import annotations

import pytest

from mindferry import convert_source
from mindferry.apis import table
from mindferry.apis.quirks import QUIRKS, Quirk, applies, native_on
from mindferry.convert.settings import Settings

CODE = (
    "import torch\nfrom torch import nn\n\n\ndef f(x: torch.Tensor, mask: torch.Tensor):\n"
    "    x = x.masked_fill(mask, float('-inf'))\n    return {}\n"
)


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.name)
def test_the_defect_is_still_there(quirk: Quirk) -> None:
    import mindspore as ms
    import numpy as np
    from mindspore import nn, ops

    def fails(function) -> bool:
        try:
            function()
        except RuntimeError as error:
            return "loop_size_ should be greater than 0" in str(error)
        return False

    assert ms.__version__.startswith(quirk.version), "measure the quirks anew with this version"
    names = {"__name__": __name__, "ms": ms, "nn": nn, "ops": ops, "np": np, "inf": float("inf"), "fails": fails}
    names["t"] = lambda values: ms.Tensor(np.array(values, np.float32))
    assert eval(quirk.case, names), f"mended: {quirk.what}; take the quirk out, and what works around it"


@pytest.mark.parametrize(
    ("call", "portable", "ascend"),
    [
        ("torch.tanh(x)", "ms_compat.tanh(x)", "ops.tanh(x)"),
        ("nn.Tanh()(x)", "ms_compat.Tanh()(x)", "nn.Tanh()(x)"),
        ("nn.SELU(inplace=True)(x)", "ms_compat.SELU(inplace=True)(x)", "nn.SeLU()(x)"),
        ("torch.softmax(x, dim=1)", "ms_compat.softmax(x, dim=1)", "ops.softmax(x, axis=1)"),
        ("nn.Softmax(-1)(x)", "ms_compat.PlainSoftmax(-1)(x)", "nn.Softmax(-1)(x)"),
        ("x[mask].sum()", "ms_compat.sum_of(x[mask])", "ops.sum(x[mask])"),
    ],
)
def test_a_target_without_the_defect_gets_mindspores_own(call: str, portable: str, ascend: str) -> None:
    assert f"return {ascend}\n" in convert_source(CODE.format(call), settings=Settings(target="ascend")).main
    for target in ("portable", "cpu"):
        assert ascend not in convert_source(CODE.format(call), settings=Settings(target=target)).main


def test_quirks_name_rules_of_the_table_and_apply_by_platform() -> None:
    assert native_on("ascend") and not native_on("cpu")
    assert all(api in table() for api in native_on("ascend"))
    for quirk in QUIRKS:
        assert applies(quirk.name, "portable") and applies(quirk.name, "cpu") and not applies(quirk.name, "ascend")
