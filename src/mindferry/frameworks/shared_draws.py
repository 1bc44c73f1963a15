"""Random numbers that two processes draw alike: made of the seed, of the layer that draws, and of how often it drew before."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Draw = tuple[str, tuple[int, ...]]  # the layer's path, and the shape


class SharedDraws:
    """Stands in for numpy's Generator, with the methods that networks draw by. `drawn` is what was asked for."""

    def __init__(self, seed: int, here: Callable[[], str]) -> None:
        self.seed, self.here = seed, here
        self.drawn: list[Draw] = []
        self._counts: dict[str, int] = {}

    def _generator(self, size: Any, path: str | None = None) -> tuple[Any, tuple[int, ...]]:
        import numpy as np

        path = self.here() if path is None else path
        shape = () if size is None else (int(size),) if isinstance(size, int) else tuple(int(each) for each in size)
        number = self._counts[path] = self._counts.get(path, -1) + 1
        self.drawn.append((path, shape))
        return np.random.default_rng([self.seed, zlib.crc32(path.encode()), number]), shape

    def random(self, size: Any = None) -> Array:
        generator, shape = self._generator(size)
        made: Array = generator.random(shape)
        return made

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Array:
        return self.random(size) * (high - low) + low

    def standard_normal(self, size: Any = None) -> Array:
        generator, shape = self._generator(size)
        made: Array = generator.standard_normal(shape)
        return made

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Array:
        return self.standard_normal(size) * scale + loc

    def gumbel(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Array:
        """What one of several is picked by: tf.random.categorical."""
        generator, shape = self._generator(size)
        made: Array = generator.gumbel(loc, scale, shape)
        return made

    @property
    def bit_generator(self) -> SharedDraws:
        """What numpy's generator keeps its state in."""
        return self

    @property
    def state(self) -> dict[str, int]:
        return dict(self._counts)

    @state.setter
    def state(self, counts: dict[str, int]) -> None:
        self._counts = dict(counts)

    def __getattr__(self, name: str) -> Any:
        """Whatever else numpy's generator has: the two sides do not draw it alike, so it is counted apart."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._generator((-1,), f"{self.here()}?")[0], name)
