"""A planted fault: a small mutation of a correct conversion, and what it should be called."""

from __future__ import annotations

from dataclasses import dataclass

if __package__:
    from .twins import Twin
else:  # run as a script
    from twins import Twin


@dataclass(frozen=True)
class Fault:
    name: str
    twin: Twin
    before: str
    after: str
    culprits: tuple[str, ...]  # any of these is the exact name

    def __str__(self) -> str:
        return f"{self.twin.name}: {self.name}"
