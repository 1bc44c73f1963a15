"""Functions that keras.ops has under NumPy's names, and TensorFlow has not."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .graph import symbolic
from .random_values import Chance, random_categorical
from .tensors import as_dtype, as_tensor, is_float, map_structure


def as_float(x):
    x = as_tensor(x)
    return x if is_float(x) else ops.cast(x, ms.float32)


@symbolic
def ops_exp2(x):
    return ops.exp(as_float(x) * float(np.log(2.0)))


@symbolic
def ops_cbrt(x):
    x = as_float(x)
    return ops.sign(x) * ops.pow(ops.abs(x), 1.0 / 3.0)


@symbolic
def ops_hypot(x1, x2):
    x1, x2 = as_float(x1), as_float(x2)
    return ops.sqrt(x1 * x1 + x2 * x2)


@symbolic
def ops_deg2rad(x):
    return as_float(x) * float(np.pi / 180.0)


@symbolic
def ops_rad2deg(x):
    return as_float(x) * float(180.0 / np.pi)


@symbolic
def ops_fabs(x):
    return ops.abs(as_float(x))


@symbolic
def ops_trunc(x):
    x = as_float(x)
    return ops.sign(x) * ops.floor(ops.abs(x))


@symbolic
def ops_isposinf(x):
    x = as_float(x)
    return ops.logical_and(ops.isinf(x), x > 0)


@symbolic
def ops_isneginf(x):
    x = as_float(x)
    return ops.logical_and(ops.isinf(x), x < 0)


@symbolic
def ops_isin(x1, x2, assume_unique=False, invert=False):
    x1, x2 = as_tensor(x1), as_tensor(x2)
    found = (ops.expand_dims(x1, -1) == ops.reshape(x2, (-1,))).astype(ms.int32).sum(-1) > 0
    return ops.logical_not(found) if invert else found


@symbolic
def ops_fliplr(x):
    return ops.flip(as_tensor(x), (1,))


@symbolic
def ops_flipud(x):
    return ops.flip(as_tensor(x), (0,))


@symbolic
def ops_append(x1, x2, axis=None):
    parts = [as_tensor(x1), as_tensor(x2)]
    return ops.cat(parts if axis is not None else [ops.reshape(each, (-1,)) for each in parts], axis or 0)


@symbolic
def ops_kron(x1, x2):
    x1, x2 = as_tensor(x1), as_tensor(x2)
    rows, columns = x1.shape[0] * x2.shape[0], x1.shape[1] * x2.shape[1]
    return ops.reshape(x1[:, None, :, None] * x2[None, :, None, :], (rows, columns))


@symbolic
def ops_vdot(x1, x2):
    return ops.sum(ops.reshape(as_tensor(x1), (-1,)) * ops.reshape(as_tensor(x2), (-1,)))


@symbolic
def ops_layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **_):
    x, axes = as_tensor(x), tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    mean = ops.mean(x, axes, True)
    away = x - mean
    out = away / ops.sqrt(ops.mean(away * away, axes, True) + (1e-7 if epsilon is None else epsilon))
    out = out if gamma is None else out * as_tensor(gamma)
    return out if beta is None else out + as_tensor(beta)


@symbolic
def ops_rms_normalization(x, scale=1, axis=-1, epsilon=None):
    x, axes = as_tensor(x), tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    return x / ops.sqrt(ops.mean(x * x, axes, True) + (1e-7 if epsilon is None else epsilon)) * as_tensor(scale)


@symbolic
def ops_dot_product_attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False, **_):
    """Batch, length, heads, size."""
    query, key, value = as_tensor(query), as_tensor(key), as_tensor(value)
    scale = 1.0 / float(np.sqrt(query.shape[-1])) if scale is None else float(scale)
    scores = ops.matmul(query.transpose(0, 2, 1, 3), key.transpose(0, 2, 3, 1)) * scale
    scores = scores if bias is None else scores + as_tensor(bias)
    if is_causal:
        seen = as_tensor(np.tril(np.ones(scores.shape[-2:], bool)))
        mask = seen if mask is None else ops.logical_and(as_tensor(mask), seen)
    if mask is not None:
        scores = ops.where(as_tensor(mask), scores, as_tensor(np.float32(-0.7 * np.finfo(np.float32).max)))
    return ops.matmul(ops.softmax(scores, -1), value.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)


def without_nan(x, instead):
    x = as_float(x)
    return ops.where(ops.isnan(x), as_tensor(instead, x.dtype), x)


def reduced_axes(x, axis):
    return tuple(range(as_tensor(x).ndim)) if axis is None else axis


@symbolic
def ops_nansum(x, axis=None, keepdims=False):
    return ops.sum(without_nan(x, 0.0), reduced_axes(x, axis), keepdims)


@symbolic
def ops_nanmean(x, axis=None, keepdims=False):
    count = ops.sum(ops.logical_not(ops.isnan(as_float(x))).astype(ms.float32), reduced_axes(x, axis), keepdims)
    return ops.sum(without_nan(x, 0.0), reduced_axes(x, axis), keepdims) / count


@symbolic
def ops_nanmax(x, axis=None, keepdims=False):
    return ops.amax(without_nan(x, -np.inf), reduced_axes(x, axis), keepdims)


@symbolic
def ops_nanmin(x, axis=None, keepdims=False):
    return ops.amin(without_nan(x, np.inf), reduced_axes(x, axis), keepdims)


def ops_fori_loop(lower, upper, body_fun, init_val):
    value = init_val
    for place in range(int(lower), int(upper)):
        value = map_structure(as_tensor, body_fun(as_tensor(np.int32(place)), value))
    return value


def ops_scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """(the last state, what came out of each step, stacked)."""
    count = int(length) if xs is None else next(each.shape[0] for each in leaves_of(xs))
    state, rows = map_structure(as_tensor, init), {}
    for place in reversed(range(count)) if reverse else range(count):
        given = None if xs is None else map_structure(lambda each: as_tensor(each)[place], xs)
        state, rows[place] = f(state, given)
    made = [rows[place] for place in range(count)]
    return state, None if made[0] is None else map_structure(
        lambda *each: ops.stack([as_tensor(e) for e in each]), *made
    )


def leaves_of(structure):
    found = []
    map_structure(lambda each: found.append(as_tensor(each)), structure)
    return found


def ops_switch(index, branches, *operands):
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


@symbolic
def ops_select(condlist, choicelist, default=0):
    out = as_tensor(choicelist[0]) * 0 + as_tensor(default)
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        out = ops.where(as_tensor(condition), as_tensor(choice), out)
    return out


def ops_dtype(x):
    return str(as_tensor(x).dtype).lower()


def random_integers(shape, minval, maxval, dtype="int32", seed=None):
    """keras.random.randint."""
    return Tensor(Chance.generator.integers(int(minval), int(maxval), tuple(shape)), as_dtype(dtype))


def random_choices(logits, num_samples, dtype="int32", seed=None):
    """keras.random.categorical."""
    return random_categorical(logits, num_samples, dtype)


def tf_unit_and_norm(tensor, ord="euclidean", axis=None, name=None):
    """tf.linalg.normalize with the Euclidean norm: (what has length one, the lengths)."""
    if ord not in ("euclidean", 2):
        raise ValueError(f"tf.linalg.normalize does not know ord={ord!r} here")
    tensor = as_float(tensor)
    norm = ops.sqrt(ops.sum(tensor * tensor, reduced_axes(tensor, axis), True))
    return tensor / norm, norm
