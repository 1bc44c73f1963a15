"""Matrix products. MindSpore's ops.matmul has wrong second derivatives on a CPU, and its einsum no kernel there; these have neither defect."""

from mindspore import ops


def product(a, b):
    """a @ b, for any number of axes."""
    if a.ndim == 1 or b.ndim == 1:
        made = product(a if a.ndim > 1 else ops.expand_dims(a, 0), b if b.ndim > 1 else ops.expand_dims(b, -1))
        made = ops.squeeze(made, -1) if b.ndim == 1 else made
        return ops.squeeze(made, -2 if b.ndim > 1 else -1) if a.ndim == 1 else made
    if a.ndim == 2 and b.ndim == 2:
        return ops.MatMul()(a, b)
    if b.ndim == 2:
        made = ops.MatMul()(ops.reshape(a, (-1, a.shape[-1])), b)
        return ops.reshape(made, (*a.shape[:-1], b.shape[-1]))
    batch = joint_shape(a.shape[:-2], b.shape[:-2])
    return ops.BatchMatMul()(widened(a, (*batch, *a.shape[-2:])), widened(b, (*batch, *b.shape[-2:])))


def joint_shape(first, second):
    """What two shapes are broadcast to."""
    rank = max(len(first), len(second))
    pairs = zip((1,) * (rank - len(first)) + tuple(first), (1,) * (rank - len(second)) + tuple(second))
    return tuple(max(pair) for pair in pairs)


def widened(x, shape):
    return x if tuple(x.shape) == tuple(shape) else ops.broadcast_to(x, shape)


def einsum(equation, *operands):
    """Einstein's sum of one, two or more tensors, as products of matrices."""
    equation = equation.replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = spelled_dots(left.split(","), operands)
    if not arrow:
        letters = "".join(terms)
        result = "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    result = result.replace("...", longest_dots(left.split(","), operands))
    x, names = operands[0], terms[0]
    for place in range(1, len(operands)):
        later = set("".join(terms[place + 1 :])) | set(result)
        x, names = pair_sum(x, names, operands[place], terms[place], later)
    x, names = summed_away(x, names, set(result))
    return ops.transpose(x, tuple(names.index(each) for each in result)) if names != result else x


def longest_dots(terms, operands):
    counts = [x.ndim - len(term) + 3 for term, x in zip(terms, operands) if "..." in term]
    return "ABCDEFGH"[: max(counts)] if counts else ""


def spelled_dots(terms, operands):
    """Letters in the place of dots."""
    whole = longest_dots(terms, operands)
    found = []
    for term, x in zip(terms, operands):
        count = x.ndim - len(term) + 3
        found.append(term.replace("...", whole[len(whole) - count :]) if "..." in term else term)
    return found


def summed_away(x, names, kept):
    axes = tuple(place for place, each in enumerate(names) if each not in kept)
    return (ops.sum(x, axes), "".join(each for each in names if each in kept)) if axes else (x, names)


def pair_sum(x, first, y, second, kept):
    """Two tensors into one: axes of both that stay are a batch, those that don't are summed over."""
    x, first = summed_away(x, first, kept | set(second))
    y, second = summed_away(y, second, kept | set(first))
    batch = [each for each in first if each in second and each in kept]
    inner = [each for each in first if each in second and each not in kept]
    own = [each for each in first if each not in second]
    other = [each for each in second if each not in first]
    shape = x.shape + y.shape
    count = [counted(group, first + second, shape) for group in (batch, own, inner, other)]
    x = ops.transpose(x, tuple([first.index(each) for each in (*batch, *own, *inner)]))
    y = ops.transpose(y, tuple(second.index(each) for each in (*batch, *inner, *other)))
    x, y = ops.reshape(x, (count[0], count[1], count[2])), ops.reshape(y, (count[0], count[2], count[3]))
    made = ops.BatchMatMul()(x, y)
    names = [*batch, *own, *other]
    sizes = [counted(each, first + second, shape) for each in names]
    return ops.reshape(made, tuple(sizes)), "".join(names)


def counted(names, letters, sizes):
    """The product of the sizes of these axes."""
    made = 1
    for each in names:
        made = made * sizes[letters.index(each)]
    return made
