"""What the reference leaves for the conversion in a shared folder: batches, first weights, random numbers, weights per step."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .batches import put_together, take_apart

SAMPLE = 2048  # elements kept of each parameter and step
PASSING = "(passing)"  # in place of its class: a layer that a network calls and does not own


class Exchange:
    """Arrays as .npz files, what is around them beside these. The folder is mindferry's own, so pickle is no risk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write_batch(self, iteration: int, number: int, batch: Any, to_numpy: Callable[[Any], Any]) -> None:
        record, arrays = take_apart(batch, to_numpy)
        name = f"batch-{iteration}-{number}"
        self._write_arrays(name, {str(index): array for index, array in enumerate(arrays)})
        (self.folder / f"{name}.record").write_bytes(record)

    def read_batches(self, iteration: int, to_tensor: Callable[[Any], Any]) -> Iterator[Any]:
        """The batches of the loop over a loader that was the `iteration`-th one in the reference."""
        number = 0
        while (path := self.folder / f"batch-{iteration}-{number}.record").is_file():
            yield put_together(path.read_bytes(), list(self._read_arrays(path.stem).values()), to_tensor)
            number += 1

    def write_weights(self, root: int, kind: str, state: dict[str, Any]) -> None:
        self._write_arrays(f"weights-{root}", state)
        (self.folder / f"weights-{root}.kind").write_text(kind)

    def networks(self) -> list[str]:
        """The class of each network whose weights were written, in that order."""
        kinds: list[str] = []
        while (path := self.folder / f"weights-{len(kinds)}.kind").is_file():
            kinds.append(path.read_text())
        return kinds

    def read_weights(self, root: int) -> dict[str, Any]:
        return self._read_arrays(f"weights-{root}")

    def write_sample(self, step: int, sample: dict[str, Any]) -> None:
        self._write_arrays(f"sample-{step}", sample)

    def read_sample(self, step: int) -> dict[str, Any]:
        return self._read_arrays(f"sample-{step}")

    def write_step(self, name: str, arrays: dict[str, Any]) -> None:
        """Elements of gradients or weights at a step, "0:fc.weight" -> sample."""
        self._write_arrays(f"step-{name}", arrays)

    def read_step(self, name: str) -> dict[str, Any]:
        return self._read_arrays(f"step-{name}")

    def write_output(self, side: str, root: int, arrays: list[Any]) -> None:
        """What a network gave at its first call."""
        self._write_arrays(f"{side}output-{root}", {str(index): sample(each) for index, each in enumerate(arrays)})

    def read_output(self, side: str, root: int) -> list[Any]:
        return list(self._read_arrays(f"{side}output-{root}").values())

    def write_optimizer(self, step: int, facts: dict[str, Any]) -> None:
        (self.folder / f"optimizer-{step}.json").write_text(json.dumps(facts))

    def read_optimizer(self, step: int) -> dict[str, Any]:
        path = self.folder / f"optimizer-{step}.json"
        facts: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
        return facts

    def write_draws(self, draws: dict[str, list[Any]]) -> None:
        self._write_arrays(
            "draws",
            {f"{key}|{number:06}": value for key, values in draws.items() for number, value in enumerate(values)},
        )

    def read_draws(self) -> dict[str, list[Any]]:
        draws: dict[str, list[Any]] = {}
        for name, value in self._read_arrays("draws").items():
            draws.setdefault(name.rpartition("|")[0], []).append(value)
        return draws

    def write_state(self, name: str, state: Any) -> None:
        (self.folder / f"{name}.state").write_bytes(pickle.dumps(state))

    def read_state(self, name: str) -> Any:
        path = self.folder / f"{name}.state"
        return pickle.loads(path.read_bytes()) if path.is_file() else None

    def _write_arrays(self, name: str, arrays: dict[str, Any]) -> None:
        import numpy as np

        np.savez(self.folder / f"{name}.npz", **arrays)

    def _read_arrays(self, name: str) -> dict[str, Any]:
        import numpy as np

        path = self.folder / f"{name}.npz"
        if not path.is_file():
            return {}
        with np.load(path) as arrays:
            return {key: arrays[key] for key in arrays.files}


def sample(array: Any) -> Any:
    """Evenly spaced elements: enough to see a parameter drift, small enough to keep for every step."""
    flat = array.reshape(-1)
    return flat[:: max(1, flat.size // SAMPLE)].copy()


def leaves(value: Any, method: str) -> Iterator[Any]:
    """The tensors in an output, by the method that makes them arrays."""
    if hasattr(type(value), method):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from leaves(each, method)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key], method)
