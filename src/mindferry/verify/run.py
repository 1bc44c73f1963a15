"""Settings -> Comparison: record the reference, run the conversion against it, judge, and compare predictions."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..artifacts import Comparison, Predictions
from ..files import complete_or_absent
from ..frameworks.process import Worker
from .bisect import Culprit, bisect
from .compare import Measurement
from .golden import Golden, open_golden
from .judge import Verdict, judge
from .predict import agreement
from .settings import Settings

_TORCH, _MINDSPORE = "mindferry.frameworks.torch", "mindferry.frameworks.mindspore"
Show = Callable[[str], None]


def verify(settings: Settings, show: Show = lambda text: None, into: bool = False) -> Comparison:
    """Run both sides and compare them. `show` is told what is going on; `into` looks into the first culprit."""
    began = time.monotonic()
    golden = open_golden(settings.golden) if settings.golden is not None else None
    with ExitStack() as stack:
        converted = stack.enter_context(Worker("mindspore", settings.converted, silence=settings.timeout))
        reference = None
        if golden is None:
            reference = stack.enter_context(Worker("torch", settings.reference, silence=settings.timeout))
            show("running the reference")
            golden = _record(settings, reference)
        settings = _fit(settings, golden)
        show("running the conversion")
        verdict, unmatched = _compare(settings, golden, converted)
        if not verdict.passed and reference is not None:
            show("looking for the culprit")
            golden = _record(settings, reference, inside=True)
            verdict, unmatched = _compare(settings, golden, converted)
        culprit = Culprit()
        if into and not verdict.passed:
            show("looking into the culprit")
            culprit = bisect(settings, golden, verdict, reference, converted)
        predictions: Predictions | None = None
        if settings.test_data and reference is not None:
            show("comparing predictions")
            predictions = _predict(settings, reference, converted)
        elif settings.test_data:
            settings = replace(
                settings,
                notes=(
                    *settings.notes,
                    "predictions are not compared with a golden file: name the torch project instead",
                ),
            )
    return Comparison(
        settings.converted_model,
        ", ".join(settings.inputs),
        verdict.differences,
        predictions,
        verdict.passed and (predictions is None or predictions.passed),
        verdict.first_divergence,
        time.monotonic() - began,
        verdict.culprits,
        unmatched,
        (*settings.notes, *_notes(golden), *verdict.notes),
        culprit.lines,
        culprit.script,
    )


def _predict(settings: Settings, reference: Worker, converted: Worker) -> Predictions:
    payload = {"data": settings.test_data, "samples": settings.samples}
    reference.start(f"{_TORCH}:predict", payload)
    converted.start(f"{_MINDSPORE}:predict", payload)
    return agreement(Path(reference.result()), Path(converted.result()))


def record(settings: Settings, path: Path, show: Show = lambda text: None) -> Golden:
    """Write the golden file of the torch model to `path`."""
    show("running the reference")
    with complete_or_absent(path) as partial, Worker("torch", settings.reference, silence=settings.timeout) as worker:
        _record(settings, worker, inside=True, path=partial)
    return open_golden(path)


def _record(settings: Settings, worker: Worker, inside: bool = False, path: Path | None = None) -> Golden:
    """What the reference computes; `inside`, with each module's inputs, is needed only to find a culprit."""
    path = path or worker.scratch / "golden.safetensors"
    modes = sorted({"eval" if mode == "jit" else mode for mode in settings.modes})
    payload = {
        "model": settings.model,
        "inputs": list(settings.inputs),
        "weights": settings.weights,
        "modes": modes,
        "seed": settings.seed,
        "golden": str(path),
        "inside": inside,
        "loss": settings.loss,
        "targets": list(settings.targets),
        "optimizer": settings.optimizer,
        "steps": settings.steps,
        "shared_dropout": settings.shared_dropout,
    }
    worker.call(f"{_TORCH}:record", payload)
    return open_golden(path)


def _compare(settings: Settings, golden: Golden, worker: Worker) -> tuple[Verdict, tuple[str, ...]]:
    payload = {"model": settings.converted_model, "golden": str(golden.path), "modes": list(settings.modes)}
    payload |= {"loss": settings.loss, "optimizer": settings.optimizer}
    measured = worker.call(f"{_MINDSPORE}:compare", payload)
    verdict = judge([_measurement(row) for row in measured["measurements"]], golden, settings.rule)
    return verdict, tuple(measured["unmatched"])


def _fit(settings: Settings, golden: Golden) -> Settings:
    """With a golden file, what it was recorded with stands in for what was not given."""
    if settings.golden is None:
        return settings
    modes = tuple(mode for mode in settings.modes if mode in golden.modes or (mode == "jit" and "eval" in golden.modes))
    described = tuple(item.name or item.key or repr(item.literal) for item in golden.inputs)
    return replace(settings, converted_model=settings.converted_model or golden.title, inputs=described, modes=modes)


def _measurement(row: dict[str, Any]) -> Measurement:
    return Measurement(**{**row, "shape": tuple(row["shape"])})


def _notes(golden: Golden) -> tuple[str, ...]:
    if not golden.why:
        return ()
    return (f"the reference does not run in float64 ({golden.why}): tolerances by dtype and depth",)
