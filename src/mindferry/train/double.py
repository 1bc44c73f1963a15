"""The reference once more in float64, on its own batches and random numbers: how far rounding alone drives it.

Its first weights are moved by what a kernel in float32 may round away, which is several times what torch's own do: a loop that
makes this large makes another framework's rounding as large.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..frameworks.requests import DoubleLosses, TrainRequest
from ..frameworks.worker import Link
from .exchange import Exchange
from .randomness import Draws, HostStream, from_standard_numbers, standard_numbers
from .reference import Recorder
from .script import run_script

ROUNDED = 2.0**-20  # of each weight: eight times the distance of two neighbours in float32


def record_double(request: TrainRequest, link: Link) -> DoubleLosses:
    """The losses of as many steps; fewer, or none, where the script insists on float32."""
    assert link.project is not None
    with tempfile.TemporaryDirectory(prefix="mindferry-double-") as own:
        recorder = _DoubleRecorder(replace(request, exchange=own), Exchange(Path(request.exchange)), link)
        use_double()
        recorder.install()
        try:
            run_script(link.project, request.script, request.args, request.stdin)
        except Exception as error:  # whatever the script can't do in float64: then the drift is not known
            return DoubleLosses((), f"{type(error).__name__}: {error}")
    return DoubleLosses(tuple(step.loss for step in recorder.steps))


def use_double() -> None:
    """Every spelling of float32 means float64 from here on."""
    import torch

    single = torch.float32
    buffer = io.BytesIO()
    torch.save(torch.zeros(1), buffer)  # torch fills its tables of storage types now, while the names still differ
    buffer.seek(0)
    torch.load(buffer)

    def widened(original: Any) -> Any:
        def make(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            return result.double().requires_grad_(result.requires_grad) if result.dtype is single else result

        return make

    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    torch.FloatTensor = torch.DoubleTensor
    torch.Tensor.float = torch.Tensor.double
    for name in ("from_numpy", "as_tensor", "tensor"):
        setattr(torch, name, widened(getattr(torch, name)))


def moved(value: Any, seed: int) -> Any:
    """Each number a little larger or smaller, in float64; the same ones in every run."""
    import numpy as np
    import torch

    if not value.is_floating_point():
        return value
    signs = np.random.RandomState(seed).uniform(-1, 1, tuple(value.shape))
    return value.double() * (1 + ROUNDED * torch.as_tensor(signs))


class _DoubleRecorder(Recorder):
    """Reads what the first run left, and writes what it sees elsewhere: the cause of a difference is sought in the first run's."""

    def __init__(self, request: TrainRequest, first: Exchange, link: Link) -> None:
        super().__init__(request, link)
        assert link.project is not None
        self.first, self.draws = first, Draws(link.project, first)

    def install(self) -> None:
        super().install()
        self.draws.read()
        self.host = HostStream(self.draws)
        self.host.move_to(self.first.read_state("first"))
        self.host.install()

    def batches(self, loader: Any, original: Any, iteration: int) -> Iterator[Any]:
        import torch

        for number, batch in enumerate(self.first.read_batches(iteration, torch.from_numpy)):
            self.host.move_to(self.first.read_state(f"batch-{iteration}-{number}"))
            yield batch

    def first_weights(self, module: Any, kind: str) -> None:
        import torch

        number = len(self.roots)
        state = {name: torch.from_numpy(value) for name, value in self.first.read_weights(number).items()}
        trained = {name for name, value in module.named_parameters() if value.requires_grad}  # a mask stays what it is
        module.load_state_dict({name: moved(each, number) if name in trained else each for name, each in state.items()})

    def wrap_draw(self, name: str, original: Any) -> Any:
        import torch

        def draw(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if not self.draws.is_own():
                return result
            is_standard = self.draws.is_through_distribution()
            kept, _ = standard_numbers(name, args, result) if is_standard else (name, result)
            values = self.draws.take(kept, tuple(result.shape))
            if values is not None:
                with torch.no_grad():
                    numbers = torch.from_numpy(values)
                    result.copy_(from_standard_numbers(name, args, numbers) if is_standard else numbers)
            return result

        return draw
