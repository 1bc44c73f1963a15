"""The torch side, in its worker: the user's script runs as it is, and what it does at each step is written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..verify.backends.worker import Link
from .exchange import Exchange, sample
from .script import EnoughSteps, run_script


def record(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """Run the script for payload["steps"] optimizer steps; returns loss, learning rate and gradient norm of each."""
    assert link.project is not None
    recorder = _Recorder(Exchange(Path(payload["exchange"])), payload["steps"], link)
    recorder.install()
    run_script(link.project, payload["script"], payload["args"])
    if not recorder.steps:
        raise MindferryError(f"{payload['script']} made no optimizer step; check [train] script and args in mindferry.toml")
    return {"steps": recorder.steps, "roots": len(recorder.roots)}


class _Recorder:
    def __init__(self, exchange: Exchange, wanted: int, link: Link) -> None:
        self.exchange, self.wanted, self.link = exchange, wanted, link
        self.steps: list[dict[str, float]] = []
        self.losses: list[float] = []
        self.roots: list[Any] = []
        self.depth = self.iterations = 0

    def install(self) -> None:
        from torch.nn.modules import module
        from torch.optim import optimizer

        self._switch_dropout_off()
        self._watch_loaders()
        self._watch_backward()
        module.register_module_forward_pre_hook(self._before_forward)
        module.register_module_forward_hook(self._after_forward, always_call=True)
        optimizer.register_optimizer_step_pre_hook(self._before_step)
        optimizer.register_optimizer_step_post_hook(self._after_step)

    def _switch_dropout_off(self) -> None:
        import torch.nn.functional as functional

        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            setattr(functional, name, lambda input, *args, **kwargs: input)

    def _watch_loaders(self) -> None:
        from torch.utils.data import DataLoader

        original, recorder = DataLoader.__iter__, self

        def iterate(loader: Any) -> Iterator[Any]:
            iteration, recorder.iterations = recorder.iterations, recorder.iterations + 1
            for number, batch in enumerate(original(loader)):
                recorder.exchange.write_batch(iteration, number, batch, lambda tensor: tensor.detach().cpu().numpy())
                yield batch

        DataLoader.__iter__ = iterate

    def _watch_backward(self) -> None:
        import torch

        original, recorder = torch.Tensor.backward, self

        def backward(loss: Any, *args: Any, **kwargs: Any) -> Any:
            recorder.losses.append(float(loss.detach().sum()))
            return original(loss, *args, **kwargs)

        torch.Tensor.backward = backward

    def _before_forward(self, module: Any, inputs: Any) -> None:
        if self.depth == 0 and all(module is not root for root in self.roots):
            state = {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}
            if state:
                self.exchange.write_weights(len(self.roots), state)
                self.roots.append(module)
        self.depth += 1

    def _after_forward(self, module: Any, inputs: Any, output: Any) -> None:
        self.depth -= 1

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        norm = sum(float(gradient.double().pow(2).sum()) for gradient in gradients) ** 0.5
        losses, self.losses = self.losses, []
        loss = sum(losses) / len(losses) if losses else float("nan")
        self.steps.append({"loss": loss, "lr": float(optimizer.param_groups[0]["lr"]), "grad_norm": norm})

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        values = {
            f"{index}:{name}": sample(value.detach().cpu().numpy())
            for index, root in enumerate(self.roots)
            for name, value in root.named_parameters()
        }
        self.exchange.write_sample(len(self.steps) - 1, values)
        self.link.report(self.steps[-1])
        if len(self.steps) >= self.wanted:
            raise EnoughSteps
