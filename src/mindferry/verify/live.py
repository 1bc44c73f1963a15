"""A torch module and a MindSpore cell in this process -> Comparison."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..artifacts import Comparison
from ..errors import MindferryError
from ..frameworks import process
from ..frameworks.mindspore import Measured, against
from .golden import Golden, open_golden
from .goldenfile import RecordError
from .judge import Rule, judge
from .recorder import record


@dataclass(frozen=True, slots=True)
class _Pair:
    module: Any
    cell: Any
    inputs: list[tuple[str, Any]]
    modes: list[str]
    seed: int
    optimizers: tuple[Any, Any]

    def measure(self, path: Path, inside: bool) -> tuple[Measured, Golden]:
        recorded = sorted({"eval" if mode == "jit" else mode for mode in self.modes})
        made, seed = self.optimizers[0], self.seed
        try:
            record(self.module, self.inputs, path, modes=recorded, seed=seed, inside=inside, optimizer=made)
        except RecordError as error:
            raise MindferryError(str(error)) from None
        golden = open_golden(path)
        return against(self.cell, golden, self.modes, optimizer=self.optimizers[1]), golden


def compare(
    torch_module: Any,
    cell: Any,
    inputs: Any,
    *,
    modes: Sequence[str] = ("eval", "train"),
    rule: Rule | None = None,
    seed: int = 0,
    optimizers: tuple[Any, Any] | None = None,
    in_full: bool = False,
) -> Comparison:
    """Copy the torch module's weights into `cell` and compare the two on `inputs`, module by module.

    `inputs`: a tensor or array, a tuple of them, a dictionary for keyword arguments, or text such as
    'float32[4,3,224,224]'. `optimizers`: what makes torch's optimizer for the module, and MindSpore's for the cell.
    `in_full` measures torch's own float32 error everywhere, also where nothing rests on it.
    """
    began = time.monotonic()
    import mindspore

    os.environ.update(process.settings("mindspore"))
    mindspore.runtime.launch_blocking()  # or an operator's error surfaces at a later one
    pair = _Pair(torch_module, cell, _inputs(inputs, seed), list(modes), seed, optimizers or (None, None))
    was_training = cell.training
    with tempfile.TemporaryDirectory(prefix="mindferry-") as folder:
        path = Path(folder) / "golden.safetensors"
        measured, golden = pair.measure(path, in_full)
        verdict = judge(measured.measurements, golden, rule or Rule())
        if not (verdict.passed or in_full):
            measured, golden = pair.measure(path, True)
            verdict = judge(measured.measurements, golden, rule or Rule())
    cell.set_train(was_training)
    notes = () if not golden.why else (f"the reference does not run in float64 ({golden.why})",)
    return Comparison(
        type(cell).__name__,
        "",
        verdict.differences,
        None,
        verdict.passed,
        verdict.first_divergence,
        time.monotonic() - began,
        verdict.culprits,
        measured.unmatched,
        (*notes, *verdict.notes),
    )


def _inputs(inputs: Any, seed: int) -> list[tuple[str, Any]]:
    from .named import make_inputs

    if isinstance(inputs, str):
        return make_inputs([inputs], seed)
    if isinstance(inputs, Mapping):
        return [(str(name), _tensor(value)) for name, value in inputs.items()]
    if isinstance(inputs, list | tuple):
        if all(isinstance(item, str) for item in inputs):
            return make_inputs(list(inputs), seed)
        return [("", _tensor(value)) for value in inputs]
    return [("", _tensor(inputs))]


def _tensor(value: Any) -> Any:
    import numpy as np
    import torch

    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value
