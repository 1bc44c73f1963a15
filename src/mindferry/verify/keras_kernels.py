"""TensorFlow with tanh and exp computed as MindSpore's CPU kernels compute them, see kernels.py."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

Tensor = Any  # tf.Tensor


@contextlib.contextmanager
def watched_kernels(used: set[str], is_rough: bool) -> Iterator[None]:
    """`used` gets the functions that run and that MindSpore computes roughly; with `is_rough` they are its own here."""
    import tensorflow as tf

    homes = [
        (home, name) for name in ("tanh", "exp") for home in (tf, tf.math, tf.nn) if callable(getattr(home, name, None))
    ]
    originals = [getattr(home, name) for home, name in homes]

    def standing_in(name: str, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def run(x: Any, name_: Any = None, **options: Any) -> Tensor:
            used.add(name)
            if not is_rough:
                return original(x, name_, **options)
            given = tf.convert_to_tensor(x)
            return _rough(given, name) if given.dtype in (tf.float32, tf.float64) else original(given)

        return run

    for (home, name), original in zip(homes, originals, strict=True):
        setattr(home, name, standing_in(name, original))
    try:
        yield
    finally:
        for (home, name), original in zip(homes, originals, strict=True):
            setattr(home, name, original)


def _rough(given: Tensor, name: str) -> Tensor:
    import tensorflow as tf

    @tf.custom_gradient  # type: ignore[misc,untyped-decorator,unused-ignore]
    def computed(x: Tensor) -> Any:
        y = rough_exp(x) if name == "exp" else rough_tanh(x)
        return y, lambda arriving: arriving * (y if name == "exp" else 1 - y * y)

    return computed(given)


def rough_tanh(x: Tensor) -> Tensor:
    import tensorflow as tf

    square = x * x
    above = (((square + 378) * square + 17325) * square + 135135) * x
    below = ((28 * square + 3150) * square + 62370) * square + 135135
    return tf.where(x > 5, tf.ones_like(x), tf.where(x < -5, -tf.ones_like(x), above / below))


def rough_exp(x: Tensor) -> Tensor:
    import tensorflow as tf

    exact = tf.clip_by_value(tf.cast(x, tf.float64), -87.3365478515625, 88.72283935546875)
    whole = tf.floor(exact * 1.4426950408889634 + 0.5)
    rest = exact - whole * 0.6931470036506653
    factors = rest / 120 + 1 / 24
    for each in (1 / 6, 0.5, 1.0, 1.0):
        factors = factors * rest + each
    return tf.cast(tf.pow(tf.constant(2.0, tf.float64), whole) * factors, x.dtype)
