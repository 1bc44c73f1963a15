"""What the clocks claim of a step, and what they leave unattributed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mindferry.frameworks.requests import Plan
from mindferry.tune.clock import OBSERVED, PLAIN, PROFILED, WARM, Clock
from mindferry.tune.summary import divide_compiled, phases_of

NEXT = Plan(warm=0, plain=0, observed=2, profiled=0)


def busy(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def steps(clock: Clock, outside: float, is_seen: Callable[[], bool] = lambda: True) -> dict[str, float]:
    """Two steps of 20 ms forward, with `outside` seconds of this file's own Python after it, or more until it is seen."""
    clock.sampler.start()
    clock.begin_step()
    for _ in range(2):
        with clock.span("forward"):
            busy(0.02)
        busy(outside)
        while not is_seen():
            busy(0.01)
        clock.step_done(lambda stage: None)
        busy(0.03)  # what the observer does between steps belongs to none
        clock.begin_step()
    return {phase.name: phase.seconds for phase in phases_of(clock, ())}


def test_the_phases_of_a_step_add_up_to_it_and_its_own_lines_are_the_host() -> None:
    clock = Clock(NEXT, Path(__file__).parent)
    times = steps(clock, 0.3, lambda: bool(clock.sampler.lines))
    assert sum(times.values()) == pytest.approx(sum(step.seconds for step in clock.steps) / 2)
    assert times["host"] > times.get("unattributed", 0.0)
    assert {line.partition(":")[0] for line in clock.sampler.lines} == {"test_clock.py"}


def test_time_in_which_no_line_of_the_project_was_seen_is_unattributed(tmp_path: Path) -> None:
    clock = Clock(NEXT, tmp_path)  # this file is not the project's
    times = steps(clock, outside=0.04)
    assert times.get("host", 0.0) == 0.0 and times["unattributed"] >= 0.03


def test_without_a_look_nothing_is_claimed_for_the_host() -> None:
    clock = Clock(NEXT, Path(__file__).parent)
    clock.sampler.start = lambda: None  # type: ignore[method-assign]
    times = steps(clock, outside=0.01)
    assert "host" not in times and times["unattributed"] >= 0.009


def test_a_compiled_span_without_operators_is_not_called_forward() -> None:
    times = {"graph": 1.0}
    divide_compiled(times, {"forward": 0.0, "backward": 0.0, "optimizer": 0.0})
    assert times["unattributed"] == 1.0 and times.get("forward", 0.0) == 0.0


def test_a_slow_step_ends_its_stage_early_and_a_timed_stage_has_two(tmp_path: Path) -> None:
    clock = Clock(Plan(seconds=0.02), tmp_path)
    stages = []
    while True:
        busy(0.011)
        stages.append(clock.stage)
        if not clock.step_done(lambda stage: None):
            break
        clock.begin_step()
    assert stages == [WARM, PLAIN, PLAIN, OBSERVED, OBSERVED, PROFILED]
