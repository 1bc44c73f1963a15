"""Elementwise arithmetic with torch's arguments, and what MindSpore lacks on CPU or has with another gradient."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_create import full_like
from .functions_reduce import maximum, minimum
from .functions_scan import logaddexp
from .functions_shape import diagonal_of, promoted_together
from .linalg import change
from .linalg_lu import norm_over
from .named_parts import named_parts


def add(input, other, alpha=1):
    """torch.add."""
    return input + other if alpha == 1 else input + alpha * other


def plus(input, other):
    """input + other: beside an array, a single number of another precision changes no type."""
    return fitted(input, other) + fitted(other, input)


def minus(input, other):
    """input - other, likewise."""
    return fitted(input, other) - fitted(other, input)


def fitted(number, array):
    is_single = number.ndim == 0 and array.ndim > 0
    return number.astype(array.dtype) if is_single and array.is_floating_point() else number


def sub(input, other, alpha=1):
    """torch.sub."""
    return input - other if alpha == 1 else input - alpha * other


def rsub(input, other, alpha=1):
    """torch.rsub."""
    return other - alpha * input


def addmm(input, mat1, mat2, beta=1, alpha=1):
    """torch.addmm."""
    return beta * input + alpha * matmul(mat1, mat2)


def matmul(input, other):
    """torch.matmul; an empty inner dimension gives zeros."""
    if 0 in input.shape or 0 in other.shape:
        shape = np.matmul(np.zeros(input.shape), np.zeros(other.shape)).shape
        return ops.zeros(shape, input.dtype)
    if input.ndim > 1 and other.ndim > 2 and input.shape[-1] == 1:
        return input * other  # MindSpore's gradient of such a product fails
    return ops.matmul(without_ones(input, other.ndim), without_ones(other, input.ndim))


def without_ones(x, rank):
    """A stack of one matrix beside a higher stack, as that matrix: MindSpore's gradient of their product fails."""
    while 2 < x.ndim < rank and x.shape[0] == 1:
        x = x.reshape(x.shape[1:])
    return x


def dot(input, tensor):
    """torch.dot, torch.vdot."""
    return (input * tensor).sum().astype(input.dtype)


def cross(input, other, dim=None):
    """torch.cross: along the first dimension of size 3 unless told otherwise; sizes of 1 are broadcast."""
    shape = np.broadcast_shapes(input.shape, other.shape)
    axis = shape.index(3) if dim is None else dim % len(shape)
    a, b = ops.broadcast_to(input, shape), ops.broadcast_to(other, shape)
    parts = [[ops.narrow(each, axis, place, 1) for place in range(3)] for each in (a, b)] if a.size else None
    if parts is None:
        return a * b
    (a0, a1, a2), (b0, b1, b2) = parts
    return ops.cat((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), axis)


def einsum(equation, *operands):
    """torch.einsum, also with a list of operands or with sublists in place of an equation."""
    if not isinstance(equation, str):
        equation, operands = _einsum_text((equation, *operands))
    given = promoted_together(
        operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    )
    inputs, _, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    rank = max([0] + [each.ndim - len(term.replace("...", "")) for each, term in zip(given, terms) if "..." in term])
    free = [chr(0x3B1 + index) for index in range(rank)]
    spelled = [_spell(term, free, each.ndim) for each, term in zip(given, terms)]
    if "->" not in equation:
        letters = [each for each in sorted(dict.fromkeys("".join(terms))) if each != "."]
        output = ("..." if rank else "") + "".join(each for each in letters if inputs.count(each) == 1)
    wanted = _spell(output, free, rank + len(output.replace("...", "")))
    result, names = _diagonal_term(given[0], spelled[0])
    for index in range(1, len(given)):
        later = "".join(spelled[index + 1 :]) + wanted
        result, names = _contract(result, names, *_diagonal_term(given[index], spelled[index]), later)
    result, names = _sum_out(result, names, wanted)
    return ops.transpose(result, tuple(names.index(each) for each in wanted)) if result.ndim > 1 else result


def _einsum_text(parts):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def text(places):
        return "".join("..." if each is ... else letters[each] for each in places)

    operands, terms = parts[0 : 2 * (len(parts) // 2) : 2], parts[1 : 2 * (len(parts) // 2) : 2]
    equation = ",".join(text(each) for each in terms)
    return (f"{equation}->{text(parts[-1])}" if len(parts) % 2 else equation), operands


def _spell(term, free, rank):
    """Letters for the dimensions that `...` stands for."""
    count = rank - len(term.replace("...", ""))
    return term.replace("...", "".join(free[len(free) - count :]))


def _diagonal_term(x, term):
    """A letter that stands twice in a term means a diagonal."""
    names = list(term)
    for letter in dict.fromkeys(term):
        while names.count(letter) > 1:
            first = names.index(letter)
            second = names.index(letter, first + 1)
            x = diagonal_of(x, 0, first, second)
            names = [each for place, each in enumerate(names) if place not in (first, second)] + [letter]
    return x, names


def _sum_out(x, names, kept):
    drop = tuple(place for place, each in enumerate(names) if each not in kept)
    return (ops.sum(x, drop) if drop else x), [each for each in names if each in kept]


def _contract(a, a_names, b, b_names, later):
    """Two terms as one batched matrix product."""
    a, a_names = _sum_out(a, a_names, "".join(b_names) + later)
    b, b_names = _sum_out(b, b_names, "".join(a_names) + later)
    batch = [each for each in a_names if each in b_names and each in later]
    inner = [each for each in a_names if each in b_names and each not in later]
    left = [each for each in a_names if each not in b_names]
    right = [each for each in b_names if each not in a_names]
    sizes_of = {}
    for each, size in zip(a_names + b_names, a.shape + b.shape):
        sizes_of[each] = max(size, sizes_of.get(each, 1)) if size else 0  # a size of 1 is broadcast
    first = _arranged(a, a_names, (batch, left, inner), sizes_of)
    second = _arranged(b, b_names, (batch, inner, right), sizes_of)
    names = batch + left + right
    return ops.bmm(first, second).reshape(tuple(sizes_of[each] for each in names)), names


def _arranged(x, names, groups, sizes_of):
    order = groups[0] + groups[1] + groups[2]
    x = ops.transpose(x, tuple(names.index(each) for each in order)) if x.ndim > 1 else x
    x = ops.broadcast_to(x, tuple(sizes_of[each] for each in order))
    return x.reshape(tuple(math.prod(sizes_of[each] for each in group) for group in groups))


def tensordot(a, b, dims=2):
    """torch.tensordot."""
    if isinstance(dims, int):
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left, right = ([each] if isinstance(each, int) else list(each) for each in dims)
    left, right = [each % a.ndim for each in left], [each % b.ndim for each in right]
    for i, j in zip(left, right):  # a size of 1 is broadcast
        if a.shape[i] != b.shape[j]:
            a, b = (a, ops.sum(b, j, True)) if a.shape[i] == 1 else (ops.sum(a, i, True), b)
    rest_a = [each for each in range(a.ndim) if each not in left]
    rest_b = [each for each in range(b.ndim) if each not in right]
    rows = ops.transpose(a, tuple(rest_a + left)).reshape(-1, math.prod(a.shape[each] for each in left))
    columns = ops.transpose(b, tuple(right + rest_b)).reshape(rows.shape[1], -1)
    shape = tuple(a.shape[each] for each in rest_a) + tuple(b.shape[each] for each in rest_b)
    return ops.matmul(rows, columns).reshape(shape)


def clamp(input, min=None, max=None):
    """torch.clamp, also between a number and a tensor without dimensions."""
    if min is not None:
        input = clamp_min(input, min)
    return clamp_max(input, max) if max is not None else input


def clamp_min(input, min):
    """torch.clamp_min, of empty tensors too; NaN stays NaN."""
    if isinstance(min, ms.Tensor) or 0 in input.shape:
        return maximum(input, min)
    return with_own_nan(input, ops.clamp(input, min=min))


def clamp_max(input, max):
    """torch.clamp_max, of empty tensors too; NaN stays NaN."""
    if isinstance(max, ms.Tensor) or 0 in input.shape:
        return minimum(input, max)
    return with_own_nan(input, ops.clamp(input, max=max))


def with_own_nan(input, result):
    """The result, and NaN where the input is: MindSpore makes a number of it."""
    return ops.where(input != input, input, result) if input.is_floating_point() else result


def remainder(input, other):
    """torch.remainder; mindspore.ops.remainder rounds the quotient: of 273.8 by 3.7 it leaves 0, torch 1.5e-5."""
    return input % other


def fmod(input, other):
    """torch.fmod; of 18.5 by 3.7 mindspore.ops.fmod leaves 0, torch 3.6999998."""
    size = abs(other)
    return ops.where(input < 0, -(-input % size), input % size)


def lerp(input, end, weight):
    """torch.lerp, from the nearer end: from 1e8 to 1, all the way, mindspore.ops.lerp comes to 0."""
    near, far = input + weight * (end - input), end - (end - input) * (1 - weight)
    return (
        ops.where(abs(weight) < 0.5, near, far) if isinstance(weight, ms.Tensor) else near if abs(weight) < 0.5 else far
    )


def fmin(input, other):
    """torch.fmin: the other one where one is NaN."""
    return ops.where(ops.isnan(input), other, ops.where(ops.isnan(other), input, minimum(input, other)))


def fmax(input, other):
    """torch.fmax."""
    return ops.where(ops.isnan(input), other, ops.where(ops.isnan(other), input, maximum(input, other)))


def round_to(input, decimals=0):
    """torch.round."""
    if decimals == 0:
        return ops.round(input)
    scale = 10.0 ** abs(decimals)
    return ops.round(input * scale) / scale if decimals > 0 else ops.round(input / scale) * scale


def angle(input):
    """torch.angle: 0 or pi for real numbers."""
    if input.is_complex():
        return ops.atan2(ops.imag(input), ops.real(input))
    input = input if input.is_floating_point() else input.astype(ms.float32)
    flat = ops.where(input < 0, ops.full_like(input, math.pi), ops.zeros_like(input))
    return ops.where(ops.isnan(input), input, flat) + 0 * ops.stop_gradient(flat)


def absolute(input):
    """torch.abs: real for complex numbers too."""
    return real_part(ops.abs(input))


def real_part(input):
    """torch.real."""
    return ops.real(input) if input.is_complex() else input


def conj(input):
    """torch.conj."""
    return ops.conj(input) if input.is_complex() else input


def sgn(input):
    """torch.sgn."""
    if input.is_complex():
        size = ops.abs(input)
        return input / ops.where(size == 0, ops.ones_like(size), size)
    return ops.sign(input)


@named_parts("mantissa exponent")
def frexp(input):
    """torch.frexp: (mantissa, exponent)."""
    fixed = ops.stop_gradient(input)
    parts = np.frexp(fixed.asnumpy())
    exponent = ms.Tensor(parts[1].astype(np.int32))
    scale = ms.Tensor(np.ldexp(np.ones_like(parts[0]), -parts[1]).astype(parts[0].dtype))
    return input * scale, exponent


def nextafter(input, other):
    """torch.nextafter, on the host."""
    value = ms.Tensor(np.nextafter(input.asnumpy(), other.asnumpy()))
    return value + ops.where(input == other, change(other), change(input))


def logaddexp2(input, other):
    """torch.logaddexp2."""
    return logaddexp(input * math.log(2), other * math.log(2)) / math.log(2)


def log2(input):
    """torch.log2."""
    return ops.log(input) / math.log(2)


def log10(input):
    """torch.log10."""
    return ops.log(input) / math.log(10)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """torch.cdist."""
    gap = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return norm_over(gap, p, -1) if gap.size else ops.zeros(gap.shape[:-1], x1.dtype)


def pdist(input, p=2.0):
    """torch.nn.functional.pdist: the distances of all pairs."""
    first, second = np.triu_indices(input.shape[0], 1)
    if not len(first):
        return ops.zeros((0,), input.dtype)
    rows = ops.gather(input, ms.Tensor(first.astype(np.int32)), 0) - ops.gather(
        input, ms.Tensor(second.astype(np.int32)), 0
    )
    return norm_over(rows, p, -1)


def corrcoef(input):
    """torch.corrcoef."""
    covariance = cov(input)
    if covariance.size == 1:
        return (covariance / covariance).reshape(())
    deviation = ops.sqrt(diagonal_of(covariance))
    return ops.clamp(covariance / deviation.unsqueeze(-1) / deviation.unsqueeze(0), -1, 1)


def cov(input, correction=1, fweights=None, aweights=None):
    """torch.cov."""
    x = input.reshape(1, -1) if input.ndim < 2 else input
    weight = ops.ones((x.shape[1],), x.dtype)
    weight = weight if fweights is None else weight * fweights.astype(x.dtype)
    total = weight if aweights is None else weight * aweights
    norm = total.sum()
    centered = x - (x * total).sum(axis=1, keepdims=True) / norm
    spread = 0 if aweights is None else (total * aweights).sum() / norm
    freedom = norm - correction * (1 if aweights is None else spread)
    result = ops.matmul(centered * total, ops.swapaxes(centered, 0, 1)) / ops.maximum(freedom, ms.Tensor(0.0, x.dtype))
    return result.reshape(()) if x.shape[0] == 1 else result


def renorm(input, p, dim, maxnorm):
    """torch.renorm."""
    axes = tuple(each for each in range(input.ndim) if each != dim % input.ndim)
    size = norm_over(input, p, axes, True)
    return input * ops.where(size > maxnorm, maxnorm / (size + 1e-7), ops.ones_like(size))


def float_power(input, exponent):
    """torch.float_power: in float64."""
    parts = [
        each.astype(ms.float64) if isinstance(each, ms.Tensor) and not each.is_complex() else each
        for each in (input, exponent)
    ]
    return ops.pow(*parts)


def power(input, exponent):
    """torch.pow and `x ** y`: a zeroth power has no gradient, and neither has the exponent of 0, where MindSpore's are nan."""
    if not isinstance(exponent, ms.Tensor):
        raised = input**exponent
        return ops.stop_gradient(raised) if exponent == 0 else raised
    if not isinstance(input, ms.Tensor):
        return input**exponent
    base = ops.where(exponent == 0, ops.stop_gradient(input), input)
    return base ** ops.where(input == 0, ops.stop_gradient(exponent), exponent)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    """torch.nan_to_num, of every type."""
    if not input.is_floating_point():
        return input.copy()
    limits = {ms.float16: 65504.0, ms.float64: float(np.finfo(np.float64).max)}
    largest = limits.get(input.dtype, float(np.finfo(np.float32).max))
    high, low = largest if posinf is None else posinf, -largest if neginf is None else neginf
    finite = ops.where(input != input, ops.full_like(input, 0.0 if nan is None else nan), input)
    finite = ops.where(finite == float("inf"), ops.full_like(input, high), finite)
    return ops.where(finite == -float("inf"), ops.full_like(input, low), finite)


def heaviside(input, values):
    """torch.heaviside."""
    return ops.where(input == 0, values, (input > 0).astype(input.dtype))


def fill(input, value):
    """torch.fill."""
    return (
        ops.zeros_like(input) + value.astype(input.dtype) if isinstance(value, ms.Tensor) else full_like(input, value)
    )


def vander(x, N=None, increasing=False):
    """torch.vander, torch.linalg.vander with increasing powers."""
    x = x.reshape(1) if x.ndim == 0 else x
    count = x.shape[-1] if N is None else N
    powers = [ops.ones_like(x)]
    for _ in range(count - 1):
        powers.append(powers[-1] * x)
    table = ops.stack(powers[:count], -1)
    return table if increasing else ops.flip(table, (x.ndim,))


def linalg_vander(x, N=None):
    """torch.linalg.vander: increasing powers."""
    return vander(x, N, True)


def clone(input, memory_format=None):
    """torch.clone: no gradient flows through Parameter.copy()."""
    return ops.deepcopy(input)


def unchanged(input):
    """What has no effect here: contiguous, resolve_conj, positive."""
    return input


def hash_tensor(input, dim=(), keepdim=False, mode=0):
    """torch.hash_tensor: the bits of the elements, as float64, combined by exclusive or."""
    bits = input.asnumpy().astype(np.float64).view(np.uint64)
    axes = (
        tuple(range(bits.ndim))
        if dim is None or dim == ()
        else tuple(dim)
        if isinstance(dim, (tuple, list))
        else (dim,)
    )
    return ms.Tensor(np.bitwise_xor.reduce(bits, axes, keepdims=keepdim) if bits.ndim else bits)


def bitwise_not(input):
    """torch.bitwise_not."""
    return ops.logical_not(input) if input.dtype == ms.bool_ else -input - 1
