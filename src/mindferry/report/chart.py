"""Two loss curves as an SVG picture."""

from __future__ import annotations

from collections.abc import Sequence

from ..artifacts import Curves

WIDTH, HEIGHT, MARGIN = 720, 260, 44


def curves_chart(curves: Curves) -> str:
    """The reference as a wide pale line, the conversion as a thin dark one on top of it."""
    theirs, ours = [step.loss for step in curves.reference], [step.loss for step in curves.converted]
    values = [value for value in (*theirs, *ours) if value == value]
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    high = high if high > low else low + 1.0
    labels = "".join(
        f'<text x="{MARGIN - 6}" y="{_y(value, low, high) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
        for value in (low, (low + high) / 2, high)
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="loss by step, both frameworks">'
        f'<polyline class="theirs" points="{_points(theirs, low, high)}"/><polyline class="ours" points="{_points(ours, low, high)}"/>'
        f'{labels}<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">step 1 to {len(theirs)}</text></svg>'
    )


def _y(value: float, low: float, high: float) -> float:
    return HEIGHT - MARGIN - (value - low) / (high - low) * (HEIGHT - 2 * MARGIN)


def _points(losses: Sequence[float], low: float, high: float) -> str:
    width = (WIDTH - 2 * MARGIN) / max(len(losses) - 1, 1)
    return " ".join(f"{MARGIN + index * width:.1f},{_y(loss, low, high):.1f}" for index, loss in enumerate(losses) if loss == loss)
