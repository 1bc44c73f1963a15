"""The MindSpore side, in its worker: the converted script runs as it is, on the reference's weights and batches."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..verify.backends.worker import Link
from ..weights import load_torch_weights
from .exchange import Exchange, sample
from .script import EnoughSteps, run_script


def replay(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Run the converted script for payload["steps"] steps on what the reference recorded."""
    assert link.project is not None
    player = _Player(Exchange(Path(payload["exchange"])), payload["steps"], link)
    player.install(payload["helpers"])
    run_script(link.project, payload["script"], payload["args"])
    if not player.steps:
        raise MindferryError(f"the converted {payload['script']} made no training step; was its loop converted? see `mindferry convert`")
    return {"steps": player.steps}


class _Player:
    def __init__(self, exchange: Exchange, wanted: int, link: Link) -> None:
        self.exchange, self.wanted, self.link = exchange, wanted, link
        self.steps: list[dict[str, Any]] = []
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.seen: list[Any] = []
        self.parameters: dict[str, Any] = {}  # "root:torch name" -> MindSpore parameter
        self.depth = self.iterations = self.roots = 0

    def install(self, helper_modules: list[str]) -> None:
        self._switch_dropout_off()
        self._watch_cells()
        self._watch_gradients()
        self._replay_batches(helper_modules)

    def _switch_dropout_off(self) -> None:
        from mindspore import nn, ops

        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
            getattr(nn, name).construct = lambda self, x: x
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"):
            setattr(ops, name, lambda input, *args, **kwargs: input)

    def _watch_cells(self) -> None:
        from mindspore import nn

        original, player = nn.Cell.__call__, self

        def call(cell: Any, *args: Any, **kwargs: Any) -> Any:
            if player.depth:
                return original(cell, *args, **kwargs)
            is_optimizer = hasattr(cell, "param_groups") or isinstance(cell, nn.Optimizer)
            if not is_optimizer:
                player.meet(cell)
            player.depth += 1
            try:
                result = original(cell, *args, **kwargs)
            finally:
                player.depth -= 1
            if is_optimizer:
                player.after_step(cell)
            return result

        nn.Cell.__call__ = call

    def meet(self, cell: Any) -> None:
        """The first call of a network: give it the weights that its twin had then."""
        if any(cell is each for each in self.seen):
            return
        self.seen.append(cell)
        if not any(True for _ in cell.get_parameters()):
            return
        state = self.exchange.read_weights(self.roots)
        if state is None:
            raise MindferryError(f"{type(cell).__name__} runs here, but the reference ran only {self.roots} networks before its last step")
        report = load_torch_weights(cell, state)
        targets = dict(cell.parameters_and_names())
        self.parameters |= {f"{self.roots}:{entry.source}": targets[entry.target] for entry in report.entries if entry.target in targets}
        self.roots += 1

    def _watch_gradients(self) -> None:
        import mindspore as ms
        import numpy as np

        original, player = ms.value_and_grad, self

        def value_and_grad(fn: Any, grad_position: Any = 0, weights: Any = None, has_aux: bool = False, **options: Any) -> Any:
            inner = original(fn, grad_position, weights, has_aux, **options)

            def run(*args: Any, **kwargs: Any) -> Any:
                result = inner(*args, **kwargs)
                value = result[0][0] if has_aux else result[0]
                player.losses.append(float(value.asnumpy().sum()))
                gradients = result[1] if weights is not None and grad_position is None else ()
                player.norms.append(float(np.sqrt(sum(float((g.asnumpy().astype(np.float64) ** 2).sum()) for g in gradients))))
                return result

            return run

        ms.value_and_grad = value_and_grad

    def _replay_batches(self, helper_modules: list[str]) -> None:
        import mindspore as ms
        from mindspore import dataset

        player = self

        def batches(loader: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            iteration, player.iterations = player.iterations, player.iterations + 1
            yield from player.exchange.read_batches(iteration, ms.Tensor)

        base = next(each for each in dataset.GeneratorDataset.__mro__ if "create_tuple_iterator" in vars(each))
        base.create_tuple_iterator = batches
        base.create_dict_iterator = batches
        base.__iter__ = batches
        for name in helper_modules:
            loader = getattr(importlib.import_module(name), "DataLoader", None)
            if loader is not None:
                loader.__iter__ = batches

    def after_step(self, optimizer: Any) -> None:
        losses, self.losses, norms, self.norms = self.losses, [], self.norms, []
        groups = getattr(optimizer, "param_groups", None)
        rate = groups[0]["lr"] if groups else optimizer.get_lr()
        distance, worst = self._distance(len(self.steps))
        self.steps.append(
            {
                "loss": sum(losses) / len(losses) if losses else float("nan"),
                "lr": float(rate.asnumpy() if hasattr(rate, "asnumpy") else rate),
                "grad_norm": norms[-1] if norms else float("nan"),
                "distance": distance,
                "worst": worst,
            }
        )
        self.link.report(self.steps[-1])
        if len(self.steps) >= self.wanted:
            raise EnoughSteps

    def _distance(self, step: int) -> tuple[float, str]:
        """(largest relative distance between a parameter and its twin, which one), over the sampled elements."""
        import numpy as np

        worst, name = 0.0, ""
        for key, expected in self.exchange.read_sample(step).items():
            if key not in self.parameters:
                continue
            actual = sample(self.parameters[key].asnumpy())
            if actual.shape != expected.shape:
                continue
            distance = float(np.linalg.norm(actual - expected) / (np.linalg.norm(expected) or 1.0))
            if distance > worst:
                worst, name = distance, key.partition(":")[2]
        return worst, name
