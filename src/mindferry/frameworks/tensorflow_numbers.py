"""Keras' and TensorFlow's functions that draw random numbers, built on numbers that the conversion draws alike."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .shared_draws import SharedDraws

Tensor = Any  # tf.Tensor


@contextlib.contextmanager
def replaced(home: Any, name: str, value: Any) -> Iterator[None]:
    """Another value for an attribute, for a while."""
    before = getattr(home, name)
    setattr(home, name, value)
    try:
        yield
    finally:
        setattr(home, name, before)


@contextlib.contextmanager
def shared_numbers(draws: SharedDraws) -> Iterator[None]:
    """Keras' and TensorFlow's functions that draw, built on shared numbers as the helpers of the conversion are."""
    import tensorflow as tf
    from keras.src import backend
    from keras.src.backend.common.symbolic_scope import in_symbolic_scope

    def tensor(numbers: Any, dtype: Any) -> Tensor:
        return tf.cast(tf.constant(numbers), dtype or backend.floatx())

    def when_run(name: str, home: Any, made: Any) -> Any:
        """Where a network is only put together, and in a data set's own graph, TensorFlow draws by itself."""
        original = getattr(home, name)

        def function(*args: Any, **kwargs: Any) -> Tensor:
            is_run = not in_symbolic_scope() and (home is backend.random or tf.executing_eagerly())
            return (made if is_run else original)(*args, **kwargs)

        return function

    def dropout(inputs: Tensor, rate: Any, noise_shape: Any = None, seed: Any = None, name: Any = None) -> Tensor:
        inputs = tf.convert_to_tensor(inputs)
        shape = noise_shape if noise_shape is not None else inputs.shape
        whole = [size if given is None else int(given) for given, size in zip(shape, inputs.shape, strict=True)]
        kept = (draws.random(whole) >= float(rate)) / (1 - float(rate))
        return inputs * tf.cast(tf.constant(kept), inputs.dtype)

    def uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
        return tensor(draws.random(_sizes(shape)), dtype) * (maxval - minval) + minval

    def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
        return tensor(draws.standard_normal(_sizes(shape)), dtype) * stddev + mean

    def tf_uniform(
        shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = tf.float32, seed: Any = None, name: Any = None
    ) -> Tensor:
        if not tf.as_dtype(dtype).is_floating:
            return originals["uniform"](shape, minval, maxval, dtype, seed, name)
        return uniform(shape, minval, 1.0 if maxval is None else maxval, dtype)

    def tf_normal(
        shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = tf.float32, seed: Any = None, name: Any = None
    ) -> Tensor:
        return normal(shape, mean, stddev, dtype)

    def tf_truncated_normal(
        shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = tf.float32, seed: Any = None, name: Any = None
    ) -> Tensor:
        return tensor(_truncated(draws, _sizes(shape)), dtype) * stddev + mean

    def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: Any = None) -> Tensor:
        logits = tf.convert_to_tensor(logits)
        noise = draws.gumbel(size=(logits.shape[0], int(num_samples), logits.shape[1]))
        return tf.argmax(logits[:, None] + tf.cast(tf.constant(noise), logits.dtype), -1, dtype or tf.int64)

    originals = {"uniform": tf.random.uniform}
    places = [
        *(
            (backend.random, name, made)
            for name, made in (("dropout", dropout), ("uniform", uniform), ("normal", normal))
        ),
        (tf.random, "uniform", tf_uniform),
        (tf.random, "normal", tf_normal),
        (tf.random, "truncated_normal", tf_truncated_normal),
        (tf.random, "categorical", categorical),
        (tf.nn, "dropout", dropout),
    ]
    with contextlib.ExitStack() as stack:
        for home, name, value in places:
            stack.enter_context(replaced(home, name, when_run(name, home, value)))
        yield


def _truncated(draws: SharedDraws, shape: list[int]) -> Any:
    """Standard normal numbers, drawn again beyond two standard deviations: in the order in which the helper draws."""
    import numpy as np

    made = draws.standard_normal(shape)
    outside = np.abs(made) > 2
    while outside.any():
        made[outside] = draws.standard_normal(int(outside.sum()))
        outside = np.abs(made) > 2
    return made


def _sizes(shape: Any) -> list[int]:
    import numpy as np

    return [int(each) for each in np.asarray(shape).ravel()]
