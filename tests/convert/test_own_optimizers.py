"""MindSpore's own optimizers and schedules stand by default where they compute the same and the project asks no more of them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore.experimental.optim import lr_scheduler

from mindferry.convert import convert_project, one_file, pool
from mindferry.convert.render.helper_use import use_of
from mindferry.convert.render.helpers_module import render
from mindferry.convert.settings import Settings
from mindferry.layout import ProjectFile

LOOP = """import torch
from torch import nn, optim

net = nn.Linear(3, 2)
optimizer = {}
x = torch.ones(4, 3)
for i in range(4):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    {}
"""


def converted(folder: Path, optimizer: str, extra: str = "print(loss)", settings: Settings | None = None) -> str:
    (folder / "train.py").write_text(LOOP.format(optimizer, extra))
    convert_project(folder / "train.py", folder / "out", settings=settings)
    return (folder / "out" / "train.py").read_text()


@pytest.mark.parametrize(
    ("torchs", "own"),
    [
        (
            "optim.SGD(net.parameters(), lr=0.1, momentum=0.9)",
            "optim.SGD(net.trainable_params(), lr=0.1, momentum=0.9)",
        ),
        ("optim.SGD(net.parameters(), 0.1, foreach=True)", "optim.SGD(net.trainable_params(), 0.1)"),
        ("optim.AdamW(net.parameters(), betas=(0, 0.9))", "optim.AdamW(net.trainable_params(), betas=(0.0, 0.9))"),
        ("optim.RMSprop(net.parameters(), eps=1)", "optim.RMSprop(net.trainable_params(), eps=float(1))"),
        ("optim.AdamW(net.parameters(), maximize=False)", "optim.AdamW(net.trainable_params())"),
        ("optim.AdamW(net.parameters(), maximize=True)", "ms_compat.AdamW(net.trainable_params(), maximize=True)"),
        (
            'optim.SGD([{"params": net.parameters()}], lr=0.1)',
            'optim.SGD([{"params": ms_compat.parameters(net)}], lr=0.1)',
        ),
        (
            "optim.SGD(list(net.parameters()) + list(other.parameters()), lr=0.1)",
            "ms_compat.SGD(list(net.trainable_params()) + list(other.trainable_params()), lr=0.1)",
        ),
        ("optim.SGD(weights, lr=0.1)", "ms_compat.SGD(weights, lr=0.1)"),
        ("optim.RAdam(net.parameters())", "ms_compat.RAdam(net.trainable_params())"),
    ],
)
def test_an_optimizer_is_mindspores_own_where_it_computes_the_same(tmp_path: Path, torchs: str, own: str) -> None:
    assert f"optimizer = {own}\n" in converted(tmp_path, torchs)


@pytest.mark.parametrize(
    "extra",
    [
        'print(optimizer.param_groups[0]["lr"])',
        'torch.save(optimizer.state_dict(), "o.pt")',
        'torch.save({"o": optimizer.state_dict()}, "o.pt")',
        "net.bias.requires_grad = False",
        "net = net.double()",
        "net.weight.grad.mul_(2)",
    ],
)
def test_a_project_that_asks_for_more_keeps_torchs(tmp_path: Path, extra: str) -> None:
    assert "ms_compat.SGD(" in converted(tmp_path, "optim.SGD(net.parameters(), lr=0.1)", extra)


def test_a_schedule_is_mindspores_own_only_beside_such_an_optimizer(tmp_path: Path) -> None:
    sgd, step = "optim.SGD(net.parameters(), lr=0.1)", "optim.lr_scheduler.{}"
    for schedule, own in (
        ("StepLR(optimizer, 2)", "lr_scheduler.StepLR(optimizer, 2)"),
        ("CosineAnnealingLR(optimizer, 2)", "ms_compat.CosineAnnealingLR(optimizer, 2)"),
    ):
        folder = tmp_path / schedule[:4]
        folder.mkdir()
        text = converted(folder, f"{sgd}\nschedule = {step.format(schedule)}", "schedule.step()")
        assert f"schedule = {own}\n" in text
        assert ("ms_compat.SGD" in text) == ("ms_compat" in own)


def test_a_script_without_helpers_is_told_what_mindspore_needs(tmp_path: Path) -> None:
    text = converted(tmp_path, "optim.SGD(net.parameters(), lr=0.1)")
    assert "\nimport ms_compat  # " in text and "ms_compat." not in text
    assert "\nprepare_cpu()\n" in (tmp_path / "out" / "ms_compat.py").read_text()


def test_gradients_that_are_kept_on_parameters_go_to_mindspores_where_a_loss_reaches_all(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        LOOP.format("optim.SGD(net.parameters(), lr=0.1)", "print(loss)").replace(
            "    loss.backward()\n    optimizer.step()\n",
            "    loss.backward()\n    if i % 2:\n        optimizer.step()\n",
        )
    )
    convert_project(tmp_path / "train.py", tmp_path / "out")
    text = (tmp_path / "out" / "train.py").read_text()
    assert " optim.SGD(" in text and "ms_compat.apply_gradients(optimizer)" in text


def test_gradients_of_a_part_of_the_network_need_torchs(tmp_path: Path) -> None:
    """Only the converted file tells: some of its gradients may be None."""
    (tmp_path / "train.py").write_text(
        LOOP.format("optim.SGD([*net.parameters(), scale], lr=0.1)", "print(loss)").replace(
            "    loss.backward()\n    optimizer.step()\n",
            "    loss.backward()\n    if i % 2:\n        optimizer.step()\n",
        )
    )
    convert_project(tmp_path / "train.py", tmp_path / "out")
    assert "ms_compat.SGD(" in (tmp_path / "out" / "train.py").read_text()


def test_converting_again_gives_the_same(tmp_path: Path) -> None:
    first = converted(tmp_path, "optim.SGD(net.parameters(), lr=0.1)")
    again = convert_project(tmp_path / "train.py", tmp_path / "out")
    assert again.reused == ("train.py",) and (tmp_path / "out" / "train.py").read_text() == first


def test_a_notebook_and_another_style_keep_torchs(tmp_path: Path) -> None:
    assert "ms_compat.SGD(" in converted(
        tmp_path, "optim.SGD(net.parameters(), lr=0.1)", settings=Settings(style="cell")
    )


CALLS = (
    "Adam(net.trainable_params(), lr=0.05, weight_decay=0.01)",
    "Adam(net.trainable_params(), lr=0.05, betas=(0.0, 0.99), eps=0.01)",
)


@pytest.mark.parametrize("call", CALLS)
def test_adam_beside_them_follows_torchs(call: str) -> None:
    """With gradients down to 1e-9, where MindSpore's own Adam goes elsewhere, and a rate that a schedule changes."""
    rng = np.random.default_rng(3)
    use = use_of([f"import ms_compat\nms_compat.{call}\n"], "ms_compat", is_library=False)
    use.has_exact_optimizers = True
    made: dict[str, Any] = {}
    exec(render({"Adam"}, use), made)
    options = {each.arg: ast.literal_eval(each.value) for each in ast.parse(call, mode="eval").body.keywords}  # type: ignore[attr-defined]
    first = [rng.standard_normal(shape).astype("f4") for shape in ((4, 3), (3,))]
    theirs = [torch.nn.Parameter(torch.tensor(each)) for each in first]
    ours = [ms.Parameter(ms.Tensor(each), name=f"p{place}") for place, each in enumerate(first)]
    optimizers = torch.optim.Adam(theirs, **options), made["Adam"](ours, **options)
    schedules = torch.optim.lr_scheduler.StepLR(optimizers[0], 4), lr_scheduler.StepLR(optimizers[1], 4)
    for _ in range(10):
        grads = [(rng.standard_normal(each.shape) * 10.0 ** rng.integers(-9, 1)).astype("f4") for each in first]
        for parameter, grad in zip(theirs, grads, strict=True):
            parameter.grad = torch.tensor(grad)
        optimizers[0].step()
        optimizers[1](tuple(map(ms.Tensor, grads)))
        for schedule in schedules:
            schedule.step()
    for own, other, start in zip(ours, theirs, first, strict=True):
        assert np.abs(other.detach().numpy() - start).max() > 1e-2
        np.testing.assert_allclose(own.asnumpy(), other.detach().numpy(), rtol=0, atol=5e-7)


def test_a_library_whose_users_are_not_known_is_converted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def convert_one(file: ProjectFile, *given: Any) -> Any:
        made.append(file.relative)
        return one_file.convert_one(file, *given)

    monkeypatch.setattr(pool, "convert_one", convert_one)
    loop = "\n".join(
        f"    {line}" for line in LOOP.format("optim.SGD(net.parameters(), lr=0.1)", "print(loss)").splitlines()[3:]
    )
    (tmp_path / "train.py").write_text(f"import torch\nfrom torch import nn, optim\n\n\ndef train():\n{loop}\n")
    convert_project(tmp_path / "train.py", tmp_path / "out")
    assert made == ["train.py"]
    assert "ms_compat.SGD" in (tmp_path / "out" / "train.py").read_text()
