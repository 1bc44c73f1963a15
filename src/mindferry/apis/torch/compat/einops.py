"""einops for MindSpore: patterns such as "b (h d) n -> b h n d", as reshapes, transposes and reductions."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.common.initializer import Uniform, initializer

from .functions_math import einsum


def axes_of(side, where=""):
    """One side of a pattern as groups of axes: "b (h 2) 1 ..." -> [["b"], ["h", "2@1"], [], "..."]. A number is an axis of its own."""
    groups = []
    is_open = False
    for token in side.replace("…", "...").replace("...", " ... ").replace("(", " ( ").replace(")", " ) ").split():
        if token in "()":
            is_open = token == "("
            if is_open:
                groups.append([])
        elif token == "1":
            if not is_open:
                groups.append([])
        else:
            axis = f"{token}@{where}{len(groups)}.{len(groups[-1]) if groups else 0}" if token.isdigit() else token
            if is_open:
                groups[-1].append(axis)
            else:
                groups.append(axis if axis == "..." else [axis])
    return groups


def with_ellipsis(groups, rank):
    """The ellipsis written out as the axes that it stands for; in parentheses they are one dimension."""
    free = tuple(f"...{index}" for index in range(rank))
    written = []
    for group in groups:
        if group == "...":
            written += [[axis] for axis in free]
        else:
            written.append([name for axis in group for name in (free if axis == "..." else (axis,))])
    return written


def numbered(groups):
    """The lengths of the axes that are written as numbers."""
    axes = [axis for group in groups for axis in group if "@" in axis]
    return tuple((axis, int(axis.partition("@")[0])) for axis in axes)


def sizes_of(pattern, groups, shape, given):
    """The size of every axis on the left side; -1 for one that is only known when the graph runs."""
    if len(groups) != len(shape):
        raise ValueError(f"{pattern!r} names {len(groups)} dimensions, the tensor has shape {shape}")
    sizes = dict(given)
    for group, length in zip(groups, shape):
        unknown = [axis for axis in group if axis not in sizes]
        known = math.prod(sizes[axis] for axis in group if axis in sizes)
        if (length is None or length < 0) and len(unknown) == 1:
            sizes[unknown[0]] = -1
            continue
        if len(unknown) > 1 or known == 0 or length % known or (not unknown and known != length):
            raise ValueError(f"{pattern!r}: a dimension of {length} is no ({' '.join(group)}) with {dict(given)}")
        if unknown:
            sizes[unknown[0]] = length // known
    return sizes


@ops.constexpr
def einops_plan(pattern, shape, names, lengths):
    """What to do: reshape, axes to reduce, permutation, the shape with new axes of 1, the one they grow to, the last one."""
    left, right = (axes_of(side, where) for side, where in zip(pattern.split("->"), ("left", "right")))
    rank = len(shape) - len(left) + 1
    left, right = with_ellipsis(left, rank), with_ellipsis(right, rank)
    given = (*zip(names, lengths), *numbered(left), *numbered(right))
    sizes = sizes_of(pattern, left, shape, given)
    before = [axis for group in left for axis in group]
    after = [axis for group in right for axis in group]
    kept = [axis for axis in before if axis in after]
    reduced = tuple(index for index, axis in enumerate(before) if axis not in after)
    order = tuple(kept.index(axis) for axis in after if axis in kept)
    return (
        tuple(sizes[axis] for axis in before),
        reduced,
        order,
        tuple(sizes[axis] if axis in kept else 1 for axis in after),
        tuple(sizes[axis] for axis in after),
        tuple(max(math.prod(sizes[axis] for axis in group), -1) for group in right),
    )


def reduce(tensor, pattern, reduction, **axes_lengths):
    """`einops.reduce`: "mean", "sum", "max", "min", "prod", "any", "all", or a function of (tensor, axes)."""
    if isinstance(tensor, (list, tuple)):
        tensor = ops.stack(tensor) if isinstance(tensor[0], ms.Tensor) else np.stack(tensor)
    plan = einops_plan(pattern, tuple(tensor.shape), tuple(axes_lengths.keys()), tuple(axes_lengths.values()))
    first, reduced, order, aligned, grown, last = plan
    if not isinstance(tensor, ms.Tensor):
        return reduced_array(tensor, plan, reduction)
    tensor = tensor.reshape(first)
    if len(reduced) > 0:
        tensor = reduced_over(tensor, reduced, reduction)
    if order != tuple(range(len(order))):
        tensor = ops.transpose(tensor, order)
    if aligned != grown:
        tensor = ops.broadcast_to(tensor.reshape(aligned), grown)
    return tensor.reshape(last)


def reduced_over(tensor, axes, reduction):
    if reduction == "mean":
        return ops.mean(tensor, axes)
    if reduction == "sum":
        return ops.sum(tensor, axes)
    if reduction == "max":
        return ops.amax(tensor, axes)
    if reduction == "min":
        return ops.amin(tensor, axes)
    if reduction == "any":
        return ops.any(tensor, axes)
    if reduction == "all":
        return ops.all(tensor, axes)
    if reduction == "prod":
        for axis in axes[::-1]:
            tensor = ops.prod(tensor, axis)
        return tensor
    return reduction(tensor, axes)


def reduced_array(array, plan, reduction):
    """The same for a numpy array."""
    first, reduced, order, aligned, grown, last = plan
    array = array.reshape(first)
    if reduced:
        array = reduction(array, reduced) if callable(reduction) else getattr(np, reduction)(array, axis=reduced)
    return np.broadcast_to(array.transpose(order).reshape(aligned), grown).reshape(last)


def rearrange(tensor, pattern, **axes_lengths):
    """`einops.rearrange`: every axis stays, in another order and grouping."""
    return reduce(tensor, pattern, "rearrange", **axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    """`einops.repeat`: axes that only the right side names are new, of the given length."""
    return reduce(tensor, pattern, "repeat", **axes_lengths)


class Reduce(nn.Cell):
    """`einops.layers.torch.Reduce`."""

    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths

    def construct(self, x):
        return reduce(x, self.pattern, self.reduction, **self.axes_lengths)


class Rearrange(Reduce):
    """`einops.layers.torch.Rearrange`."""

    def __init__(self, pattern, **axes_lengths):
        super().__init__(pattern, "rearrange", **axes_lengths)


def flat_axes(side):
    """One side of a pattern without its parentheses: the names of single axes."""
    return " ".join(axis for group in axes_of(side) for axis in ([group] if group == "..." else group))


class EinMix(nn.Cell):
    """`einops.layers.torch.EinMix`: an einsum with a weight of its own, between two rearrangements."""

    def __init__(self, pattern, weight_shape, bias_shape=None, **axes_lengths):
        super().__init__()
        left, right = pattern.split("->")
        self.before, self.after = f"{left} -> {flat_axes(left)}", f"{flat_axes(right)} -> {right}"
        self.lengths = {name: size for name, size in axes_lengths.items() if name in flat_axes(left).split()}
        self.mixing = f"{flat_axes(left)}, {weight_shape} -> {flat_axes(right)}"
        weight_axes, output_axes = weight_shape.split(), flat_axes(right).split()
        fan_in = math.prod(axes_lengths[axis] for axis in weight_axes if axis not in output_axes)
        self.weight = ms.Parameter(
            initializer(Uniform(math.sqrt(3 / fan_in)), [axes_lengths[axis] for axis in weight_axes])
        )
        self.bias = None
        if bias_shape is not None:
            axes = bias_shape.split()
            shape = [axes_lengths[axis] if axis in axes else 1 for axis in output_axes if axis != "..."]
            self.bias = ms.Parameter(initializer(Uniform(math.sqrt(1 / fan_in)), shape))

    def construct(self, x):
        mixed = einops_einsum(rearrange(x, self.before, **self.lengths), self.weight, self.mixing)
        mixed = mixed if self.bias is None else mixed + self.bias
        return rearrange(mixed, self.after)


@ops.constexpr
def einsum_letters(pattern):
    """einops' "b i d, b j d -> b i j" as torch's "abc,adc->abd"."""
    letters = {}
    sides = []
    for side in pattern.replace("…", "...").replace("...", " ... ").split("->"):
        terms = [
            ["..." if axis == "..." else letters.setdefault(axis, chr(97 + len(letters))) for axis in term.split()]
            for term in side.split(",")
        ]
        sides.append(",".join("".join(term) for term in terms))
    return "->".join(sides)


def einops_einsum(*tensors_and_pattern):
    """`einops.einsum(x, y, "b i d, b j d -> b i j")`."""
    return einsum(einsum_letters(tensors_and_pattern[-1]), *tensors_and_pattern[:-1])


def pack(tensors, pattern):
    """`einops.pack`: tensors that differ in the dimensions under `*`, in one; with the shapes to unpack it again."""
    before, after = (len(side.split()) for side in pattern.split("*"))
    shapes = [tuple(tensor.shape[before : tensor.ndim - after]) for tensor in tensors]
    flat = [tensor.reshape(tensor.shape[:before] + (-1,) + tensor.shape[tensor.ndim - after :]) for tensor in tensors]
    return ops.cat(flat, before), shapes


def unpack(tensor, packed_shapes, pattern):
    """`einops.unpack`: what `pack` put together; one shape may hold one -1."""
    axis = len(pattern.split("*")[0].split())
    sizes = [math.prod(shape) for shape in packed_shapes]
    if any(size < 0 for size in sizes):
        unknown = next(index for index, size in enumerate(sizes) if size < 0)
        sizes[unknown] = tensor.shape[axis] - (sum(sizes) - sizes[unknown])
    pieces = ops.split(tensor, sizes, axis)
    return [
        piece.reshape(piece.shape[:axis] + tuple(shape) + piece.shape[axis + 1 :])
        for piece, shape in zip(pieces, packed_shapes)
    ]


def parse_shape(x, pattern):
    """`einops.parse_shape`: {"b": 2, "c": 3} for "b c _ _"."""
    return {name: size for name, size in zip(pattern.split(), x.shape) if name != "_"}
