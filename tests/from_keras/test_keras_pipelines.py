"""Which data sets of a Keras script are compared: what its variables hold, loops over and gives to fit, without those that others read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mindferry.frameworks.worker import Link
from mindferry.verify.keras_pipelines import share_seeds, watch_pipelines


class Dataset:
    """As the converted one: what it reads from is held by the function that makes its elements."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[Any]:
        return iter(self.make())

    def batch(self, size: int) -> Dataset:
        return type(self)(lambda: iter([list(self)[:size]]))

    def shuffle(self, buffer_size: int, seed: int | None = None) -> int | None:
        return seed


class Ended(BaseException):
    pass


SCRIPTS = {
    "raw = Dataset(lambda: [1, 2])\ntrain, test = raw.batch(2), raw.batch(1)\nfor x in train:\n    pass": [
        "test",
        "train",
    ],
    "for x in Dataset(lambda: [1]).batch(2):\n    pass": ["the first loop's"],
    "Fitting().fit(Dataset(lambda: [1]), validation_data=Dataset(lambda: [2]))": ["validation_data", "x"],
    "parts = {'a': Dataset(lambda: [1])}\ndef run(given):\n    Fitting().fit(given)\nrun(parts['a'])": ["given"],
    "def run():\n    val = Dataset(lambda: [3])\n    for x in Dataset(lambda: [1]):\n        pass\nrun()": [
        "the first loop's",
        "val",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_data_sets_of_a_script_are_found_by_name(script: str, tmp_path: Path) -> None:
    helper: Any = ModuleType("ms_keras")
    helper.Dataset = type("Dataset", (Dataset,), {"__iter__": Dataset.__iter__})
    helper.Fitting = type("Fitting", (), {name: lambda self, *a, **k: None for name in ("fit", "evaluate", "predict")})
    found: list[str] = []

    def end(loaders: list[tuple[str, Any]]) -> None:
        found.extend(name for name, _ in loaders)
        raise Ended

    watch_pipelines(Link(framework="mindspore", project=tmp_path, scratch=tmp_path, replies=0), [helper], end)
    path = tmp_path / "train.py"
    path.write_text(script)
    with pytest.raises(Ended):
        exec(compile(script, str(path), "exec"), {"Dataset": helper.Dataset, "Fitting": helper.Fitting})
    assert found == SCRIPTS[script], sys.version


def test_shuffles_without_a_seed_get_one_each_and_keep_their_own() -> None:
    kind: Any = type("Kind", (Dataset,), {"shuffle": Dataset.shuffle})
    share_seeds(kind, 40)
    made = kind(lambda: [1])
    assert [made.shuffle(8), made.shuffle(8, seed=3), made.shuffle(8, 5), made.shuffle(8)] == [41, 3, 5, 42]
