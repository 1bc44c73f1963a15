"""The suggestions: why each may help, what it changes, and whether it can be tried on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from ..tune_record import Diagnosis, Experiment, Profile
from .settings_file import WHAT


@dataclass(frozen=True, slots=True)
class Suggestion:
    name: str
    why: str
    change: str
    kind: str = "try"  # try: applied to a copy and measured; hand: a person has to; Ascend: needs that device
    measures: str = "step"


CATALOGUE: tuple[Suggestion, ...] = (
    Suggestion("isa", WHAT["isa"], "ONEDNN_MAX_CPU_ISA=AVX2 in ms_tuning.py"),
    Suggestion("blocking", WHAT["blocking"], "ms.runtime.launch_blocking() in ms_tuning.py"),
    Suggestion(
        "jit",
        "forward and backward become one compiled graph: nothing is launched from Python",
        "ms.jit around ms.value_and_grad",
    ),
    Suggestion("graph", WHAT["graph"], "ms.set_context(mode=ms.GRAPH_MODE) in ms_tuning.py"),
    Suggestion("dynamic", "one graph for all shapes instead of one for each", "ms.jit(…, dynamic=1)"),
    Suggestion("workers", "several workers prepare rows at the same time", "num_parallel_workers of the sources"),
    Suggestion("prefetch", WHAT["prefetch"], "ms.dataset.config.set_prefetch_size(64) in ms_tuning.py"),
    Suggestion(
        "amp",
        "float16 where it is safe: half the bytes, and the matrix units of Ascend",
        'ms.amp.auto_mixed_precision(net, "O2")',
    ),
    Suggestion("cache", WHAT["cache"], "MS_COMPILER_CACHE_ENABLE=1 in ms_tuning.py", measures="first step"),
    Suggestion(
        "sync",
        "the host has to wait at each read",
        "running sums as tensors, read every hundred steps, at the places named",
        kind="hand",
    ),
    Suggestion(
        "loop",
        "Python does what one call could",
        "the loop at the places named, as one call or in the data pipeline",
        kind="hand",
    ),
    Suggestion(
        "batch",
        "fixed costs are paid for each batch",
        "a larger batch; it changes what is learned, so it is yours to decide",
        kind="hand",
    ),
    Suggestion(
        "fused",
        "an update in one operator",
        "nn.Adam(net.trainable_params(), …), if its epsilon is right for you",
        kind="hand",
    ),
    Suggestion("sink", "the device takes whole epochs by itself", "ms.data_sink(step, dataset)", kind="Ascend"),
    Suggestion("fusion", "operators are fused when compiled", "ms.jit(…, jit_level='O1')", kind="Ascend"),
)
TRIED = tuple(each.name for each in CATALOGUE if each.kind == "try")
ON_DEVICE = ("amp", "sink", "fusion")
HEAVY_COMPILE = 1.0  # seconds


def suggest(profile: Profile, diagnoses: tuple[Diagnosis, ...], applied: set[str], project: str) -> list[Experiment]:
    """What is worth trying, the measured causes first; what needs Ascend comes last, with its command."""
    wanted = [name for each in diagnoses for name in each.experiments]
    if profile.framework == "MindSpore" and profile.device == "CPU" and not profile.compilations:
        wanted += ["blocking", "jit"]  # costs that every uncompiled step on a CPU has
    if sum(each.seconds for each in profile.compilations) > HEAVY_COMPILE:
        wanted.append("cache")
    by_name = {each.name: each for each in CATALOGUE}
    left = {*applied, *(ON_DEVICE if profile.device == "CPU" else ())}
    chosen = [each for each in CATALOGUE if each.name in wanted and each.name not in left]
    found = [_experiment(each, diagnoses) for each in chosen]
    if profile.device == "CPU":
        found += [_on_ascend(by_name[name], project) for name in ON_DEVICE if name not in applied]
    return found


def named(name: str) -> Suggestion:
    return next(each for each in CATALOGUE if each.name == name)


def _experiment(each: Suggestion, diagnoses: tuple[Diagnosis, ...]) -> Experiment:
    cause = next((diagnosis for diagnosis in diagnoses if each.name in diagnosis.experiments), None)
    why = f"{cause.title}: {each.why}" if cause is not None else each.why
    note = ", ".join(cause.places) if cause is not None and each.kind == "hand" else ""
    status = "suggested" if each.kind == "try" else "by hand"
    return Experiment(each.name, why, each.change, status, measures=each.measures, note=note)


def _on_ascend(each: Suggestion, project: str) -> Experiment:
    command = f"mindferry tune {project} --try {each.name}"
    if each.kind == "Ascend":
        command = f"mindferry tune {project}   (there; then change by hand: {each.change})"
    return Experiment(each.name, each.why, each.change, "untested here", command=command, note="needs Ascend")
