"""Makes a Profile of what was seen in a worker: phases from the clock, operators from the framework's own profiler."""

from __future__ import annotations

import math
import os
import resource
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frameworks.requests import Counted, SyncPlace, Tuned, TuneFacts
from ..tune_record import Operator, Phase, Profile
from .attribute import operators_of
from .clock import OBSERVED, PLAIN, PROFILED, WARM, Clock
from .executions import framework_folder, peak_active, read_executions
from .trace import write_trace

if TYPE_CHECKING:
    from .mindspore_run import Watch

ORDER = ("waiting for data", "forward", "backward", "optimizer", "compile", "sync", "host", "unattributed")
COMPILED = ("graph", "step")  # spans that hold several phases
LINES = 5  # of the script's own code, in a note


def summarize(watch: Watch) -> Tuned:
    import mindspore as ms

    clock = watch.clock
    operators, tensors, trace = _profiled(watch)
    phases = phases_of(clock, operators)
    has_details = bool(clock.measured(OBSERVED))
    profile = Profile(
        framework="MindSpore",
        device=str(ms.get_context("device_target")),
        steps=len(clock.measured(PLAIN)),
        step_seconds=median(clock, PLAIN),
        observed_seconds=median(clock, OBSERVED),
        phases=phases,
        operators=operators,
        pipeline=watch.feeding.stages() if has_details else (),
        compilations=tuple(watch.graphs.compilations),
        peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        losses=tuple(watch.losses),
        step_times=tuple(step.seconds for step in clock.measured(PLAIN)),
        trace=str(trace or ""),
        notes=(f"tensors held at most {tensors / 2**20:.0f} MiB",) if tensors else (),
    )
    return Tuned(profile, facts(watch))


def facts(watch: Watch) -> TuneFacts:
    clock = watch.clock
    return TuneFacts(
        lines=tuple(Counted(line, count) for line, count in clock.sampler.lines.most_common(LINES)),
        looks=clock.sampler.looks,
        syncs=tuple(SyncPlace(*each) for each in watch.syncs.places()[:LINES]),
        batch=max((step.batch for step in clock.steps), default=0),
        parameters=watch.parameters,
        first_step=clock.steps[0].seconds,
        warm=sum(step.stage == WARM for step in clock.steps),
        calls=_network_calls(clock),
        repeats=_repeats(watch),
        isa=os.environ.get("ONEDNN_MAX_CPU_ISA", ""),
        queued=tuple(watch.feeding.queued),
    )


def _network_calls(clock: Clock) -> float:
    """How often a step calls a network from the script's own code."""
    steps = clock.measured(OBSERVED)
    if not steps:
        return 0.0
    first, last = steps[0].start, steps[-1].end
    return sum(span.phase in ("forward", *COMPILED) for span in clock.spans if first <= span.start <= last) / len(steps)


def _repeats(watch: Watch) -> tuple[Counted, ...]:
    """Modules that run more than once in a step, with their calls."""
    steps = sum(step.stage == PROFILED for step in watch.clock.steps)
    counts = Counter(call.name for call in watch.layers.calls)
    often = [(name, count) for name, count in counts.most_common(LINES) if count > steps] if steps else []
    return tuple(Counted(name, count / steps) for name, count in often)


def _profiled(watch: Watch) -> tuple[tuple[Operator, ...], int, Path | None]:
    steps = [step for step in watch.clock.steps if step.stage == PROFILED]
    folder = framework_folder(watch.output) if steps else None
    if folder is None:
        return (), 0, None
    first, last = steps[0].start, steps[-1].end
    executions = [each for each in read_executions(folder) if first <= each.start <= last]
    spans = [span for span in watch.clock.spans if span.start >= first]
    operators = operators_of(executions, spans, watch.layers.calls, len(steps))
    trace = watch.link.scratch / "trace.json"
    write_trace(trace, "MindSpore", watch.clock, executions, watch.layers.calls)
    return operators, peak_active(folder), trace


def phases_of(clock: Clock, operators: tuple[Operator, ...]) -> tuple[Phase, ...]:
    """Means over the observed steps; compiled spans are divided as their operators' times are.

    Of the time outside of every span, the host's is the share in which the sampler found a line of the script at work;
    the clocks' own work, and what nobody looked at, stays unattributed.
    """
    steps = clock.measured(OBSERVED)
    if not steps:
        return ()
    times: dict[str, float] = defaultdict(float)
    for step in steps:
        for name, seconds in step.phases.items():
            times[name] += seconds / len(steps)
    total = statistics.mean(step.seconds for step in steps)
    rest = max(0.0, total - sum(times.values()))
    times["host"] += rest * clock.sampler.named
    times["unattributed"] += rest * (1.0 - clock.sampler.named)
    kernels: dict[str, float] = defaultdict(float)
    for each in operators:
        kernels[each.phase] += each.seconds
    divide_compiled(times, kernels)
    has_kernels = bool(operators)
    return tuple(
        Phase(name, times[name], min(kernels[name], times[name]) if has_kernels else math.nan)
        for name in ORDER
        if times[name] > 0 or name in ORDER[:4]
    )


def divide_compiled(times: dict[str, float], kernels: dict[str, float]) -> None:
    """A compiled span holds forward, backward and perhaps the update; what no operator fills of it is dispatch, which is host."""
    whole = sum(times.pop(name, 0.0) for name in COMPILED)
    if not whole:
        return
    inside = {name: kernels[name] for name in ("forward", "backward", "optimizer") if not times.get(name)}
    busy = sum(inside.values())
    scale = min(1.0, whole / busy) if busy else 0.0
    for name, seconds in inside.items():
        times[name] = times.get(name, 0.0) + seconds * scale
    rest = "host" if busy else "unattributed"
    times[rest] = times.get(rest, 0.0) + whole - busy * scale


def median(clock: Clock, stage: str) -> float:
    steps = clock.measured(stage)
    return statistics.median(step.seconds for step in steps) if steps else math.nan


def scalar(loss: Any) -> float:
    """nan where a step had no loss that could be seen."""
    try:
        return float(loss.asnumpy().sum())
    except (AttributeError, TypeError, ValueError):
        return math.nan
