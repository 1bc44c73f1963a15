"""lightning.Fabric: what it sets up in one process. The training pass lifts its backward()."""

from __future__ import annotations

from ..._rule import Case, rule

rule(
    "pytorch_lightning.Fabric",
    to="compat.Fabric",
    like="compat.Fabric",
    differs="float32 in one process; for several, start the script with msrun",
    cases=[
        Case(
            "lightning.Fabric(accelerator='cpu', devices=1)",
            "ms_compat.Fabric(accelerator='cpu', devices=1)",
            runs=False,
            why="tests/lightning/test_fabric.py trains with it",
        )
    ],
)
