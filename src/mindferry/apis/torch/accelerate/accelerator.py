"""accelerate.Accelerator: what prepare(), autocast() and clipping do in one process. The training pass lifts its backward()."""

from __future__ import annotations

from ..._rule import Case, rule

rule(
    "accelerate.Accelerator",
    to="compat.Accelerator",
    like="compat.Accelerator",
    differs="float32 in one process; for several, start the script with msrun",
    cases=[
        Case("accelerate.Accelerator()", "ms_compat.Accelerator()", runs=False, why="tests/trainers trains with it"),
        Case(
            "accelerate.Accelerator(split_batches=True, mixed_precision='no')",
            "ms_compat.Accelerator(split_batches=True, mixed_precision='no')",
            runs=False,
            why="tests/trainers trains with it",
        ),
    ],
)
