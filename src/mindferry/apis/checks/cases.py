"""One case of a rule: convert it, run both sides on the same inputs and weights, compare values and gradients."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from typing import Any

from ...convert import convert_source
from ...errors import MindferryError
from .. import Case, Rule
from .inputs import case_inputs, make_input

NAMES = "xyzw"
LIGHTNING = ("pytorch_lightning", "lightning", "lightning.pytorch", "lightning.fabric", "torchmetrics")
PRELUDE = (
    "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "from torch import Tensor, optim\n\n"
)


class Mismatch(MindferryError):
    """The conversion computes something else than the original."""


def source_of(before: str, count: int) -> str:
    parameters = ", ".join(f"{name}: Tensor" for name in NAMES[:count])
    others = "".join(
        f"import {name}\n"
        for name in (
            "torchvision",
            "einops",
            "einops.layers.torch",
            "accelerate",
            "ema_pytorch",
            "safetensors",
            "safetensors.torch",
            *LIGHTNING,
        )
        if re.search(rf"\b{name}\.", before)
    )
    return f"{others}{PRELUDE}def case({parameters}):\n    return {before}\n"


def converted_text(rule: Rule, case: Case) -> str:
    """What the case's expression becomes."""
    count = len(case_inputs(case.shapes, case.inputs))
    conversion = convert_source(source_of(case.before, count))
    errors = [finding for finding in conversion.findings if finding.severity == "error"]
    if errors and not rule.missing:
        raise Mismatch(f"{rule.file}:{rule.line}: {case.before} was not converted: {errors[0].message}")
    return conversion.main.rpartition("    return ")[2].strip()


def check_case(rule: Rule, case: Case) -> None:
    """Raise Mismatch, naming file and line, unless both frameworks agree."""
    try:
        _check(rule, case)
    except Mismatch as error:
        raise Mismatch(f"{rule.file}:{rule.line}: {case.before}: {error}") from None


def _check(rule: Rule, case: Case) -> None:
    specs = case_inputs(case.shapes, case.inputs)
    arrays = [make_input(spec, seed) for seed, spec in enumerate(specs)]
    source = source_of(case.before, len(specs))
    with tempfile.TemporaryDirectory() as folder:
        theirs = _load(source, Path(folder) / "case_torch.py")
        ours = _load(convert_source(source).code, Path(folder) / "case_ms.py")
        reference, reference_gradients, weighted, state = _run_torch(theirs, arrays, case)
        values, gradients = _run_mindspore(ours, arrays, case, weighted, state)
    compare_lists(reference, values, "output", case)
    if not case.random:
        _refuse_constant(reference)
        if case.gradient and reference_gradients:
            compare_lists(reference_gradients, gradients, "gradient", case)


def _load(source: str, path: Path) -> Any:
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run_torch(
    module: Any, arrays: list[Any], case: Case
) -> tuple[list[Any], list[Any], list[bool], dict[str, Any] | None]:
    import torch

    torch.manual_seed(1)
    tensors = [torch.from_numpy(array.copy()) for array in arrays]
    for tensor in tensors:
        if tensor.is_floating_point() and case.gradient and not case.random:
            tensor.requires_grad_()
    inputs = [
        tensor.clone() if tensor.requires_grad else tensor for tensor in tensors
    ]  # in-place operators refuse leaves
    result = module.case(*inputs)
    parameters: list[Any] = []
    state: dict[str, Any] | None = None
    if isinstance(result, torch.nn.Module):
        _perturb(result)
        state = {name: value.detach().clone() for name, value in result.state_dict().items()}
        result.train(not case.random)
        parameters = [parameter for parameter in result.parameters() if parameter.requires_grad]
        result = result(*inputs)
    outputs = flatten(result)
    gradients: list[Any] = []
    wanted = [tensor for tensor in (*tensors, *parameters) if tensor.requires_grad]
    weighted = [isinstance(output, torch.Tensor) and output.requires_grad for output in outputs]
    if case.gradient and not case.random and wanted and any(weighted):
        differentiable = [output for output, is_weighted in zip(outputs, weighted, strict=True) if is_weighted]
        total = sum((part * _cotangent(part)).sum() for output in differentiable for part in _real_parts(output, torch))
        found = torch.autograd.grad(total, wanted, allow_unused=True)
        gradients = [
            (g if g is not None else torch.zeros_like(t)).detach().numpy(force=True)
            for g, t in zip(found, wanted, strict=True)
        ]
    return [_to_numpy(output) for output in outputs], gradients, weighted, state


def _perturb(layer: Any) -> None:
    """Move every parameter off its initial value, so that none is zero or one."""
    import torch

    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))


def _cotangent(output: Any) -> Any:
    import torch

    generator = torch.Generator().manual_seed(11)
    return torch.randn(output.shape, generator=generator).to(output.dtype)


def _real_parts(output: Any, framework: Any) -> list[Any]:
    """A complex output as two real ones."""
    return [framework.real(output), framework.imag(output)] if output.is_complex() else [output]


def _run_mindspore(
    module: Any, arrays: list[Any], case: Case, weighted: list[bool], state: dict[str, Any] | None
) -> tuple[list[Any], list[Any]]:
    import mindspore as ms
    import torch

    from ...weights import load_torch_weights

    tensors = [ms.Tensor(array) for array in arrays]
    subject = module.case(*tensors)
    run: Any = module.case
    weights: list[Any] = []
    if isinstance(subject, ms.nn.Cell):
        if state:
            load_torch_weights(subject, state)
        subject.set_train(not case.random)
        run, weights = subject, list(subject.trainable_params())
        subject = subject(*tensors)
    outputs = [_to_numpy(output) for output in flatten(subject)]
    positions = tuple(index for index, array in enumerate(arrays) if array.dtype.kind == "f")
    if not case.gradient or case.random or not (positions or weights) or not any(weighted):
        return outputs, []

    def total(*inputs: Any) -> Any:
        result = 0
        for output, is_weighted in zip(flatten(run(*inputs)), weighted, strict=False):
            for part in _real_parts(output, ms.ops) if is_weighted else ():
                generator = torch.Generator().manual_seed(11)
                cotangent = ms.Tensor(torch.randn(tuple(part.shape), generator=generator).numpy())
                result = result + (part * cotangent.astype(part.dtype)).sum()
        return result

    found = ms.grad(total, positions or None, weights or None)(*tensors)
    return outputs, [_to_numpy(each) for each in flatten(found)]


def flatten(value: Any) -> list[Any]:
    """The leaves of nested tuples, lists and dicts."""
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in flatten(each)]
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in flatten(each)]
    return [value]


def _to_numpy(value: Any) -> Any:
    import numpy as np

    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if hasattr(value, "detach"):
        return value.detach().resolve_conj().numpy(force=True)
    return np.asarray(value)


def compare_lists(reference: list[Any], values: list[Any], what: str, case: Case) -> None:
    import numpy as np

    if len(reference) != len(values):
        raise Mismatch(f"{len(reference)} {what}s in torch, {len(values)} in MindSpore")
    for index, (expected, actual) in enumerate(zip(reference, values, strict=True)):
        if what == "gradient" and [size for size in expected.shape if size > 1] == [
            size for size in actual.shape if size > 1
        ]:
            actual = actual.reshape(expected.shape)  # nn.Conv1d's weight has an axis of length 1 more than torch's
        if expected.shape != actual.shape:
            raise Mismatch(f"{what} {index} has shape {expected.shape} in torch, {actual.shape} in MindSpore")
        if (
            what == "output"
            and expected.dtype.kind != actual.dtype.kind
            and {expected.dtype.kind, actual.dtype.kind} != {"i", "u"}
        ):
            raise Mismatch(f"{what} {index} is {expected.dtype} in torch, {actual.dtype} in MindSpore")
        if expected.dtype.kind in "US" or case.random:
            continue
        if not np.allclose(actual, expected, rtol=case.rtol, atol=case.atol, equal_nan=True):
            worst = np.nanmax(np.abs(actual.astype(np.complex128) - expected.astype(np.complex128)))
            raise Mismatch(f"{what} {index} differs by {worst:.3g}")


def _refuse_constant(reference: list[Any]) -> None:
    import numpy as np

    arrays = [each for each in reference if each.size > 1 and each.dtype.kind in "fciu"]
    if arrays and all(np.ptp(each.real) == 0 for each in arrays):
        raise Mismatch("the case is vacuous: torch's output is constant; give it inputs that tell right from wrong")
