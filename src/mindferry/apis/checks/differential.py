"""One sample on both frameworks: torch runs the source text, MindSpore its conversion; values and gradients are compared."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.samples import Sample

from ...convert import convert_source
from .cases import Mismatch, flatten

RTOL, ATOL = 1e-3, 1e-4
DRAWS = 12  # of a random operator


class Runner:
    """Keeps the modules that it has loaded: many samples share their text."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.loaded: dict[str, tuple[Any, Any]] = {}

    def check(self, sample: Sample, is_uninitialised: bool = False) -> None:
        """Raise Mismatch, or what the framework raises, unless both agree."""
        theirs, ours = self._modules(sample.source)
        leaves = [leaf(tensor) for tensor in sample.tensors]
        outputs = _torch_run(theirs, leaves, seed=1)
        reference = [to_numpy(each) for each in flatten(outputs)]
        is_random = is_uninitialised or _is_random(theirs, leaves, sample.finish)
        inputs = [to_mindspore(tensor) for tensor in sample.tensors]
        results = ours.case(*inputs)
        values = [to_numpy(each) for each in flatten(results)]
        compare_forms(reference, values)
        if is_random:
            if not is_uninitialised:
                _compare_moments(
                    lambda: _torch_run(theirs, leaves, None),
                    lambda: ours.case(*[to_mindspore(each) for each in sample.tensors]),
                )
            return
        finished = [to_numpy(each) for each in flatten(sample.finish(outputs))]
        ours_in_torch = _rebuild(outputs, [_torch(value) for value in values])
        compare_values(finished, [to_numpy(each) for each in flatten(sample.finish(ours_in_torch))], "output")
        if sample.autograd:
            self._check_gradients(sample, ours, leaves, outputs, ours_in_torch)

    def _modules(self, source: str) -> tuple[Any, Any]:
        if source not in self.loaded:
            conversion = convert_source(source)
            errors = [each.message for each in conversion.findings if each.severity == "error"]
            if errors:
                raise Mismatch(f"not converted: {errors[0]}")
            self.loaded[source] = self.load_pair(source, conversion.code)
        return self.loaded[source]

    def load_pair(self, source: str, code: str) -> tuple[Any, Any]:
        """Both modules, from real files: MindSpore compiles from source."""
        self.count += 1
        theirs = _load(source, self.folder / f"torch_{self.count}.py")
        return theirs, _load(code, self.folder / f"ms_{self.count}.py")

    def _check_gradients(self, sample: Sample, ours: Any, leaves: list[Any], outputs: Any, ours_in_torch: Any) -> None:
        import mindspore as ms
        import torch

        wanted = [index for index, leaf in enumerate(leaves) if leaf.requires_grad]
        total = total_of(sample.finish(outputs))
        if not wanted or total is None or not total.requires_grad:
            return
        found = torch.autograd.grad(total, [leaves[index] for index in wanted], allow_unused=True)
        reference = [torch.zeros_like(leaves[i]) if g is None else g for g, i in zip(found, wanted, strict=True)]
        # The cotangents of the raw outputs, at MindSpore's own values: `finish` is torch code.
        has_gradient = [getattr(each, "requires_grad", False) for each in flatten(outputs)]
        raw = [
            each.detach().requires_grad_() if has else each
            for each, has in zip(flatten(ours_in_torch), has_gradient, strict=True)
        ]
        weights = _cotangents(total_of(sample.finish(_rebuild(outputs, raw))), raw)

        def weighted(*inputs: Any) -> Any:
            result = 0
            for output, weight in zip(flatten(ours.case(*inputs)), weights, strict=True):
                if weight is not None and weight.numel():
                    result = result + inner(output, weight)
            return result

        gradients = ms.grad(weighted, tuple(wanted))(*[to_mindspore(tensor) for tensor in sample.tensors])
        compare_values(
            [to_numpy(each) for each in reference], [to_numpy(each) for each in flatten(gradients)], "gradient"
        )


def _is_differentiable(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def total_of(outputs: Any) -> Any:
    """A number with a different weight for each element of each output."""
    total = None
    for output in flatten(outputs):
        if _is_differentiable(output):
            part = (output * weight_for(output.shape, output.dtype)).sum()
            part = part.real + part.imag if part.is_complex() else part
            total = part if total is None else total + part
    return total


def weight_for(shape: Any, dtype: Any) -> Any:
    import torch

    return torch.randn(tuple(shape), generator=torch.Generator().manual_seed(11)).to(dtype)


def _cotangents(total: Any, raw: list[Any]) -> list[Any]:
    """The gradient of each output, None where torch has none."""
    import torch

    leaves = [each for each in raw if getattr(each, "requires_grad", False)]
    found = dict(zip(map(id, leaves), torch.autograd.grad(total, leaves, allow_unused=True), strict=True))
    return [found.get(id(each)) for each in raw]


def inner(output: Any, weight: Any) -> Any:
    import mindspore as ms
    from mindspore import ops

    if weight.is_complex():
        real, imaginary = ms.Tensor(weight.real.numpy()), ms.Tensor(weight.imag.numpy())
        return (ops.real(output) * real).sum() + (ops.imag(output) * imaginary).sum()
    return (output * ms.Tensor(weight.numpy())).sum()


def leaf(tensor: Any) -> Any:
    copy = tensor.detach().clone()
    return copy.requires_grad_() if tensor.requires_grad else copy


def _torch_run(module: Any, leaves: list[Any], seed: int | None) -> Any:
    import torch

    if seed is not None:
        torch.manual_seed(seed)
    return module.case(*[leaf.clone() for leaf in leaves])  # in-place operators refuse leaves


def _is_random(module: Any, leaves: list[Any], finish: Callable[[Any], Any]) -> bool:
    """Whether the call draws random numbers and another seed gives another result, in what is compared of it."""
    import torch

    torch.manual_seed(2)
    before = torch.get_rng_state()
    module.case(*[leaf.clone() for leaf in leaves])
    if torch.equal(before, torch.get_rng_state()):
        return False
    drawn = [
        [to_numpy(each) for each in flatten(finish(_torch_run(module, leaves, seed)))] for seed in (1, *range(3, 12))
    ]
    return not all(_same(drawn[0], each) for each in drawn[1:])


def _rebuild(like: Any, leaves: list[Any]) -> Any:
    """The leaves in torch's own structure: named tuples stay named."""
    remaining = iter(leaves)

    def build(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: build(value) for key, value in node.items()}
        if isinstance(node, tuple | list):
            parts = [build(each) for each in node]
            return type(node)(parts)
        return next(remaining)

    return build(like)


def _load(source: str, path: Path) -> Any:
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def to_mindspore(tensor: Any) -> Any:
    import mindspore as ms
    import torch

    data = tensor.detach()
    if data.is_sparse or data.layout is not torch.strided:
        raise Mismatch("a sparse tensor has no counterpart here")
    if data.dtype == torch.bfloat16:
        return ms.Tensor(data.float().numpy()).astype(ms.bfloat16)
    return ms.Tensor(data.resolve_conj().resolve_neg().contiguous().numpy().copy())


def _torch(value: Any) -> Any:
    import torch

    return torch.from_numpy(value.astype(value.dtype.str)) if value.dtype.kind in "fciub" else value


def to_numpy(value: Any) -> Any:
    import numpy as np
    import torch

    if hasattr(value, "to_dense") and not isinstance(value, torch.Tensor) and hasattr(value, "_nnz"):
        value = value.to_dense()  # a sparse tensor of the conversion's
    if hasattr(value, "asnumpy"):
        return value.float().asnumpy() if str(value.dtype) == "BFloat16" else value.asnumpy()
    if isinstance(value, torch.Tensor):
        dense = value.detach().to_dense() if value.layout is not torch.strided else value.detach()
        dense = dense.float() if dense.dtype == torch.bfloat16 else dense
        return dense.resolve_conj().resolve_neg().numpy(force=True)
    if value is None or not isinstance(value, bool | int | float | complex | str | np.generic | np.ndarray):
        return np.asarray(str(value))
    return np.asarray(value)


def _same(first: list[Any], second: list[Any]) -> bool:
    import numpy as np

    return len(first) == len(second) and all(
        a.shape == b.shape and (a.dtype.kind in "US" or np.allclose(a, b, RTOL, ATOL, equal_nan=True))
        for a, b in zip(first, second, strict=True)
    )


def compare_forms(reference: list[Any], values: list[Any]) -> None:
    if len(reference) != len(values):
        raise Mismatch(f"{len(reference)} outputs in torch, {len(values)} in MindSpore")
    for index, (expected, actual) in enumerate(zip(reference, values, strict=True)):
        if expected.shape != actual.shape:
            raise Mismatch(f"output {index} has shape {expected.shape} in torch, {actual.shape} in MindSpore")
        kinds = {expected.dtype.kind.replace("u", "i"), actual.dtype.kind.replace("u", "i")}
        if len(kinds) > 1:
            raise Mismatch(f"output {index} is {expected.dtype} in torch, {actual.dtype} in MindSpore")


def compare_values(reference: list[Any], values: list[Any], what: str) -> None:
    import numpy as np

    for index, (expected, actual) in enumerate(zip(reference, values, strict=True)):
        if expected.dtype.kind in "US":
            continue
        if expected.shape != actual.shape:
            raise Mismatch(f"{what} {index} has shape {expected.shape} in torch, {actual.shape} in MindSpore")
        if not np.allclose(actual, expected, rtol=RTOL, atol=ATOL, equal_nan=True):
            difference = np.abs(np.asarray(actual, np.complex128) - np.asarray(expected, np.complex128))
            finite = difference[np.isfinite(difference)]
            raise Mismatch(f"{what} {index} differs by {finite.max() if finite.size else np.nan:.3g}")


def _compare_moments(draw_theirs: Callable[[], Any], draw_ours: Callable[[], Any]) -> None:
    """Mean and deviation over several draws, within six standard errors as seen from draw to draw.

    Values are clipped to torch's own range: Cauchy's distribution has neither moment.
    """
    import numpy as np

    theirs, ours = (
        [[to_numpy(each) for each in flatten(draw())] for _ in range(DRAWS)] for draw in (draw_theirs, draw_ours)
    )
    for index in range(len(theirs[0])):
        first, second = ([draw[index] for draw in draws] for draws in (theirs, ours))
        if not first[0].size or first[0].dtype.kind not in "fiub":
            continue
        low, high = np.quantile(np.concatenate([each.reshape(-1) for each in first]).astype(np.float64), [0.01, 0.99])
        for name, moment in (("mean", np.mean), ("deviation", np.std)):
            a, b = (
                np.array([moment(np.clip(each.astype(np.float64), low, high)) for each in draws])
                for draws in (first, second)
            )
            error = 6 * np.sqrt((a.var() + b.var()) / DRAWS) + 0.01 * abs(a.mean()) + ATOL
            if abs(a.mean() - b.mean()) > error:
                raise Mismatch(f"the {name} of output {index} is {a.mean():.3g} in torch, {b.mean():.3g} in MindSpore")
