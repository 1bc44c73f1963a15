"""In a worker: one stream of numpy's random numbers for the order of samples, so that shuffled batches compare one by one.

The converted samplers draw from numpy. Here torch's samplers and splits are made to draw the same numbers; what a dataset or a transform
draws for itself is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from .keras_pipelines import HELPERS, share_seeds, shuffle_as_converted


def share_order(framework: str, seed: int, helpers: Iterable[ModuleType]) -> None:
    """`helpers`: the modules of a converted project that hold mindferry's samplers."""
    import numpy as np

    if is_keras(framework, helpers):
        _share_shuffles(framework, seed, helpers)
        return
    stream = np.random.RandomState(seed)
    if framework == "torch":
        _draw_from(stream)
        return
    for helper in helpers:
        original = getattr(helper, "random_numbers", None)
        if original is not None:
            helper.random_numbers = _with_stream(original, stream)  # type: ignore[attr-defined]


def is_keras(framework: str, helpers: Iterable[ModuleType]) -> bool:
    """TensorFlow, or what was converted from it."""
    return framework == "tensorflow" or any(each.__name__.endswith(HELPERS) for each in helpers)


def _share_shuffles(framework: str, seed: int, helpers: Iterable[ModuleType]) -> None:
    if framework == "tensorflow":
        import tensorflow as tf

        shuffle_as_converted()
        share_seeds(tf.data.Dataset, seed)
        return
    for helper in helpers:
        if hasattr(helper, "Dataset"):
            share_seeds(helper.Dataset, seed)


def _with_stream(original: Any, stream: Any) -> Any:
    return lambda generator: stream if generator is None else original(generator)


def _draw_from(stream: Any) -> None:
    import torch
    from torch.utils.data import dataset, distributed, sampler

    shared: Any = _SharedTorch(stream)
    sampler.torch = shared
    distributed.torch = _SharedTorch(None)
    dataset.randperm = lambda n, generator=None: shared.randperm(
        n, None if generator is torch.default_generator else generator
    )


class _Unseeded:
    """What RandomSampler makes where it was given no generator: stands for the common stream."""

    def manual_seed(self, seed: int) -> _Unseeded:
        return self


class _SharedTorch:
    """`torch` as a module of samplers sees it, with numpy's random numbers."""

    def __init__(self, stream: Any) -> None:
        import torch

        self._torch, self._stream = torch, stream
        self._streams: dict[int, tuple[Any, Any]] = {}
        self.Generator = torch.Generator if stream is None else _Unseeded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)

    def randperm(self, n: int, generator: Any = None) -> Any:
        return self._torch.from_numpy(self._numbers(generator).permutation(n))

    def randint(self, high: int, size: tuple[int, ...], generator: Any = None, **_: Any) -> Any:
        return self._torch.from_numpy(self._numbers(generator).randint(0, high, size))

    def multinomial(self, weights: Any, count: int, replacement: bool = False, generator: Any = None) -> Any:
        chances = weights.double().numpy()
        return self._torch.from_numpy(
            self._numbers(generator).choice(len(chances), count, replacement, chances / chances.sum())
        )

    def _numbers(self, generator: Any) -> Any:
        import numpy as np

        if generator is None or isinstance(generator, _Unseeded):
            return self._stream
        if id(generator) not in self._streams:  # the generator is kept too, or its id could come again
            self._streams[id(generator)] = (generator, np.random.RandomState(int(generator.initial_seed()) % 2**32))
        return self._streams[id(generator)][1]
