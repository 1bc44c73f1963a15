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

rule(
    "accelerate.utils.set_seed",
    to="compat.set_seed",
    like="compat.set_seed",
    cases=[Case("accelerate.utils.set_seed(0)", "ms_compat.set_seed(0)", runs=False, why="it returns nothing")],
)

rule(
    "accelerate.logging.get_logger",
    to="compat.get_logger",
    like="compat.get_logger",
    cases=[
        Case("accelerate.logging.get_logger('a')", "ms_compat.get_logger('a')", runs=False, why="it returns a logger")
    ],
)

rule(
    "accelerate.skip_first_batches",
    to="compat.skip_first_batches",
    like="compat.skip_first_batches",
    cases=[
        Case(
            "accelerate.skip_first_batches([x, y], 1)",
            "ms_compat.skip_first_batches([x, y], 1)",
            runs=False,
            why="tests/apis/test_accelerator.py runs it",
        )
    ],
)

for name in (
    "ProjectConfiguration",
    "DistributedDataParallelKwargs",
    "InitProcessGroupKwargs",
    "GradScalerKwargs",
    "DataLoaderConfiguration",
):
    rule(
        f"accelerate.utils.{name}",
        to="compat.AcceleratorSettings",
        like="compat.AcceleratorSettings",
        differs="one process needs none of it",
        cases=[
            Case(f"accelerate.utils.{name}()", "ms_compat.AcceleratorSettings()", runs=False, why="it changes nothing")
        ],
    )

for name in "cuda xpu npu mlu musa sdaa hpu mps torch_xla bf16 fp16 fp8 deepspeed bnb msamp transformer_engine".split():
    rule(
        f"accelerate.utils.is_{name}_available",
        to="compat.is_unavailable",
        like="compat.is_unavailable",
        differs="it asks for what torch has; the answer is no",
        cases=[
            Case(
                f"accelerate.utils.is_{name}_available()", "ms_compat.is_unavailable()", runs=False, why="it asks torch"
            )
        ],
    )
