"""torch.linalg: LU, LDL, least squares, Householder reflections, norms and condition numbers."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_reduce import dims_of, sum_over
from .functions_shape import diagonal_of
from .linalg import adjoint, change, constant, host, inv, matrix_rank, pinv, product, solve, svdvals
from .named_parts import named_parts


def lu_host(a, pivot):
    """(combined factors, pivots from 1, permutation) of one matrix."""
    m = a.copy()
    rows, columns = m.shape
    order, pivots = np.arange(rows), np.zeros(min(rows, columns), np.int32)
    for k in range(min(rows, columns)):
        best = k + int(np.argmax(np.abs(m[k:, k]))) if pivot else k
        pivots[k] = best + 1
        m[[k, best]], order[[k, best]] = m[[best, k]], order[[best, k]]
        if m[k, k] != 0:
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return m, pivots, order


def lu_parts(A, pivot):
    """(P, L, U, pivots) with the gradient of A; P is a constant."""
    lead, (rows, columns) = A.shape[:-2], A.shape[-2:]
    count = min(rows, columns)
    found = [lu_host(each, pivot) for each in host(A).reshape(-1, rows, columns)]
    m = np.array([each[0] for each in found]).reshape(lead + (rows, columns))
    pivots = np.array([each[1] for each in found], np.int32).reshape(lead + (count,))
    order = np.array([each[2] for each in found], np.int64).reshape(lead + (rows,))
    p = np.swapaxes(np.eye(rows)[order], -1, -2)
    lower = np.tril(m[..., :count], -1) + np.eye(rows, count)
    upper = np.triu(m[..., :count, :])
    P, L, U = (constant(each, A) for each in (p, lower, upper))
    if not A.size:
        return P, L, U, ms.Tensor(pivots)
    D = product(adjoint(P), change(A))
    XL = constant(np.linalg.inv(lower[..., :count, :]), A)
    XU = constant(np.linalg.inv(upper[..., :count]), A)
    inner = product(XL, D[..., :count, :count], XU)
    below = inner * constant(np.tril(np.ones((count, count)), -1), A)
    above = inner - below
    dL, dU = product(L[..., :count, :], below), product(above, U[..., :count])
    if rows > columns:
        tail = product(D[..., count:, :] - product(L[..., count:, :], dU), XU)
        dL = ops.cat((dL, tail), -2)
    elif columns > rows:
        tail = product(XL, D[..., count:] - product(dL, U[..., count:]))
        dU = ops.cat((dU, tail), -1)
    return P, L + dL, U + dU, ms.Tensor(pivots)


@named_parts("P L U")
def lu_decompose(A, pivot=True):
    """torch.linalg.lu: (P, L, U)."""
    P, L, U, _ = lu_parts(A, pivot)
    return (P if pivot else ops.zeros((0,), A.dtype)), L, U


def lu_compact(L, U):
    """Both factors in one matrix."""
    rows, columns = L.shape[-2], U.shape[-1]
    count = min(rows, columns)
    lower = L * constant(np.tril(np.ones((rows, count)), -1), L)
    if columns > count:
        lower = ops.cat((lower, ops.zeros(lower.shape[:-1] + (columns - count,), L.dtype)), -1)
    if rows > count:
        U = ops.cat((U, ops.zeros(U.shape[:-2] + (rows - count, columns), U.dtype)), -2)
    return lower + U


@named_parts("LU pivots")
def lu_factor(A, pivot=True):
    """torch.linalg.lu_factor: (LU, pivots)."""
    _, L, U, pivots = lu_parts(A, pivot)
    return (lu_compact(L, U) if A.size else A.copy()), pivots


@named_parts("LU pivots info")
def lu_factor_ex(A, pivot=True, check_errors=False):
    """torch.linalg.lu_factor_ex: (LU, pivots, info)."""
    return (*lu_factor(A, pivot), ops.zeros(A.shape[:-2], ms.int32))


def lu(A, pivot=True, get_infos=False, out=None):
    """torch.lu: (LU, pivots[, info])."""
    return lu_factor_ex(A, pivot) if get_infos else lu_factor(A, pivot)


def permutation(pivots, rows):
    """The permutation matrix of a list of row swaps."""
    swaps = pivots.asnumpy().reshape(int(np.prod(pivots.shape[:-1])), pivots.shape[-1])
    orders = np.tile(np.arange(rows), (len(swaps), 1))
    for order, each in zip(orders, swaps):
        for k, best in enumerate(each - 1):
            order[[k, best]] = order[[best, k]]
    return np.swapaxes(np.eye(rows)[orders], -1, -2).reshape(pivots.shape[:-1] + (rows, rows))


@named_parts("P L U")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """torch.lu_unpack: (P, L, U)."""
    rows, columns = LU_data.shape[-2:]
    count = min(rows, columns)
    empty = ops.zeros((0,), LU_data.dtype)
    P = constant(permutation(LU_pivots, rows), LU_data) if unpack_pivots else empty
    if not unpack_data:
        return P, empty, empty
    L = LU_data[..., :count] * constant(np.tril(np.ones((rows, count)), -1), LU_data) + constant(
        np.eye(rows, count), LU_data
    )
    return P, L, LU_data[..., :count, :] * constant(np.triu(np.ones((count, columns))), LU_data)


def lu_solve_factored(LU, pivots, B, left=True, adjoint_=False):
    """torch.linalg.lu_solve."""
    P, L, U = lu_unpack(LU, pivots)
    A = product(P, L, U)
    return solve(adjoint(A) if adjoint_ else A, B, left)


def linalg_lu_solve(LU, pivots, B, left=True, adjoint=False):
    """torch.linalg.lu_solve."""
    return lu_solve_factored(LU, pivots, B, left, adjoint)


def lu_solve(input, LU_data, LU_pivots):
    """torch.lu_solve: the right-hand side comes first."""
    return lu_solve_factored(LU_data, LU_pivots, input)


@named_parts("solution residuals rank singular_values")
def lstsq(A, B, rcond=None, driver=None):
    """torch.linalg.lstsq: (solution, residuals, rank, singular values)."""
    X = product(pinv(A), B)
    rows, columns = A.shape[-2:]
    residuals = ops.zeros((0,), A.dtype)
    rank = matrix_rank(A) if driver in (None, "gelsy", "gelsd", "gelss") else ops.zeros((0,), ms.int64)
    if rows > columns and driver not in (None, "gelsy") and (driver == "gels" or bool((rank == columns).all())):
        residuals = ops.sum(ops.square(product(A, X) - B), -2)
    values = svdvals(ops.stop_gradient(A)) if driver in ("gelsd", "gelss") else ops.zeros((0,), A.dtype)
    return X, residuals, rank, values


@named_parts("a tau")
def geqrf(input):
    """torch.geqrf: (reflectors, tau)."""
    if not input.size:
        return input.copy(), ops.zeros(input.shape[:-2] + (min(input.shape[-2:]),), input.dtype)
    flat = host(input).reshape(-1, *input.shape[-2:])
    found = [np.linalg.qr(each, "raw") for each in flat]
    reflectors = np.array([each[0].T for each in found]).reshape(input.shape)
    tau = np.array([each[1] for each in found]).reshape(input.shape[:-2] + (-1,))
    return constant(reflectors, input), constant(tau, input)


def reflections(input, tau, size):
    """The product of the reflections, of which the first `size` columns are kept."""
    rows = input.shape[-2]
    result = ops.zeros(input.shape[:-2] + (rows, rows), input.dtype) + constant(np.eye(rows), input)
    for k in range(tau.shape[-1]):
        v = input[..., :, k : k + 1] * constant((np.arange(rows) > k)[:, None].astype(float), input)
        v = v + constant((np.arange(rows) == k)[:, None].astype(float), input)
        step = tau[..., k : k + 1].unsqueeze(-1) * product(v, adjoint(v))
        result = result - product(result, step)
    return result[..., :size]


def householder_product(input, tau):
    """torch.linalg.householder_product."""
    return reflections(input, tau, input.shape[-1]) if input.size else input.copy()


def ormqr(input, tau, other, left=True, transpose=False):
    """torch.ormqr."""
    if not other.size:
        return other.copy()
    Q = reflections(input, tau, input.shape[-2])
    Q = adjoint(Q) if transpose else Q
    return product(Q, other) if left else product(other, Q)


@named_parts("LD pivots")
def ldl_factor(A, hermitian=False):
    """torch.linalg.ldl_factor: (LD, pivots), without exchanges of rows; LAPACK's own layout differs where it exchanges."""
    rows, columns = A.shape[-2:]
    flat = host(A).reshape(int(np.prod(A.shape[:-2])), rows, columns)
    for m in flat:
        for k in range(columns):
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], np.conj(m[k + 1 :, k])) * m[k, k]
    pivots = np.broadcast_to(np.arange(1, columns + 1, dtype=np.int32), A.shape[:-1])
    return constant(np.tril(flat).reshape(A.shape), A), ms.Tensor(pivots.copy())


@named_parts("LD pivots info")
def ldl_factor_ex(A, hermitian=False, check_errors=False):
    """torch.linalg.ldl_factor_ex: (LD, pivots, info)."""
    return (*ldl_factor(A, hermitian), ops.zeros(A.shape[:-2], ms.int32))


def ldl_solve(LD, pivots, B, hermitian=False):
    """torch.linalg.ldl_solve, for factors without exchanges."""
    size = LD.shape[-1]
    L = LD * constant(np.tril(np.ones((size, size)), -1), LD) + constant(np.eye(size), LD)
    return solve(product(L * diagonal_of(LD, 0, -2, -1).unsqueeze(-2), adjoint(L)), B)


def norm_over(x, ord=2, dim=None, keepdim=False, dtype=None):
    """torch.linalg.norm_over. The gradient at zero is zero."""
    x = x if dtype is None else x.astype(dtype)
    size = ops.abs(x)
    dims = dims_of(x, dim)
    if ord == 2:
        return safe_root(sum_over(ops.square(size), dims, keepdim)) if dims else size
    if not dims:
        return size if ord != 0 else (size != 0).astype(size.dtype)
    if ord == float("inf"):
        return ops.amax(size, dims, keepdim)
    if ord == float("-inf"):
        return ops.amin(size, dims, keepdim)
    if ord == 0:
        return sum_over((size != 0).astype(size.dtype), dims, keepdim)
    if ord == 1:
        return sum_over(size, dims, keepdim)
    is_zero = size == 0
    powers = ops.pow(ops.where(is_zero, ops.ones_like(size), size), ord)
    total = sum_over(ops.where(is_zero, ops.zeros_like(size), powers), dims, keepdim)
    # A norm of positive order is zero where all elements are, one of negative order where any element is.
    zeros = sum_over(is_zero.astype(size.dtype), dims, keepdim)
    is_void = total == 0 if ord > 0 else zeros > 0
    root = ops.pow(ops.where(is_void, ops.ones_like(total), total), 1.0 / ord)
    return ops.where(is_void, ops.zeros_like(total), root)


def safe_root(x):
    """A square root whose gradient at zero is zero."""
    is_zero = x == 0
    return ops.where(is_zero, x, ops.sqrt(ops.where(is_zero, ops.ones_like(x), x)))


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    """torch.linalg.matrix_norm."""
    x = A if dtype is None else A.astype(dtype)
    row, column = (each % x.ndim for each in dim)
    if ord == "fro":
        return norm_over(x, 2, (row, column), keepdim)
    if ord in (2, -2, "nuc"):
        values = svdvals(ops.movedim(x, (row, column), (-2, -1)))
        result = sum_over(values, -1) if ord == "nuc" else ops.amax(values, -1) if ord == 2 else ops.amin(values, -1)
    else:
        summed, other = (row, column) if abs(ord) == 1 else (column, row)
        sums = ops.sum(ops.abs(x), summed, True)
        result = (ops.amax if ord > 0 else ops.amin)(sums, other, True).squeeze((row, column))
    if keepdim:
        shape = list(x.shape)
        shape[row] = shape[column] = 1
        result = result.reshape(tuple(shape))
    return result


def linalg_norm(A, ord=None, dim=None, keepdim=False, dtype=None):
    """torch.linalg.norm."""
    x = A if dtype is None else A.astype(dtype)
    if dim is None and ord is None:
        flat = norm_over(x.reshape(-1), 2)
        return flat.reshape((1,) * x.ndim) if keepdim else flat
    dims = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is None or len(dims) == 1:
        return norm_over(x, 2 if ord is None else ord, dims, keepdim)
    return matrix_norm(x, ord, dims, keepdim)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """torch.norm."""
    x = input if dtype is None else input.astype(dtype)
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if p == "nuc":
        return matrix_norm(x, "nuc", (0, 1) if dims is None else dims, keepdim)
    return norm_over(x, 2 if p in ("fro", None) else p, dims, keepdim)


def dist(input, other, p=2):
    """torch.dist."""
    return norm_over(input - other, p)


def cond(A, p=None):
    """torch.linalg.cond."""
    if not A.size:
        return ops.zeros(A.shape[:-2], A.dtype)
    if p in (None, 2, -2):
        values = svdvals(A)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return matrix_norm(A, p) * matrix_norm(inv(A), p)
