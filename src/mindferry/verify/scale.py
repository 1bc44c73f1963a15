"""What an error in a torch tensor is measured against: its largest value, those left out that only mask.

A score of -1e9 says "not here". Measured against it, an error of 100 in the other scores would be nothing.
"""

from __future__ import annotations

import math
from typing import Any

Tensor = Any  # torch.Tensor
LARGE, GAP = 1e4, 100.0  # a mask is at least so large, and so many times larger than whatever comes next


def scale_of(tensor: Tensor) -> dict[str, float]:
    """The largest value that counts; with "cut", the size from which values are masks. NaN if there is a NaN."""
    import torch

    tensor = in_parts(tensor)
    if not tensor.numel():
        return {"scale": 0.0}
    values = tensor if tensor.is_floating_point() else tensor.double()
    least, most = (float(end) for end in torch.aminmax(values))  # one pass, and NaN comes through
    largest = max(-least, most)
    if not largest >= LARGE or not tensor.is_floating_point():
        return {"scale": largest, "is_constant": least == most and tensor.numel() > 1}
    sizes = values.abs().double().flatten()
    found = torch.unique(sizes[torch.isfinite(sizes) & (sizes > 0)])
    if not found.numel():
        return {"scale": 0.0, "cut": LARGE}
    gaps = torch.nonzero((found[1:] >= LARGE) & (found[1:] >= GAP * found[:-1]))
    if gaps.numel():
        place = int(gaps[0])
        return {"scale": float(found[place]), "cut": math.sqrt(float(found[place]) * float(found[place + 1]))}
    return {"scale": float(found[-1])} if math.isfinite(largest) else {"scale": float(found[-1]), "cut": math.inf}


def has_fraction(tensor: Tensor) -> bool:
    """Numbers with a point, complex ones among them."""
    return bool(tensor.is_floating_point() or tensor.is_complex())


def in_parts(tensor: Tensor) -> Tensor:
    """Complex numbers as pairs of their parts; everything else as it is."""
    import torch

    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def apart(right: Tensor, value: Tensor, measure: dict[str, float]) -> float:
    """The largest absolute difference; that of a mask counts in proportion to its size."""
    import torch

    right, value = in_parts(right), in_parts(value)
    if not value.numel():
        return 0.0
    if "cut" not in measure:
        difference = right.sub_(value) if value.is_floating_point() else value.double() - right.double()
        least, most = torch.aminmax(difference)
        return float(max(-least, most))
    right, value = right.double(), value.double()
    difference = (right - value).abs()
    is_mask = torch.isfinite(right) & (right.abs() > measure["cut"])
    difference[is_mask] *= measure["scale"] / right[is_mask].abs()
    difference[right == value] = 0.0
    return float(torch.nan_to_num(difference, nan=math.inf).max())
