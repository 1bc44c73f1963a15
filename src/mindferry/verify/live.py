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
from .judge import Rule, judge


def compare(
    torch_module: Any,
    cell: Any,
    inputs: Any,
    *,
    modes: Sequence[str] = ("eval", "train"),
    rule: Rule | None = None,
    seed: int = 0,
    optimizers: tuple[Any, Any] | None = None,
) -> Comparison:
    """Copy the torch module's weights into `cell` and compare the two on `inputs`, module by module.

    `inputs`: a tensor or array, a tuple of them, a dictionary for keyword arguments, or text such as
    'float32[4,3,224,224]'. `optimizers`: what makes torch's optimizer for the module, and MindSpore's for the cell.
    """
    from .backends import process
    from .backends.mindspore import against
    from .golden import open_golden
    from .goldenfile import RecordError
    from .recorder import record

    began = time.monotonic()
    os.environ.update(process.settings("mindspore"))
    with tempfile.TemporaryDirectory(prefix="mindferry-") as folder:
        path = Path(folder) / "golden.safetensors"
        recorded = sorted({"eval" if mode == "jit" else mode for mode in modes})
        try:
            optimizer = optimizers[0] if optimizers else None
            record(torch_module, _inputs(inputs, seed), path, modes=recorded, seed=seed, optimizer=optimizer)
        except RecordError as error:
            raise MindferryError(str(error)) from None
        golden = open_golden(path)
        was_training = cell.training
        measured = against(cell, golden, list(modes), optimizer=optimizers[1] if optimizers else None)
        cell.set_train(was_training)
        verdict = judge(measured.measurements, golden, rule or Rule())
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
        notes,
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
