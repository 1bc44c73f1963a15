"""The MindSpore side of a Keras project, in its worker: the converted script on the reference's first weights, batches and random numbers."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..frameworks.requests import Trained, TrainRequest, TrainStep
from ..frameworks.shared_draws import SharedDraws
from ..frameworks.worker import Link
from .exchange import Exchange, leaves, sample
from .keras_reference import FIRST, SEED, Batches, Order, is_of_project, watch_fit
from .keras_roots import Roots
from .script import EnoughSteps, run_script

HELPERS = "ms_keras"


def replay_keras(request: TrainRequest, link: Link) -> Trained:
    """Run the converted script for as many steps, on what the reference recorded."""
    assert link.project is not None
    player = _Player(request, link)
    player.install(importlib.import_module(HELPERS))
    run_script(link.project, request.script, request.args, request.stdin)
    if not player.steps:
        raise MindferryError(f"the converted {request.script} made no training step; see `mindferry convert`")
    return Trained(tuple(player.steps), True)


class _Player:
    def __init__(self, request: TrainRequest, link: Link) -> None:
        assert link.project is not None
        self.exchange, self.wanted, self.link = Exchange(Path(request.exchange)), request.steps, link
        self.project = link.project.resolve()
        self.steps: list[TrainStep] = []
        self.losses: list[float] = []
        self.first = self.exchange.read_step(FIRST)
        self.order, self.depth = Order(), 0
        self.loops = self.fitted = 0
        self.has_optimizer = False
        self.roots = Roots(self.exchange, "ours-", _arrays)
        self.feeding = 0  # data sets that are at work: what they draw, TensorFlow's draw from numbers of their own

    def install(self, helpers: Any) -> None:
        import numpy as np

        np.random.seed(SEED)
        draws = SharedDraws(SEED, lambda: "first" if self.depth else "data" if self.feeding else "")
        if hasattr(helpers, "Chance"):
            helpers.Chance.generator = draws
        if hasattr(helpers, "set_seed"):
            helpers.set_seed = lambda seed: None  # the numbers are the reference's
        for name in ("rehearse", "call_on_symbols"):
            if hasattr(helpers, name):
                self._draw_again(helpers, name, draws)
        self._watch_weights(helpers)
        if hasattr(helpers, "Layer"):
            self.roots.watch(helpers.Layer, lambda args, kwargs: _is_real(helpers, args, kwargs))
        self._watch_gradients(helpers)
        self._watch_steps(helpers)
        if hasattr(helpers, "Fitting"):
            watch_fit(helpers.Fitting, self.recorded_for_fit)
        if hasattr(helpers, "Dataset"):
            self._watch_loops(helpers.Dataset)

    def _draw_again(self, helpers: Any, name: str, draws: SharedDraws) -> None:
        """What a rehearsal draws, or the sample of a symbolic tensor, is drawn again when the network runs."""
        original = getattr(helpers, name)

        def function(*args: Any) -> Any:
            before = draws.state
            made = original(*args)
            draws.state = before
            return made

        setattr(helpers, name, function)

    def _watch_weights(self, helpers: Any) -> None:
        import mindspore as ms

        if not hasattr(helpers, "Layer"):
            return
        original, player = helpers.Layer.add_weight, self

        def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
            player.depth += 1
            try:
                made = original(self, *args, **kwargs)
            finally:
                player.depth -= 1
            value = player.value_of(player.order.numbered(f"{self.name}/{made.short_name}"), tuple(made.shape))
            if value is not None:  # not by the helper's assign, which does nothing while layers only make their weights
                ms.ops.assign(made, ms.Tensor(value).astype(made.dtype))
            return made

        helpers.Layer.add_weight = add_weight

    def value_of(self, key: str, shape: tuple[int, ...]) -> Any:
        """By name; else the next of this kind and shape."""
        if key in self.first and self.first[key].shape == shape:
            return self.first.pop(key)
        kind = key.partition("#")[0].rpartition("/")[2]
        for name, value in self.first.items():
            if name.partition("#")[0].rpartition("/")[2] == kind and value.shape == shape:
                return self.first.pop(name)
        return None

    def _watch_gradients(self, helpers: Any) -> None:
        player = self
        if hasattr(helpers, "value_and_gradients"):
            original = helpers.value_and_gradients

            def value_and_gradients(forward: Any, sources: Any) -> Any:
                out, gradients = original(forward, sources)
                player.note(out[0] if isinstance(out, tuple) else out, gradients)
                return out, gradients

            helpers.value_and_gradients = value_and_gradients
        if hasattr(helpers, "RecordedTape"):
            take = helpers.RecordedTape.gradient

            def gradient(self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
                gradients = take(self, target, *args, **kwargs)
                player.note(target, gradients)
                return gradients

            helpers.RecordedTape.gradient = gradient

    def note(self, loss: Any, gradients: Any) -> None:
        self.losses.append(float(loss.asnumpy().sum()))
        if not self.has_optimizer:
            self.after_step(float("nan"), list(leaves(gradients, "asnumpy")), [])

    def _watch_steps(self, helpers: Any) -> None:
        if not hasattr(helpers, "Optimizer"):
            return
        original, start, player = helpers.Optimizer.apply, helpers.Optimizer.__init__, self

        def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
            grads = list(grads)
            weights = self.known if trainable_variables is None else list(trainable_variables)
            player.roots.before_step(len(player.steps), grads, weights)
            made = original(self, grads, weights)
            rate = self.learning_rate
            player.after_step(float(rate.asnumpy() if hasattr(rate, "asnumpy") else rate), grads, weights)
            return made

        def noted_start(self: Any, *args: Any, **kwargs: Any) -> None:
            player.has_optimizer = True
            start(self, *args, **kwargs)

        helpers.Optimizer.apply, helpers.Optimizer.__init__ = apply, noted_start

    def recorded_for_fit(self, data: Any) -> Any:
        data = self.recorded("fit", self.fitted, data)
        self.fitted += 1
        return data

    def _watch_loops(self, dataset: Any) -> None:
        original, player = dataset.__iter__, self

        def iterate(self: Any) -> Any:
            source = player.fed(original(self))
            if not is_of_project(sys._getframe(1).f_code.co_filename, player.project) or HELPERS in str(
                sys._getframe(1).f_globals.get("__name__")
            ):
                return source
            loop, player.loops = player.loops, player.loops + 1
            return Batches(player.passing(source, loop))

        dataset.__iter__ = iterate

    def fed(self, source: Any) -> Iterator[Any]:
        while True:
            self.feeding += 1
            try:
                batch = next(source)
            except StopIteration:
                return
            finally:
                self.feeding -= 1
            yield batch

    def passing(self, source: Any, loop: int) -> Iterator[Any]:
        for number, batch in enumerate(source):
            yield self.recorded(f"loop-{loop}", number, batch)

    def recorded(self, place: str, number: int, batch: Any) -> Any:
        """The reference's batch, put together as this one is; this one where it has none, or another structure."""
        import mindspore as ms

        arrays = list(self.exchange.read_step(f"{place}-{number}").values())
        left = iter(arrays)

        def filled(value: Any) -> Any:
            if isinstance(value, dict):
                made = {key: filled(value[key]) for key in sorted(value)}
                return {key: made[key] for key in value}
            if isinstance(value, list | tuple):
                return type(value)(filled(each) for each in value)
            if value is None:
                return None
            array = next(left)
            return ms.Tensor(array) if isinstance(value, ms.Tensor) and array.dtype.kind in "fiub" else array

        try:
            return filled(batch) if arrays else batch
        except StopIteration:
            return batch

    def distance(self, weights: list[Any]) -> tuple[float, str]:
        """(largest relative distance between a weight and its twin, which one); nan where they are not the same ones."""
        import numpy as np

        theirs = self.exchange.read_sample(len(self.steps))
        worst, name = 0.0, ""
        if len(theirs) != len(weights):
            return float("nan"), "the number of weights"
        for (key, expected), weight in zip(theirs.items(), weights, strict=True):
            actual = sample(weight.asnumpy())
            if actual.shape != expected.shape:
                return float("nan"), f"the shape of {weight.name}"
            found = float(np.linalg.norm(actual - expected) / (np.linalg.norm(expected) or 1.0))
            if found > worst:
                worst, name = found, key.partition(":")[2]
        return worst, name

    def after_step(self, rate: float, gradients: list[Any], weights: list[Any]) -> None:
        arrays = [each.asnumpy().astype("f8") for each in gradients if each is not None]
        norm = float(sum(float((each**2).sum()) for each in arrays) ** 0.5)
        losses, self.losses = self.losses, []
        loss = sum(losses) if losses else float("nan")
        self.steps.append(TrainStep(loss, rate, norm, *self.distance(weights)))
        self.roots.after_step(len(self.steps) - 1)
        self.link.say(f"MindSpore loss {self.steps[-1].loss:.4f}")
        self.link.doing(f"step {len(self.steps) + 1}")
        if len(self.steps) >= self.wanted:
            raise EnoughSteps


def _arrays(value: Any) -> list[Any]:
    return [each.asnumpy() for each in leaves(value, "asnumpy")]


def _is_real(helpers: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Neither symbolic, nor a rehearsal in which layers only make their weights."""
    is_rehearsal = getattr(getattr(helpers, "Calls", None), "is_rehearsal", False)
    return not is_rehearsal and not any(
        hasattr(each, "sample") and hasattr(each, "node") for each in _parts((args, kwargs))
    )


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _parts(each)
    else:
        yield value
