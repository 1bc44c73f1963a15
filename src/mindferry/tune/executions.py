"""Reads what MindSpore's profiler wrote on a CPU: every execution of every operator, with its shapes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import MindferryError

TIMES, SHAPES, MEMORY = "cpu_op_execute_timestamp", "cpu_framework", "cpu_ms_memory_record"
_NUMBER = re.compile(r"-op\d+$")


@dataclass(frozen=True, slots=True)
class Execution:
    name: str  # as written, with scopes: Gradients/Default/network/0-Conv2d/Conv2DBackpropFilter-op1
    start: int  # nanoseconds
    seconds: float
    shapes: str

    @property
    def kind(self) -> str:
        return _NUMBER.sub("", self.name.rpartition("/")[2])


def framework_folder(output: Path) -> Path | None:
    """The FRAMEWORK folder under what a profiler was told to write to."""
    return next((path.parent for path in sorted(output.rglob(f"{TIMES}_*.txt"))), None)


def read_executions(folder: Path) -> list[Execution]:
    """In the order in which they ran."""
    path = next(iter(sorted(folder.glob(f"{TIMES}_*.txt"))))
    shapes = _read_shapes(folder)
    found: list[Execution] = []
    for line in path.read_text("utf-8", "replace").splitlines():
        name, _, rest = line.partition(";")
        times = rest.partition(";")[2]
        try:
            for entry in times.split():
                start, milliseconds = entry.split(",")[:2]
                found.append(
                    Execution(name, int(start), float(milliseconds) / 1e3, shapes.get(name.rpartition("/")[2], ""))
                )
        except ValueError:
            raise MindferryError(
                f"{path} is not as MindSpore 2.10 writes it ({line[:60]!r}); record it with that version"
            ) from None
    return sorted(found, key=lambda each: each.start)


def _read_shapes(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.glob(f"{SHAPES}_*.txt")):
        for line in path.read_text("utf-8", "replace").splitlines():
            parts = line.split(";")
            if len(parts) > 3 and parts[1]:
                sizes = [part.partition(":")[2] for part in parts[3:] if part.startswith("input_") and "[" in part]
                found.setdefault(parts[1], ", ".join(sizes))
    return found


def peak_active(folder: Path) -> int:
    """Largest number of bytes that tensors held while the profiler ran; 0 if it did not record memory."""
    peak = 0
    for path in sorted(folder.glob(f"{MEMORY}_*.txt")):
        for line in path.read_text("utf-8", "replace").splitlines()[1:]:
            parts = line.split(",")
            if len(parts) >= 4 and parts[3].isdigit():
                peak = max(peak, int(parts[3]))
    return peak


def scope_phase(name: str) -> str:
    """What a compiled operator's scope says: Gradients/… is backward, an optimizer's own scope or kernel is its update."""
    kind = _NUMBER.sub("", name.rpartition("/")[2])
    if "optimizer" in name.lower() or kind in UPDATES or kind.startswith("Apply"):
        return "optimizer"
    return "backward" if name.startswith("Gradients/") or kind.endswith("Grad") or "Backprop" in kind else "forward"


def scope_module(name: str) -> str:
    """The layers in a scope: Default/network-WithLossCell/_backbone-Net/0-Conv2d/Conv2D-op0 -> network._backbone.0."""
    parts = [part.partition("-") for part in name.split("/")[:-1]]
    return ".".join(attribute for attribute, dash, _ in parts if dash)


UPDATES = {
    "Adam",
    "AdamWeightDecay",
    "SGD",
    "Momentum",
    "AssignAdd",
    "Assign",
    "FusedAdam",
    "AdamNoUpdateParam",
    "LARSUpdate",
}
