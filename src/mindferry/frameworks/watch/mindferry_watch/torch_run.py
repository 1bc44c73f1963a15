"""What a script does with torch: its steps and losses, seeds, networks, loaders, optimizers."""

from __future__ import annotations

from typing import Any

from .outer_steps import watch_steps
from .seeds import Seeds, versions
from .session import Session

PACKAGES = ("torch", "torchvision", "torchaudio", "timm", "einops", "transformers")


def watch_torch(session: Session) -> None:
    _Steps(session).install()
    _watch_seeds(session)
    if session.settings.role == "observe":
        from .torch_objects import TorchObjects

        TorchObjects(session).install()
        session.at_end(lambda is_last: {"versions": versions(PACKAGES)})


class _Steps:
    """A step is an optimizer's; in a script without optimizers, each backward() ends one."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.losses: list[float] = []
        self.has_optimizer = False

    def install(self) -> None:
        import torch
        from torch.optim import optimizer

        backward, start, steps = torch.Tensor.backward, optimizer.Optimizer.__init__, self

        def noted_backward(loss: Any, *args: Any, **kwargs: Any) -> Any:
            value = float(loss.detach().sum())
            result = backward(loss, *args, **kwargs)
            steps.losses.append(value)
            if not steps.has_optimizer:
                steps.after_step(float("nan"))
            return result

        def noted_start(self: Any, *args: Any, **kwargs: Any) -> None:
            steps.has_optimizer = True
            start(self, *args, **kwargs)

        torch.Tensor.backward = noted_backward
        optimizer.Optimizer.__init__ = noted_start
        watch_steps(lambda made: None, lambda made: steps.after_step(float(made.param_groups[0]["lr"])))

    def after_step(self, rate: float) -> None:
        losses, self.losses = self.losses, []
        self.session.step({"loss": sum(losses) if losses else float("nan"), "lr": rate})


def _watch_seeds(session: Session) -> None:
    import torch

    if session.settings.seed:
        torch.manual_seed(torch.initial_seed() + session.settings.seed)
    Seeds(session).install([(torch, "manual_seed", "torch"), (torch.cuda, "manual_seed_all", "torch.cuda")])
