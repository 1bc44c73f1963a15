"""The TensorFlow side, in its worker: the reference script as it is, compiled where it compiles; only whole steps are timed.

A step is a batch of fit(), a call of the @tf.function that holds the optimizer's update, or an update that runs eagerly.
"""

from __future__ import annotations

import math
import resource
from typing import Any

from ..errors import MindferryError
from ..frameworks.requests import Tuned, TuneRequest
from ..frameworks.worker import Link
from ..train.script import EnoughSteps, run_script
from ..tune_record import Profile
from .clock import OBSERVED, PLAIN, Clock
from .summary import median


def measure(request: TuneRequest, link: Link) -> Tuned:
    assert link.project is not None
    if not request.script:
        raise MindferryError("a Keras reference is timed by its training script; name it with --script")
    watch = KerasWatch(request, link)
    watch.install()
    run_script(link.project, request.script, request.args)
    if not watch.clock.steps:
        raise MindferryError(
            f"{request.script} made no training step in TensorFlow; check [train] script and args in mindferry.toml"
        )
    return Tuned(watch.profile())


class KerasWatch:
    def __init__(self, request: TuneRequest, link: Link) -> None:
        assert link.project is not None
        self.link, self.clock = link, Clock(request.plan, link.project)
        self.losses: list[float] = []
        self.is_fitting = False
        self.open: list[Any] = []  # functions that TensorFlow compiles or runs just now, the outermost first
        self.stepping: set[int] = set()  # those that hold an update

    def install(self) -> None:
        import keras
        import tensorflow as tf

        self._watch_fit(keras.Model, keras.callbacks.Callback)
        self._watch_functions(type(tf.function(lambda: None)))
        kinds = keras.optimizers.Optimizer.__mro__
        self._watch_updates(next(each for each in kinds if "apply" in vars(each)), tf)

    def _watch_fit(self, model: Any, callback: Any) -> None:
        original, watch = model.fit, self

        class Steps(callback):  # type: ignore[misc]
            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                watch.after_step(float((logs or {}).get("loss", math.nan)))

        def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = kwargs.pop("callbacks", None)
            listed = list(given) if isinstance(given, list | tuple) else [given] if given is not None else []
            watch.is_fitting = True
            try:
                return original(self, *args, callbacks=[*listed, Steps()], **kwargs)
            finally:
                watch.is_fitting = False

        model.fit = fit

    def _watch_functions(self, kind: Any) -> None:
        original, watch = kind.__call__, self

        def call(function: Any, *args: Any, **kwargs: Any) -> Any:
            watch.open.append(function)
            try:
                result = original(function, *args, **kwargs)
            finally:
                watch.open.pop()
            if not watch.open and not watch.is_fitting and id(function) in watch.stepping:
                watch.after_step(math.nan)
            return result

        kind.__call__ = call

    def _watch_updates(self, optimizer: Any, tf: Any) -> None:
        original, watch = optimizer.apply, self

        def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            if watch.open:
                watch.stepping.add(id(watch.open[0]))
            elif not watch.is_fitting and tf.executing_eagerly():
                watch.after_step(math.nan)
            return result

        optimizer.apply = apply

    def after_step(self, loss: float) -> None:
        following = self.clock.step_done(lambda stage: None)
        self.losses.append(loss)
        self.link.say(f"TensorFlow {self.clock.steps[-1].stage} {len(self.losses)}")
        if not following:
            raise EnoughSteps
        self.clock.begin_step()
        self.link.doing(f"step {len(self.losses) + 1}, after {len(self.losses)} whole ones")

    def profile(self) -> Profile:
        clock = self.clock
        return Profile(
            framework="TensorFlow",
            device="CPU",
            steps=len(clock.measured(PLAIN)),
            step_seconds=median(clock, PLAIN),
            observed_seconds=median(clock, OBSERVED),
            phases=(),
            operators=(),
            peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            losses=tuple(self.losses),
            step_times=tuple(step.seconds for step in clock.measured(PLAIN)),
            trace="",
        )
