"""Runs both scripts, the reference first, and lays their curves beside each other."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

from ..artifacts import Curves, ProjectConversion, Step, load, save
from ..config import Train, read_config
from ..errors import MindferryError
from ..progress import Advance
from ..verify.backends.process import Worker

_TORCH_FILE = re.compile(r"\.(pth\.tar|pth|pt)$")


def train_side_by_side(
    converted: Path, options: Train | None = None, *, weights: Path | None = None, advance: Advance | None = None
) -> Curves:
    """Train both for a few steps. `converted` is the output of `mindferry convert`; the reference is found by its record.

    `weights` is where the reference's checkpoint lies, if not in its project: arguments that name it are made to point there.
    """
    record = load(ProjectConversion, converted, "convert")
    reference = Path(record.source)
    config = read_config(reference)
    options = options or config.train
    if not options.script:
        raise MindferryError(f"which script trains? Name it in {reference}/mindferry.toml, [train] script, or with --script")
    started = time.monotonic()
    note = advance or (lambda note="", steps=1: None)
    with tempfile.TemporaryDirectory(prefix="mindferry-train-") as exchange:
        arguments = [str(weights.resolve()) if weights and each == config.weights.file else each for each in options.args]
        payload = {"exchange": exchange, "script": options.script, "args": arguments, "steps": options.steps}
        with Worker("torch", reference) as worker:
            theirs = worker.call("mindferry.train.reference:record", payload, lambda step: note(f"torch loss {step['loss']:.4f}"))
        helpers = [file.path.removesuffix(".py").replace("/", ".") for file in record.files if file.status == "helpers"]
        payload |= {"args": [_TORCH_FILE.sub(".ckpt", each) for each in options.args], "helpers": helpers, "steps": len(theirs["steps"])}
        with Worker("mindspore", converted) as worker:
            ours = worker.call("mindferry.train.converted:replay", payload, lambda step: note(f"MindSpore loss {step['loss']:.4f}"))
    curves = compare_curves(theirs["steps"], ours["steps"], options.tolerance, time.monotonic() - started)
    save(curves, converted, "train")
    return curves


def compare_curves(reference: list[dict[str, float]], converted: list[dict[str, float]], tolerance: float, seconds: float) -> Curves:
    worst, first = 0.0, ""
    for number, (theirs, ours) in enumerate(zip(reference, converted, strict=False), 1):
        difference = abs(ours["loss"] - theirs["loss"]) / max(abs(theirs["loss"]), 1e-12)
        if not difference <= tolerance and not first:
            parameter = converted[max(number - 2, 0)].get("worst", "")
            first = f"step {number}: loss {ours['loss']:.6g} against {theirs['loss']:.6g}" + (
                f"; {parameter} differs most" if parameter else ""
            )
        worst = max(worst, difference) if difference == difference else float("inf")
    if len(reference) != len(converted) and not first:
        first = f"the reference made {len(reference)} steps, the conversion {len(converted)}"
    return Curves(
        tuple(Step(each["loss"], each["lr"], each["grad_norm"]) for each in reference),
        tuple(Step(each["loss"], each["lr"], each["grad_norm"]) for each in converted),
        tolerance,
        worst,
        not first,
        first,
        round(seconds, 1),
        tuple(each.get("distance", 0.0) for each in converted),
    )
