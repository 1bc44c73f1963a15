"""What the reference leaves for the conversion in a shared folder: batches, first weights, a sample of the weights per step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SAMPLE = 2048  # elements kept of each parameter and step


class Exchange:
    """Arrays as .npz files; the structure of a batch as JSON beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write_batch(self, iteration: int, number: int, batch: Any, to_numpy: Callable[[Any], Any]) -> None:
        import numpy as np

        arrays: list[Any] = []
        shape = _take_apart(batch, arrays, to_numpy)
        name = self.folder / f"batch-{iteration}-{number}"
        np.savez(name.with_suffix(".npz"), *arrays)
        name.with_suffix(".json").write_text(json.dumps(shape))

    def read_batches(self, iteration: int, to_tensor: Callable[[Any], Any]) -> Iterator[Any]:
        """The batches of the loop over a loader that was the `iteration`-th one in the reference."""
        import numpy as np

        number = 0
        while (path := self.folder / f"batch-{iteration}-{number}.json").is_file():
            with np.load(path.with_suffix(".npz")) as arrays:
                values = [arrays[f"arr_{index}"] for index in range(len(arrays.files))]
            yield _put_together(json.loads(path.read_text()), values, to_tensor)
            number += 1

    def write_weights(self, root: int, state: dict[str, Any]) -> None:
        import numpy as np

        np.savez(self.folder / f"weights-{root}.npz", **state)

    def read_weights(self, root: int) -> dict[str, Any] | None:
        import numpy as np

        path = self.folder / f"weights-{root}.npz"
        if not path.is_file():
            return None
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def write_sample(self, step: int, sample: dict[str, Any]) -> None:
        import numpy as np

        np.savez(self.folder / f"sample-{step}.npz", **sample)

    def read_sample(self, step: int) -> dict[str, Any]:
        import numpy as np

        with np.load(self.folder / f"sample-{step}.npz") as arrays:
            return {name: arrays[name] for name in arrays.files}


def sample(array: Any) -> Any:
    """Evenly spaced elements: enough to see a parameter drift, small enough to keep for every step."""
    flat = array.reshape(-1)
    return flat[:: max(1, flat.size // SAMPLE)].copy()


def _take_apart(value: Any, arrays: list[Any], to_numpy: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {"dict": {key: _take_apart(each, arrays, to_numpy) for key, each in value.items()}}
    if isinstance(value, tuple | list):
        return {"list": [_take_apart(each, arrays, to_numpy) for each in value]}
    if isinstance(value, str | int | float | bool) or value is None:
        return {"plain": value}
    arrays.append(to_numpy(value))
    return {"array": len(arrays) - 1}


def _put_together(shape: Any, arrays: list[Any], to_tensor: Callable[[Any], Any]) -> Any:
    kind, value = next(iter(shape.items()))
    if kind == "dict":
        return {key: _put_together(each, arrays, to_tensor) for key, each in value.items()}
    if kind == "list":
        return [_put_together(each, arrays, to_tensor) for each in value]
    return value if kind == "plain" else to_tensor(arrays[value])
