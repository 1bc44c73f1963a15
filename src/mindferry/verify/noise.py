"""How far torch's own float32 is off inside a network, measured only where a conversion is not within the floor.

A first look is recorded in float32. Where the conversion is a little further from it than the floor, the reference runs again, in
float64 and with jitter: what it is off itself is what the conversion is allowed a small multiple of. The conversion need not run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .golden import Golden
from .judge import Verdict

NEAR = 1e-2  # no rounding: what is further off than this is looked into at once
KINDS = ("network", "output")


def is_near(verdict: Verdict, golden: Golden) -> bool:
    """Whether nothing fails but values that went through the whole network in float32, and those not by far."""
    failing = [row for row in verdict.differences if not row.passed]
    first = next(iter(golden.modes), "")
    return bool(failing) and all(
        row.kind in KINDS
        and row.mode in (first, "jit")
        and not row.note
        and row.own_error != row.own_error
        and row.max_rel <= NEAR
        for row in failing
    )


def with_noise(golden: Golden, errors: Mapping[str, float]) -> Golden:
    """The golden file's facts with what `measure_noise` found."""
    references = {
        key: replace(found, whole=errors[key]) if key in errors else found for key, found in golden.references.items()
    }
    return replace(golden, references=references)


def measure_noise(model: Any, inputs: list[tuple[str, Any]], path: Path, seed: int) -> dict[str, float]:
    """Key -> the largest error of float32 there, in the first mode of a file that holds a first look. Empty if float64 does not run."""
    from .columns import chosen
    from .goldenfile import GoldenWriter
    from .lifted import full_precision
    from .reach import Reach
    from .recorder import Recorder
    from .scale import scale_of

    writer, metadata = GoldenWriter.reopened(path)
    mode, facts = next(iter(metadata["modes"].items()))
    is_quick = not any(call["path"] for call in facts["calls"])  # the network may call itself
    recorder = Recorder(model, inputs, writer, seed, lambda text: None, False, {}, None, [], Reach(), is_quick)
    keys = {key for call in facts["calls"] for key in call["outputs"]}
    recorder.errors = {key: scale_of(writer.read(key)) for key in keys}
    for index, axis, columns, place in facts["columns"]:
        recorder.errors[place] = scale_of(chosen(writer.read(facts["outputs"][index]), axis, columns))
    was_training = model.training
    try:
        with full_precision():
            recorder.measure(mode, facts)
    except Exception:  # whatever the user's code makes of float64
        return {}
    finally:
        model.train(was_training)
        writer.close()
    return {key: found["whole"] for key, found in recorder.errors.items() if "whole" in found}
