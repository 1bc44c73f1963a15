"""What a script does with torch: its steps and losses, seeds, networks, loaders, optimizers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .session import Session


def watch_torch(session: Session) -> None:
    _Steps(session).install()
    _Seeds(session).install()
    if session.settings.role == "observe":
        from .torch_objects import Objects

        Objects(session).install()
        session.at_end(lambda is_last: {"versions": _versions()})


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
        optimizer.register_optimizer_step_post_hook(
            lambda made, *_: steps.after_step(float(made.param_groups[0]["lr"]))
        )

    def after_step(self, rate: float) -> None:
        losses, self.losses = self.losses, []
        self.session.step({"loss": sum(losses) if losses else float("nan"), "lr": rate})


class _Seeds:
    """Notes every seed that the script sets, and moves it where another run of the same script is wanted."""

    def __init__(self, session: Session) -> None:
        self.session, self.offset = session, session.settings.seed
        self.noted: list[list[Any]] = []

    def install(self) -> None:
        import random

        import numpy
        import torch

        if self.offset:
            torch.manual_seed(torch.initial_seed() + self.offset)
        for owner, name, title in (
            (torch, "manual_seed", "torch"),
            (torch.cuda, "manual_seed_all", "torch.cuda"),
            (numpy.random, "seed", "numpy"),
            (random, "seed", "random"),
        ):
            setattr(owner, name, self._moved(getattr(owner, name), title))
        self.session.at_end(lambda is_last: {"seeds": self.noted})

    def _moved(self, original: Callable[..., Any], title: str) -> Callable[..., Any]:
        def seed(*args: Any, **kwargs: Any) -> Any:
            is_own = self.session.is_own(sys._getframe(1).f_code.co_filename)
            if is_own and args and isinstance(args[0], int):
                if len(self.noted) < 100 and [title, args[0]] not in self.noted:
                    self.noted.append([title, args[0]])
                args = (args[0] + self.offset, *args[1:])
            return original(*args, **kwargs)

        return seed


def _versions() -> dict[str, str]:
    packages = ("torch", "torchvision", "numpy", "torchaudio", "timm", "einops", "transformers", "PIL", "cv2", "scipy")
    found = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in packages}
    return {"python": sys.version.split()[0], **{name: text for name, text in found.items() if text}}
