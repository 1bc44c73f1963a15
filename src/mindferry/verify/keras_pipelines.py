"""In a worker: the data sets of a Keras script, on either side. What its variables hold, or what fit() is given, and nothing consumes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from ..frameworks.worker import Link

Found = Callable[[list[tuple[str, Any]]], None]
GIVEN = {"fit": ("x", "validation_data"), "evaluate": ("x",), "predict": ("x",)}  # method -> arguments that hold data
HELPERS = "ms_keras"
LOOP = "the first loop's"  # a data set that no variable holds


def share_seeds(dataset: Any, seed: int) -> None:
    """Each shuffle that has no seed gets one: the first the same as the first on the other side, and so on."""
    original, given = dataset.shuffle, [0]

    def shuffle(self: Any, buffer_size: Any, *args: Any, **kwargs: Any) -> Any:
        own = args[0] if args else kwargs.pop("seed", None)
        if own is None:
            given[0] += 1
        return original(self, buffer_size, seed + given[0] if own is None else own, *args[1:], **kwargs)

    dataset.shuffle = shuffle


def shuffle_as_converted() -> None:
    """TensorFlow's shuffle draws numbers that nobody else has: here it draws numpy's, as the converted one does."""
    import numpy as np
    import tensorflow as tf

    def shuffle(
        self: Any, buffer_size: Any, seed: int, reshuffle_each_iteration: bool | None = True, name: str = ""
    ) -> Any:
        chance = np.random.default_rng(seed)

        def elements() -> Iterator[Any]:
            numbers = np.random.default_rng(seed) if reshuffle_each_iteration is False else chance
            held: list[Any] = []
            for each in self:
                held.append(each)
                if len(held) >= int(buffer_size):
                    yield held.pop(int(numbers.integers(len(held))))
            while held:
                yield held.pop(int(numbers.integers(len(held))))

        made = tf.data.Dataset.from_generator(elements, output_signature=self.element_spec)
        count = int(self.cardinality())
        return made.apply(tf.data.experimental.assert_cardinality(count)) if count >= 0 else made

    tf.data.Dataset.shuffle = shuffle


def watch_pipelines(link: Link, helpers: list[ModuleType], found: Found) -> None:
    """When the script begins to read a data set, call `found` with all that it holds by then, by name."""
    assert link.project is not None
    project, state = link.project.resolve(), {"reading": False}
    kinds, model = _kinds(link.framework, helpers)

    def begin(frame: FrameType | None, given: dict[str, Any]) -> None:
        own = _own_frames(frame, project)
        if state["reading"] or not own or own[0] is not frame:  # a data set that reads another one
            return
        held = {**given, **{name: each for one in reversed(own) for name, each in _held(one, kinds)}}
        state["reading"] = True
        found(_last(held))

    def begun(original: Any) -> Any:
        def iterate(self: Any) -> Any:
            begin(sys._getframe(1), {LOOP: self})
            return original(self)

        return iterate

    def fitted(original: Any, names: tuple[str, ...]) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            values = {names[0]: args[0], **kwargs} if args else kwargs
            given = {name: values[name] for name in names if isinstance(values.get(name), kinds)}
            if given:
                begin(sys._getframe(1), given)
            return original(self, *args, **kwargs)

        return run

    base = next(each for each in kinds[0].__mro__ if "__iter__" in vars(each))
    base.__iter__ = begun(base.__iter__)
    for name, names in GIVEN.items():
        if model is not None:
            setattr(model, name, fitted(getattr(model, name), names))


def _kinds(framework: str, helpers: list[ModuleType]) -> tuple[tuple[Any, ...], Any]:
    """(classes of data sets, the first of which can be iterated over; the class whose fit() takes them)."""
    if framework == "tensorflow":
        import keras
        import tensorflow as tf

        return (tf.data.Dataset, keras.utils.PyDataset), keras.Model
    named = {
        name: getattr(each, name)
        for each in helpers
        for name in ("Dataset", "PyDataset", "Fitting")
        if hasattr(each, name)
    }
    kinds = tuple(named[name] for name in ("Dataset", "PyDataset") if name in named)
    return kinds if "Dataset" in named else (_Never, *kinds), named.get("Fitting")


class _Never:
    """Where the conversion has no data set."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def _own_frames(frame: FrameType | None, project: Path) -> list[FrameType]:
    """The project's own functions that are running, innermost first; the helpers that it brings along are not its own."""
    found = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        is_helper = HELPERS in path.parts or path.stem == HELPERS
        if path.is_absolute() and path.resolve().is_relative_to(project) and not is_helper:
            found.append(frame)
        frame = frame.f_back
    return found


def _held(frame: FrameType, kinds: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in list(frame.f_locals.items()):
        if isinstance(value, dict):
            yield from ((f"{name}[{key!r}]", each) for key, each in value.items() if isinstance(each, kinds))
        elif isinstance(value, list | tuple):
            yield from ((f"{name}[{key}]", each) for key, each in enumerate(value) if isinstance(each, kinds))
        elif isinstance(value, kinds):
            yield name, value


def _last(held: dict[str, Any]) -> list[tuple[str, Any]]:
    """By name, each once; without those that another one reads from."""
    once: dict[int, tuple[str, Any]] = {}
    for name, each in held.items():
        once[id(each)] = (name, each)  # a variable's name rather than the argument's
    consumed = {id(part) for _, each in once.values() for part in _sources(each)}
    return sorted((name, each) for key, (name, each) in once.items() if key not in consumed)


def _sources(dataset: Any) -> Iterator[Any]:
    """All data sets that it was made of, on the way to its first one."""
    waiting, seen = list(_inputs(dataset)), set()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += _inputs(each)


def _inputs(dataset: Any) -> list[Any]:
    """TensorFlow tells; the converted one holds them in the function that makes its elements."""
    if hasattr(dataset, "_inputs"):
        return list(dataset._inputs())
    cells = getattr(getattr(dataset, "make", None), "__closure__", None) or ()
    found: list[Any] = []
    for cell in cells:
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
        found += [each for each in parts if isinstance(each, type(dataset))]
    return found
