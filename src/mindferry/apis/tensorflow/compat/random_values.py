"""Random numbers: one seeded generator for first values, and MindSpore's own for what a network draws."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .tensors import as_dtype, as_tensor, dtype_name


class Chance:
    """Where first values and random numbers come from. The numbers differ from TensorFlow's; their distributions don't."""

    generator = np.random.default_rng()
    noted = None  # tensors that were drawn, with the generator's states before and after: a list where they are wanted
    given = None  # tensors to take instead, in the same order


def drawn_tensor(make):
    """A tensor of what `make` draws."""
    before, numbers = Chance.generator.bit_generator.state, make()
    if Chance.given is not None:
        return Chance.given.pop(0)
    made = Tensor(numbers)
    if Chance.noted is not None:
        Chance.noted.append((made, before, Chance.generator.bit_generator.state))
    return made


def set_seed(seed):
    """tf.random.set_seed."""
    Chance.generator = np.random.default_rng(seed)
    ms.set_seed(int(seed) % 2**32)


def set_random_seed(seed):
    """keras.utils.set_random_seed: Python's, NumPy's and the framework's."""
    import random

    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)


def _shape(shape):
    return tuple(int(each) for each in (shape.asnumpy() if isinstance(shape, Tensor) else shape))


def random_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    kind = dtype_name(dtype or "float32")
    return drawn_tensor(lambda: Chance.generator.standard_normal(_shape(shape)).astype(kind)) * stddev + mean


def random_uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    kind = dtype_name(dtype or "float32")
    shape = _shape(shape)
    if "int" in kind:
        return drawn_tensor(lambda: Chance.generator.integers(int(minval), int(maxval), shape).astype(kind))
    high = 1.0 if maxval is None else maxval
    made = drawn_tensor(lambda: Chance.generator.random(shape).astype(kind))
    return made * (high - minval) + minval


def truncated_numbers(shape):
    """Standard normal numbers, drawn again beyond two standard deviations."""
    made = Chance.generator.standard_normal(shape)
    outside = np.abs(made) > 2
    while outside.any():
        made[outside] = Chance.generator.standard_normal(int(outside.sum()))
        outside = np.abs(made) > 2
    return made


def random_truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    return drawn_tensor(lambda: truncated_numbers(_shape(shape)).astype(dtype_name(dtype))) * stddev + mean


def random_shuffle(value, seed=None, name=None):
    value = as_tensor(value)
    order = Chance.generator.permutation(value.shape[0]).astype(np.int32)
    return ops.gather(value, Tensor(order), 0)


def random_categorical(logits, num_samples, dtype="int64", seed=None, name=None):
    noise = Chance.generator.gumbel(size=(logits.shape[0], num_samples, logits.shape[1])).astype(np.float32)
    return ops.argmax(ops.expand_dims(as_tensor(logits), 1) + Tensor(noise), -1).astype(as_dtype(dtype))


def dropout_mask(shape, rate):
    """Zeros with the probability `rate`, and what makes up for them."""
    return drawn_tensor(lambda: ((Chance.generator.random(tuple(shape)) >= rate) / (1 - rate)).astype(np.float32))


def tf_dropout(x, rate, noise_shape=None, seed=None, name=None):
    x = as_tensor(x)
    return x * dropout_mask(noise_shape or x.shape, rate).astype(x.dtype) if rate else x
