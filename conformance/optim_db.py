"""torch's optim_db through conversion: every optimizer, every configuration, 20 steps with the gradients that torch has."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindferry.apis.checks.cases import _load
from mindferry.convert import convert_source

from .drive import Group

STEPS, RTOL, ATOL = 20, 1e-3, 1e-4
PRELUDE = "import torch\nfrom torch import nn, optim\n\n\n"


@dataclass(frozen=True, slots=True)
class Record:
    """One configuration: the largest difference of a parameter over all steps, and how far torch itself moved it."""

    name: str
    source: str
    worst: float
    moved: float
    reason: str = ""

    @property
    def is_right(self) -> bool:
        return not self.reason


def run(only: Iterable[str] = (), note: Callable[[Record], None] | None = None) -> list[Record]:
    """Every configuration of every optimizer, or of those named."""
    wanted, records = set(only), []
    for name, info in _entries().items():
        if wanted and name not in wanted:
            continue
        for arguments in _configurations(name, info.optim_inputs_func(device="cpu")):
            record = check(name, arguments)
            records.append(record)
            if note is not None:
                note(record)
    return records


def names(payload: Any, link: Any) -> list[str]:
    """In the worker: every optimizer."""
    return list(_entries())


def check_all(payload: Any, link: Any) -> dict[str, Any]:
    """In the worker: the configurations of one optimizer from `start` on."""
    name = payload["name"]
    for index, arguments in enumerate(
        _configurations(name, _entries()[name].optim_inputs_func(device="cpu"))[: payload["samples"]]
    ):
        if index >= payload["start"]:
            source = f"optim.{name}({arguments})"
            link.report({"index": index, "source": source, "reason": "running"})
            link.report({"index": index, "source": source, "reason": check(name, arguments).reason})
    return {}


def _entries() -> dict[str, Any]:
    from torch.testing._internal.common_optimizers import optim_db

    return {info.optim_cls.__name__: info for info in optim_db}


def _configurations(name: str, inputs: list[Any]) -> list[str]:
    """torch's own, and one with two groups that have their own rates."""
    found = [", ".join(["params", *(f"{key}={_text(value)}" for key, value in each.kwargs.items())]) for each in inputs]
    if name != "LBFGS":
        found.append("[{'params': params[:2]}, {'params': params[2:], 'lr': 0.02}], lr=0.005")
    return found


def _text(value: Any) -> str:
    return f"torch.tensor({value.item()!r})" if hasattr(value, "item") else repr(value)


def check(name: str, arguments: str) -> Record:
    call = f"optim.{name}({arguments})"
    source = f"{PRELUDE}def make(params):\n    return {call}\n"
    try:
        conversion = convert_source(source)
        errors = [each.message for each in conversion.findings if each.severity == "error"]
        if errors:
            return Record(name, call, 0.0, 0.0, f"not converted: {errors[0]}")
        with tempfile.TemporaryDirectory() as folder:
            theirs = _load(source, Path(folder) / "optim_torch.py")
            ours = _load(conversion.code, Path(folder) / "optim_ms.py")
            pair = _ClosurePair(name, theirs, ours) if name == "LBFGS" else _Pair(name, theirs, ours)
            return pair.follow(call)
    except Exception as error:
        return Record(name, call, 0.0, 0.0, f"{type(error).__name__}: {error}")


class _Pair:
    """The same parameters under both optimizers."""

    dtype = "float32"

    def __init__(self, name: str, theirs: Any, ours: Any) -> None:
        import mindspore as ms
        import numpy as np
        import torch

        random = np.random.default_rng(7)
        shapes = [(6, 4), (5, 6), (3, 5), (2, 3)] if name in ("Muon", "SparseAdam") else [(6, 4), (6,), (3, 6), (3,)]
        self.name, self.start = name, [random.standard_normal(shape).astype(self.dtype) for shape in shapes]
        self.theirs = [torch.nn.Parameter(torch.from_numpy(each.copy())) for each in self.start]
        self.ours = [ms.Parameter(ms.Tensor(each), name=f"p{index}") for index, each in enumerate(self.start)]
        self.reference, self.optimizer = theirs.make(self.theirs), ours.make(self.ours)
        self.inputs = torch.from_numpy(random.standard_normal((16, 4)).astype(self.dtype))

    def follow(self, call: str) -> Record:
        import numpy as np

        worst, moved, reason = 0.0, 0.0, ""
        for step in range(1, STEPS + 1):
            self.step(step)
            for expected, actual, start in zip(self.theirs, self.ours, self.start, strict=True):
                right, value = expected.detach().numpy(), actual.asnumpy()
                worst = max(worst, float(np.abs(value - right).max()))
                moved = max(moved, float(np.abs(right - start).max()))
                if not reason and not np.allclose(value, right, RTOL, ATOL):
                    reason = f"step {step} differs by {float(np.abs(value - right).max()):.3g}"
        if moved == 0:
            reason = "vacuous: torch didn't move"
        return Record(self.name, call, worst, moved, reason)

    def step(self, step: int) -> None:
        """torch's gradients of a small network's loss, at torch's parameters, for both; their scale changes from step to step."""
        import mindspore as ms
        import torch

        self.reference.zero_grad()
        (self._loss() * 10.0 ** (step % 3 - 1)).backward()
        gradients = [parameter.grad.numpy().copy() for parameter in self.theirs]
        if self.name == "SparseAdam":
            for parameter, gradient in zip(self.theirs, gradients, strict=True):
                gradient[step % len(gradient)] = 0
                parameter.grad = torch.from_numpy(gradient).to_sparse(1)
        self.reference.step()
        self.optimizer(tuple(ms.Tensor(each) for each in gradients))

    def _loss(self) -> Any:
        import torch

        x = self.inputs
        for parameter in self.theirs:
            x = torch.tanh(x @ parameter.T) if parameter.ndim == 2 else x + parameter
        return (x**2).sum() / 4


class _ClosurePair(_Pair):
    """LBFGS asks for loss and gradients itself, so both frameworks compute their own.

    In float64: a quasi-Newton method differentiates differences, and in float32 torch's own path is rounding noise after a few steps.
    """

    dtype = "float64"

    def __init__(self, name: str, theirs: Any, ours: Any) -> None:
        import mindspore as ms

        super().__init__(name, theirs, ours)
        inputs = ms.Tensor(self.inputs.numpy())

        def loss() -> Any:
            x = inputs
            for parameter in self.ours:
                x = ms.ops.tanh(ms.ops.matmul(x, parameter.T)) if parameter.ndim == 2 else x + parameter
            return (x**2).sum() / 4

        self.grad_fn = ms.value_and_grad(loss, None, self.optimizer.parameters)

    def step(self, step: int) -> None:
        def closure() -> Any:
            self.reference.zero_grad()
            loss = self._loss()
            loss.backward()
            return loss

        self.reference.step(closure)
        self.optimizer.step(self.grad_fn)


def table(records: list[Record]) -> str:
    names = list(dict.fromkeys(record.name for record in records))
    lines = [f"{'optimizer':<14} {'right':>7} {'worst difference':>17} {'relative to move':>17}"]
    for name in names:
        own = [record for record in records if record.name == name]
        right = f"{sum(each.is_right for each in own)}/{len(own)}"
        relative = max((each.worst / each.moved for each in own if each.moved), default=0.0)
        lines.append(f"{name:<14} {right:>7} {max(each.worst for each in own):>17.2e} {relative:>17.2e}")
        lines += [f"    {each.source}: {each.reason}" for each in own if each.reason]
    good = sum(all(each.is_right for each in records if each.name == name) for name in names)
    lines.append(f"{good} of {len(names)} optimizers right in every configuration, {STEPS} steps")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance.optim_db", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these optimizers")
    records = run(
        parser.parse_args().only,
        lambda record: print("." if record.is_right else "F", end="", file=sys.stderr, flush=True),
    )
    print(file=sys.stderr)
    print(table(records))
    return 0 if records and all(record.is_right for record in records) else 1


GROUP = Group("optim_db", "optimizers", "conformance.optim_db")

if __name__ == "__main__":
    sys.exit(main())
