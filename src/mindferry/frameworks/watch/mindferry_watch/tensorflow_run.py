"""What a script does with TensorFlow and Keras: its steps and losses, seeds, networks, data sets, optimizers."""

from __future__ import annotations

import sys
from typing import Any

from .seeds import Seeds, versions
from .session import Session

PACKAGES = ("tensorflow", "keras", "tensorflow_datasets", "keras_hub", "sklearn", "pandas")


def watch_tensorflow(session: Session, imported: str) -> None:
    """Called when TensorFlow or Keras has been imported: what is watched needs both, and each may import the other."""
    if imported == "tensorflow" and "keras" in sys.modules:
        return  # Keras imports it just now, and is whole a little later
    import keras  # its own import calls this function again, if it is not there yet

    if session.facts.get("has_tensorflow") or keras.backend.backend() != "tensorflow":
        return
    import tensorflow as tf

    session.facts["has_tensorflow"] = True
    _run_eagerly(tf)
    _Steps(session).install()
    Seeds(session).install([(tf.random, "set_seed", "tensorflow"), *_keras_seeds()])
    if session.settings.role == "observe":
        from .tensorflow_objects import KerasObjects

        KerasObjects(session).install()
        session.at_end(lambda is_last: {"versions": versions(PACKAGES)})


def _run_eagerly(tf: Any) -> None:
    """In a function that TensorFlow has compiled nothing can be seen; the script itself may not ask for it either."""
    run_functions_eagerly = tf.config.run_functions_eagerly
    run_functions_eagerly(True)
    tf.config.run_functions_eagerly = lambda run_eagerly: None
    tf.config.experimental_run_functions_eagerly = lambda run_eagerly: None


def _keras_seeds() -> list[tuple[Any, str, str]]:
    """keras.utils is there twice: once for `import keras`, once for `tf.keras`."""
    import keras
    import keras._tf_keras.keras.utils as tf_utils

    return [(keras.utils, "set_random_seed", "keras"), (tf_utils, "set_random_seed", "keras")]


class _Steps:
    """A step is an optimizer's; in a script without optimizers, each gradient ends one."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.losses: list[float] = []
        self.open: list[Any] = []  # tapes that record just now
        self.has_optimizer = False
        self.depth = 0

    def install(self) -> None:
        import keras
        import tensorflow as tf

        self._watch_tapes(tf.GradientTape)
        kinds = keras.optimizers.Optimizer.__mro__
        self._watch_updates(next(each for each in kinds if "apply" in vars(each)))

    def _watch_tapes(self, tape: Any) -> None:
        import tensorflow as tf

        enter, leave, original, steps = tape.__enter__, tape.__exit__, tape.gradient, self

        def noted_enter(self: Any) -> Any:
            steps.open.append(self)
            return enter(self)

        def noted_leave(self: Any, *args: Any) -> Any:
            steps.open[:] = [each for each in steps.open if each is not self]
            return leave(self, *args)

        def gradient(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            is_inner = any(each is not self for each in steps.open)  # a gradient inside a loss is not a loss
            result = original(self, target, sources, *args, **kwargs)
            values = [each for each in tf.nest.flatten(target) if hasattr(each, "numpy") and each.dtype.is_floating]
            if not is_inner and values:
                steps.losses.append(sum(float(each.numpy().sum()) for each in values))
                if not steps.has_optimizer:
                    steps.after_step(float("nan"))
            return result

        tape.__enter__, tape.__exit__, tape.gradient = noted_enter, noted_leave, gradient

    def _watch_updates(self, optimizer: Any) -> None:
        start, original, steps = optimizer.__init__, optimizer.apply, self

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
                steps.after_step(float(self.learning_rate))
            return made

        optimizer.__init__, optimizer.apply = noted_start, apply

    def after_step(self, rate: float) -> None:
        losses, self.losses = self.losses, []
        self.session.step({"loss": sum(losses) if losses else float("nan"), "lr": rate})
