"""Writes a trace that chrome://tracing and ui.perfetto.dev open: phases, module calls and operators of the measured steps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .clock import Clock
from .executions import Execution
from .layers import LayerCall

ROWS = ("steps", "phases", "modules", "operators")


def write_trace(
    path: Path, framework: str, clock: Clock, executions: Iterable[Execution], calls: Iterable[LayerCall]
) -> None:
    origin = clock.steps[0].start
    events: list[dict[str, Any]] = [_name("process_name", 0, f"{framework}, mindferry tune")]
    events += [_name("thread_name", row, title) for row, title in enumerate(ROWS)]
    for number, step in enumerate(clock.steps, 1):
        events.append(_event(0, f"step {number}", step.start - origin, step.end - step.start, stage=step.stage))
    for span in clock.spans:
        events.append(_event(1, span.phase, span.start - origin, span.end - span.start, detail=span.detail))
    for call in calls:
        events.append(_event(2, call.name, call.start - origin, call.end - call.start, inputs=call.shapes))
    for each in executions:
        events.append(
            _event(3, each.kind, each.start - origin, each.seconds * 1e9, scope=each.name, inputs=each.shapes)
        )
    path.write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))


def _name(kind: str, row: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": 1, "tid": row, "args": {"name": name}}


def _event(row: int, name: str, start: float, length: float, **details: str) -> dict[str, Any]:
    """Chrome's times are microseconds."""
    arguments = {key: value for key, value in details.items() if value}
    return {"ph": "X", "name": name, "pid": 1, "tid": row, "ts": start / 1e3, "dur": length / 1e3, "args": arguments}
