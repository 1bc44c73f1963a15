"""The MindSpore side, in its worker: the script runs as it is, under clocks, then under MindSpore's own profiler."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from typing import Any

from ..apis import SOURCES
from ..errors import MindferryError
from ..frameworks.helper_modules import helpers_of
from ..frameworks.requests import Tuned, TuneRequest
from ..frameworks.worker import Link
from ..train.converted import switch_dropout_off
from ..train.script import EnoughSteps, run_script
from .clock import OBSERVED, PROFILED, Clock, now
from .feeding import Feeding
from .graphs import GRADIENT, Graphs
from .layers import Layers
from .model_steps import call_step, train_cell
from .summary import scalar, summarize
from .syncs import Syncs


def measure(request: TuneRequest, link: Link) -> Tuned:
    """Run a script (or a model) through the stages of the plan."""
    assert link.project is not None
    for name in SOURCES:  # the conversion has to run where there is none
        sys.modules[name] = None  # type: ignore[assignment]
    for name, value in request.environment.items():  # before the first convolution reads it
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    watch = Watch(request, link)
    helpers = helpers_of(request.helpers)
    watch.install(helpers)
    if request.is_plain:
        switch_dropout_off(helpers)
    if request.preload:
        importlib.import_module(request.preload)
    if request.model:
        until_enough(lambda: train_cell(request.model, request.inputs))
    elif request.step:
        until_enough(lambda: call_step(request.step, lambda: len(watch.clock.steps)))
    else:
        run_script(link.project, request.script, request.args)
    if not watch.clock.steps:
        raise MindferryError(
            f"{request.script} made no training step; check [train] script and args in mindferry.toml, or --args"
        )
    watch.end_profile()
    return summarize(watch)


def until_enough(call: Any) -> None:
    with contextlib.suppress(EnoughSteps):
        call()


class Watch:
    """What is wrapped while the script runs, and what was seen."""

    def __init__(self, request: TuneRequest, link: Link) -> None:
        assert link.project is not None
        self.link = link
        self.clock = Clock(request.plan, link.project)
        self.graphs, self.syncs = Graphs(self.clock), Syncs(self.clock)
        self.feeding, self.layers = Feeding(self.clock), Layers(self.clock)
        self.losses: list[float] = []
        self.pending: Any = None
        self.has_optimizer = self.is_profiling = False
        self.nesting = 0
        self.parameters = 0
        self.profiler: Any = None
        self.output = link.scratch / "profile"

    def install(self, helpers: list[Any]) -> None:
        import mindspore as ms

        set_blocking(False)  # the worker turned it on; what is measured is the script as it runs by itself
        seed()
        self.graphs.install()
        self.graphs.wait, self.graphs.on_gradient, self.graphs.on_step = (
            self.wait,
            self.after_gradient,
            self.after_graph_step,
        )
        self.syncs.install(ms.Tensor)
        self.feeding.install(helpers)
        self._watch_cells()
        self._watch_gradients()
        for helper in helpers:
            self._watch_closures(helper)
            self._watch_keras_updates(helper)

    def _watch_cells(self) -> None:
        from mindspore import nn

        start, original, watch = nn.Cell.__init__, nn.Cell.__call__, self

        def begin(cell: Any, *args: Any, **kwargs: Any) -> None:
            start(cell, *args, **kwargs)
            watch.has_optimizer |= is_optimizer_kind(type(cell))

        def call(cell: Any, *args: Any, **kwargs: Any) -> Any:
            if watch.clock.depth and not is_optimizer_kind(type(cell)):
                return (
                    watch.layers.call(cell, original, args, kwargs)
                    if watch.is_profiling
                    else original(cell, *args, **kwargs)
                )
            return watch.top_call(cell, original, args, kwargs)

        nn.Cell.__init__, nn.Cell.__call__ = begin, call

    def top_call(self, cell: Any, original: Any, args: Any, kwargs: Any) -> Any:
        """A cell called by the script's own code: an optimizer, a whole training step, or a network."""
        whole = type(cell).__name__.startswith("TrainOneStep")
        phase = "optimizer" if is_optimizer_kind(type(cell)) else "forward"
        if is_graph_mode():
            kind = type(cell).__name__
            result = self.graphs.run(
                id(cell), kind, "", lambda: original(cell, *args, **kwargs), (*args, *kwargs.values())
            )
        else:
            with self.clock.span("step" if whole else phase, type(cell).__name__):
                result = (
                    self.layers.call(cell, original, args, kwargs)
                    if self.is_profiling
                    else original(cell, *args, **kwargs)
                )
                self.wait()
        if phase == "optimizer":
            self.parameters = len(getattr(cell, "parameters", ()))
        elif whole:
            self.has_optimizer = True
            self.pending = result[0] if isinstance(result, tuple) else result
        if (phase == "optimizer" and not self.clock.depth) or whole:
            self.after_step()
        return result

    def _watch_closures(self, helper: Any) -> None:
        kind, watch = getattr(helper, "LBFGS", None), self
        if kind is None:
            return
        original = kind.step

        def step(optimizer: Any, closure: Any) -> Any:
            with watch.clock.span("optimizer", "LBFGS"):
                result = original(optimizer, closure)
                watch.wait()
            watch.after_step()
            return result

        kind.step = step

    def _watch_keras_updates(self, helper: Any) -> None:
        """An optimizer that was converted from Keras is no cell."""
        kind, watch = getattr(helper, "Optimizer", None), self
        if kind is None or not hasattr(kind, "apply_gradients"):
            return
        start, original = kind.__init__, kind.apply

        def begin(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            watch.has_optimizer = True
            start(optimizer, *args, **kwargs)

        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            gradients = list(grads)
            if watch.clock.depth:  # inside of another optimizer
                return original(optimizer, gradients, trainable_variables)
            with watch.clock.span("optimizer", type(optimizer).__name__):
                result = original(optimizer, gradients, trainable_variables)
                watch.wait()
            watch.parameters = len(gradients)
            watch.after_step()
            return result

        kind.__init__, kind.apply = begin, apply

    def _watch_gradients(self) -> None:
        import mindspore as ms

        original, watch = ms.value_and_grad, self

        def value_and_grad(
            fn: Any, grad_position: Any = 0, weights: Any = None, has_aux: bool = False, **options: Any
        ) -> Any:
            inner = original(watch.timed_forward(fn), grad_position, weights, has_aux, **options)
            key = object()

            @functools.wraps(fn, updated=())
            def run(*args: Any, **kwargs: Any) -> Any:
                watch.nesting += 1
                try:
                    result = watch.gradient(inner, args, kwargs, key)
                finally:
                    watch.nesting -= 1
                if watch.nesting == 0:
                    watch.after_gradient(result, has_aux)
                return result

            run.__wrapped__ = inner  # ms.jit compiles what it was given
            setattr(run, GRADIENT, has_aux)
            return run

        ms.value_and_grad = value_and_grad

    def gradient(self, inner: Any, args: Any, kwargs: Any, key: object) -> Any:
        if is_graph_mode():
            return self.graphs.run(key, "value_and_grad", "", lambda: inner(*args, **kwargs), (*args, *kwargs.values()))
        with self.clock.span("backward"):
            result = inner(*args, **kwargs)
            self.wait()
        return result

    def timed_forward(self, fn: Any) -> Any:
        @functools.wraps(fn, updated=())
        def forward(*args: Any, **kwargs: Any) -> Any:
            with self.clock.span("forward"):
                result = fn(*args, **kwargs)
                self.wait()
            return result

        forward.__wrapped__ = fn
        return forward

    def wait(self) -> None:
        """At a border between phases, so that none pays for another; not while only the step is timed."""
        if self.clock.stage in (OBSERVED, PROFILED):
            import mindspore as ms

            ms.runtime.synchronize()

    def after_gradient(self, result: Any, has_aux: bool) -> None:
        loss = result[0][0] if has_aux else result[0]
        self.pending = loss if self.pending is None else self.pending + loss
        if not self.has_optimizer:
            self.after_step()

    def after_graph_step(self, result: Any) -> None:
        self.pending = result[0] if isinstance(result, tuple | list) and result else result
        self.after_step()

    def after_step(self) -> None:
        """A step ends when its results are there; its loss is read between the steps."""
        import mindspore as ms

        ms.runtime.synchronize()
        following = self.clock.step_done(self._between)
        self.losses.append(scalar(self.pending))
        self.pending = None
        self.link.say(f"MindSpore {self.clock.steps[-1].stage} {len(self.losses)}")
        if not following:
            raise EnoughSteps
        self.clock.begin_step()
        self.link.doing(f"step {len(self.losses) + 1}, after {len(self.losses)} whole ones")

    def _between(self, stage: str) -> None:
        import mindspore as ms

        if stage == PROFILED:
            from mindspore.profiler import ProfilerActivity, profile, tensorboard_trace_handler

            ms.runtime.synchronize()
            set_blocking(True)  # an operator then starts while the cell that asked for it is on the stack
            handler = tensorboard_trace_handler(str(self.output))
            self.profiler = profile(
                activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, on_trace_ready=handler
            )
            self.is_profiling = True
            self.profiler.start()
        elif self.is_profiling:
            self.end_profile()

    def end_profile(self) -> None:
        if self.is_profiling:
            import mindspore as ms

            ms.runtime.synchronize()
            self.is_profiling = False
            self.profiled_until = now()
            self.profiler.stop()


def set_blocking(wanted: bool) -> None:
    import mindspore as ms

    ms.set_context(pynative_synchronize=wanted)


def seed() -> None:
    """The script's own seed comes later and wins; without one, two runs still draw the same."""
    import random

    import mindspore as ms
    import numpy as np

    ms.set_seed(0)
    np.random.seed(0)
    random.seed(0)


def is_graph_mode() -> bool:
    import mindspore as ms

    return bool(ms.get_context("mode") == ms.GRAPH_MODE)


_OPTIMIZERS: dict[type, bool] = {}


def is_optimizer_kind(kind: type) -> bool:
    """MindSpore's own, or the converted project's, whichever of our bases it has."""
    if kind not in _OPTIMIZERS:
        _OPTIMIZERS[kind] = any(base.__name__.endswith("Optimizer") for base in kind.__mro__)
    return _OPTIMIZERS[kind]
