"""torch.linalg: factorizations come from LAPACK on the host; a first-order correction that is zero in value carries their gradient.

With D = A - stop_gradient(A), zero but differentiable, inv(A) = X - X D X for the constant X = inv(A): the same value, and
the right gradient. Every factorization here is written that way, from its textbook differential.
"""

import mindspore as ms
import numpy as np
from mindspore import ops

from .fft import as_complex
from .functions_create import complex_of
from .functions_math import matmul, real_part
from .functions_reduce import sum_over
from .functions_shape import diagonal_of
from .named_parts import named_parts


def change(x):
    """Zero, with the gradient of x."""
    return x - ops.stop_gradient(x)


def host(x):
    """x as numpy, in double precision."""
    array = x.asnumpy()
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def constant(array, like):
    """A host result as a tensor of like's precision."""
    is_double = like.dtype in (ms.float64, ms.complex128)
    kind = (
        (np.complex128 if is_double else np.complex64)
        if np.iscomplexobj(array)
        else (np.float64 if is_double else np.float32)
    )
    return ms.Tensor(np.array(array, kind, order="C"))


def adjoint(x):
    """The conjugate transpose."""
    y = ops.swapaxes(x, -1, -2)
    return ops.conj(y) if y.is_complex() else y


def product(*matrices):
    """A chain of matrix products; empty ones too."""
    result = matrices[0]
    for each in matrices[1:]:
        result = matmul(result, each)
    return result


def inv(A):
    """torch.linalg.inv."""
    if not A.size:
        return A.copy()
    X = constant(np.linalg.inv(host(A)), A)
    return X - product(X, change(A), X)


@named_parts("inverse info")
def inv_ex(A, check_errors=False):
    """torch.linalg.inv_ex: (inverse, info)."""
    return inv(A), ops.zeros(A.shape[:-2], ms.int32)


def det(A):
    """torch.linalg.det."""
    if not A.size:
        return ops.ones(A.shape[:-2], A.dtype)
    a = host(A)
    u, s, vh = np.linalg.svd(a)
    rest = np.stack(
        [np.prod(np.delete(s, i, -1), -1) for i in range(s.shape[-1])], -1
    )  # holds for singular matrices too
    sign = np.linalg.det(u) * np.linalg.det(vh)
    cofactor = sign[..., None, None] * (u * rest[..., None, :]) @ vh
    moved = ops.sum(constant(np.conj(cofactor), A) * change(A), (-2, -1))
    return constant(np.linalg.det(a), A) + moved


@named_parts("sign logabsdet")
def slogdet(A):
    """torch.linalg.slogdet: (sign, log of the size)."""
    if not A.size:
        return ops.ones(A.shape[:-2], A.dtype), ops.zeros(A.shape[:-2], A.dtype)
    sign, size = np.linalg.slogdet(host(A))
    with np.errstate(all="ignore"):
        X = constant(np.linalg.pinv(host(A)), A)
    moved = ops.sum(ops.swapaxes(X, -1, -2) * change(A), (-2, -1))
    return constant(sign, A), constant(size, A) + moved


def logdet(input):
    """torch.logdet."""
    sign, size = slogdet(input)
    return ops.where(sign < 0, ops.full_like(size, float("nan")), size)


def lower_half(x):
    """The lower triangle with half of the diagonal."""
    size = x.shape[-1]
    mask = np.tril(np.ones((size, size), np.float32)) - 0.5 * np.eye(size, dtype=np.float32)
    return x * ms.Tensor(mask).astype(x.dtype)


def cholesky(A, upper=False):
    """torch.linalg.cholesky, torch.cholesky."""
    if not A.size:
        return A.copy()
    a = host(A)
    L = np.linalg.cholesky(
        np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))
        if not upper
        else np.triu(a) + np.conj(np.swapaxes(np.triu(a, 1), -1, -2))
    )
    lower, X = constant(L, A), constant(np.linalg.inv(L), A)
    D = change(A)
    D = (D + adjoint(D)) / 2
    result = lower + product(lower, lower_half(product(X, D, adjoint(X))))
    return adjoint(result) if upper else result


@named_parts("L info")
def cholesky_ex(A, upper=False, check_errors=False):
    """torch.linalg.cholesky_ex: (L, info)."""
    return cholesky(A, upper), ops.zeros(A.shape[:-2], ms.int32)


def cholesky_inverse(input, upper=False):
    """torch.cholesky_inverse."""
    L = adjoint(input) if upper else input
    L = ops.stop_gradient(L) * constant(np.tril(np.ones(L.shape[-2:])), L) + change(L)
    return inv(product(L, adjoint(L)))


def cholesky_solve(input, other, upper=False):
    """torch.cholesky_solve: the right-hand side comes first."""
    L = adjoint(other) if upper else other
    return solve(product(L, adjoint(L)), input)


def solve(A, B, left=True):
    """torch.linalg.solve."""
    is_vector = B.ndim == 1 or (A.ndim > 1 and B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    rhs = B.unsqueeze(-1) if is_vector else B
    if not left:
        result = ops.swapaxes(solve(ops.swapaxes(A, -1, -2), ops.swapaxes(rhs, -1, -2)), -1, -2)
    elif 0 in A.shape or 0 in rhs.shape:
        result = ops.zeros(np.broadcast_shapes(A.shape[:-2], rhs.shape[:-2]) + rhs.shape[-2:], A.dtype)
    else:
        X = constant(np.linalg.inv(host(A)), A)
        start = constant(np.linalg.inv(host(A)) @ host(rhs), A)
        result = start + product(X, change(rhs) - product(change(A), start))
    return result.squeeze(-1) if is_vector else result


@named_parts("result info")
def solve_ex(A, B, left=True, check_errors=False):
    """torch.linalg.solve_ex: (solution, info)."""
    return solve(A, B, left), ops.zeros(A.shape[:-2], ms.int32)


def triangle(A, upper, unitriangular):
    """The triangle of A that counts."""
    size = A.shape[-1]
    mask = np.triu(np.ones((size, size))) if upper else np.tril(np.ones((size, size)))
    mask = mask - np.eye(size) if unitriangular else mask
    kept = A * constant(mask, A)
    return kept + constant(np.eye(size), A) if unitriangular else kept


def solve_triangular(A, B, upper, left=True, unitriangular=False):
    """torch.linalg.solve_triangular."""
    return solve(triangle(A, upper, unitriangular), B, left)


@named_parts("solution cloned_coefficient")
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """torch.triangular_solve: (solution, a copy of A)."""
    matrix = triangle(A, upper, unitriangular)
    return solve(ops.swapaxes(matrix, -1, -2) if transpose else matrix, input), A.copy()


@named_parts("Q R")
def qr(A, mode="reduced"):
    """torch.linalg.qr: (Q, R). The gradient needs a reduced factorization or a square one."""
    full = mode == "complete"
    if not A.size:
        q, r = (np.empty(A.shape[:-2] + shape) for shape in _qr_shapes(A, full))
        q = q + np.eye(q.shape[-2], q.shape[-1])
        return (constant(q, A) if mode != "r" else ops.zeros((0,), A.dtype)), constant(r * 0, A)
    a = host(A)
    q, r = np.linalg.qr(a, "complete" if full else "reduced")
    rows, columns = A.shape[-2:]
    if full and rows > columns:
        return constant(q, A), constant(r, A)
    Q, R = constant(q, A), constant(r, A)
    if mode == "r":
        return ops.zeros((0,), A.dtype), R
    D = change(A)
    wide = columns > rows
    square = D[..., :rows] if wide else D
    X = constant(np.linalg.inv(r[..., :rows]) if wide else np.linalg.pinv(r), A)
    P = product(adjoint(Q), square, X)
    size = P.shape[-1]
    below = P * constant(np.tril(np.ones((size, size)), -1), A)
    turn = below - adjoint(below)  # antisymmetric: how Q turns
    dQ = product(Q, turn) + product(square, X) - product(Q, P)
    dR = product(P - turn, R[..., :rows] if wide else R)
    if wide:
        tail = product(adjoint(Q), D[..., rows:]) - product(turn, R[..., rows:])
        dR = ops.cat((dR, tail), -1)
    return Q + dQ, R + dR


def _qr_shapes(A, full):
    rows, columns = A.shape[-2:]
    inner = rows if full else min(rows, columns)
    return (rows, inner), (inner, columns)


@named_parts("Q R")
def qr_some(input, some=True):
    """torch.qr."""
    return qr(input, "reduced" if some else "complete")


def gaps(values, other=None):
    """1 / (value of column - value of row), zero on the diagonal."""
    difference = values[..., None, :] - values[..., :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1 / difference
    inverse[~np.isfinite(inverse)] = 0
    return inverse


@named_parts("eigenvalues eigenvectors")
def eigh(A, UPLO="L"):
    """torch.linalg.eigh: (values, vectors)."""
    if not A.size:
        return ops.zeros(A.shape[:-1], ms.float32), A.copy()
    w, v = np.linalg.eigh(host(A), UPLO)
    V, D = constant(v, A), change(A)
    D = (D + adjoint(D)) / 2
    moved = product(adjoint(V), D, V)
    values = constant(w, A) + real_part(diagonal_of(moved, 0, -2, -1))
    return values, V + product(V, moved * constant(gaps(w), A))


def eigvalsh(A, UPLO="L"):
    """torch.linalg.eigvalsh."""
    return eigh(A, UPLO)[0]


@named_parts("eigenvalues eigenvectors")
def eig(A):
    """torch.linalg.eig: complex (values, vectors). The gradient is that of a real matrix."""
    if not A.size:
        empty = as_complex(A)
        return empty.reshape(A.shape[:-1]), empty
    w, v = np.linalg.eig(host(A).astype(np.complex128))
    if A.is_complex():
        return constant(w, A), constant(v, A)
    V, X, D = parts_of(v, A), parts_of(np.linalg.inv(v), A), change(A)
    moved = complex_product((product(X[0], D), product(X[1], D)), V)
    gap = parts_of(gaps(w), A)
    turned = (moved[0] * gap[0] - moved[1] * gap[1], moved[0] * gap[1] + moved[1] * gap[0])
    dV = complex_product(V, turned)
    along = ops.sum(V[0] * dV[0] + V[1] * dV[1], -2, True)  # vectors keep their length
    vectors = complex_of(V[0] + dV[0] - V[0] * along, V[1] + dV[1] - V[1] * along)
    first, second = (diagonal_of(each, 0, -2, -1) for each in moved)
    values = parts_of(w, A)
    return complex_of(values[0] + first, values[1] + second), vectors


def parts_of(array, like):
    """Real and imaginary part: MindSpore has no gradient through complex products."""
    return constant(np.real(array), like), constant(np.imag(array), like)


def complex_product(a, b):
    """The matrix product of (real, imaginary) pairs."""
    return product(a[0], b[0]) - product(a[1], b[1]), product(a[0], b[1]) + product(a[1], b[0])


def eigvals(A):
    """torch.linalg.eigvals."""
    return eig(A)[0]


@named_parts("U S Vh")
def svd(A, full_matrices=True):
    """torch.linalg.svd: (U, S, Vh)."""
    if not A.size:
        u, s, vh = (
            np.linalg.svd(np.zeros(A.shape), full_matrices) if 0 not in A.shape[-2:] else _empty_svd(A, full_matrices)
        )
        return constant(u, A), constant(s, A), constant(vh, A)
    u, s, vh = np.linalg.svd(host(A), full_matrices=False)
    U, Vh, D = constant(u, A), constant(vh, A), change(A)
    inner = product(adjoint(U), D, adjoint(Vh))
    S = constant(s, A) + real_part(diagonal_of(inner, 0, -2, -1))
    E, size = constant(gaps(s**2), A), constant(s, A)
    row, column = size.unsqueeze(-2), size.unsqueeze(-1)
    dU = product(U, E * (inner * row + column * adjoint(inner)))
    dV = product(adjoint(Vh), E * (column * inner + adjoint(inner) * row))
    with np.errstate(divide="ignore"):
        back = constant(np.where(s > 1e-12, 1 / s, 0), A)
    outside_u = product(D, adjoint(Vh)) - product(U, inner)
    outside_v = product(adjoint(D), U) - product(adjoint(Vh), adjoint(inner))
    dU, dV = dU + outside_u * back.unsqueeze(-2), dV + outside_v * back.unsqueeze(-2)
    U, Vh = U + dU, Vh + adjoint(dV)
    if full_matrices and A.shape[-2] != A.shape[-1]:
        whole_u, _, whole_vh = np.linalg.svd(host(A))
        count = s.shape[-1]
        U = ops.cat((U, constant(whole_u[..., count:], A)), -1) if A.shape[-2] > count else U
        Vh = ops.cat((Vh, constant(whole_vh[..., count:, :], A)), -2) if A.shape[-1] > count else Vh
    return U, S, Vh


def _empty_svd(A, full_matrices):
    rows, columns, lead = *A.shape[-2:], A.shape[:-2]
    count = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (count, count)
    return (
        np.zeros((*lead, rows, left)) + np.eye(rows, left),
        np.zeros((*lead, count)),
        np.zeros((*lead, right, columns)) + np.eye(right, columns),
    )


def svdvals(A):
    """torch.linalg.svdvals."""
    return svd(A, False)[1]


@named_parts("U S V")
def svd_some(input, some=True, compute_uv=True):
    """torch.svd: (U, S, V)."""
    U, S, Vh = svd(input, not some)
    return (U, S, adjoint(Vh)) if compute_uv else (ops.zeros_like(U), S, ops.zeros_like(adjoint(Vh)))


def svd_lowrank(A, q=6, niter=2, M=None):
    """torch.svd_lowrank, by the full factorization."""
    U, S, V = svd_some(A if M is None else A - M)
    return U[..., :q], S[..., :q], V[..., :q]


def pca_lowrank(A, q=None, center=True, niter=2):
    """torch.pca_lowrank."""
    count = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(axis=-2, keep_dims=True) if center else A, count)


def pinv(A, atol=None, rtol=None, hermitian=False):
    """torch.linalg.pinv, torch.pinverse."""
    if not A.size:
        return ops.zeros(A.shape[:-2] + (A.shape[-1], A.shape[-2]), A.dtype)
    a = host(A)
    u, s, vh = np.linalg.svd(
        (np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))) if hermitian else a, full_matrices=False
    )
    keep = s > rank_tolerance(A, s, atol, rtol)
    with np.errstate(divide="ignore"):
        X = constant(
            np.conj(np.swapaxes(vh, -1, -2))
            @ (np.where(keep, 1 / s, 0)[..., :, None] * np.conj(np.swapaxes(u, -1, -2))),
            A,
        )
    D, fixed = change(A), ops.stop_gradient(A)
    rows, columns = constant(np.eye(A.shape[-2]), A), constant(np.eye(A.shape[-1]), A)
    outer_right = product(X, adjoint(X), adjoint(D), rows - product(fixed, X))
    outer_left = product(columns - product(X, fixed), adjoint(D), adjoint(X), X)
    return X - product(X, D, X) + outer_right + outer_left


def rank_tolerance(A, s, atol, rtol):
    """Singular values up to this one count as zero."""
    absolute = 0.0 if atol is None else host(atol)[..., None] if isinstance(atol, ms.Tensor) else atol
    if rtol is None:
        eps = 2.220446049250313e-16 if A.dtype in (ms.float64, ms.complex128) else 1.1920928955078125e-07
        given = atol is not None and ((not isinstance(atol, ms.Tensor) and atol > 0) or isinstance(atol, ms.Tensor))
        relative = 0.0 if given else eps * max(A.shape[-2:])
    else:
        relative = host(rtol)[..., None] if isinstance(rtol, ms.Tensor) else rtol
    return np.maximum(absolute, relative * s.max(-1, keepdims=True, initial=0))


def matrix_rank(A, tol=None, atol=None, rtol=None, hermitian=False):
    """torch.linalg.matrix_rank, int64."""
    if 0 in A.shape:
        return ops.zeros(A.shape[:-2], ms.int64)
    a = host(A)
    if hermitian:
        a = np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))
    s = np.linalg.svd(a, compute_uv=False)
    limit = rank_tolerance(A, s, tol if atol is None else atol, rtol)
    return ms.Tensor((s > limit).sum(-1).astype(np.int64))


def matrix_power(input, n):
    """torch.linalg.matrix_power."""
    if n < 0:
        return matrix_power(inv(input), -n)
    result = ops.zeros_like(input) + constant(np.eye(input.shape[-1]), input)
    for _ in range(n):
        result = product(result, input)
    return result


def matrix_exp(input):
    """torch.linalg.matrix_exp: scaling, a Taylor series, squaring."""
    if not input.size:
        return input.copy()
    size = float(np.abs(host(input)).sum(-2).max())
    halvings = max(0, int(np.ceil(np.log2(max(size, 1e-30)))) + 1)
    x = input / 2.0**halvings
    result = term = ops.zeros_like(x) + constant(np.eye(x.shape[-1]), x)
    for order in range(1, 13):
        term = product(term, x) / order
        result = result + term
    for _ in range(halvings):
        result = product(result, result)
    return result


def multi_dot(tensors):
    """torch.linalg.multi_dot."""
    return product(*tensors)


def vecdot(x, y, dim=-1):
    """torch.linalg.vecdot."""
    return sum_over((ops.conj(x) if x.is_complex() else x) * y, dim)


def tensorinv(A, ind=2):
    """torch.linalg.tensorinv."""
    lead = int(np.prod(A.shape[:ind]))
    return inv(A.reshape(lead, -1)).reshape(A.shape[ind:] + A.shape[:ind])


def tensorsolve(A, B, dims=None):
    """torch.linalg.tensorsolve."""
    axes = [] if dims is None else [each % A.ndim for each in dims]
    x = ops.transpose(A, tuple([each for each in range(A.ndim) if each not in axes] + axes))
    return solve(x.reshape(B.size, -1), B.reshape(-1)).reshape(x.shape[B.ndim :])
