"""autocast for Ascend: the networks that are called in such a block are cast; portable code computes in float32 and says so."""

from __future__ import annotations

import pytest

from mindferry import convert_source
from mindferry.convert.settings import Settings

CODE = """\
import torch
from torch import nn


AMP, KIND = False, torch.bfloat16


def main():
    model = nn.Linear(4, 2)
    criterion = nn.CrossEntropyLoss()
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    with {}:
        out = model(x)
        loss = criterion(out, y)
    print(loss)


if __name__ == "__main__":
    main()
"""
ASCEND = Settings(target="ascend")


@pytest.mark.parametrize(
    ("cast", "call"),
    [
        ("torch.cuda.amp.autocast()", "ms_compat.mixed_precision(model)(x)"),
        ("torch.autocast('cuda')", "ms_compat.mixed_precision(model)(x)"),
        ("torch.autocast('cuda', dtype=torch.float16)", "ms_compat.mixed_precision(model)(x)"),
        ("torch.amp.autocast('cuda', torch.bfloat16)", "ms_compat.mixed_precision(model, ms.bfloat16)(x)"),
        (
            "torch.autocast('cuda', dtype=torch.bfloat16, enabled=True)",
            "ms_compat.mixed_precision(model, ms.bfloat16)(x)",
        ),
        ("torch.autocast('cuda', enabled=AMP)", "ms_compat.mixed_precision(model, enabled=AMP)(x)"),
        ("torch.cuda.amp.autocast(AMP)", "ms_compat.mixed_precision(model, enabled=AMP)(x)"),
        (
            "torch.autocast('cuda', torch.bfloat16, AMP)",
            "ms_compat.mixed_precision(model, ms.bfloat16, enabled=AMP)(x)",
        ),
        ("torch.autocast('cuda', dtype=KIND)", "ms_compat.mixed_precision(model, KIND)(x)"),
        (
            "torch.autocast('cuda', enabled=torch.cuda.is_available() and torch.device('cuda').type == 'cuda')",
            "ms_compat.mixed_precision(model)(x)",
        ),
        ("torch.autocast('cpu')", "ms_compat.mixed_precision(model, ms.bfloat16)(x)"),
    ],
)
def test_a_network_is_cast_for_ascend(cast: str, call: str) -> None:
    made = convert_source(CODE.format(cast), settings=ASCEND)
    assert f"    out = {call}\n    loss = criterion(out, y)\n" in made.main
    assert "amp.auto_mixed_precision(net, " in made.helpers
    assert not [each for each in made.findings if each.code == "MF203"]


def test_a_network_given_to_a_function_is_cast_too() -> None:
    code = "import torch\n\n\ndef train(model, x):\n    with torch.autocast('cuda'):\n        return model(x).sum()\n"
    assert "ms_compat.mixed_precision(model)(x)" in convert_source(code, settings=ASCEND).main


@pytest.mark.parametrize("settings", [Settings(), Settings(target="cpu")], ids=["portable", "cpu"])
def test_portable_code_says_that_it_runs_in_float32(settings: Settings) -> None:
    made = convert_source(CODE.format("torch.autocast('cuda')"), settings=settings)
    assert "    out = model(x)\n" in made.main
    assert [each.code for each in made.findings if each.code == "MF203"] == ["MF203"]


@pytest.mark.parametrize(
    "cast",
    [
        "torch.autocast('cuda', enabled=False)",
        "torch.cuda.amp.autocast(False)",
        "torch.autocast('cuda', torch.float32)",
    ],
)
def test_what_is_switched_off_is_not_cast(cast: str) -> None:
    assert "mixed_precision" not in convert_source(CODE.format(cast), settings=ASCEND).main


def test_on_a_cpu_the_helper_leaves_the_network_as_it_is(tmp_path, monkeypatch) -> None:
    import importlib

    from mindspore import nn

    made = convert_source(CODE.format("torch.autocast('cuda')"), settings=ASCEND)
    (tmp_path / "amp_helpers.py").write_text(made.helpers)
    monkeypatch.syspath_prepend(tmp_path)
    net = nn.Dense(2, 3)
    assert importlib.import_module("amp_helpers").mixed_precision(net) is net
    assert not hasattr(net, "has_mixed_precision")
