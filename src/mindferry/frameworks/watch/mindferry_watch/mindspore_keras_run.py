"""What a script that was converted from Keras does with its ms_keras: steps and losses, counted as on TensorFlow's side."""

from __future__ import annotations

from typing import Any

from .mindspore_run import Steps
from .session import Session


def watch_keras_helpers(session: Session, helper: Any) -> None:
    steps = session.watched_steps
    if steps is None:
        return
    if hasattr(helper, "Optimizer"):
        _watch_updates(steps, helper.Optimizer)
    if hasattr(helper, "value_and_gradients"):
        helper.value_and_gradients = _counted(steps, helper.value_and_gradients, _first_value)
    if hasattr(helper, "RecordedTape"):
        helper.RecordedTape.gradient = _counted(steps, helper.RecordedTape.gradient, _target)


def _watch_updates(steps: Steps, optimizer: Any) -> None:
    start, original = optimizer.__init__, optimizer.apply

    def noted_start(self: Any, *args: Any, **kwargs: Any) -> None:
        steps.has_optimizer = True
        start(self, *args, **kwargs)

    def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        steps.depth += 1
        try:
            made = original(self, *args, **kwargs)
        finally:
            steps.depth -= 1
        if not steps.depth:
            steps.note(self.learning_rate)
        return made

    optimizer.__init__, optimizer.apply = noted_start, apply


def _counted(steps: Steps, original: Any, loss_of: Any) -> Any:
    """A gradient that counts once, however often the helper runs the function for it."""

    def run(*args: Any, **kwargs: Any) -> Any:
        steps.nesting += 1
        try:
            result = original(*args, **kwargs)
        finally:
            steps.nesting -= 1
        loss = loss_of(args, result)
        if steps.nesting == 0 and hasattr(loss, "asnumpy"):
            steps.after_gradient(loss)
        return result

    return run


def _first_value(args: tuple[Any, ...], result: Any) -> Any:
    return result[0][0] if isinstance(result[0], tuple) else result[0]


def _target(args: tuple[Any, ...], result: Any) -> Any:
    return args[1]
