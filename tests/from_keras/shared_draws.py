"""Keras' random numbers from a numpy generator, so that the helpers, which have one of their own, can be given the same."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


class Draws:
    generator = np.random.default_rng()
    last: tuple[bytes, Any] = (b"", None)  # a seed, and what was drawn with it


def draw_from(seed: int) -> None:
    replace_draws()
    Draws.generator = np.random.default_rng(seed)


@functools.cache
def replace_draws() -> None:
    """Once: every layer of Keras' asks its backend's module."""
    import tensorflow as tf
    from keras.src.backend.tensorflow import random as module
    from keras.src.layers.preprocessing.image_preprocessing import aug_mix

    def sizes(shape: Any) -> tuple[int, ...]:
        return tuple(int(each) for each in shape)

    def uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
        made = Draws.generator.uniform(np.asarray(minval, np.float64), np.asarray(maxval, np.float64), sizes(shape))
        return tf.cast(tf.constant(made.astype("float32") if np.ndim(made) else np.float32(made)), dtype or "float32")

    def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
        made = Draws.generator.normal(float(mean), float(stddev), sizes(shape))
        return tf.cast(tf.constant(np.asarray(made, np.float32)), dtype or "float32")

    def randint(shape: Any, minval: Any, maxval: Any, dtype: Any = "int32", seed: Any = None) -> Any:
        return tf.constant(np.asarray(Draws.generator.integers(int(minval), int(maxval), sizes(shape)), dtype))

    def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Any = None) -> Any:
        return tf.constant(np.asarray(Draws.generator.beta(alpha, beta, sizes(shape)), np.float32))

    def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Any:
        return tf.constant(np.asarray(Draws.generator.gamma(alpha, size=sizes(shape)), np.float32))

    def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
        return tf.gather(x, Draws.generator.permutation(int(x.shape[axis])), axis=axis)

    def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
        given = inputs.shape if noise_shape is None else noise_shape
        shape = [size if each is None else each for each, size in zip(given, inputs.shape, strict=True)]
        kept = Draws.generator.random(sizes(shape)) >= rate
        return inputs * tf.constant((kept / (1 - rate)).astype("float32"))

    def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None) -> Any:
        key = np.asarray(seed).tobytes()
        if Draws.last[0] != key:
            Draws.last = (key, normal(shape))
        return Draws.last[1]

    def choice(given: list[Any]) -> Any:
        return given[int(Draws.generator.integers(0, len(given)))]

    tf.random.stateless_normal = stateless_normal
    aug_mix.py_random.choice = choice
    for each in (uniform, normal, randint, beta, gamma, shuffle, dropout):
        setattr(module, each.__name__, each)
