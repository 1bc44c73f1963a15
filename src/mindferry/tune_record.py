"""What `mindferry tune` hands on: profiles of both frameworks, what is slow, and what was tried."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a training step."""

    name: str  # waiting for data, forward, backward, optimizer, compile, sync, host, unattributed; on Ascend also communication, free
    seconds: float  # of a step
    kernels: float = math.nan  # of these, inside operators; the rest is Python and dispatch
    note: str = ""


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of operator with one set of shapes in one module; times of a step."""

    name: str
    seconds: float
    calls: float  # a step
    shapes: str = ""
    module: str = ""
    phase: str = ""  # forward, backward, optimizer, "" if not known


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """One operation of the data pipeline, the source first."""

    name: str
    seconds: float  # of its own, for each batch
    workers: int = 1
    queued: float = math.nan  # rows that wait behind it when the loop asks for a batch, on average
    capacity: float = math.nan  # rows that could wait there


@dataclass(frozen=True, slots=True)
class Compilation:
    """A graph that was compiled while the script ran."""

    name: str  # function or cell
    place: str  # file:line
    step: int  # from 1; 0: before the first
    seconds: float
    reason: str  # first call, new shape (2, 7), new value of an argument, new function object


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the steps of one framework went."""

    framework: str  # MindSpore, torch
    device: str
    steps: int  # that were measured
    step_seconds: float  # median, nothing but a clock running
    observed_seconds: float  # median while phases were being told apart
    phases: tuple[Phase, ...]
    operators: tuple[Operator, ...] = ()
    pipeline: tuple[PipelineStage, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    peak_memory: int = 0  # bytes of the process
    losses: tuple[float, ...] = ()
    step_times: tuple[float, ...] = ()
    trace: str = ""  # Chrome/Perfetto trace, relative to the project
    notes: tuple[str, ...] = ()

    @property
    def attributed(self) -> float:
        """Share of the step's time that has a name."""
        total = sum(phase.seconds for phase in self.phases)
        return (
            1.0 - sum(phase.seconds for phase in self.phases if phase.name == "unattributed") / total if total else 0.0
        )


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is slow, by what one can tell, and which experiments may help."""

    code: str  # slow-loader, recompiling, cast-heavy, host-bound, tiny-batches, sync-every-step, small-operators, slow-optimizer, …
    title: str
    evidence: str
    share: float  # of the step
    advice: str
    experiments: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # file:line


@dataclass(frozen=True, slots=True)
class Experiment:
    """One suggestion: why, and what it did when it was tried."""

    name: str  # isa, blocking, jit, graph, cache, dynamic, amp, workers, prefetch, sink, …
    why: str
    change: str  # what it writes into the project
    status: str  # suggested, faster, no faster, losses differ, failed, untested here, by hand
    before: float = math.nan  # seconds of a step
    after: float = math.nan
    worst: float = math.nan  # largest relative difference of a loss
    tolerance: float = math.nan
    measures: str = "step"  # what before and after are: step, or first step
    command: str = ""  # how to try it, where that can't be done here
    note: str = ""
    is_applied: bool = False


@dataclass(frozen=True, slots=True)
class TuneRecord:
    """What `tune` measured, suggested and tried."""

    project: str
    workload: str  # the command line, or the model and its inputs
    profile: Profile
    reference: Profile | None = None  # torch, same machine, same run
    diagnoses: tuple[Diagnosis, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    untouched: float = math.nan  # seconds of a step before any setting
    best: float = math.nan  # with all winning settings together
    worst: float = math.nan  # largest relative difference of a loss between these two
    source: str = ""  # --from: the folder that was read
    seconds: float = 0.0
