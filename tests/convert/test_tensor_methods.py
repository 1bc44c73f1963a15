"""Tensor methods agree between PyNative and ms.jit; devices, settings and compilers go; autograd.Function keeps its gradient."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry import convert_source
from mindferry.apis import Case, table
from mindferry.apis.checks.cases import flatten, source_of
from mindferry.apis.checks.inputs import case_inputs, make_input

FAMILIES = ("/apis/torch/tensor/", "/apis/torch/device/dtypes")
NOT_IN_A_GRAPH = {
    "torch.Tensor.item": "ms.jit reads the item of a tensor without dimensions only",
    "torch.Tensor.numpy": "an array leaves the graph",
}
CASES = [
    pytest.param(case, id=f"{rule.api}: {case.before}")
    for rule in table()
    if any(family in rule.file.replace("\\", "/") for family in FAMILIES)
    for case in rule.cases
    if case.runs
    and not case.random
    and not rule.missing
    and case_inputs(case.shapes, case.inputs)
    and "vars()" not in case.before
    if not any(rule.api.startswith(api) for api in NOT_IN_A_GRAPH)
]


def load(folder: Path, name: str, source: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # ms.jit looks the function's module up
    spec.loader.exec_module(module)
    return module


def as_array(value: Any) -> Any:
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_method_means_the_same_under_jit(case: Case, tmp_path: Path) -> None:
    import mindspore as ms

    specs = case_inputs(case.shapes, case.inputs)
    tensors = [ms.Tensor(make_input(spec, seed)) for seed, spec in enumerate(specs)]
    name = f"jit_case_{abs(hash(case))}"
    module = load(tmp_path, name, convert_source(source_of(case.before, len(specs))).code)
    eager, compiled = flatten(module.case(*tensors)), flatten(ms.jit(module.case)(*tensors))
    assert len(eager) == len(compiled)
    for expected, actual in zip(map(as_array, eager), map(as_array, compiled), strict=True):
        assert expected.shape == actual.shape and expected.dtype.kind == actual.dtype.kind
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def converted(code: str) -> str:
    """Without the import lines; every line must have been converted."""
    conversion = convert_source("import torch\nimport torch.nn as nn\nimport torch.backends.cudnn as cudnn\n" + code)
    assert [str(each) for each in conversion.findings if each.severity == "error"] == []
    return "".join(
        line for line in conversion.main.splitlines(keepends=True) if not line.startswith(("import ", "from "))
    )


STATEMENTS = {
    "torch.backends.cudnn.benchmark = True\nx = 1\n": "x = 1\n",
    "cudnn.enabled = False\nx = 1\n": "x = 1\n",
    "cudnn.deterministic = True\n": "ms_compat.set_deterministic(True)\n",
    "if True:\n    cudnn.benchmark = True\n": "if True:\n    pass\n",
    "if True:  # fast\n    cudnn.benchmark = True\n": "if True:  # fast\n    pass\n",
    "torch.set_num_threads(4)\nx = 1\n": "x = 1\n",
    "torch.manual_seed(0)\ntorch.cuda.manual_seed_all(0)\n": "ms.set_seed(0)\nms.set_seed(0)\n",
    "torch.cuda.set_device(0)\nx = 1\n": "x = 1\n",
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n": "",
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nseen = [device]\n": "device = ms_compat.Device()\nseen = [device]\n",
    "def f(x: torch.Tensor, device):\n    x = x.to(device)\n    return x\n": "def f(x: ms.Tensor, device):\n    return x\n",
    "def f(batch, device):\n    return batch['x'].to(device, non_blocking=True)\n": "def f(batch, device):\n    return batch['x']\n",
    "def f(batch):\n    return batch['x'].detach().cpu().numpy()\n": "def f(batch):\n    return ops.stop_gradient(batch['x']).asnumpy()\n",
    "def f(x: torch.Tensor):\n    return x.data.cpu().numpy()\n": "def f(x: ms.Tensor):\n    return x.asnumpy()\n",
    "def f(x: torch.Tensor):\n    return x.data.size(0)\n": "def f(x: ms.Tensor):\n    return x.shape[0]\n",
    "@torch.jit.script\ndef f(x):\n    return x\n": "def f(x):\n    return x\n",
    "@torch.jit.ignore()\ndef f(x):\n    return x\n": "def f(x):\n    return x\n",
    "@torch.compile(mode='max-autotune')\ndef f(x):\n    return x\n": "def f(x):\n    return x\n",
    "def f(x: torch.Tensor):\n    torch._assert(x.dim() == 2, 'two')\n    return x\n": "def f(x: ms.Tensor):\n    assert x.ndim == 2, 'two'\n    return x\n",
    "def f(train):\n    return torch.no_grad() if train else torch.enable_grad()\n": "def f(train):\n    return ms_compat.no_grad() if train else contextlib.nullcontext()\n",
    "if not torch.jit.is_scripting() and x > 2:\n    y = 1\n": "if x > 2:\n    y = 1\n",
    "y = x > 2 or torch.jit.is_tracing()\n": "y = x > 2\n",
    "y = torch.jit.is_tracing() or torch.jit.is_scripting()\n": "y = False\n",
    "y = (not torch.jit.is_scripting()) and x\n": "y = (not False) and x\n",
    "y = x and not torch.jit.is_scripting() and not torch.jit.is_tracing()\n": "y = x\n",
    "kind = torch.float16\n": "kind = ms.float16\n",
    "def f(x: torch.Tensor, y: torch.Tensor):\n    return x.type(y.dtype), x.to(y), x.type('torch.LongTensor')\n": "def f(x: ms.Tensor, y: ms.Tensor):\n    return x.to(y.dtype), x.to(y.dtype), x.to(ms.int64)\n",
    "Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n": "Tensor = ms_compat.FloatTensor if ms.get_context('device_target') != 'CPU' else ms_compat.FloatTensor\n",
    "class M(torch.jit.ScriptModule):\n    x: torch.jit.Final[int]\n": "class M(nn.Cell):\n    x: typing.Final[int]\n",
}


@pytest.mark.parametrize(("before", "after"), STATEMENTS.items())
def test_devices_settings_and_compilers_go(before: str, after: str) -> None:
    assert converted(before) == after


FUNCTION = """import torch


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        inside = (x.abs() < ctx.limit).to(gradient.dtype)
        return gradient.clone() * inside * 3, None


def case(x: torch.Tensor):
    return Clipped.apply(x * 2, 0.5) * Clipped.apply(x, 1.0)
"""


def test_a_function_with_its_own_gradient_keeps_it(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    conversion = convert_source(FUNCTION)
    assert [str(each) for each in conversion.findings if each.severity != "note"] == []
    theirs, ours = load(tmp_path, "function_torch", FUNCTION), load(tmp_path, "function_ms", conversion.code)
    x = np.linspace(-1.5, 1.5, 12).astype(np.float32)
    tensor = torch.tensor(x, requires_grad=True)
    expected = theirs.case(tensor)
    expected.sum().backward()
    np.testing.assert_allclose(ours.case(ms.Tensor(x)).asnumpy(), expected.detach().numpy(), rtol=1e-6)
    found = ms.grad(lambda inputs: ours.case(inputs).sum())(ms.Tensor(x))
    np.testing.assert_allclose(found.asnumpy(), tensor.grad.numpy(), rtol=1e-5)  # type: ignore[union-attr]
    assert tensor.grad.abs().sum() > 1  # type: ignore[union-attr]


@pytest.mark.parametrize("code", ["x.type() == 'torch.FloatTensor'"])
def test_an_argument_that_cannot_be_told_is_left_with_a_finding(code: str) -> None:
    source = f"import torch\n\ndef f(x: torch.Tensor, thing, wanted, axes):\n    y = {code}\n    return y\n"
    conversion = convert_source(source)
    assert any(each.severity == "error" and each.code == "MF101" for each in conversion.findings)
    assert f"    y = {code}\n" in conversion.main


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x.to(thing)", "ms_compat.tensor_to(x, thing)"),
        ("x.flip(axes)", "ms_compat.tensor_flip(x, axes)"),
        ("x.to(*thing)", "ms_compat.tensor_to(x, *thing)"),
    ],
)
def test_an_argument_that_cannot_be_told_is_asked_at_run_time(code: str, expected: str) -> None:
    source = f"import torch\n\ndef f(x: torch.Tensor, thing, axes):\n    y = {code}\n    return y\n"
    conversion = convert_source(source)
    assert not conversion.findings
    assert f"    y = {expected}\n" in conversion.main


def test_a_list_holds_what_is_put_into_it() -> None:
    source = "import torch\n\ndef f(x: torch.Tensor, nets):\n    skips = []\n    for net in nets:\n        if x.sum() > 0:\n            skips.append(x)\n    for net, skip in zip(nets, skips[::-1]):\n        x = x[: skip.size()[0]] + skip.max(1)[0]\n    return x\n"
    main = convert_source(source).main
    assert "skip.shape[0]" in main and "skip.max(1)[0]" not in main


def test_a_list_of_other_things_stays_one_of_other_things() -> None:
    source = "import torch\n\ndef f(x: torch.Tensor, names):\n    rows = []\n    rows.append(x)\n    rows.append(names)\n    return [row.max(1) for row in rows]\n"
    assert "ms_compat.any_max(row, 1) for row" in convert_source(source).main


def test_what_is_used_as_a_tensor_is_one_from_where_it_is_bound() -> None:
    source = "import torch\n\ndef f(box, key):\n    x = box[key]\n    y = x.max(1)[0]\n    return y + x.unsqueeze(0)\n"
    assert "y = x.max(1)[0]" not in convert_source(source).main
    again = source.replace("    y =", "    x = box['other']\n    y =")
    assert "y = ms_compat.any_max(x, 1)[0]" in convert_source(again).main
