"""The guide's own examples in our words: each is converted without a hand edit and computes what it does in torch."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guide_projects import both, load

from mindferry import convert_source

FOCAL = """
import torch
import torch.nn.functional as F


def focal(pred, target, weight=None, gamma=2.0, alpha=0.25, reduction="mean", avg_factor=None):
    p = pred.sigmoid()
    target = target.type_as(pred)
    missed = (1 - p) * target + p * (1 - target)
    scale = (alpha * target + (1 - alpha) * (1 - target)) * missed.pow(gamma)
    loss = F.binary_cross_entropy_with_logits(pred, target, reduction="none") * scale
    if weight is not None:
        if weight.shape != loss.shape:
            if weight.size(0) == loss.size(0):
                weight = weight.view(-1, 1)
            else:
                assert weight.numel() == loss.numel()
                weight = weight.view(loss.size(0), -1)
        assert weight.ndim == loss.ndim
        loss = loss * weight
    if avg_factor is None:
        kind = F._Reduction.get_enum(reduction)  # none 0, mean 1, sum 2
        return loss if kind == 0 else loss.mean() if kind == 1 else loss.sum()
    if reduction == "mean":
        return loss.sum() / (avg_factor + torch.finfo(torch.float32).eps)
    if reduction != "none":
        raise ValueError("an average has no sum")
    return loss
"""


def test_the_sigmoid_focal_loss_is_torchs_in_every_case(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    theirs, ours = both(FOCAL, tmp_path)
    random = np.random.default_rng(5)
    pred = (random.standard_normal((20, 6)) * 4).astype("float32")
    target = random.integers(0, 2, (20, 6))
    weights = [None, random.random(20), random.random((20, 6)), random.random(120)]
    cases = [
        (w, reduction, factor)
        for w, reduction, factor in itertools.product(weights, ("mean", "sum", "none"), (None, 7.0))
        if not (factor and reduction == "sum")
    ]
    assert len(cases) == 20
    for given, reduction, factor in cases:
        weight = None if given is None else given.astype("float32")
        x = torch.tensor(pred, requires_grad=True)
        there = theirs.focal(
            x,
            torch.tensor(target),
            None if weight is None else torch.tensor(weight),
            reduction=reduction,
            avg_factor=factor,
        )
        there.sum().backward()

        def loss(p: Any, weight: Any = weight, reduction: str = reduction, factor: float | None = factor) -> Any:
            w = None if weight is None else ms.Tensor(weight)
            out = ours.focal(p, ms.Tensor(target), w, reduction=reduction, avg_factor=factor)
            return out.sum(), out

        (_, here), grad = ms.value_and_grad(loss, has_aux=True)(ms.Tensor(pred))
        assert np.abs(here.asnumpy() - there.detach().numpy()).max() <= 1e-5
        assert np.abs(grad.asnumpy() - x.grad.numpy()).max() <= 1e-5
    with pytest.raises(ValueError, match="no sum"):
        ours.focal(ms.Tensor(pred), ms.Tensor(target), reduction="sum", avg_factor=2.0)


SENSITIVITY = """
import torch
from torch.autograd import Variable


def by_itself():
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    y = x * x + 1
    y.backward(x)
    return x.grad


def given(v):
    x = torch.tensor([1.0, 2.0, 0.5], requires_grad=True)
    torch.exp(x).backward(gradient=v)
    return x.grad


def by_function(f, x, v):
    x.requires_grad_(True)
    out = f(x)
    torch.autograd.backward(out, v)
    return x.grad


def of_several(x, v):
    x = x.clone().requires_grad_()
    a, b = x.sin(), x.cos()
    torch.autograd.backward([a, b], [v, 2 * v])
    return x.grad


def of_several_by_name(x, v):
    x = x.clone().requires_grad_()
    torch.autograd.backward(tensors=[x.exp(), (x * x).sum()], grad_tensors=[v, torch.tensor(2.0)])
    return x.grad


def as_variable():
    leaf = Variable(torch.ones(2, 2), requires_grad=True)
    doubled = leaf * 2
    (doubled - 1).backward(doubled)
    return leaf.grad


def rebound():
    x = Variable(torch.ones(2, 2), requires_grad=True)
    x = x * 2
    y = x - 1
    y.backward(x)
    return y.detach()


def every():
    v = torch.tensor([0.5, -1.0, 2.0])
    return [
        by_itself(), given(v), by_function(torch.exp, torch.zeros(3), v), of_several(torch.ones(3), v), as_variable(),
        rebound(), of_several_by_name(torch.ones(3), v),
    ]
"""


def test_a_gradient_that_is_given_to_backward_is_taken_along(tmp_path: Path) -> None:
    theirs, ours = both(SENSITIVITY, tmp_path)
    for there, here in zip(theirs.every(), ours.every(), strict=True):
        assert np.allclose(here.asnumpy(), there.numpy(), atol=1e-6), (here, there)


@pytest.mark.parametrize("call", ["y.backward(g)", "y.backward(gradient=g)"])
def test_a_given_gradient_that_is_not_lifted_is_not_forgotten_in_the_advice(call: str) -> None:
    found = convert_source(f"import torch\n\n\ndef back(y, g):\n    {call}\n").findings
    assert [each.code for each in found] == ["MF201"] and "(y * g).sum()" in found[0].advice


GROUPS = """
import torch
from torch import nn


def make(kind):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
    for number, p in enumerate(net.parameters()):
        p.data = (torch.arange(p.numel()).reshape(p.shape) % 7 - 3).float() * 0.05 + number * 0.01
    if kind == "by name":
        kept = [p for n, p in net.named_parameters() if "bias" not in n and "1." not in n]
        rest = [p for n, p in net.named_parameters() if "bias" in n or "1." in n]
    elif kind == "by filter":
        kept = [p for n, p in filter(lambda pair: "weight" in pair[0], net.named_parameters())]
        rest = [p for n, p in filter(lambda pair: "weight" not in pair[0], net.named_parameters())]
    elif kind == "by dimensions":
        kept = [p for p in net.parameters() if p.ndim > 1]
        rest = [p for p in net.parameters() if p.ndim <= 1]
    else:
        kept, rest = [], []
        for m in net.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                kept.append(m.weight)
                rest.append(m.bias)
            elif isinstance(m, nn.BatchNorm2d):
                rest += [m.weight, m.bias]
    groups = [{"params": kept, "weight_decay": 0.1}, {"params": rest, "lr": 0.02}]
    return net, torch.optim.SGD(groups, lr=0.05, momentum=0.9, nesterov=True), (len(kept), len(rest))


def train(kind, x, y):
    net, optimizer, counts = make(kind)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4], gamma=0.5)
    net.train()
    losses = []
    for step in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses, counts, [group["lr"] for group in optimizer.param_groups]
"""


@pytest.mark.parametrize("kind", ["by name", "by filter", "by dimensions", "by layer"])
def test_groups_with_a_decay_of_their_own_train_alike(tmp_path: Path, kind: str) -> None:
    import mindspore as ms
    import torch

    theirs, ours = both(GROUPS, tmp_path)
    random = np.random.default_rng(1)
    x, y = random.standard_normal((6, 1, 6, 6)).astype("float32"), random.integers(0, 3, 6)
    there = theirs.train(kind, torch.tensor(x), torch.tensor(y))
    here = ours.train(kind, ms.Tensor(x), ms.Tensor(y.astype("int32")))
    assert here[1:] == there[1:]
    assert here[0] == pytest.approx(there[0], rel=1e-5)


RATES = """
import torch
from torch import nn


def optimizer_of(params, lr):
    return torch.optim.SGD(params, lr=lr, momentum=0.9)
"""


@pytest.mark.parametrize("is_compiled", [False, True], ids=["called", "compiled"])
@pytest.mark.parametrize("form", ["list", "cell"])
def test_a_converted_optimizer_takes_a_planned_rate_as_mindspores_own_do(
    tmp_path: Path, form: str, is_compiled: bool
) -> None:
    import mindspore as ms
    from mindspore import nn

    ours = load(convert_source(RATES).code, tmp_path / "ours.py")
    rates, last = [0.1, 0.05, 0.2, 0.01, 0.03], 0.03 if form == "list" else 0.01
    plan = rates if form == "list" else nn.CosineDecayLR(0.01, 0.1, 4)

    def trained(make: Any) -> np.ndarray:
        p, q = (ms.Parameter(ms.Tensor([1.0, -2.0]), name=name) for name in ("p", "q"))
        optimizer = make([{"params": [q]}, {"params": [p]}, {"order_params": [p, q]}])

        def update(*grads: Any) -> Any:
            return optimizer(grads)

        update = ms.jit(update) if is_compiled else update
        for step in range(5):
            update(*(parameter * 0.3 + step for parameter in optimizer.parameters))
        if hasattr(optimizer, "param_groups"):
            assert [group["lr"] for group in optimizer.state_dict()["param_groups"]] == pytest.approx([last] * 2)
        return np.stack([p.asnumpy(), q.asnumpy()])

    native = trained(lambda groups: nn.Momentum(groups, plan, 0.9))
    assert np.allclose(trained(lambda groups: ours.optimizer_of(groups, plan)), native, atol=1e-6)


DATA = """
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(object):
    def __init__(self, mean=0.0, std=1.0):
        self.mean, self.std = mean, std

    def __call__(self, tensor):
        return tensor + torch.randn(tensor.size()) * self.std + self.mean


class Numbers(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __len__(self):
        return 6

    def __getitem__(self, i):
        x = torch.ones(3, 4) * i
        return self.transform(x) if self.transform else x, i


def pack(batch):
    xs, ys = zip(*batch)
    return torch.stack(xs), torch.tensor(ys)


def ragged(batch):
    longest = max(len(x[: i + 1]) for x, i in batch)
    out = torch.zeros(len(batch), longest)
    for row, (x, i) in enumerate(batch):
        out[row, : len(x[: i + 1])] = x[: i + 1, 0]
    return out, [i for _, i in batch]


def batches(how):
    if how == "named":
        return DataLoader(Numbers(Noise(0.5, 0.0)), batch_size=3, collate_fn=pack)
    if how == "by position":
        return DataLoader(Numbers(), 3, False, None, None, 0, pack)
    if how == "lambda":
        return DataLoader(Numbers(), 2, collate_fn=lambda batch: torch.stack([x for x, _ in batch]))
    return DataLoader(Numbers(), 2, collate_fn=ragged)


def every(how):
    return [batch if isinstance(batch, (list, tuple)) else [batch] for batch in batches(how)]
"""


@pytest.mark.parametrize("how", ["named", "by position", "lambda", "ragged"])
def test_a_function_that_makes_batches_is_followed_from_the_loader_that_gets_it(tmp_path: Path, how: str) -> None:
    theirs, ours = both(DATA, tmp_path)
    there, here = theirs.every(how), ours.every(how)
    assert len(here) == len(there)
    for ours_, theirs_ in zip(here, there, strict=True):
        for a, b in zip(ours_, theirs_, strict=True):
            assert np.allclose(np.asarray(getattr(a, "asnumpy", lambda a=a: a)()), np.asarray(b))
