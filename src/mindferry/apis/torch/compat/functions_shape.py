"""Shape, views and joining, with torch's arguments. What torch does with strides is a gather of computed positions here."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops


def as_shape(args):
    """The shape given as numbers or as one tuple."""
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else tuple(args)


def positions(x):
    """The place of every element of x in memory."""
    return np.arange(math.prod(x.shape)).reshape(x.shape)


def take_positions(x, index):
    """The elements of x at flat positions, in the shape of `index`."""
    if not index.size:
        return ops.zeros(index.shape, x.dtype)
    return ops.gather(x.reshape(-1), ms.Tensor(index.astype(np.int32)), 0).reshape(index.shape)


def put_positions(x, index, src):
    """x with the elements of src at flat positions; of positions named twice the last one counts."""
    source = np.full(math.prod(x.shape), -1)
    source[index.reshape(-1)] = np.arange(index.size)
    flat = ops.broadcast_to(src, index.shape).reshape(-1).astype(x.dtype)
    if not index.size:
        return x.copy()
    taken = ops.gather(flat, ms.Tensor(np.maximum(source, 0).astype(np.int32)), 0)
    return ops.where(ms.Tensor(source >= 0), taken, x.reshape(-1)).reshape(x.shape)


def broadcast_tensors(*tensors):
    """torch.broadcast_tensors."""
    shape = np.broadcast_shapes(*(each.shape for each in as_shape(tensors)))
    return [ops.broadcast_to(each, shape) for each in as_shape(tensors)]


def broadcast_shapes(*shapes):
    """torch.broadcast_shapes."""
    return np.broadcast_shapes(*(each if isinstance(each, int) else tuple(each) for each in shapes))


def meshgrid(*tensors, indexing="ij"):
    """torch.meshgrid: rows first unless told otherwise."""
    given = [each.reshape(-1) for each in as_shape(tensors)]
    if len(given) == 1:
        return (given[0],)
    if not all(each.size for each in given):
        shape = tuple(each.size for each in given)
        shape = (shape[1], shape[0], *shape[2:]) if indexing == "xy" else shape
        return tuple(ops.zeros(shape, each.dtype) for each in given)
    return ops.meshgrid(*given, indexing=indexing)


def flatten(input, start_dim=0, end_dim=-1):
    """torch.flatten."""
    if input.ndim == 0:
        return input.reshape(1)
    start, end = start_dim % input.ndim, end_dim % input.ndim
    merged = math.prod(input.shape[start : end + 1])
    return input.reshape(input.shape[:start] + (merged,) + input.shape[end + 1 :])


def unflatten(input, dim, sizes):
    """torch.unflatten."""
    axis, parts = dim % max(input.ndim, 1), list(sizes)
    if -1 in parts:
        parts[parts.index(-1)] = input.shape[axis] // max(-math.prod(parts), 1)
    return input.reshape(input.shape[:axis] + tuple(parts) + input.shape[axis + 1 :])


def squeeze(input, dim=None):
    """torch.squeeze: dimensions that are not 1 stay."""
    dims = range(input.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    chosen = [each % input.ndim for each in dims] if input.ndim else []
    return input.reshape(tuple(size for axis, size in enumerate(input.shape) if axis not in chosen or size != 1))


def transpose(input, dim0, dim1):
    """torch.transpose: two dimensions change places."""
    return ops.swapaxes(input, dim0, dim1) if input.ndim else input


def t_matrix(input):
    """torch.t."""
    return ops.swapaxes(input, 0, 1) if input.ndim == 2 else input


def movedim(input, source, destination):
    """torch.movedim."""
    return ops.movedim(input, source, destination) if input.ndim else input


def reshape(input, *shape):
    """torch.reshape and views."""
    return input.reshape(as_shape(shape))


def expand_copy(input, *size, implicit=False):
    """torch.expand_copy: -1 keeps a size."""
    wanted, have = as_shape(size), (1,) * (len(as_shape(size)) - input.ndim) + input.shape
    return ops.broadcast_to(input, tuple(h if w == -1 else w for w, h in zip(wanted, have)))


def tile(input, *counts, dims=None):
    """torch.tile."""
    counts = as_shape(counts if dims is None else dims)
    counts = (1,) * (input.ndim - len(counts)) + counts
    x = input.reshape((1,) * (len(counts) - input.ndim) + input.shape)
    if 0 in counts or not x.size:
        return ops.zeros(tuple(a * b for a, b in zip(x.shape, counts)), x.dtype)
    return ops.tile(x, counts)


def resized(input, *sizes, memory_format=None):
    """torch's x.resize_: the elements in order, as many as there is room for, and zeros behind them."""
    shape = as_shape(sizes)
    count, flat = math.prod(shape), input.reshape(-1)
    if count > flat.shape[0]:
        more = ops.zeros((count - flat.shape[0],), input.dtype)
        flat = ops.cat((flat, more)) if flat.shape[0] else more
    return narrow(flat, 0, 0, count).reshape(shape)


def resized_as(input, other, memory_format=None):
    """torch's x.resize_as_."""
    return resized(input, other.shape)


def repeat_interleave(input, repeats=None, dim=None, output_size=None):
    """torch.repeat_interleave."""
    if repeats is None:
        return ms.Tensor(np.repeat(np.arange(input.size), input.asnumpy()))
    x, axis = (input.reshape(-1), 0) if dim is None else (input, dim)
    x = x.reshape(1) if x.ndim == 0 else x
    times = repeats.asnumpy() if isinstance(repeats, ms.Tensor) else repeats
    times = times.reshape(-1) if isinstance(times, np.ndarray) and times.size > 1 else int(times)
    return select_rows(x, axis, np.repeat(np.arange(x.shape[axis]), times))


def select_rows(x, axis, rows):
    """index_select with rows known on the host."""
    axis = axis % x.ndim
    if not len(rows) or not x.size:
        return ops.zeros(x.shape[:axis] + (len(rows),) + x.shape[axis + 1 :], x.dtype)
    return ops.gather(x, ms.Tensor(np.asarray(rows, np.int32)), axis)


def split(tensor, split_size_or_sections=None, dim=0, split_size=None):
    """torch.split: by the size of a part, or by a list of sizes; a tensor's method has another name for them."""
    split_size_or_sections = split_size if split_size_or_sections is None else split_size_or_sections
    axis, total = dim % tensor.ndim, tensor.shape[dim]
    if isinstance(split_size_or_sections, (list, tuple)):
        parts = list(split_size_or_sections)
    else:
        step = split_size_or_sections
        parts = [min(step, total - start) for start in range(0, total, step)] if total else [0]
    return cut(tensor, axis, parts)


def cut(x, axis, parts):
    starts = np.cumsum([0, *parts[:-1]]).tolist() if parts else []
    return tuple(narrow(x, axis, start, length) for start, length in zip(starts, parts))


def chunk(input, chunks, dim=0):
    """torch.chunk."""
    return split(input, max(-(-input.shape[dim] // chunks), 1), dim)


def tensor_split(input, indices_or_sections=None, dim=0, indices=None, sections=None):
    """torch.tensor_split: into equal parts, or before the given places."""
    axis, total = dim % input.ndim, input.shape[dim]
    if indices_or_sections is None:
        indices_or_sections = sections if indices is None else indices
    where = (
        indices_or_sections.asnumpy().tolist() if isinstance(indices_or_sections, ms.Tensor) else indices_or_sections
    )
    if isinstance(where, int):
        small, more = divmod(total, where)
        return cut(input, axis, [small + 1] * more + [small] * (where - more))
    places = [min(max(place + total if place < 0 else place, 0), total) for place in where]
    return tuple(narrow(input, axis, start, max(end - start, 0)) for start, end in zip([0, *places], [*places, total]))


def hsplit(input, indices_or_sections):
    """torch.hsplit."""
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input, indices_or_sections):
    """torch.vsplit."""
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    """torch.dsplit."""
    return tensor_split(input, indices_or_sections, 2)


def narrow(input, dim, start, length):
    """torch.narrow."""
    axis = dim % input.ndim
    begin = int(start) % input.shape[axis] if int(start) < 0 else int(start)
    if length == 0:
        return ops.zeros(input.shape[:axis] + (0,) + input.shape[axis + 1 :], input.dtype)
    return ops.narrow(input, axis, begin, length)


def select_at(input, dim, index):
    """torch.select: one place along a dimension, which goes."""
    return narrow(input, dim, index, 1).squeeze(dim)


def slice_along(input, dim=0, start=None, end=None, step=1):
    """A slice of one dimension."""
    rows = np.arange(input.shape[dim])[start:end:step]
    return select_rows(input, dim, rows)


def unbind(input, dim=0):
    """torch.unbind."""
    return tuple(select_at(input, dim, index) for index in range(input.shape[dim]))


def stack(tensors, dim=0):
    """torch.stack: types are promoted."""
    rank = tensors[0].ndim + 1
    return ops.cat([each.unsqueeze(dim % rank) for each in promoted_together(tensors)], dim % rank)


def promoted_together(tensors):
    """Tensors in the type that arithmetic with all of them has."""
    is_same = True
    for each in tensors:
        is_same = is_same and each.dtype == tensors[0].dtype
    if is_same:
        return tensors
    kind = sum([ops.zeros((1,), each.dtype) for each in tensors]).dtype
    return [each.astype(kind) for each in tensors]


def cat(tensors, dim=0):
    """torch.cat: empty one-dimensional tensors are passed over, types are promoted."""
    typed = promoted_together(list(tensors))
    given = [each for each in typed if each.shape != (0,)] or typed[:1]
    filled = [each for each in given if each.size > 0]
    if len(filled) > 1:
        return ops.cat(filled, dim)
    if len(filled) == 1:
        return filled[0].copy()
    axis, shape = dim % given[0].ndim, given[0].shape
    length = sum([each.shape[axis] for each in given])
    return ops.zeros((*shape[:axis], length, *shape[axis + 1 :]), given[0].dtype)


def hstack(tensors):
    """torch.hstack."""
    given = [each.reshape(1) if each.ndim == 0 else each for each in tensors]
    return cat(given, 0 if given[0].ndim == 1 else 1)


def vstack(tensors):
    """torch.vstack."""
    return cat([each.reshape(1, -1) if each.ndim < 2 else each for each in tensors], 0)


def dstack(tensors):
    """torch.dstack."""
    shapes = [
        (1, *each.shape, 1) if each.ndim == 1 else (1, 1, 1) if each.ndim == 0 else (*each.shape, 1) for each in tensors
    ]
    return cat([each.reshape(shape) if each.ndim < 3 else each for each, shape in zip(tensors, shapes)], 2)


def chunk_cat(tensors, dim, num_chunks):
    """torch._chunk_cat: the chunks of each tensor, padded with zeros, flattened behind the chunk dimension and joined."""
    axis = dim % tensors[0].ndim
    rows = []
    for each in tensors:
        length = -(-each.shape[axis] // num_chunks)
        missing = length * num_chunks - each.shape[axis]
        padding = ops.zeros(each.shape[:axis] + (missing,) + each.shape[axis + 1 :], each.dtype)
        full = ops.cat((each, padding), axis) if missing else each
        rows.append(full.reshape(each.shape[:axis] + (num_chunks, -1)))
    return ops.cat(rows, axis + 1)


def cartesian_prod(*tensors):
    """torch.cartesian_prod."""
    if len(tensors) == 1:
        return tensors[0]
    return ops.cat([each.reshape(-1, 1) for each in meshgrid(*tensors)], 1)


def block_diag(*tensors):
    """torch.block_diag."""
    blocks = [each.reshape((1,) * (2 - each.ndim) + each.shape) for each in tensors]
    width, rows, left = sum(each.shape[1] for each in blocks), [], 0
    for each in blocks:
        height, size = each.shape
        parts = [ops.zeros((height, left), each.dtype), each, ops.zeros((height, width - left - size), each.dtype)]
        rows.append(ops.cat([part for part in parts if part.shape[1]] or parts[:1], 1) if height else None)
        left += size
    kept = [each for each in rows if each is not None]
    return ops.cat(kept, 0) if kept else ops.zeros((0, width), tensors[0].dtype)


def as_strided(input, size, stride, storage_offset=None):
    """torch.as_strided of the elements that the tensor shows: a copy, not a view."""
    return take_positions(input, strided_places(input, size, stride, storage_offset))


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """torch.as_strided_scatter. Its gradient for `input` is that of the places written, which is what torch computes."""
    index = strided_places(input, size, stride, storage_offset)
    is_written = np.isin(positions(input), index)
    change = ops.where(ms.Tensor(is_written), input - ops.stop_gradient(input), ops.zeros_like(input))
    return put_positions(ops.stop_gradient(input), index, src) + change


def strided_places(input, size, stride, storage_offset):
    """The flat positions in a tensor, which may be a view itself, that another strided view of its memory shows."""
    shown = memory_places(input.storage_offset(), input.shape, input.stride()).reshape(-1)
    start = input.storage_offset() if storage_offset is None else storage_offset
    wanted = memory_places(start, size, stride)
    order = np.argsort(shown)
    found = order[np.minimum(np.searchsorted(shown[order], wanted), len(shown) - 1)] if len(shown) else wanted
    if wanted.size and (not len(shown) or (shown[found] != wanted).any()):
        raise ValueError(
            f"as_strided reaches elements that the tensor of {input.size} doesn't hold: pass it the whole one"
        )
    return found


def memory_places(start, size, stride):
    """Where in memory the elements of a strided tensor lie."""
    index = np.full(tuple(size), start)
    for axis, (count, step) in enumerate(zip(size, stride)):
        index = index + (np.arange(count) * step).reshape((-1,) + (1,) * (len(size) - 1 - axis))
    return index


def windows(input, dimension, size, step):
    """Tensor.unfold: windows along one dimension, their elements in a new last one."""
    if input.ndim == 0:
        return input.reshape(1)[:size]
    axis = dimension % input.ndim
    starts = np.arange(0, input.shape[axis] - size + 1, step)
    index = np.take(positions(input), starts[:, None] + np.arange(size), axis)
    return take_positions(input, np.moveaxis(index, axis + 1, -1))


def diag(input, diagonal=0):
    """torch.diag: of a matrix, or the matrix of a vector."""
    if input.ndim == 1:
        return ops.diag_embed(input, diagonal) if input.size else ops.zeros((abs(diagonal),) * 2, input.dtype)
    return diagonal_of(input, diagonal)


def diagonal_of(input, offset=0, dim1=0, dim2=1):
    """torch.diagonal."""
    return take_positions(input, np.diagonal(positions(input), offset, dim1, dim2))


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """torch.diagonal_scatter."""
    return put_positions(input, np.diagonal(positions(input), offset, dim1, dim2), src)


def select_scatter(input, src, dim, index):
    """torch.select_scatter."""
    return put_positions(input, np.take(positions(input), index, dim), src)


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """torch.slice_scatter."""
    rows = np.arange(input.shape[dim])[start:end:step]
    return put_positions(input, np.take(positions(input), rows, dim), src)


def roll(input, shifts, dims=None):
    """torch.roll."""
    return take_positions(input, np.roll(positions(input), shifts, dims))


def rot90(input, k=1, dims=(0, 1)):
    """torch.rot90."""
    return take_positions(input, np.rot90(positions(input), k, tuple(dims)))


def flip(input, dims):
    """torch.flip."""
    wanted = (dims,) if isinstance(dims, int) else tuple(dims)
    return ops.flip(input, wanted) if wanted and input.size and input.ndim else input.copy()


def fliplr(input):
    """torch.fliplr."""
    return flip(input, 1)


def flipud(input):
    """torch.flipud."""
    return flip(input, 0)


def unsqueeze_at(input, dim):
    """torch.unsqueeze_copy."""
    return ops.unsqueeze(input, dim)


def permute(input, *dims):
    """torch.permute."""
    return ops.transpose(input, tuple(each % max(input.ndim, 1) for each in as_shape(dims))) if input.ndim else input


def linalg_diagonal(A, offset=0, dim1=-2, dim2=-1):
    """torch.linalg.diagonal: of the last two dimensions."""
    return diagonal_of(A, offset, dim1, dim2)
