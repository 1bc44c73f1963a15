"""What was measured of one network, and when it is right."""

from __future__ import annotations

from dataclasses import dataclass

FORWARD, GRADIENT = 1e-4, 1e-3  # of the largest value
TIMES = 2  # as far as torch's own float32 is from its float64


@dataclass(frozen=True, slots=True)
class Outcome:
    library: str
    name: str
    modules: int
    forward: float | None  # largest difference, of the largest value
    gradient: float | None
    error: str = ""
    tokens: int | None = None  # that generate() makes alike, of 20; None where the network does not generate
    version: str = ""  # of the library
    measured: str = ""  # on which day, and at which commit
    own_forward: float | None = None  # how far torch's float32 is from its float64; None where that does not run
    own_gradient: float | None = None

    @property
    def agrees(self) -> bool:
        return is_close(self.forward, FORWARD, self.own_forward)

    @property
    def gradients_agree(self) -> bool:
        return is_close(self.gradient, GRADIENT, self.own_gradient)


def is_close(difference: float | None, limit: float, own: float | None) -> bool:
    """Within the limit, or no further from float64 than torch's own float32, twice."""
    return difference is not None and difference < max(limit, TIMES * (own or 0.0))
