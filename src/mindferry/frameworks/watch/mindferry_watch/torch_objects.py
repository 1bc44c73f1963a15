"""torch's side of `objects.py`: modules, data loaders, optimizers and schedulers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .by_identity import ByIdentity
from .objects import NETWORKS, Objects
from .types_seen import public_name


class TorchObjects(Objects):
    def _watch_networks(self) -> None:
        from torch import nn

        call, start, restore, objects = nn.Module.__call__, nn.Module.__init__, nn.Module.__setstate__, self

        def noted_call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if objects.depth or _is_wrapper(module):
                return call(module, *args, **kwargs)
            with contextlib.suppress(Exception):  # a value of a kind that nobody thought of must not end the user's run
                objects.note_call(module, args, kwargs, bool(module.training))
            objects.depth += 1
            try:
                return call(module, *args, **kwargs)
            finally:
                objects.depth -= 1

        def noted_start(module: Any, *args: Any, **kwargs: Any) -> None:
            start(module, *args, **kwargs)
            objects.note_start(module, sys._getframe(1))

        def noted_copy(module: Any, state: dict[str, Any]) -> None:
            restore(module, state)
            objects.note_copy(module, sys._getframe(1))

        nn.Module.__call__ = noted_call
        nn.Module.__init__ = noted_start
        nn.Module.__setstate__ = noted_copy

    def parts(self, module: Any) -> list[Any]:
        return list(module.modules())

    def sizes(self, module: Any) -> list[int]:
        return [_size(each) for each in module.parameters()]

    def structure(self, module: Any) -> list[list[str]]:
        return [[name, public_name(type(each))] for name, each in list(module.named_modules())[:2000]]

    def is_tensor(self, value: Any) -> bool:
        return hasattr(type(value), "detach") and hasattr(type(value), "numpy")

    def bytes_of(self, tensor: Any) -> int:
        return int(tensor.numel() * tensor.element_size())

    def array_of(self, tensor: Any) -> Any:
        held = tensor.detach().cpu()
        return (held.float() if str(held.dtype) == "torch.bfloat16" else held).numpy().copy()

    def state_size(self, module: Any) -> int:
        return sum(self.bytes_of(value) for value in module.state_dict().values() if hasattr(type(value), "numel"))

    def save_state(self, module: Any, path: str) -> str:
        import torch

        torch.save(module.state_dict(), f"{path}.pth")
        return ".pth"

    def _watch_loaders(self) -> None:
        from torch.utils.data import DataLoader

        iterate, objects = DataLoader.__iter__, self
        known = ByIdentity()

        def noted_iterate(loader: Any) -> Iterator[Any]:
            made: Iterator[Any] = iterate(loader)
            if (entry := known.get(loader)) is not None:
                entry["passes"] += 1
                return made
            if len(objects.loaders) >= NETWORKS:
                return made
            entry = objects.loader_entry(loader, sys._getframe(1))
            known.note(loader, entry)
            return objects.passing(entry, made)

        DataLoader.__iter__ = noted_iterate

    def loader_entry(self, loader: Any, frame: FrameType) -> dict[str, Any]:
        try:
            length = len(loader)
        except TypeError:
            length = -1
        entry: dict[str, Any] = {
            "dataset": public_name(type(loader.dataset)),
            "batch_size": loader.batch_size if isinstance(loader.batch_size, int) else 0,
            "batches": length,
            "sampler": public_name(type(loader.sampler)),
            "workers": loader.num_workers,
            "at": [self._place(frame.f_code.co_filename), frame.f_lineno],
            "first": ["other", "no batch"],
            "passes": 1,
        }
        self.note_attributes(loader.dataset)
        return entry

    def _watch_optimizers(self) -> None:
        from torch.optim import Optimizer, lr_scheduler

        self._watch_start(
            Optimizer, self.optimizers, lambda made: {"options": _options(made), "parameters": _count(made)}
        )
        self._watch_start(lr_scheduler.LRScheduler, self.schedules, lambda made: {"options": _options(made)})


def _is_wrapper(module: Any) -> bool:
    """DataParallel, AveragedModel, what torch.compile returns: the network is the one inside."""
    return type(module).__module__.startswith("torch.") and [*module._modules] in (["module"], ["_orig_mod"])


def _options(made: Any) -> dict[str, str]:
    return {name: repr(value)[:80] for name, value in getattr(made, "defaults", {}).items()}


def _size(parameter: Any) -> int:
    """How many numbers; none yet of a lazy layer's before its first call."""
    try:
        return int(parameter.numel())
    except (ValueError, RuntimeError):
        return 0


def _count(optimizer: Any) -> int:
    return sum(len(group["params"]) for group in optimizer.param_groups)
