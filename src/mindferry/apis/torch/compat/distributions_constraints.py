"""torch.distributions.constraints: whether values are what a parameter must be."""

import mindspore as ms
import numpy as np
from mindspore import ops


def check_real(value):
    """constraints.real.check."""
    return value == value


def check_positive(value):
    """constraints.positive.check."""
    return value > 0


def check_nonnegative(value):
    """constraints.nonnegative.check."""
    return value >= 0


def check_unit_interval(value):
    """constraints.unit_interval.check."""
    return ops.logical_and(value >= 0, value <= 1)


def check_simplex(value):
    """constraints.simplex.check."""
    return ops.logical_and((value >= 0).all(-1), ops.abs(value.sum(-1) - 1) < 1e-6)


def check_positive_definite(value):
    """constraints.positive_definite.check, of each matrix."""
    matrices = value.asnumpy()
    answers = [is_positive_definite(each) for each in matrices.reshape((-1, *matrices.shape[-2:]))]
    return ms.Tensor(np.array(answers, bool).reshape(matrices.shape[:-2]))


def is_positive_definite(matrix):
    if not np.allclose(matrix, matrix.T, rtol=1e-5, atol=1e-6):
        return False
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
