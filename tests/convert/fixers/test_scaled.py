"""Scaled losses in the cell and model styles: what is written, what is refused, and the same losses on a CPU."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

SCRIPT = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scaler = {scaler}
    x = torch.arange(240).reshape(40, 6).float() % 17 / 17
    loader = DataLoader(TensorDataset(x, (x.sum(dim=1) > 3).long()), batch_size=8)
    for inputs, labels in loader:
        optimizer.zero_grad()
        with {cast}:
            loss = criterion(net(inputs), labels)
        scaler.scale(loss).backward()
        {between}scaler.step(optimizer)
        scaler.update()
        print('loss is', loss.item())


if __name__ == '__main__':
    main()
"""
CAST = "torch.autocast('cuda')"


def text(scaler: str = "torch.cuda.amp.GradScaler()", cast: str = CAST, between: str = "") -> str:
    return SCRIPT.format(scaler=scaler, cast=cast, between=f"{between}\n        " if between else "")


@pytest.mark.parametrize(
    ("code", "made"),
    [
        (text(), "ms_compat.scaled_train_cell(nn.WithLossCell(ms_compat.mixed_precision(net), criterion), optimizer)"),
        (
            text(
                "torch.amp.GradScaler('cuda', init_scale=1024.0, growth_interval=100)",
                "torch.autocast('cuda', torch.bfloat16)",
            ),
            "ms_compat.scaled_train_cell(nn.WithLossCell(ms_compat.mixed_precision(net, ms.bfloat16), criterion), optimizer, "
            "loss_scale_value=1024.0, scale_window=100)",
        ),
        (
            "AMP = False\n" + text("torch.amp.GradScaler(enabled=AMP)", "torch.autocast('cuda', enabled=AMP)"),
            "ms_compat.scaled_train_cell(nn.WithLossCell(ms_compat.mixed_precision(net, enabled=AMP), criterion), optimizer, "
            "enabled=AMP)",
        ),
    ],
)
def test_a_scaled_step_is_one_cell(code: str, made: str) -> None:
    result = convert_source(code, settings=Settings(style="cell"))
    assert f"train_net = {made}\n" in result.main
    assert "        loss = train_net(inputs, labels)\n        print(" in result.main
    assert "scaler" not in result.main and "clear_gradients" not in result.main
    model = convert_source(code, settings=Settings(style="model")).main
    assert f"trainer = ms.train.Model({made})\n" in model


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (text(between="scaler.unscale_(optimizer)"), "its loss scale is read or changed elsewhere too"),
        (text("torch.cuda.amp.GradScaler(backoff_factor=0.25)"), "options that MindSpore's has not"),
        (text("torch.cuda.amp.GradScaler(1024.0)"), "options that MindSpore's has not"),
        (text(cast="torch.autocast('cuda', enabled=len(inputs) > 4)"), "the loop itself decides"),
        (text().replace("scaler.update()", "pass"), "does not step and update right after"),
    ],
)
def test_another_use_of_the_scale_is_refused_with_its_reason(code: str, reason: str) -> None:
    result = convert_source(code, settings=Settings(style="cell"))
    assert [reason in each.message for each in result.findings if each.code == "MF210"] == [True]
    assert "ms_compat.backward(" in result.main


def test_on_a_cpu_all_styles_have_the_same_losses(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text(text())
    seen = {}
    for style in ("functional", "cell", "model"):
        output = tmp_path / style
        convert_project(source, output, settings=Settings(style=style))
        ran = subprocess.run(
            [sys.executable, "train.py"], cwd=output, env={**os.environ, "GLOG_v": "4"}, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        seen[style] = [float(each) for each in re.findall(r"loss is ([\d.]+)", ran.stdout)]
    assert len(seen["functional"]) == 5
    assert seen["cell"] == pytest.approx(seen["functional"], rel=1e-6)
    assert seen["model"] == pytest.approx(seen["functional"], rel=1e-6)


def test_what_other_devices_run_is_called_as_mindspore_has_it() -> None:
    """Not run here: no such device."""
    from mindspore import amp, nn

    inspect.signature(nn.DynamicLossScaleUpdateCell).bind(65536.0, 2, 2000)
    inspect.signature(nn.TrainOneStepWithLossScaleCell).bind("network", "optimizer", "scale")
    inspect.signature(amp.auto_mixed_precision).bind("network", "auto", "dtype")
    names = list(inspect.signature(nn.DynamicLossScaleUpdateCell).parameters)
    assert names == ["loss_scale_value", "scale_factor", "scale_window"]
