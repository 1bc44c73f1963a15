"""What a watched run shows, in the tables of the analysis: the reference's figures, and inputs whose shapes change."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from .. import findings
from ..artifacts import Baseline, Finding, Inventory, Place
from ..config import read_config
from ..layout import CHECKPOINTS, changed_files, find_files
from ..observation import Observation

TOPIC = "observed input shapes"
SHOWN = 4  # shapes of a network
ADVICE = "seen in the observed run; under `ms.jit` each new shape is compiled anew: pad to one, or to a few (buckets)"
STALE = "this file has changed since it was observed, so the observation of it is not used"


def with_observation(inventory: Inventory, observation: Observation, path: Path) -> Inventory:
    """The same tables, with evidence. Figures of a run are not those of files that have changed since."""
    changed = changed_files(find_files(path, read_config(path).convert.exclude), observation)
    code = findings.MF907
    stale = [Finding(code, code.severity, each, 1, 1, STALE, "run `mindferry observe` again") for each in changed]
    seen = [each for each in _varying(observation) if each.path not in changed]
    return replace(
        inventory,
        baseline=inventory.baseline if changed else inventory.baseline or _baseline(observation),
        dynamic=(*inventory.dynamic, *seen),
        findings=(*inventory.findings, *sorted(stale, key=lambda each: each.path)),
    )


def _varying(observation: Observation) -> list[Place]:
    """Networks that were called with arguments of more than one shape."""
    places = []
    for network in observation.networks:
        made = next((each for each in network.makers if not Path(each.path).is_absolute()), None)
        if len(network.shapes) > 1:
            more = f" and {len(network.shapes) - SHOWN} more" if len(network.shapes) > SHOWN else ""
            told = f"{network.name}: {'; '.join(network.shapes[:SHOWN])}{more}"
            places.append(Place(TOPIC, told, made.path if made else "", made.line if made else 0, ADVICE))
    return places


def _baseline(observation: Observation) -> Baseline | None:
    """Of the command that trains, which is the last one that made a step; of the last one, where none did."""
    if not observation.runs:
        return None
    run = next((each for each in reversed(observation.runs) if each.losses), observation.runs[-1])
    seeds = [int(number) for name, number in (each.rsplit(" ", 1) for each in run.seeds) if _is_number(number)]
    saved = tuple(each for each in observation.written if Path(each).suffix in CHECKPOINTS)
    return Baseline(
        shlex.join(run.command),
        run.losses,
        len(run.losses),
        len(run.losses) / run.seconds if run.seconds else 0.0,
        run.peak_memory,
        0,
        seeds[0] if seeds else 0,
        observation.versions,
        saved,
        run.metrics,
        epochs=max((each.passes for each in observation.loaders), default=0),
        ended=run.ended,
    )


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()
