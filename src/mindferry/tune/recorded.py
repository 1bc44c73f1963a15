"""Profiler output recorded elsewhere, Ascend included: the folder that MindSpore's profiler writes, read into the same report."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import math
import os
import statistics
from collections import Counter, defaultdict
from pathlib import Path

from ..errors import MindferryError
from ..frameworks.requests import TuneFacts
from ..tune_record import Operator, Phase, PipelineStage, Profile, TuneRecord
from .diagnose import diagnose
from .executions import framework_folder, peak_active, read_executions, scope_module, scope_phase
from .experiments import suggest
from .tables import number, read_table

OUTPUT = "ASCEND_PROFILER_OUTPUT"
VERSIONS = ("2.5", "2.6", "2.7", "2.8", "2.9", "2.10")  # these write this layout
OLD = (
    "step_trace_raw_*",
    "aicore_intermediate_*",
    "framework_raw_*",
    "ascend_timeline_display_*",
    "*_op_detail_time.csv",
)
WAITING = ("GetNext", "GetNextV2", "QueueDataset", "DynamicGetNextV2")
COMPUTED = ("forward", "backward", "optimizer", "waiting for data")


def read_recorded(folder: Path) -> TuneRecord:
    """The report on a profile of one rank; with several in the folder, the first."""
    root, others = _find(folder)
    _check_version(root)
    output = root / OUTPUT
    is_device = (output / "kernel_details.csv").is_file() or _statistic(output) is not None
    profile = _from_device(output) if is_device else _from_cpu(root)
    if others:
        profile = dataclasses.replace(
            profile, notes=(*profile.notes, f"{others + 1} ranks in {folder}; this is {root.name}")
        )
    diagnoses = diagnose(profile, TuneFacts(warm=0))
    experiments = tuple(suggest(profile, diagnoses, set(), "PROJECT"))
    return TuneRecord("", str(root), profile, None, diagnoses, experiments, source=str(folder))


def _find(folder: Path) -> tuple[Path, int]:
    if not folder.is_dir():
        raise MindferryError(
            f"there is no folder {folder}; give what the profiler wrote, a folder named …_ascend_ms or one that holds it"
        )
    roots, files, names = set[Path](), set[str](), set[str]()
    for place, folders, members in os.walk(folder):
        names.update(folders)
        files.update(members)
        here = Path(place)
        roots.update(
            {here}
            if {OUTPUT, "FRAMEWORK"} & set(folders)
            else {here.parent}
            if here == folder and here.name == OUTPUT
            else ()
        )
    if roots:
        found = sorted(roots)
        return found[0], len(found) - 1
    if any(fnmatch.filter(files, pattern) for pattern in OLD):
        raise MindferryError(
            f"{folder} was written by a MindSpore before 2.5, in another layout; record it again with {VERSIONS[-1]}"
        )
    if any(name.startswith("PROF_") for name in {folder.name, *names}):
        raise MindferryError(
            f"{folder} holds raw data that was not analysed; call mindspore.profiler.profiler.analyse('{folder}') first"
        )
    raise MindferryError(
        f"{folder} holds no profiler output; give a folder named …_ascend_ms, as mindspore.profiler.profile writes it"
    )


def _check_version(root: Path) -> None:
    if root.name.endswith("_ascend_pt"):
        raise MindferryError(
            f"{root} was recorded by torch_npu, not by MindSpore; profile the converted script instead"
        )
    for path in sorted(root.glob("profiler_info*.json")):
        try:
            version = str(json.loads(path.read_text("utf-8")).get("ms_version", ""))
        except (OSError, ValueError, AttributeError):
            raise MindferryError(f"cannot read {path}; copy the profile again") from None
        if version and ".".join(version.split(".")[:2]) not in VERSIONS:
            raise MindferryError(
                f"{root} was recorded with MindSpore {version}; this reads {VERSIONS[0]} to {VERSIONS[-1]}"
            )


def _from_device(output: Path) -> Profile:
    steps = read_table(output / "step_trace_time.csv", ("Step", "Computing", "Free"))
    count = max(1, len(steps))
    operators = _kernels(output, count)
    trace = output / "trace_view.json"
    return Profile(
        framework="MindSpore",
        device="Ascend",
        steps=count,
        step_seconds=statistics.median(_length(row) for row in steps) if steps else math.nan,
        observed_seconds=statistics.mean(_length(row) for row in steps) if steps else math.nan,
        phases=_device_phases(steps, operators),
        operators=operators,
        pipeline=_pipeline(output),
        peak_memory=_peak(output),
        step_times=tuple(_length(row) for row in steps),
        trace=str(trace) if trace.is_file() else "",
    )


def _length(row: dict[str, str]) -> float:
    names = ("Computing", "Communication(Not Overlapped)", "Free")
    return sum(number(row.get(name, "0")) for name in names) / 1e6


def _device_phases(steps: list[dict[str, str]], operators: tuple[Operator, ...]) -> tuple[Phase, ...]:
    """Computing is divided by what the operators' scopes say."""
    mean = {
        name: sum(number(row.get(name, "0")) for row in steps) / 1e6 / max(1, len(steps))
        for name in (steps[0] if steps else ())
    }
    parts: dict[str, float] = defaultdict(float)
    for each in operators:
        parts[each.phase] += each.seconds
    waiting = parts.pop("waiting for data", 0.0)
    total, computing = sum(parts.values()) or 1.0, mean.get("Computing", sum(parts.values()) + waiting)
    inside = max(0.0, computing - waiting)
    found = [Phase("waiting for data", waiting)] if waiting else []
    found += [
        Phase(name, inside * parts[name] / total, inside * parts[name] / total)
        for name in COMPUTED[:3]
        if parts.get(name)
    ]
    found += (
        [Phase("communication", mean["Communication(Not Overlapped)"])]
        if mean.get("Communication(Not Overlapped)")
        else []
    )
    found += [Phase("free", mean["Free"], note="the device has nothing to do")] if mean.get("Free") else []
    return tuple(found)


def _kernels(output: Path, steps: int) -> tuple[Operator, ...]:
    rows = read_table(output / "kernel_details.csv", ("Name", "Type", "Duration(us)"))
    if not rows:
        return _statistics(output, steps)
    sums: dict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        name, kind = row["Name"], row["Type"]
        shapes = row.get("Input Shapes", "").strip('"').replace(";", "; ")
        entry = sums[kind, shapes, scope_module(name), _phase(kind, name)]
        entry[0] += number(row["Duration(us)"]) / 1e6
        entry[1] += 1
    every = [
        Operator(kind, seconds / steps, calls / steps, shapes, module, phase)
        for (kind, shapes, module, phase), (seconds, calls) in sums.items()
    ]
    return tuple(sorted(every, key=lambda each: -each.seconds))


def _statistic(output: Path) -> Path | None:
    """CANN's own table; with a time in its name where msprof wrote it."""
    return next(iter(sorted(output.glob("op_statistic*.csv"))), None)


def _statistics(output: Path, steps: int) -> tuple[Operator, ...]:
    """Kinds of operators alone. A kind has a row for each core that ran it, and for each model where there are several."""
    path, sums = _statistic(output), defaultdict[str, list[float]](lambda: [0.0, 0.0])
    for row in read_table(path, ("OP Type", "Count", "Total Time(us)")) if path is not None else ():
        entry = sums[row["OP Type"]]
        entry[0] += number(row["Total Time(us)"]) / 1e6
        entry[1] += number(row["Count"])
    found = [
        Operator(kind, seconds / steps, calls / steps, phase=_phase(kind, ""))
        for kind, (seconds, calls) in sums.items()
    ]
    return tuple(sorted(found, key=lambda each: -each.seconds))


def _phase(kind: str, name: str) -> str:
    return "waiting for data" if kind in WAITING else scope_phase(name or kind)


def _pipeline(output: Path) -> tuple[PipelineStage, ...]:
    """Queues from the raw table, the source first; times of each operation where the profiler wrote them."""
    times = {
        row["Operation"]: number(row["Avg. time (us)"]) / 1e6
        for row in read_table(output / "dataset.csv", ("Operation", "Avg. time (us)"))
    }
    found = []
    for path in sorted(output.glob("minddata_pipeline_raw_*.csv")):
        for row in read_table(path, ("op_type", "num_workers")):
            size = row.get("output_queue_length") or row.get("output_queue_size") or ""
            found.append(
                PipelineStage(
                    row["op_type"].removesuffix("Op"),
                    times.get(row["op_type"], math.nan),
                    int(number(row["num_workers"])),
                    number(row.get("output_queue_average_size", "")),
                    number(size),
                )
            )
    return tuple(found[::-1]) or tuple(PipelineStage(name, seconds) for name, seconds in times.items())


def _peak(output: Path) -> int:
    rows = read_table(output / "memory_record.csv", ("Total Allocated(MB)",))
    return int(max((number(row["Total Allocated(MB)"]) for row in rows), default=0.0) * 2**20)


def _from_cpu(root: Path) -> Profile:
    """Only operators were recorded: the rest of the time between the first and the last of them is the host's."""
    folder = framework_folder(root)
    if folder is None:
        raise MindferryError(
            f"{root} holds no operator times; profile with activities=[ProfilerActivity.CPU] and let it end"
        )
    executions = read_executions(folder)
    if not executions:
        raise MindferryError(f"{root} recorded no operator; let the profiler run over a few steps")
    counts = Counter(Counter(each.name for each in executions).values())
    steps = counts.most_common(1)[0][0]
    sums: dict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    parts: dict[str, float] = defaultdict(float)
    for each in executions:
        phase = scope_phase(each.name)
        entry = sums[each.kind, each.shapes, scope_module(each.name), phase]
        entry[0], entry[1] = entry[0] + each.seconds, entry[1] + 1
        parts[phase] += each.seconds / steps
    total = (executions[-1].start / 1e9 + executions[-1].seconds - executions[0].start / 1e9) / steps
    phases = [Phase(name, parts[name], parts[name]) for name in COMPUTED[:3] if parts[name]]
    phases.append(Phase("host", max(0.0, total - sum(parts.values())), note="no operator was running"))
    operators = [
        Operator(kind, seconds / steps, calls / steps, shapes, module, phase)
        for (kind, shapes, module, phase), (seconds, calls) in sums.items()
    ]
    trace = root / OUTPUT / "trace_view.json"
    return Profile(
        framework="MindSpore",
        device="CPU",
        steps=steps,
        step_seconds=total,
        observed_seconds=total,
        phases=tuple(phases),
        operators=tuple(sorted(operators, key=lambda each: -each.seconds)),
        peak_memory=peak_active(folder),
        trace=str(trace) if trace.is_file() else "",
        notes=(f"{steps} steps, by the number of times that most operators ran",),
    )
