"""The zoo's driver: what it calls the same, what it remembers, what its page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.zoo import judge, rows_of
from conformance.zoo_page import cause, plain, write_page
from conformance.zoo_run import errors, excess

from conformance import zoo_page

ROW: dict[str, Any] = {
    "model": "resnet18",
    "file": "resnet.py",
    "input": [1, 3, 128, 128],
    "forward": 1e-7,
    "gradient": 1e-6,
    "worst": "fc.weight",
    "allowed": 1e-3,
    "jit": 1e-7,
    "jit_tried": True,
    "verdict": "same",
}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "same"),
        ({"forward": 2e-4}, "differs"),
        ({"forward": float("nan")}, "differs"),
        ({"gradient": 2e-3}, "differs"),
        ({"gradient": float("nan")}, "differs"),
        ({"gradient": 2e-3, "allowed": 3e-3}, "same"),
        ({"gradient": None, "gradient_reason": "no kernel"}, "fails"),
    ],
)
def test_a_model_is_the_same_only_within_both_limits(changes: dict[str, Any], verdict: str) -> None:
    assert judge({**ROW, **changes})["verdict"] == verdict


def test_the_last_row_of_a_model_counts(tmp_path: Path) -> None:
    results = tmp_path / "timm.jsonl"
    assert rows_of(results) == {}
    results.write_text(json.dumps({**ROW, "verdict": "fails"}) + "\n" + json.dumps(ROW) + "\n")
    assert rows_of(results) == {"resnet18": ROW}


def test_a_gradient_is_measured_by_its_own_norm() -> None:
    large, small = np.full(4, 100.0), np.full(2, 1e-6)
    found = errors({"weight": (large * 1.01, large), "bias": (small * 1.5, small)})
    assert found == {"weight": pytest.approx(0.01), "bias": pytest.approx(0.5)}


@pytest.mark.parametrize(
    ("found", "single", "is_allowed"),
    [(1.0005, 1.0, True), (1.002, 1.0, False), (1.002, 1.001, True), (1.004, 1.001, False), (0.998, 1.001, True)],
)
def test_a_gradient_may_be_three_times_as_far_from_float64_as_torch_is(
    found: float, single: float, is_allowed: bool
) -> None:
    row = excess(np.full(3, found), np.full(3, single), np.ones(3))
    assert (row["gradient"] <= row["allowed"]) == is_allowed


def test_a_gradient_of_rounding_is_held_to_the_rounding() -> None:
    noise = np.array([1e-9, -1e-9])
    assert [
        row["gradient"] <= row["allowed"]
        for row in (excess(noise * 2, noise, noise * 0), excess(noise * 4, noise, noise * 0))
    ] == [
        True,
        False,
    ]


def test_causes_are_one_line_and_safe_in_a_table() -> None:
    assert (
        plain("RuntimeError: For 'A | B'\n\n---------------------- - C++ Call Stack: more")
        == "RuntimeError: For 'A / B'"
    )
    assert cause({**ROW, "verdict": "differs", "gradient": 1.0}) == "gradients differ with every image"
    assert cause({**ROW, "verdict": "differs", "gradient": 1.0, "others": ["same", "differs"]}).startswith(
        "gradients differ with the first"
    )
    unknown = {
        **ROW,
        "verdict": "differs",
        "gradient": 1.0,
        "others": ["same", "same"],
        "float64_reason": "torch: out of memory",
    }
    assert cause(unknown).endswith("the float64 run failed (torch: out of memory)")
    assert cause({**ROW, "verdict": "differs", "forward": 1.0}) == "the forward pass differs"
    assert "boxes that score alike" in cause({**ROW, "verdict": "differs", "forward": 1e-2, "nudged_forward": 1e-2})
    jumped = {**ROW, "verdict": "differs", "gradient": 2e-3, "nudged": 1e-3}
    assert cause(jumped).endswith("(a kink)")
    assert cause({**jumped, "gradient": 7e8, "allowed": 6e8, "nudged": 9e8}).startswith(
        "gradients: a parameter's is zero"
    )


def test_the_page_counts_models_and_names_what_stops_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zoo_page, "PAGE", tmp_path / "zoo.md")
    files = [
        {
            "path": "models/a.py",
            "status": "converted",
            "findings": ["MF100 torch.x has no rule"],
            "warnings": [],
            "compiles": True,
        },
        {"path": "models/b.py", "status": "converted", "findings": [], "warnings": ["MF141 y"], "compiles": True},
    ]
    stopped = {"model": "swin_t", "file": "swin.py", "verdict": "fails", "reason": "error RuntimeError: no kernel"}
    for zoo in ("torchvision", "timm"):
        (tmp_path / f"{zoo}-files.json").write_text(json.dumps(files))
        (tmp_path / f"{zoo}.jsonl").write_text(json.dumps(ROW) + "\n" + json.dumps(stopped) + "\n")
    (tmp_path / "torchvision-models.json").write_text(
        json.dumps([{"model": "vgg11", "file": "vgg.py", "parameters": 9}, {"model": "swin_t"}])
    )
    write_page(tmp_path)
    text = (tmp_path / "zoo.md").read_text()
    assert "with no error finding 1 (50%), with neither error nor warning 0 (0%)" in text
    assert (
        "image classification: 1 of 2 models measured are the same, forward and gradients; under jit 1 of 1 tried; 1 not measured yet"
        in text
    )
    assert "computes the same: 1 of 2 that register models (50%; 50% of all 2)" in text
    assert "| error RuntimeError: no kernel | 1: swin_t |" in text and "| MF100 torch.x | 1 |" in text
    assert (
        "an earlier conversion; `--again` measures anew: 1 of 1 models" in text
        and "torch's own rounding in a parameter" not in text
    )
    assert {row["model"] for row in json.loads((tmp_path / "zoo.json").read_text())["timm"]["models"]} == {
        "resnet18",
        "swin_t",
    }


def test_the_reference_mends_torchs_batch_norm_gradient() -> None:
    import torch
    from conformance.zoo_run import mend_batch_norm

    torch.manual_seed(0)
    x, weight = torch.randn(1, 3, 4, 5, requires_grad=True), torch.randn(20, 3)
    norm = torch.nn.BatchNorm2d(3).eval()
    mend_batch_norm(norm)
    found = torch.autograd.grad((norm(x).flatten(2).transpose(1, 2) * weight).sum(), x)[0]
    assert torch.allclose(found, weight.T.reshape(1, 3, 4, 5), atol=1e-4)


def test_a_model_in_float64_takes_what_it_keeps_along() -> None:
    import torch
    from conformance.zoo_run import cast

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.kept = torch.rand(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x @ self.kept @ torch.zeros(3, 3))

    net = Net()
    for dtype in (torch.float64, torch.float32):
        assert cast(net, dtype)(torch.rand(2, 3, dtype=dtype)).dtype == dtype


def test_a_pass_in_rounding_alone_is_named() -> None:
    lines = "\n".join(zoo_page._reservations([{**ROW, "gradient": 7.0, "allowed": 2e9, "metric": zoo_page.METRIC}]))
    assert (
        "torch's own rounding in a parameter" in lines and "resnet18 (fc.weight)" in lines and "0 of 1 models" in lines
    )
