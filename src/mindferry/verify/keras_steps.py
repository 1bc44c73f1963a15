"""What a Keras optimizer does on made-up gradients, and the losses of a few training steps, as recorder_steps.py records it for torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..frameworks.shared_draws import SharedDraws
from ..frameworks.tensorflow_numbers import shared_numbers
from .keras_network import Network, precision
from .update import LEAST, SIZE, STEPS, STRIDE, phase

if TYPE_CHECKING:
    from .keras_recorder import KerasRecorder

Tensor = Any  # tf.Tensor


def record_updates(recorder: KerasRecorder, make: Callable[[Any], Any]) -> dict[str, str]:
    """How far the optimizer that `make(model)` gives moves each weight: name -> key."""
    import numpy as np
    import tensorflow as tf

    recorder.note("the optimizer's steps")
    for which, chosen in _runs(recorder):
        before = chosen.values()
        with precision(chosen is recorder.double):
            optimizer = make(chosen.model)
            for turn in range(STEPS):
                pairs = []
                for name, variable in chosen.trainable.items():
                    wave = np.sin(np.arange(int(np.prod(variable.shape))) * STRIDE + phase(name, turn))
                    gradient = (SIZE * (wave + LEAST * np.sign(wave))).astype(np.float32).reshape(variable.shape)
                    pairs.append((tf.cast(gradient, variable.dtype), variable))
                optimizer.apply_gradients(pairs)
        for name, variable in chosen.trainable.items():
            recorder.keep(which, f"step/{name}", variable.numpy() - before[name])
        chosen.assign(before)
    return {name: f"step/{name}" for name in recorder.single.trainable}


def record_training(recorder: KerasRecorder, make: Callable[[Any], Any], steps: int) -> list[str]:
    """The loss of a few training steps on the same input: keys."""
    import tensorflow as tf

    for which, chosen in _runs(recorder):
        recorder.note(f"{steps} training steps")
        before = chosen.values()
        with precision(chosen is recorder.double), shared_numbers(SharedDraws(recorder.seed, lambda: "")):
            optimizer = make(chosen.model)
            for number in range(steps):
                weights = list(chosen.trainable.values())
                with tf.GradientTape() as tape:
                    loss = recorder.loss_of(chosen)
                gradients = tape.gradient(loss, [getattr(each, "value", each) for each in weights])
                optimizer.apply_gradients(zip(gradients, weights, strict=True))
                recorder.keep(which, f"steps/loss.{number}", tf.convert_to_tensor(loss))
        chosen.assign(before)
    return [f"steps/loss.{number}" for number in range(steps)]


def _runs(recorder: KerasRecorder) -> Sequence[tuple[str, Network]]:
    """In float64, where it runs there, then in float32."""
    return (("write", recorder.double or recorder.single), ("own", recorder.single))
