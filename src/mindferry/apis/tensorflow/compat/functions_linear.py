"""tf.linalg and functions of one number that few programs need."""

import numpy as np
from mindspore import ops

from .functions_math import tf_matmul
from .functions_shape import tf_diag
from .graph import symbolic
from .products import product
from .tensors import as_tensor


@symbolic
def tf_matvec(a, b, transpose_a=False, name=None, **_):
    a, b = as_tensor(a), as_tensor(b)
    a = ops.swapaxes(a, -1, -2) if transpose_a else a
    return ops.squeeze(product(a, ops.expand_dims(b, -1)), -1)


@symbolic
def tf_trace(x, name=None):
    x = as_tensor(x)
    size = min(x.shape[-2:])
    return ops.sum(x[..., :size, :size] * ops.eye(size, size, x.dtype), (-2, -1))


@symbolic
def tf_matrix_transpose(a, name="", conjugate=False):
    return ops.swapaxes(as_tensor(a), -1, -2)


def tf_adjoint(matrix, name=None):
    return tf_matrix_transpose(matrix)


@symbolic
def tf_cross(a, b, name=None):
    a, b = as_tensor(a), as_tensor(b)
    (x, y, z), (u, v, w) = ([each[..., place] for place in range(3)] for each in (a, b))
    return ops.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


@symbolic
def tf_set_diag(input, diagonal, name="set_diag", **_):
    x = as_tensor(input)
    return x * (1 - ops.eye(x.shape[-2], x.shape[-1], x.dtype)) + tf_diag(diagonal)


@symbolic
def tf_inv(input, adjoint=False, name=None):
    """By Gauss and Jordan, a column after the other, so that it has a gradient; the largest element of each column leads."""
    x = as_tensor(input)
    return tf_solve(x, ops.broadcast_to(ops.eye(x.shape[-1], x.shape[-1], x.dtype), x.shape))


@symbolic
def tf_solve(matrix, rhs, adjoint=False, name=None):
    a, b = as_tensor(matrix), as_tensor(rhs)
    a = ops.swapaxes(a, -1, -2) if adjoint else a
    size = a.shape[-1]
    whole = ops.cat([a, b], -1)
    for place in range(size):
        whole = tf_matmul(leading_rows(whole, place), whole)
        row = whole[..., place : place + 1, :] / whole[..., place : place + 1, place : place + 1]
        others = ops.reshape(as_tensor((np.arange(size) != place).astype(np.float32), whole.dtype), (size, 1))
        whole = whole * others - whole[..., place : place + 1] * others * row + (1 - others) * row
    return whole[..., size:]


def leading_rows(whole, place):
    """The matrix that brings the row with the largest element of a column to its place."""
    values = np.abs(whole.asnumpy()[..., place:, place])
    best = values.argmax(-1) + place
    size = whole.shape[-2]
    made = np.broadcast_to(np.eye(size, dtype=np.float32), (*best.shape, size, size)).copy()
    for at in np.ndindex(best.shape):
        made[at][[place, best[at]]] = made[at][[best[at], place]]
    return as_tensor(made, whole.dtype)


@symbolic
def tf_cholesky(input, name=None):
    """Row by row, so that it has a gradient."""
    a = as_tensor(input)
    size = a.shape[-1]
    rows = []
    for i in range(size):
        row = []
        for j in range(i + 1):
            rest = a[..., i, j]
            for k in range(j):
                rest = rest - row[k] * (rows[j][k] if j < i else row[k])
            row.append(ops.sqrt(rest) if i == j else rest / rows[j][j])
        rows.append(row)
    zero = ops.zeros_like(a[..., 0, 0])
    return ops.stack([ops.stack([*row, *[zero] * (size - len(row))], -1) for row in rows], -2)


@symbolic
def tf_det(input, name=None):
    """By elimination: the product of what leads each column."""
    x = as_tensor(input)
    size = x.shape[-1]
    made = None
    for place in range(size):
        swap = leading_rows(x, place)
        sign = as_tensor(np.linalg.det(swap.asnumpy()).round().astype(np.float32), x.dtype)
        x = tf_matmul(swap, x)
        lead = x[..., place, place] * sign
        made = lead if made is None else made * lead
        below = ops.reshape(as_tensor((np.arange(size) > place).astype(np.float32), x.dtype), (size, 1))
        x = (
            x
            - below
            * x[..., place : place + 1]
            * x[..., place : place + 1, :]
            / x[..., place : place + 1, place : place + 1]
        )
    return made


def tf_logdet(matrix, name=None):
    return ops.log(tf_det(matrix))


def tf_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    matrix = as_tensor(matrix)
    rows, columns = np.indices(matrix.shape[-2:])
    inside = rows >= columns if lower else rows <= columns
    return tf_solve(matrix * as_tensor(inside.astype(np.float32), matrix.dtype), rhs, adjoint)


@symbolic
def tf_erfc(x, name=None):
    return 1 - ops.erf(as_tensor(x))


@symbolic
def tf_lgamma(x, name=None):
    """Stirling's series, moved up to where it is exact: MindSpore's own has no gradient on a CPU."""
    x = as_tensor(x)
    shift, y = ops.zeros_like(x), x
    for _ in range(6):
        shift, y = shift + ops.log(y), y + 1
    series = 1 / (12 * y) - 1 / (360 * y**3) + 1 / (1260 * y**5)
    return (y - 0.5) * ops.log(y) - y + 0.9189385332046727 + series - shift


@symbolic
def tf_digamma(x, name=None):
    x = as_tensor(x)
    shift, y = ops.zeros_like(x), x
    for _ in range(6):
        shift, y = shift + 1 / y, y + 1
    return ops.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6) - shift


def is_nested(structure):
    return isinstance(structure, (list, tuple, dict))


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """tf.nest.pack_sequence_as."""
    values = iter(flat_sequence)

    def filled(part):
        if isinstance(part, dict):
            made = {key: filled(part[key]) for key in sorted(part)}
            return {key: made[key] for key in part}
        if isinstance(part, (list, tuple)):
            return type(part)(filled(each) for each in part)
        return next(values)

    return filled(structure)
