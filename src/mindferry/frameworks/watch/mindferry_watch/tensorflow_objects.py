"""TensorFlow's side of `objects.py`: Keras' layers and tf.Module, tf.data, optimizers and schedules."""

from __future__ import annotations

import atexit
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from .by_identity import ByIdentity
from .objects import NETWORKS, Objects
from .types_seen import public_name

FITTED = ("fit", "evaluate", "predict")  # methods of a network that are given data
OPTIONS = 40  # of an optimizer


class KerasObjects(Objects):
    MARK = "keras-"
    WAYS = ("__new__", "wrapper")  # what stands between the user's call and a Keras layer's __init__

    def install(self) -> None:
        import h5py  # noqa: F401, its own ending comes after ours then: networks are saved before it closes its files

        atexit.register(self.session.write, "itself")
        super().install()
        self._watch_traced()

    def _watch_traced(self) -> None:
        """What tf.data runs is compiled from its source: its probes never run, and the function counts as a whole."""
        try:
            from tensorflow.python.autograph.impl import api

            original = api._convert_actual
        except (ImportError, AttributeError):
            return

        def convert(entity: Any, *args: Any) -> Any:
            code = getattr(entity, "__code__", None)
            if code is not None:
                self.session.trace(code)
            return original(entity, *args)

        api._convert_actual = convert

    def _watch_networks(self) -> None:
        import keras
        import tensorflow as tf

        self._watch_calls(keras.Layer)
        start, objects = keras.Layer.__init__, self
        begin = tf.Module.__init__

        def noted_start(layer: Any, *args: Any, **kwargs: Any) -> None:
            start(layer, *args, **kwargs)
            objects.note_start(layer, sys._getframe(1))

        def noted_begin(module: Any, *args: Any, **kwargs: Any) -> None:
            begin(module, *args, **kwargs)
            kind = type(module)
            if objects.session.is_own(sys._getframe(1).f_code.co_filename) and "__call__" in vars(kind):
                objects.note_start(module, sys._getframe(1))
                if not hasattr(kind.__call__, "mindferry"):
                    objects._watch_calls(kind)

        keras.Layer.__init__, tf.Module.__init__ = noted_start, noted_begin

    def _watch_calls(self, kind: Any) -> None:
        call, objects = kind.__call__, self

        def noted_call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if objects.depth or any(map(_is_symbolic, _leaves((args, kwargs)))):
                return call(module, *args, **kwargs)
            objects.depth += 1
            try:
                made = call(module, *args, **kwargs)
            finally:
                objects.depth -= 1
            mode = kwargs.pop("training", None)
            with contextlib.suppress(Exception):  # afterwards: only now it has its weights
                objects.note_call(module, args, kwargs, mode is True)
            return made

        noted_call.mindferry = True  # type: ignore[attr-defined]
        kind.__call__ = noted_call

    def parts(self, module: Any) -> list[Any]:
        if hasattr(module, "_flatten_layers"):
            return list(module._flatten_layers())
        return [module, *module.submodules]

    def sizes(self, module: Any) -> list[int]:
        held = module.weights if hasattr(module, "weights") else module.variables
        return [_size(each) for each in held]

    def structure(self, module: Any) -> list[list[str]]:
        return [[str(getattr(each, "path", each.name)), public_name(type(each))] for each in self.parts(module)[:2000]]

    def is_tensor(self, value: Any) -> bool:
        import keras
        import numpy
        import tensorflow as tf

        return isinstance(value, tf.Tensor | tf.Variable | keras.Variable | numpy.ndarray)

    def bytes_of(self, tensor: Any) -> int:
        return _size(tensor) * 8

    def array_of(self, tensor: Any) -> Any:
        import numpy

        array = numpy.array(tensor)
        if array.dtype.kind not in "biufc":
            if array.dtype.kind == "V" or "float" in array.dtype.name:
                return array.astype(numpy.float32)
            raise TypeError(f"an array of {array.dtype}")
        return array

    def state_size(self, module: Any) -> int:
        return sum(self.sizes(module)) * 4

    def save_state(self, module: Any, path: str) -> str:
        if not hasattr(module, "save_weights"):  # a layer by itself
            return ""
        module.save_weights(f"{path}.weights.h5")
        return ".weights.h5"

    def _watch_loaders(self) -> None:
        import keras
        import tensorflow as tf

        base = next(each for each in tf.data.Dataset.__mro__ if "__iter__" in vars(each))
        iterate, objects = base.__iter__, self
        known = ByIdentity()

        def noted_iterate(dataset: Any) -> Any:
            made, frame = iterate(dataset), sys._getframe(1)
            if not objects.session.is_own(frame.f_code.co_filename) or known.get(dataset):
                return made
            known.note(dataset, True)
            if len(objects.loaders) >= NETWORKS:
                return made
            return _Batches(objects.passing(objects.entry_of(dataset, frame), made))

        base.__iter__ = noted_iterate
        for name in FITTED:
            self._watch_fitted(keras.Model, name, known)

    def _watch_fitted(self, model: Any, name: str, known: ByIdentity) -> None:
        """A data set that is given to fit() is run by Keras, not by the script."""
        original, objects = getattr(model, name), self

        def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
            for each in (*args[:1], kwargs.get("x"), kwargs.get("validation_data")):
                if is_pipeline(each) and not known.get(each) and len(objects.loaders) < NETWORKS:
                    known.note(each, True)
                    objects.loaders.append(objects.entry_of(each, sys._getframe(1)))
            return original(self, *args, **kwargs)

        setattr(model, name, noted)

    def entry_of(self, dataset: Any, frame: Any) -> dict[str, Any]:
        try:
            length = len(dataset)
        except TypeError:  # endless, or not known before it has ended
            length = -1
        return {
            "dataset": "tensorflow.data.Dataset" if hasattr(dataset, "element_spec") else public_name(type(dataset)),
            "batch_size": _batch_size(dataset),
            "batches": length,
            "sampler": "",
            "workers": 0,
            "at": self.place_of(frame),
            "first": ["other", "no batch"],
        }

    def _watch_optimizers(self) -> None:
        import keras

        optimizer = next(each for each in keras.optimizers.Optimizer.__mro__ if "apply" in vars(each))
        self._watch_start(optimizer, self.optimizers, lambda made: {"options": _options(made)})
        self._watch_start(keras.optimizers.schedules.LearningRateSchedule, self.schedules, lambda made: {"options": {}})


class _Batches:
    """An iterator, asked as Python or as TensorFlow does it."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:
        return next(self._source)

    def get_next(self) -> Any:
        return next(self._source)


def is_pipeline(value: Any) -> bool:
    """tf.data, or a PyDataset of one's own; not arrays."""
    import keras
    import tensorflow as tf

    return isinstance(value, tf.data.Dataset | keras.utils.PyDataset)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _is_symbolic(value: Any) -> bool:
    import keras
    import tensorflow as tf

    return isinstance(value, keras.KerasTensor) or (isinstance(value, tf.Tensor) and not hasattr(value, "numpy"))


def _batch_size(dataset: Any) -> int:
    """Of the data set, or of the one that it was made of; 0 where that is not known."""
    import tensorflow as tf

    if hasattr(dataset, "batch_size"):
        return int(dataset.batch_size or 0)
    while dataset is not None:
        if hasattr(dataset, "_batch_size"):
            return int(tf.get_static_value(dataset._batch_size) or 0)
        dataset = getattr(dataset, "_input_dataset", None)
    return 0


def _size(tensor: Any) -> int:
    count = 1
    for size in tensor.shape:
        count *= int(size or 0)
    return count


def _options(optimizer: Any) -> dict[str, str]:
    """Of what its class has set by now: the base class is made first."""
    held = [(name, value) for name, value in vars(optimizer).items() if not name.startswith("_")]
    plain = [(name, value) for name, value in held if isinstance(value, int | float | str | bool)]
    return {name: repr(value)[:80] for name, value in plain[:OPTIONS]}
