"""Short forms of helpers do what the whole ones do, and stand only where a project needs no more."""

from __future__ import annotations

import copy
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mindferry.convert import convert_project
from mindferry.convert.render.helper_use import use_of
from mindferry.convert.render.helpers_module import render
from mindferry.convert.settings import Settings

HEAD = "import torch\nfrom torch import nn\n\n\n"
SHAPES = ((3, 2), (3,), (4,))


def loaded(folder: Path, name: str, text: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # ms.jit imports it by name
    spec.loader.exec_module(module)
    return module


def both(folder: Path, helpers: set[str], project: str) -> tuple[ModuleType, ModuleType]:
    """The helpers as the project gets them, and whole."""
    use = use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False)
    short, whole = render(helpers, use), render(helpers)
    assert len(short.splitlines()) < 0.6 * len(whole.splitlines())
    return loaded(folder, "short_helpers", short), loaded(folder, "whole_helpers", whole)


def parameters() -> list[Any]:
    import mindspore as ms

    random = np.random.default_rng(7)
    return [
        ms.Parameter(ms.Tensor(random.standard_normal(shape).astype("float32")), name=f"p{i}")
        for i, shape in enumerate(SHAPES)
    ]


def gradients(step: int, has_gaps: bool) -> tuple[Any, ...]:
    import mindspore as ms

    random = np.random.default_rng(step)
    drawn = [random.standard_normal(shape).astype("float32") for shape in SHAPES]
    absent = {0: (2,), 1: (1, 2), 2: (2,), 3: ()}[step % 4] if has_gaps else ()
    return tuple(None if place in absent else ms.Tensor(each) for place, each in enumerate(drawn))


OPTIMIZERS = [
    ("Adam", "lr=0.01, weight_decay=0.1"),
    ("Adam", "lr=0.01, amsgrad=True"),
    ("AdamW", "lr=0.02, betas=(0.8, 0.99)"),
    ("SGD", "lr=0.1, momentum=0.9, dampening=0.5"),
    ("SGD", "lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4"),
    ("RMSprop", "lr=0.01, momentum=0.5, centered=True"),
    ("Adagrad", "lr=0.1, lr_decay=0.1"),
    ("Adadelta", "lr=1.0"),
    ("Adamax", "lr=0.01"),
    ("RAdam", "lr=0.01"),
    ("Rprop", "lr=0.01"),
]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.parametrize("has_gaps", [False, True])
def test_a_short_optimizer_moves_parameters_as_the_whole_one(
    tmp_path: Path, name: str, options: str, has_gaps: bool
) -> None:
    schedule = "ms_compat.StepLR(optimizer, 2)\n"
    project = f"optimizer = ms_compat.{name}(net.trainable_params(), {options})\n{schedule}" + ("p.grad\n" * has_gaps)
    modules = both(tmp_path, {name, "StepLR"}, project)
    moved = []
    for module in modules:
        params = parameters()
        optimizer = eval(f"module.{name}(params, {options})", {"module": module, "params": params})
        schedule = module.StepLR(optimizer, 2)
        for step in range(6):
            optimizer(gradients(step, has_gaps))
            schedule.step()
        moved.append([p.asnumpy() for p in params])
    first = [p.asnumpy() for p in parameters()]
    for short, whole, before, place in zip(*moved, first, range(3), strict=True):
        assert np.array_equal(short, whole), place
        assert not np.array_equal(whole, before), place


@pytest.mark.parametrize(("name", "options"), [OPTIMIZERS[0], OPTIMIZERS[4]])
def test_a_compiled_short_optimizer_sees_a_changed_rate(tmp_path: Path, name: str, options: str) -> None:
    import mindspore as ms

    project = f"optimizer = ms_compat.{name}(net.trainable_params(), {options})\noptimizer.param_groups[0]['lr'] = 0.1"
    modules = both(tmp_path, {name}, project)
    moved = []
    for module in modules:
        params = parameters()
        optimizer = eval(f"module.{name}(params, {options})", {"module": module, "params": params})
        step = ms.jit(optimizer.construct)
        for number, rate in enumerate((0.01, 0.01, 0.5)):
            optimizer.param_groups[0]["lr"] = rate
            step(gradients(number, has_gaps=False))
        moved.append([p.asnumpy() for p in params])
    for short, whole in zip(*moved, strict=True):
        assert np.array_equal(short, whole)


def test_a_short_optimizer_leaves_a_frozen_parameter_alone(tmp_path: Path) -> None:
    project = "optimizer = ms_compat.SGD(net.trainable_params(), lr=0.1)\np.requires_grad = False"
    module = both(tmp_path, {"SGD"}, project)[0]
    params = parameters()
    optimizer = module.SGD(params, lr=0.1)
    params[1].requires_grad = False
    before = [p.asnumpy().copy() for p in params]
    optimizer(gradients(0, has_gaps=False))
    moved = [not np.array_equal(p.asnumpy(), old) for p, old in zip(params, before, strict=True)]
    assert moved == [True, False, True]


SCHEDULES = [
    "LambdaLR(optimizer, lambda epoch: 0.9**epoch)",
    "MultiplicativeLR(optimizer, lambda epoch: 0.9)",
    "StepLR(optimizer, 3, gamma=0.5)",
    "MultiStepLR(optimizer, [2, 5])",
    "ConstantLR(optimizer, total_iters=4)",
    "LinearLR(optimizer, total_iters=4)",
    "ExponentialLR(optimizer, 0.9)",
    "PolynomialLR(optimizer, 6, power=2.0)",
    "CosineAnnealingLR(optimizer, 5, 0.01)",
]


@pytest.mark.parametrize("made", SCHEDULES)
def test_a_short_schedule_gives_torchs_rates(tmp_path: Path, made: str) -> None:
    import torch

    name = made.partition("(")[0]
    project = f"ms_compat.{made}.step()\noptimizer = ms_compat.SGD(net.trainable_params(), lr=0.1)\nx.get_last_lr()"
    use = use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False)
    text = render({name, "SGD"}, use)
    assert "_initial_step" not in text
    module = loaded(tmp_path, "short_schedules", text)
    rates = []
    for optimizers, schedules, params in (
        (torch.optim, torch.optim.lr_scheduler, [torch.nn.Parameter(torch.ones(2))]),
        (module, module, parameters()),
    ):
        optimizer = optimizers.SGD(params, lr=0.1)
        schedule = eval(f"schedules.{made}", {"schedules": schedules, "optimizer": optimizer})
        rates.append([])
        for _ in range(12):
            if schedules is not module:
                optimizer.step()
            schedule.step()
            rates[-1].append((schedule.get_last_lr()[0], optimizer.param_groups[0]["lr"]))
    assert rates[0] == rates[1]


def test_schedules_one_after_the_other_start_anew_in_a_script_that_never_gives_an_epoch(tmp_path: Path) -> None:
    import torch

    made = (
        "kinds.SequentialLR(optimizer, [kinds.ConstantLR(optimizer, 0.1, total_iters=3), "
        "kinds.ExponentialLR(optimizer, 0.5)], milestones=[3])"
    )
    use = use_of(
        ["import ms_compat\n" + made.replace("kinds", "ms_compat") + ".step()\n"], "ms_compat", is_library=False
    )
    module = loaded(
        tmp_path, "sequential_schedules", render({"SequentialLR", "ConstantLR", "ExponentialLR", "SGD"}, use)
    )
    rates = []
    for optimizers, kinds, params in (
        (torch.optim, torch.optim.lr_scheduler, [torch.nn.Parameter(torch.ones(2))]),
        (module, module, parameters()),
    ):
        optimizer = optimizers.SGD(params, lr=0.1)
        schedule = eval(made, {"kinds": kinds, "optimizer": optimizer})
        rates.append([])
        for _ in range(8):
            if kinds is not module:
                optimizer.step()
            schedule.step()
            rates[-1].append(optimizer.param_groups[0]["lr"])
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_a_short_optimizer_goes_on_from_its_state_as_the_whole_one_does(
    tmp_path: Path, name: str, options: str
) -> None:
    """Made with other settings, it takes those of the state that it loads."""
    project = f"optimizer = ms_compat.{name}(net.trainable_params(), {options})\noptimizer.load_state_dict(optimizer.state_dict())"
    ended = []
    for module in both(tmp_path, {name}, project):
        assert ("def add_param_group(" in Path(str(module.__file__)).read_text()) == (
            module.__name__ == "whole_helpers"
        )
        params = parameters()
        first = eval(f"module.{name}(params, {options})", {"module": module, "params": params})
        for step in range(3):
            first(gradients(step, False))
        state = first.state_dict()
        assert sorted(state["state"]) == [0, 1, 2]
        again = eval(f"module.{name}(params, {options})", {"module": module, "params": params})
        again.param_groups[0]["lr"] = 7.0
        again.load_state_dict(copy.deepcopy(state))
        assert again.param_groups[0]["lr"] == first.param_groups[0]["lr"]
        for step in range(3, 6):
            again(gradients(step, False))
        ended.append([each.asnumpy() for each in params])
    straight = parameters()
    whole = sys.modules["whole_helpers"]
    optimizer = eval(f"whole.{name}(straight, {options})", {"whole": whole, "straight": straight})
    for step in range(6):
        optimizer(gradients(step, False))
    for short, other, wanted in zip(*ended, straight, strict=True):
        assert np.array_equal(short, other)
        assert np.allclose(short, wanted.asnumpy(), rtol=1e-6, atol=1e-7)


MADE = "net = nn.Linear(3, 2)\noptimizer = torch.optim.Adam({})\nx = torch.randn(4, 3)\n{}\n"
STEP = "for _ in range(3):\n    loss = net(x).mean()\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"


@pytest.mark.parametrize(
    ("made", "extra", "is_short"),
    [
        ("net.parameters(), lr=0.1", "", True),
        ("net.parameters()", "torch.save(net.state_dict(), 'a.pt')", True),
        ("net.parameters()", "print(sum(p.requires_grad for p in net.parameters()))", True),
        ("net.parameters()", "torch.save(optimizer.state_dict(), 'a.pt')", True),
        ("net.parameters()", "save = getattr(optimizer, 'state_dict')", True),
        ("net.parameters()", "torch.save([optimizer.state_dict(), net.bias.grad], 'a.pt')", False),
        ("[{'params': net.parameters()}]", "", False),
        ("list(net.parameters()) + [x]", "", False),
        ("net.parameters(), maximize=True", "", False),
        ("net.parameters()", "net.bias.requires_grad = False", True),
        ("net.parameters()", "optimizer.param_groups[0]['betas'] = (0.5, 0.9)", False),
        ("net.parameters()", "print(optimizer.state)", False),
        ("net.parameters()", "schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.2)", False),
    ],
)
def test_an_optimizer_is_short_where_nothing_more_is_asked_of_it(
    tmp_path: Path, made: str, extra: str, is_short: bool
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "train.py").write_text(HEAD + MADE.format(made, extra) + STEP)
    convert_project(tmp_path / "in", tmp_path / "out", settings=Settings(helpers="module"))
    text = (tmp_path / "out" / "ms_compat.py").read_text()
    assert ("def add_param_group(" not in text) == is_short
    assert "Short" not in text


class Numbered:
    """A dataset whose samples have every kind of part."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        return np.full((2, 2), index, dtype="float32"), {"label": index, "share": index / 3, "is_even": index % 2 == 0}


@pytest.mark.parametrize(
    "options",
    [
        "batch_size=4",
        "batch_size=4, drop_last=True",
        "batch_size=4, sampler=[9, 1, 4, 0, 7, 7]",
        "batch_size=4, sampler=[9, 1, 4, 0, 7, 7], drop_last=True",
        "batch_size=4, collate_fn=None",
        "batch_size=5, shuffle=True",
        "batch_size=3, shuffle=True",
    ],
)
def test_a_short_loader_gives_the_batches_of_the_whole_one_and_of_torch(tmp_path: Path, options: str) -> None:
    from torch.utils.data import DataLoader

    modules = both(tmp_path, {"DataLoader"}, f"ms_compat.DataLoader(data, {options})")
    taken = []
    for kind in (*(module.DataLoader for module in modules), DataLoader):
        np.random.seed(3)
        loader = eval(f"kind(data, {options})", {"kind": kind, "data": Numbered()})
        batches = [batch for _ in range(2) for batch in loader]
        assert len(loader) * 2 == len(batches)
        taken.append([(x.numpy() if hasattr(x, "numpy") else x, y) for x, y in batches])
    for number, (short, whole, torch_batch) in enumerate(zip(*taken, strict=True)):
        assert np.array_equal(np.asarray(short[0]), np.asarray(whole[0])), number
        assert np.asarray(short[0]).shape == np.asarray(torch_batch[0]).shape
        for name, value in torch_batch[1].items():
            assert str(short[1][name].asnumpy().dtype) == str(value.numpy().dtype), name
        if "shuffle" not in options:
            assert np.array_equal(np.asarray(short[0]), np.asarray(torch_batch[0])), number


@pytest.mark.parametrize(
    ("call", "extra", "is_short"),
    [
        ("DataLoader(data, batch_size=4, shuffle=True)", "", True),
        ("DataLoader(data, batch_size=4, num_workers=0, pin_memory=True)", "print(len(loader.dataset))", True),
        ("DataLoader(data, batch_size=4, num_workers=2)", "", False),
        ("DataLoader(data, batch_size=4, sampler=order)", "order = list(range(8))", True),
        ("DataLoader(data, **settings)", "settings = {}", False),
        ("DataLoader(data, batch_size=None)", "", False),
        ("DataLoader(data, batch_size=4)", "print(loader.sampler)", False),
        ("DataLoader(data, batch_size=4, generator=torch.Generator())", "", False),
    ],
)
def test_a_loader_is_short_where_nothing_more_is_asked_of_it(
    tmp_path: Path, call: str, extra: str, is_short: bool
) -> None:
    code = (
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n\n"
        f"data = TensorDataset(torch.randn(8, 3))\n{extra if 'print' not in extra else ''}\nloader = {call}\n"
        f"{extra if 'print' in extra else ''}\nif __name__ == '__main__':\n    for (x,) in loader:\n        print(x.sum())\n"
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "train.py").write_text(code)
    convert_project(tmp_path / "in", tmp_path / "out", settings=Settings(helpers="module"))
    text = (tmp_path / "out" / "ms_compat.py").read_text()
    assert ("class BatchSampler" not in text and "class SequentialSampler" not in text) == is_short


LOSSES = [
    ("CrossEntropyLoss", "", (6, 5), "classes"),
    ("CrossEntropyLoss", "ignore_index=2, reduction='sum'", (2, 5, 3), "classes"),
    ("CrossEntropyLoss", "label_smoothing=0.1", (6, 5), "classes"),
    ("CrossEntropyLoss", "weight=shares, label_smoothing=0.2", (2, 5, 3, 2), "classes"),
    ("CrossEntropyLoss", "reduction='none'", (6, 5), "shares"),
    ("CrossEntropyLoss", "", (5,), "classes"),
    ("NLLLoss", "weight=shares, ignore_index=1", (6, 5), "classes"),
    ("NLLLoss", "reduction='none'", (2, 5, 3), "classes"),
]


def total_of(loss: Any, wanted: Any) -> Any:
    def total(y: Any) -> Any:
        return loss(y, wanted).sum()

    return total


@pytest.mark.parametrize(("name", "options", "shape", "target"), LOSSES)
def test_a_short_loss_and_its_gradient_are_torch_s(
    tmp_path: Path, name: str, options: str, shape: tuple[int, ...], target: str
) -> None:
    import mindspore as ms
    import torch

    random = np.random.default_rng(5)
    given = random.standard_normal(shape).astype("float32")
    shares = random.uniform(0.5, 2, 5).astype("float32")
    axis = 0 if len(shape) == 1 else 1
    classes = random.integers(0, 5, shape[:axis] + shape[axis + 1 :])
    wanted = random.uniform(0, 1, shape).astype("float32") if target == "shares" else classes
    x = torch.tensor(given, requires_grad=True)
    loss = eval(f"torch.nn.{name}({options})", {"torch": torch, "shares": torch.tensor(shares)})
    value = loss(x, torch.tensor(wanted)).sum()
    value.backward()
    for module in both(tmp_path, {name}, f"criterion = ms_compat.{name}({options})"):
        own = eval(f"module.{name}({options})", {"module": module, "shares": ms.Tensor(shares)})
        total = total_of(own, ms.Tensor(wanted))
        for function in (ms.value_and_grad(total), ms.jit(ms.value_and_grad(total))):
            found, gradient = function(ms.Tensor(given))
            np.testing.assert_allclose(found.asnumpy(), value.item(), rtol=2e-6)
            np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("options", "more", "is_short"),
    [
        ("", "", True),
        ("None, None, 3", "best = float('inf')\n", True),
        ("size_average=False", "", False),
        ("None, False", "", False),
        ("", "lowest = float('-inf')\n", False),
        ("", "z = x[x > 0]\n", False),
        ("", "part = x[keep_mask]\n", False),
        ("*settings", "", False),
    ],
)
def test_a_loss_is_short_where_tensors_hold_nothing_that_it_can_t_take(options: str, more: str, is_short: bool) -> None:
    project = f"import ms_compat\ncriterion = ms_compat.CrossEntropyLoss({options})\n{more}"
    use = use_of([project], "ms_compat", is_library=False)
    assert ("ops.cross_entropy(" in render({"CrossEntropyLoss"}, use)) == is_short


def test_short_checkpoints_hold_what_whole_ones_hold_and_are_read_under_both_names(tmp_path: Path) -> None:
    from mindspore import Tensor, nn

    project = "net = nn.BatchNorm2d(3)\nms_compat.save(net.state_dict(), path)\nms_compat.load_state_dict(net, ms_compat.load(path))"
    use = use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False)
    use.networks.add("net")
    helpers = {"save", "load", "load_state_dict"}
    short = loaded(tmp_path, "short_helpers", render(helpers, use))
    whole = loaded(tmp_path, "whole_helpers", render(helpers))
    assert not hasattr(short, "pack_checkpoint") and not hasattr(short, "other_names")
    values = np.arange(3, dtype=np.float32)
    for saving, loading in ((short, whole), (whole, short), (short, short)):
        net = nn.SequentialCell(nn.BatchNorm2d(3))
        saving.save(
            {"0.weight": Tensor(values), **{k: v for k, v in net.state_dict().items() if "gamma" not in k}},
            tmp_path / "a",
        )
        loading.load_state_dict(net, loading.load(tmp_path / "a"))
        assert (net[0].gamma.asnumpy() == values).all()
    with pytest.raises(RuntimeError, match="gamma"):
        short.load_state_dict(nn.BatchNorm2d(3), {})
    with pytest.raises(ValueError, match="empty"):
        short.save({}, tmp_path / "b")
    (tmp_path / "c.pth").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="PyTorch"):
        short.load(tmp_path / "c.pth")


def test_a_project_that_looks_into_its_checkpoints_gets_whole_ones() -> None:
    project = (
        "state = ms_compat.load(path)\nms_compat.load_state_dict(net, state['model'])\nms_compat.save(state, path)"
    )
    use = use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False)
    text = render({"save", "load", "load_state_dict"}, use)
    assert "pack_checkpoint" in text and "checkpoint_path" in text
