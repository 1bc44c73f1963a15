"""The TensorFlow side, in its worker: the user's script runs as it is, and what it does at each step is written down."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..frameworks.requests import Trained, TrainRequest, TrainStep
from ..frameworks.shared_draws import SharedDraws
from ..frameworks.tensorflow_numbers import shared_numbers
from ..frameworks.worker import Link
from .exchange import Exchange, sample
from .keras_roots import Roots
from .script import EnoughSteps, run_script

SEED = 7  # of what both sides draw
FIRST = "first values"


def record_keras(request: TrainRequest, link: Link) -> Trained:
    """Run the script for so many optimizer steps: loss, learning rate and gradient norm of each."""
    assert link.project is not None
    recorder = _Recorder(request, link)
    recorder.install()
    with shared_numbers(SharedDraws(SEED, recorder.here)):
        run_script(link.project, request.script, request.args, request.stdin)
    recorder.exchange.write_step(FIRST, recorder.first)
    if not recorder.steps:
        raise MindferryError(f"{request.script} made no training step; check [train] script and args in mindferry.toml")
    return Trained(tuple(recorder.steps), recorder.has_optimizer)


class Order:
    """Counts what has the same name: `dense/kernel`, then `dense/kernel#1`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def numbered(self, name: str) -> str:
        number = self._counts[name] = self._counts.get(name, -1) + 1
        return f"{name}#{number}" if number else name


def run_eagerly(tf: Any) -> None:
    """Functions run as Python, so that what they do is seen; those of a data set stay graphs, which may need that."""
    tf.config.run_functions_eagerly(True)
    compiled = type(tf.function(lambda: None))
    compiled._run_functions_eagerly = property(lambda self: tf.executing_eagerly())


def watch_fit(model: Any, taken: Callable[[Any], Any]) -> None:
    """Every batch that fit() trains on is what `taken` makes of it."""
    original = model.fit

    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        step = type(self).train_step
        self.__dict__["train_step"] = lambda data: step(self, taken(data))
        return original(self, *args, **kwargs)

    model.fit = fit


class _Recorder:
    """Hooks of a run in TensorFlow. A step is an optimizer's."""

    def __init__(self, request: TrainRequest, link: Link) -> None:
        assert link.project is not None
        self.exchange, self.wanted, self.link = Exchange(Path(request.exchange)), request.steps, link
        self.project = link.project.resolve()
        self.steps: list[TrainStep] = []
        self.losses: list[float] = []
        self.first: dict[str, Any] = {}  # weight -> its first value
        self.made: dict[int, str] = {}  # weights of which that is not written down yet
        self.order, self.depth = Order(), 0
        self.loops = self.fitted = 0
        self.has_optimizer = False
        self.roots = Roots(self.exchange, "", _arrays)

    def here(self) -> str:
        """First values are drawn apart from what the network draws."""
        return "first" if self.depth else ""

    def install(self) -> None:
        import keras
        import numpy as np
        import tensorflow as tf

        run_eagerly(tf)
        np.random.seed(SEED)
        self._watch_weights(keras.Layer)
        self.roots.watch(keras.Layer, _is_real)
        self._watch_steps(keras.optimizers.Optimizer)
        self._watch_tapes(tf.GradientTape)
        watch_fit(keras.Model, self.keep_fitted)
        self._watch_loops(tf.data.Dataset)

    def _watch_weights(self, layer: Any) -> None:
        original, recorder = layer.add_weight, self

        def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
            recorder.depth += 1
            try:
                made = original(self, *args, **kwargs)
            finally:
                recorder.depth -= 1
            recorder.made[id(made)] = recorder.order.numbered(f"{self.name}/{made.name}")
            if made._value is not None:
                recorder.keep_first(made)
            return made

        layer.add_weight = add_weight
        variable = next(each for each in self._variable_classes() if "_deferred_initialize" in vars(each))
        later = variable._deferred_initialize

        def initialize(self: Any) -> None:
            recorder.depth += 1
            try:
                later(self)
            finally:
                recorder.depth -= 1
            recorder.keep_first(self)

        variable._deferred_initialize = initialize

    def _variable_classes(self) -> tuple[Any, ...]:
        import keras

        classes: tuple[Any, ...] = keras.Variable.__mro__
        return classes

    def keep_first(self, weight: Any) -> None:
        """A weight that is made while a network is put together gets its value a little later."""
        if id(weight) in self.made:
            self.first[self.made.pop(id(weight))] = weight.numpy().copy()

    def _watch_steps(self, optimizer: Any) -> None:
        base = next(each for each in optimizer.__mro__ if "apply" in vars(each))
        original, start, recorder = base.apply, base.__init__, self

        def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
            grads = list(grads)
            weights = self._trainable_variables if trainable_variables is None else list(trainable_variables)
            recorder.roots.before_step(len(recorder.steps), grads, weights)
            made = original(self, grads, trainable_variables)
            recorder.after_step(float(self.learning_rate), grads, weights)
            return made

        def noted_start(self: Any, *args: Any, **kwargs: Any) -> None:
            recorder.has_optimizer = True
            start(self, *args, **kwargs)

        base.apply, base.__init__ = apply, noted_start

    def _watch_tapes(self, tape: Any) -> None:
        import tensorflow as tf

        original, enter, leave, recorder = tape.gradient, tape.__enter__, tape.__exit__, self
        opened: list[Any] = []  # tapes that record just now

        def entered(self: Any) -> Any:
            opened.append(self)
            return enter(self)

        def left(self: Any, *error: Any) -> Any:
            opened.remove(self)
            return leave(self, *error)

        def gradient(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            is_loss = all(each is self for each in opened)  # else it is a part of another tape's loss
            if is_loss:
                values = [float(tf.reduce_sum(each)) for each in tf.nest.flatten(target) if each.dtype.is_floating]
                recorder.losses.append(sum(values))
            made = original(self, target, sources, *args, **kwargs)
            if is_loss and not recorder.has_optimizer:
                recorder.after_step(float("nan"), tf.nest.flatten(made), [])
            return made

        tape.gradient, tape.__enter__, tape.__exit__ = gradient, entered, left

    def keep_fitted(self, data: Any) -> Any:
        self.keep("fit", self.fitted, data)
        self.fitted += 1
        return data

    def _watch_loops(self, dataset: Any) -> None:
        base = next(each for each in dataset.__mro__ if "__iter__" in vars(each))
        original, recorder = base.__iter__, self

        def iterate(self: Any) -> Any:
            source = original(self)
            if not is_of_project(sys._getframe(1).f_code.co_filename, recorder.project):
                return source
            loop, recorder.loops = recorder.loops, recorder.loops + 1
            return _trackable(recorder.passing(source, loop))

        base.__iter__ = iterate

    def passing(self, source: Any, loop: int) -> Iterator[Any]:
        """The data set's own batches, written down as they pass."""
        for number, batch in enumerate(source):
            self.keep(f"loop-{loop}", number, batch)
            yield batch

    def keep(self, place: str, number: int, batch: Any) -> None:
        import tensorflow as tf

        arrays = [_as_array(each) for each in tf.nest.flatten(batch)]
        self.exchange.write_step(f"{place}-{number}", {str(index): each for index, each in enumerate(arrays)})

    def after_step(self, rate: float, gradients: list[Any], weights: list[Any]) -> None:
        import tensorflow as tf

        arrays = [tf.convert_to_tensor(each).numpy().astype("f8") for each in gradients if each is not None]
        norm = float(sum(float((each**2).sum()) for each in arrays) ** 0.5)
        losses, self.losses = self.losses, []
        self.steps.append(TrainStep(sum(losses) if losses else float("nan"), rate, norm))
        values = {f"{index}:{each.name}": sample(each.numpy()) for index, each in enumerate(weights)}
        self.exchange.write_sample(len(self.steps) - 1, values)
        self.roots.after_step(len(self.steps) - 1)
        self.link.say(f"TensorFlow loss {self.steps[-1].loss:.4f}")
        self.link.doing(f"step {len(self.steps) + 1}")
        if len(self.steps) >= self.wanted:
            raise EnoughSteps


def _as_array(tensor: Any) -> Any:
    """Text as text: TensorFlow has it as objects, which are not written."""
    import numpy as np

    array = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    return np.char.decode(array.astype("S"), "utf-8") if array.dtype == object else array


class Batches:
    """An iterator, asked as Python or as TensorFlow does it."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Any:
        return next(self._source)

    def get_next(self) -> Any:
        return next(self._source)


def _trackable(source: Iterator[Any]) -> Any:
    """An iterator that a `tf.train.Checkpoint` takes among what it keeps, as it takes a data set's own."""
    import tensorflow as tf

    return type("Batches", (Batches, tf.__internal__.tracking.Trackable), {})(source)


def _arrays(value: Any) -> list[Any]:
    import tensorflow as tf

    return [tf.convert_to_tensor(each).numpy() for each in tf.nest.flatten(value) if hasattr(each, "shape")]


def _is_real(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    import keras
    import tensorflow as tf

    given = tf.nest.flatten((args, kwargs))
    return not any(isinstance(each, keras.KerasTensor) or tf.is_symbolic_tensor(each) for each in given)


def is_of_project(file: str, project: Path) -> bool:
    return Path(file).resolve().is_relative_to(project)
