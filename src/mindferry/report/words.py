"""Numbers in words: how the report writes counts, sizes and times."""

from __future__ import annotations

import math


def plural(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def scientific(value: float) -> str:
    """Two digits: 1.8e-6, 0.25."""
    if value == 0 or 1e-3 <= abs(value) < 1e4 or not math.isfinite(value):
        return f"{value:.3g}"
    mantissa, _, power = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(power)}"


def allowed(tolerance: float) -> str:
    return f"(allowed {scientific(tolerance).replace('.0e', 'e')})"


def duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "–"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
