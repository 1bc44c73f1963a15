"""torch's sparse tensors as graph networks use them: positions, values, and products with gradients. They run outside of ms.jit."""

import mindspore as ms
import numpy as np
from mindspore import ops


class SparseTensor:
    """torch.sparse_coo_tensor: `positions` is (dimensions, entries); entries at the same place count together.

    It has torch's methods and MindSpore's attributes, so that code that asks either finds what it asks for.
    """

    is_sparse = True
    layout = "sparse_coo"

    def __init__(self, positions, entries, shape, is_coalesced=False):
        self._positions, self._entries = positions, entries
        self.shape, self._is_coalesced = tuple(int(each) for each in shape), is_coalesced

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def dtype(self):
        return self._entries.dtype

    @property
    def device(self):
        return self._entries.device

    @property
    def requires_grad(self):
        return False

    @property
    def T(self):
        return self.t()

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return self.ndim

    def sparse_dim(self):
        return self._positions.shape[0]

    def dense_dim(self):
        return self.ndim - self.sparse_dim()

    def numel(self):
        return int(np.prod(self.shape))

    def is_coalesced(self):
        return self._is_coalesced

    def coalesce(self):
        """Entries at the same place summed, in the order of their places."""
        if self._is_coalesced:
            return self
        places, group = np.unique(self._places(), return_inverse=True)
        sizes = self.shape[: self.sparse_dim()]
        positions = np.stack(np.unravel_index(places, sizes)) if len(places) else np.zeros((len(sizes), 0))
        entries = self._entries
        if len(places):
            entries = ops.unsorted_segment_sum(entries, ms.Tensor(group.reshape(-1), ms.int32), len(places))
        return SparseTensor(ms.Tensor(positions, ms.int64), entries, self.shape, True)

    def _places(self):
        """Every entry's position as one number."""
        return np.ravel_multi_index(tuple(self._positions.asnumpy()), self.shape[: self.sparse_dim()])

    def indices(self):
        if not self._is_coalesced:
            raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self._positions

    def values(self):
        if not self._is_coalesced:
            raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self._entries

    def _indices(self):
        return self._positions

    def _values(self):
        return self._entries

    def _nnz(self):
        return self._positions.shape[1]

    def to_dense(self):
        sparse = self.sparse_dim()
        count = int(np.prod(self.shape[:sparse]))
        if not self._nnz():
            return ops.zeros(self.shape, self.dtype)
        flat = ops.unsorted_segment_sum(self._entries, ms.Tensor(self._places(), ms.int32), count)
        return flat.reshape(self.shape)

    def to_sparse(self, *args, **kwargs):
        return self

    def transpose(self, dim0, dim1):
        order, shape = list(range(self.sparse_dim())), list(self.shape)
        order[dim0], order[dim1] = order[dim1], order[dim0]
        shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
        return SparseTensor(self._positions[ms.Tensor(order, ms.int64)], self._entries, shape)

    def t(self):
        return self.transpose(0, 1)

    def to(self, *args, **kwargs):
        kind = next((each for each in (*args, *kwargs.values()) if isinstance(each, ms.common.dtype.Type)), None)
        return self if kind is None else self.astype(kind)

    def astype(self, dtype):
        return SparseTensor(self._positions, self._entries.astype(dtype), self.shape, self._is_coalesced)

    def float(self):
        return self.astype(ms.float32)

    def cuda(self, *args, **kwargs):
        return self

    def cpu(self):
        return self

    def requires_grad_(self, requires_grad=True):
        return self

    def detach(self):
        return SparseTensor(self._positions, ops.stop_gradient(self._entries), self.shape, self._is_coalesced)

    def clone(self):
        return SparseTensor(self._positions, self._entries.copy(), self.shape, self._is_coalesced)

    def sum(self, dim=None):
        return self._entries.sum() if dim is None else sparse_sum(self, dim)

    def mm(self, dense):
        return sparse_mm(self, dense)

    matmul = spmm = mm

    def mv(self, dense):
        return sparse_mm(self, dense.expand_dims(1)).squeeze(1)

    def __matmul__(self, dense):
        return self.mv(dense) if dense.ndim == 1 else sparse_mm(self, dense)

    def __mul__(self, other):
        if isinstance(other, SparseTensor):
            return to_sparse(self.to_dense() * other.to_dense())
        if isinstance(other, ms.Tensor) and other.ndim:
            other = ops.broadcast_to(other, self.shape)[tuple(self._positions)]
        return SparseTensor(self._positions, self._entries * other, self.shape, self._is_coalesced)

    __rmul__ = mul = __mul__

    def __truediv__(self, number):
        return self * (1 / number)

    def __neg__(self):
        return self * -1

    def __add__(self, other):
        if not isinstance(other, SparseTensor):
            return self.to_dense() + other
        positions = ops.cat((self._positions, other._positions), 1)
        return SparseTensor(positions, ops.cat((self._entries, other._entries)), self.shape)

    __radd__ = add = __add__

    def __sub__(self, other):
        return self + -other

    def __repr__(self):
        return f"SparseTensor(shape={self.shape}, entries={self._nnz()}, dtype={self.dtype})"


def sparse_coo_tensor(
    indices,
    values=None,
    size=None,
    dtype=None,
    device=None,
    requires_grad=False,
    check_invariants=None,
    is_coalesced=None,
):
    """torch.sparse_coo_tensor, torch.sparse.FloatTensor."""
    positions = indices if isinstance(indices, ms.Tensor) else ms.Tensor(np.array(indices).reshape(len(indices), -1))
    entries = values if isinstance(values, ms.Tensor) else ms.Tensor(np.array(values, np.float32))
    if size is None:
        size = (*(positions.asnumpy().max(1) + 1), *entries.shape[1:])
    entries = entries if dtype is None else entries.astype(dtype)
    return SparseTensor(positions.astype(ms.int64), entries, size, bool(is_coalesced))


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, dtype=None, device=None, requires_grad=False):
    """torch.sparse_csr_tensor, kept by positions."""
    starts, columns = np.asarray(crow_indices), np.asarray(col_indices)
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    shape = size or (len(starts) - 1, int(columns.max()) + 1)
    return sparse_coo_tensor(ms.Tensor(np.stack((rows, columns))), values, shape, dtype, is_coalesced=True)


def to_sparse(x, *args, **kwargs):
    """torch's x.to_sparse()."""
    if isinstance(x, SparseTensor):
        return x
    positions = np.stack(np.nonzero(x.asnumpy()))
    entries = x[tuple(ms.Tensor(each, ms.int64) for each in positions)] if positions.size else ops.zeros((0,), x.dtype)
    return SparseTensor(ms.Tensor(positions, ms.int64), entries, x.shape, True)


def to_dense(x, *args, **kwargs):
    """torch's x.to_dense(): a dense tensor stays as it is."""
    return x.to_dense() if isinstance(x, SparseTensor) else x


def sparse_mm(mat1, mat2, reduce="sum"):
    """torch.sparse.mm, torch.spmm, and a product of matrices of which one may be sparse."""
    if not isinstance(mat1, SparseTensor):
        return ops.matmul(mat1, mat2) if isinstance(mat2, ms.Tensor) else sparse_mm(mat2.t(), mat1.T).T
    if isinstance(mat2, SparseTensor):
        return to_sparse(sparse_mm(mat1, mat2.to_dense()))
    rows, columns = mat1._indices()[0].astype(ms.int32), mat1._indices()[1].astype(ms.int32)
    if not mat1._nnz():
        return ops.zeros((mat1.shape[0], mat2.shape[1]), mat2.dtype)
    products = ops.gather(mat2, columns, 0) * mat1._values().expand_dims(1)
    if reduce in ("sum", "mean"):
        total = ops.unsorted_segment_sum(products, rows, mat1.shape[0])
        if reduce == "sum":
            return total
        count = np.bincount(rows.asnumpy(), minlength=mat1.shape[0]).clip(1)
        return total / ms.Tensor(count, total.dtype).expand_dims(1)
    pick = ops.unsorted_segment_max if reduce == "amax" else ops.unsorted_segment_min
    has_entries = ms.Tensor(np.bincount(rows.asnumpy(), minlength=mat1.shape[0]) > 0).expand_dims(1)
    return ops.where(has_entries, pick(products, rows, mat1.shape[0]), ms.Tensor(0, products.dtype))


def sparse_addmm(mat, mat1, mat2, beta=1.0, alpha=1.0):
    """torch.sparse.addmm."""
    return beta * to_dense(mat) + alpha * sparse_mm(mat1, mat2)


def sparse_sum(input, dim=None, dtype=None):
    """torch.sparse.sum: a number, or a sparse tensor of the dimensions that are left."""
    if dim is None:
        return input._values().sum()
    dims = [each % input.ndim for each in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    left = [axis for axis in range(input.ndim) if axis not in dims]
    if not left:
        return input._values().sum()
    positions = input._indices()[ms.Tensor(left, ms.int64)]
    return SparseTensor(positions, input._values(), [input.shape[axis] for axis in left]).coalesce()


def sparse_softmax(input, dim, dtype=None):
    """torch.sparse.softmax of a matrix: over the entries that are there."""
    matrix = input.coalesce()
    group, count = matrix.indices()[1 - dim % 2].astype(ms.int32), matrix.shape[1 - dim % 2]
    highest = ops.gather(ops.unsorted_segment_max(matrix.values(), group, count), group, 0)
    weights = ops.exp(matrix.values() - ops.stop_gradient(highest))
    totals = ops.gather(ops.unsorted_segment_sum(weights, group, count), group, 0)
    return SparseTensor(matrix.indices(), weights / totals, matrix.shape, True)


def sampled_addmm(input, mat1, mat2, beta=1.0, alpha=1.0):
    """torch.sparse.sampled_addmm: the product only where the input has entries."""
    matrix = input if isinstance(input, SparseTensor) else to_sparse(input)
    rows, columns = matrix._indices()[0], matrix._indices()[1]
    products = ops.zeros(rows.shape, matrix.dtype)  # of matrices that hold nothing, too
    if mat1.size and matrix._nnz():
        products = (ops.gather(mat1, rows, 0) * ops.gather(mat2.swapaxes(0, 1), columns, 0)).sum(-1)
    return SparseTensor(
        matrix._indices(), beta * matrix._values() + alpha * products, matrix.shape, matrix.is_coalesced()
    )
