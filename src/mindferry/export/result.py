"""What `export` wrote, and how far what it wrote is from the cell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportedFile:
    form: str  # mindir, mindir with any batch size, onnx
    path: str  # '' if it could not be made
    passed: bool
    size: int = 0  # bytes
    worst: float = 0.0  # largest error over the largest output, over all inputs
    inputs: int = 0  # how many were compared
    reason: str = ""  # why there is none, or what differs
    note: str = ""


@dataclass(frozen=True, slots=True)
class Export:
    """One model, exported."""

    model: str
    inputs: tuple[str, ...]
    files: tuple[ExportedFile, ...]
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Every MindIR is there and equal; ONNX is where the exporter can."""
        return all(file.passed for file in self.files if file.form != "onnx" or file.path)
