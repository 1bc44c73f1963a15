"""Small columns of an output: how far torch's own float32 is off there."""

from __future__ import annotations

import torch

from mindferry.verify.columns import column_error
from mindferry.verify.scale import scale_of


def test_what_is_left_of_large_numbers_is_off_by_their_last_digit() -> None:
    """The logarithm of a probability near 1, beside others of -60: one run of torch's shows a tenth of what rounding may do."""
    right = torch.tensor([[-60.0, -1e-6], [-61.0, -9e-7]], dtype=torch.float64)
    measure = scale_of(right[:, 1:])
    one_run = right.float() + torch.tensor([[0.0, 1e-7], [0.0, 0.0]])
    assert column_error(right.clone(), one_run, 1, [1], measure) > 6e-6


def test_a_score_beside_a_coordinate_keeps_its_own_scale() -> None:
    right = torch.tensor([[1e7, 0.5], [2e7, 0.25]], dtype=torch.float64)
    measure = scale_of(right[:, 1:])
    one_run = right.float() + torch.tensor([[0.0, 1e-7], [0.0, 0.0]])
    assert column_error(right.clone(), one_run, 1, [1], measure) < 1e-6
