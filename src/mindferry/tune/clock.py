"""Spans of the training thread, step by step: which phase had the time, and nothing counted twice."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..frameworks.requests import Plan

WARM, PLAIN, OBSERVED, PROFILED = "warm", "plain", "observed", "profiled"
SAMPLE_EVERY = 0.001  # seconds between two looks at the stack
SWITCH_EVERY = 0.0005  # seconds after which pure Python lets the sampler look
OBSERVER = str(Path(__file__).parents[1])
_EPOCH = time.time_ns() - time.perf_counter_ns()  # MindSpore's profiler writes the time of day


def now() -> int:
    """Nanoseconds since 1970, never going back."""
    return _EPOCH + time.perf_counter_ns()


def stages_of(plan: Plan) -> list[tuple[str, int]]:
    every = [(WARM, plan.warm), (PLAIN, plan.plain), (OBSERVED, plan.observed), (PROFILED, plan.profiled)]
    return [(name, count) for name, count in every if count]


@dataclass(frozen=True, slots=True)
class Span:
    phase: str
    start: int
    end: int
    detail: str = ""


@dataclass(slots=True)
class StepTime:
    stage: str
    start: int
    end: int = 0
    is_border: bool = False  # an epoch began in it: what happens between epochs is not the step
    phases: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    batch: int = 0  # rows

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / 1e9


class Clock:
    """`with clock.span("forward"): ...`; `clock.step_done()` returns the stage of the next step, "" after the last one."""

    def __init__(self, plan: Plan, project: Path) -> None:
        self.plan, self.project = stages_of(plan), str(project)
        self.seconds = plan.seconds
        self.stage = self.plan[0][0]
        self.steps: list[StepTime] = []
        self.spans: list[Span] = []
        self.step = StepTime(self.stage, now(), is_border=True)
        self.sampler = Sampler(self.project)
        self._stack: list[list[float]] = []  # start, time of inner spans

    @contextlib.contextmanager
    def span(self, phase: str, detail: str = "") -> Iterator[None]:
        start = now()
        self._stack.append([start, 0])
        self.sampler.phases.append(phase)
        try:
            yield
        finally:
            end = now()
            self.sampler.phases.pop()
            began, inner = self._stack.pop()
            took = end - began
            if self._stack:
                self._stack[-1][1] += took
            self.step.phases[phase] += (took - inner) / 1e9
            if self.stage != WARM and took > 2000:
                self.spans.append(Span(phase, start, end, detail))

    @property
    def depth(self) -> int:
        return len(self._stack)

    def step_done(self, between: Callable[[str], None]) -> str:
        """End a step. If a stage ends with it, `between(next stage)` runs outside of every step."""
        self.step.end = now()
        self.steps.append(self.step)
        following = self._following()
        if following != self.stage:
            between(following)
            self.stage = following
        if following:
            if following == OBSERVED and not self.sampler.is_running:
                self.sampler.start()
            elif following == PROFILED:
                self.sampler.stop()
        else:
            self.sampler.stop()
        self.begin_step()
        self.sampler.phases[0] = "between steps"  # until the step is begun again
        return following

    def begin_step(self) -> None:
        """Start the next step's time again: what was done since the last one ended is not its."""
        self.sampler.phases[0] = ""
        self.step = StepTime(self.stage, now())

    def _following(self) -> str:
        done = [step for step in self.steps if step.stage == self.stage]
        count = dict(self.plan)[self.stage]
        least, seconds = (2, self.seconds) if self.stage in (PLAIN, OBSERVED) else (1, self.seconds / 4)
        is_slow = len(done) >= least and sum(step.seconds for step in done) > seconds
        if len(done) < count and not is_slow:
            return self.stage
        names = [name for name, _ in self.plan]
        index = names.index(self.stage) + 1
        return names[index] if index < len(names) else ""

    def measured(self, stage: str) -> list[StepTime]:
        """The steps of a stage, without those in which an epoch began if others are left."""
        every = [step for step in self.steps if step.stage == stage]
        return [step for step in every if not step.is_border] or every


class Sampler:
    """Looks at the training thread's stack now and then: which of the project's lines has the time outside of all spans."""

    def __init__(self, project: str) -> None:
        self.project, self.phases = project, [""]
        self.lines: Counter[str] = Counter()
        self.looks = 0
        self.is_running = False
        self._thread_id = threading.get_ident()
        self._usual = sys.getswitchinterval()

    def start(self) -> None:
        self.is_running = True
        sys.setswitchinterval(SWITCH_EVERY)
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        self.is_running = False
        sys.setswitchinterval(self._usual)

    def _run(self) -> None:
        while self.is_running:
            time.sleep(SAMPLE_EVERY)
            frame = sys._current_frames().get(self._thread_id)
            if frame is None or self.phases[-1]:
                continue
            self.looks += 1
            while frame is not None and not is_own(name := frame.f_code.co_filename, self.project):
                frame = None if name.startswith(OBSERVER) else frame.f_back  # the clocks' own work is not the script's
            if frame is not None:
                self.lines[place(frame.f_code.co_filename, frame.f_lineno, self.project)] += 1

    @property
    def named(self) -> float:
        """Share of the looks that found a line of the project at work; none without a look."""
        return self.lines.total() / self.looks if self.looks else 0.0


def is_own(filename: str, project: str) -> bool:
    return filename.startswith(project) and not ("ms_compat.py" in filename or "/ms_compat/" in filename)


def place(filename: str, line: int, project: str) -> str:
    return f"{filename.removeprefix(project).lstrip('/')}:{line}"


def caller(project: str, depth: int = 2) -> str:
    """The project's line that is being run, "" if there is none on the stack."""
    frame = sys._getframe(depth)
    while frame is not None:
        if is_own(frame.f_code.co_filename, project):
            return place(frame.f_code.co_filename, frame.f_lineno, project)
        frame = frame.f_back  # type: ignore[assignment]
    return ""
