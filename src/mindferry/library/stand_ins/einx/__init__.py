"""Instead of the whole module: einx knows no MindSpore. Its element-wise operations, reductions and get_at, by permuting and reshaping."""

import torch
from einops import rearrange as einops_rearrange


def axes_of(term, rank):
    """The names of a tensor's axes: "... i [n]" of rank 4 -> ["...0", "...1", "i", "[n]"]."""
    if "(" in term:
        raise NotImplementedError(f"{term!r}: axes in parentheses are not carried along; rearrange the tensor first")
    names = term.replace("[", " [ ").replace("]", " ] ").replace("...", " ... ").split()
    free = rank - len([name for name in names if name not in ("[", "]", "...")])
    found, is_marked = [], False
    for name in names:
        if name in ("[", "]"):
            is_marked = name == "["
            continue
        for each in [f"...{index}" for index in range(free)] if name == "..." else [name]:
            found.append(f"[{each}]" if is_marked else each)
    return found


def rank_of(value):
    return value.ndim if isinstance(value, torch.Tensor) else 0


def sides_of(pattern, values):
    """The axes of every operand, and of the result: without an arrow, those of the operand that has all of them."""
    left, _, right = pattern.partition("->")
    terms = [axes_of(term, rank_of(value)) for term, value in zip(left.split(","), values, strict=True)]
    free = sorted({axis for term in terms for axis in term if axis.startswith("...")})
    if "->" in pattern:
        return terms, axes_of(right, len(free) + len(right.replace("...", " ").split()))
    return terms, sorted(terms, key=len)[-1]


def in_order(tensor, axes, wanted):
    """The tensor's axes as `wanted` has them, of length 1 where it has none."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    lengths = dict(zip(axes, tensor.shape, strict=True))
    kept = [axis for axis in wanted if axis in lengths and axis != "1"]
    dropped = [axis for axis in axes if axis not in kept]
    moved = tensor.permute([axes.index(axis) for axis in (*kept, *dropped)])
    return moved.reshape([lengths[axis] if axis in kept else 1 for axis in wanted])


def aligned(pattern, values):
    terms, result = sides_of(pattern, values)
    return [in_order(value, axes, result) for value, axes in zip(values, terms, strict=True)]


def folded(operation, pattern, values):
    first, *others = aligned(pattern, values)
    for each in others:
        first = operation(first, each)
    return first


def add(pattern, *tensors):
    return folded(lambda a, b: a + b, pattern, tensors)


def subtract(pattern, *tensors):
    return folded(lambda a, b: a - b, pattern, tensors)


def multiply(pattern, *tensors):
    return folded(lambda a, b: a * b, pattern, tensors)


def divide(pattern, *tensors):
    return folded(lambda a, b: a / b, pattern, tensors)


true_divide = divide


def less(pattern, *tensors):
    return folded(lambda a, b: a < b, pattern, tensors)


def less_equal(pattern, *tensors):
    return folded(lambda a, b: a <= b, pattern, tensors)


def greater(pattern, *tensors):
    return folded(lambda a, b: a > b, pattern, tensors)


def greater_equal(pattern, *tensors):
    return folded(lambda a, b: a >= b, pattern, tensors)


def equal(pattern, *tensors):
    return folded(lambda a, b: a == b, pattern, tensors)


def not_equal(pattern, *tensors):
    return folded(lambda a, b: a != b, pattern, tensors)


def logical_and(pattern, *tensors):
    return folded(torch.logical_and, pattern, tensors)


def logical_or(pattern, *tensors):
    return folded(torch.logical_or, pattern, tensors)


def maximum(pattern, *tensors):
    return folded(torch.maximum, pattern, tensors)


def minimum(pattern, *tensors):
    return folded(torch.minimum, pattern, tensors)


def where(pattern, condition, x, y):
    condition, x, y = aligned(pattern, (condition, x, y))
    return torch.where(condition, x, y)


def reduced(operation, pattern, tensor):
    """Over the axes in brackets, or over those that the right side lacks."""
    left, _, right = pattern.partition("->")
    axes = axes_of(left, tensor.ndim)
    kept = [axis for axis in axes if not axis.startswith("[")]
    if right:
        free = [axis for axis in kept if axis.startswith("...")]
        kept = axes_of(right, len(free) + len(right.replace("...", " ").split()))
    for index in reversed([index for index, axis in enumerate(axes) if axis not in kept]):
        tensor = operation(tensor, index)
    return in_order(tensor, [axis for axis in axes if axis in kept], kept)


def sum(pattern, tensor):
    return reduced(lambda x, dim: torch.sum(x, dim=dim), pattern, tensor)


def mean(pattern, tensor):
    return reduced(lambda x, dim: torch.mean(x, dim=dim), pattern, tensor)


def max(pattern, tensor):
    return reduced(lambda x, dim: torch.amax(x, dim=dim), pattern, tensor)


def min(pattern, tensor):
    return reduced(lambda x, dim: torch.amin(x, dim=dim), pattern, tensor)


def any(pattern, tensor):
    return reduced(lambda x, dim: torch.any(x, dim=dim), pattern, tensor)


def all(pattern, tensor):
    return reduced(lambda x, dim: torch.all(x, dim=dim), pattern, tensor)


def rearrange(pattern, tensor, **lengths):
    return einops_rearrange(tensor, pattern, **lengths)


def get_at(pattern, tensor, index):
    """`get_at("b [n] d, b i -> b i d", x, index)`: one axis is looked up, the others stay."""
    left, right = pattern.split("->")
    of_tensor, of_index = (
        axes_of(term, value.ndim) for term, value in zip(left.split(","), (tensor, index), strict=True)
    )
    marked = [axis for axis in of_tensor if axis.startswith("[")]
    if len(marked) != 1:
        raise NotImplementedError(f"{pattern!r}: only one axis can be looked up here")
    shared = [axis for axis in of_tensor if axis in of_index]
    own = [axis for axis in of_index if axis not in shared]
    rest = [axis for axis in of_tensor if axis not in shared and axis not in marked]
    sizes = {**dict(zip(of_index, index.shape, strict=True)), **dict(zip(of_tensor, tensor.shape, strict=True))}
    table = in_order(tensor, of_tensor, [*shared, *marked, *rest]).reshape(
        [*(sizes[axis] for axis in shared), sizes[marked[0]], -1]
    )
    places = in_order(index, of_index, [*shared, *own]).reshape([*(sizes[axis] for axis in shared), -1, 1])
    places = places.expand([*places.shape[:-1], table.shape[-1]])
    found = torch.gather(table, len(shared), places).reshape([sizes[axis] for axis in (*shared, *own, *rest)])
    return in_order(found, [*shared, *own, *rest], right.split())
