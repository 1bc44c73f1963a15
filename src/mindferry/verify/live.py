"""A torch module and a MindSpore cell in this process -> Comparison."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..artifacts import Comparison
from ..errors import MindferryError
from .backends import process
from .backends.mindspore import Measured, against
from .golden import Golden, open_golden
from .goldenfile import RecordError
from .judge import Rule, Verdict, judge
from .recorder import record


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
    recorded = sorted({"eval" if mode == "jit" else mode for mode in modes})
    makers = optimizers or (None, None)
    was_training = cell.training

    def look(inside: bool, path: Path) -> tuple[Measured, Verdict, Golden]:
        try:
            given = _inputs(inputs, seed)
            record(torch_module, given, path, modes=recorded, seed=seed, inside=inside, optimizer=makers[0])
        except RecordError as error:
            raise MindferryError(str(error)) from None
        golden = open_golden(path)
        measured = against(cell, golden, list(modes), optimizer=makers[1])
        return measured, judge(measured.measurements, golden, rule or Rule()), golden

    with tempfile.TemporaryDirectory(prefix="mindferry-") as folder:
        measured, verdict, golden = look(in_full, Path(folder) / "golden.safetensors")
        if not (verdict.passed or in_full):
            measured, verdict, golden = look(True, Path(folder) / "golden.safetensors")
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
