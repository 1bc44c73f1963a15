"""Writes a folder as MindSpore 2.10's profiler lays it out on Ascend.

These are not recordings: no Ascend was at hand. File names and columns are those of
mindspore/profiler/analysis/viewer/*.py in the installed package (step_trace_time.csv, kernel_details.csv,
minddata_pipeline_raw_0.csv, dataset.csv, memory_record.csv), and for op_statistic.csv those of CANN's documentation (8.0 and 8.3,
"op_statistic"; the header itself is in CANN's own test of its writer, and in recordings that people published). The numbers follow the guide's ResNet-50: half of the step is a gap, and casts are a large part of the rest.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

STEP = (
    "Step",
    "Computing",
    "Communication(Not Overlapped)",
    "Overlapped",
    "Communication",
    "Free",
    "Stage",
    "Bubble",
    "Communication(Not Overlapped and Exclude Receive)",
    "Preparing",
)
KERNEL = (
    "Step ID",
    "Model ID",
    "Task ID",
    "Stream ID",
    "Name",
    "Type",
    "Accelerator Core",
    "Start Time(us)",
    "Duration(us)",
    "Wait Time(us)",
    "Block Num",
    "Mix Block Num",
    "HF32 Eligible",
    "Input Shapes",
    "Input Data Types",
    "Input Formats",
    "Output Shapes",
    "Output Data Types",
    "Output Formats",
    "Context ID",
)
# "Model Name" stands after "Device_id" where several models ran
STATISTIC = (
    "Device_id",
    "OP Type",
    "Core Type",
    "Count",
    "Total Time(us)",
    "Min Time(us)",
    "Avg Time(us)",
    "Max Time(us)",
    "Ratio(%)",
)
RAW = (
    "op_id",
    "op_type",
    "num_workers",
    "output_queue_size",
    "output_queue_average_size",
    "output_queue_length",
    "output_queue_usage_rate",
    "sample_interval",
    "parent_id",
    "children_id",
)
DATASET = ("Operation", "Stage", "Occurrences", "Avg. time (us)", "Custom Info")
MEMORY = ("Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)", "Device Type")

NETWORK = "Default/network-WithLossCell/_backbone-ResNet/layer1-SequentialCell/0-Bottleneck/conv1-Conv2d"
KERNELS: tuple[tuple[str, str, str, float, str], ...] = (
    (f"{NETWORK}/Conv2D-op12", "Conv2D", "AI_CORE", 4000.0, '"32,64,56,56;64,64,1,1"'),
    (
        f"Gradients/{NETWORK}/Conv2DBackpropFilter-op3",
        "Conv2DBackpropFilter",
        "AI_CORE",
        7000.0,
        '"32,64,56,56;32,64,56,56"',
    ),
    (f"{NETWORK}/Cast-op4", "Cast", "AI_VECTOR_CORE", 3000.0, '"32,64,56,56"'),
    (f"Gradients/{NETWORK}/Cast-op5", "Cast", "AI_VECTOR_CORE", 5000.0, '"32,64,56,56"'),
    (f"{NETWORK}/Cast-op6", "Cast", "AI_VECTOR_CORE", 1000.0, '"64,64,1,1"'),
    (f"{NETWORK}/Cast-op7", "Cast", "AI_VECTOR_CORE", 1000.0, '"64,64,3,3"'),
    (
        "Default/optimizer-Momentum/ApplyMomentum-op1",
        "ApplyMomentum",
        "AI_VECTOR_CORE",
        2000.0,
        '"64,64,1,1;64,64,1,1"',
    ),
)


def write_profile(
    folder: Path, *, steps: int = 3, free: float = 25000.0, version: str = "2.10.0", with_details: bool = True
) -> Path:
    """One rank: `free` microseconds of each step nothing runs, the operators above take the rest."""
    root = folder / "rank-0_20260102030405678_ascend_ms"
    output = root / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (root / "FRAMEWORK").mkdir()
    (root / "profiler_info_0.json").write_text(
        json.dumps({"profiler_parameters": {}, "ms_version": version, "cann_version": "8.3.RC1"})
    )
    computing = sum(kernel[3] for kernel in KERNELS)
    table(
        output / "step_trace_time.csv",
        STEP,
        [(number, computing, 0, 0, 0, free, computing + free, 0, 0, 120.5) for number in range(1, steps + 1)],
    )
    if with_details:
        rows = [
            (
                number,
                4294967295,
                index,
                2,
                name,
                kind,
                core,
                f"{1e12 + index}\t",
                duration,
                0.5,
                32,
                0,
                "NO",
                shapes,
                "FLOAT16",
                "NCHW",
                "",
                "",
                "",
                "N/A",
            )
            for number in range(1, steps + 1)
            for index, (name, kind, core, duration, shapes) in enumerate(KERNELS)
        ]
        table(output / "kernel_details.csv", KERNEL, rows)
    counts = [
        (0, kind, core, steps, duration * steps, duration, duration, duration, 1.0)
        for _, kind, core, duration, _ in KERNELS
    ]
    table(output / "op_statistic.csv", STATISTIC, counts)
    table(
        output / "minddata_pipeline_raw_0.csv",
        RAW,
        [
            (0, "Batch", 2, "[0, 1, 0]", 0.3, 16, 0.02, 10, "", "[1]"),
            (1, "Map", 4, "[2, 3, 1]", 2.0, 64, 0.03, 10, 0, "[2]"),
            (2, "Generator", 1, "[60, 62, 64]", 62.0, 64, 0.97, 10, 1, ""),
        ],
    )
    table(output / "dataset.csv", DATASET, [("Batch", "Compute", 96, 900.0, ""), ("Map", "Compute", 3072, 1500.0, "")])
    table(
        output / "memory_record.csv",
        MEMORY,
        [("MindSpore", 1.0, 512.0, 1024.0, 500.0, "NPU:0"), ("MindSpore", 2.0, 768.0, 1024.0, 700.0, "NPU:0")],
    )
    (output / "trace_view.json").write_text("[]")
    return root


def table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
