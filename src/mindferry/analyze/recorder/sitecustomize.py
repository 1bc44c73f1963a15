"""Imported by Python itself when the reference runs under the recorder: notes losses and steps, and writes them at the end."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import resource
import sys
import time
from typing import Any


def _record(target: str) -> None:
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    losses: list[float] = []
    ticks: list[float] = []
    backward = torch.Tensor.backward

    def noted_backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.numel() == 1:
            losses.append(float(self.detach()))
        return backward(self, *args, **kwargs)

    torch.Tensor.backward = noted_backward
    register_optimizer_step_post_hook(lambda *_: ticks.append(time.perf_counter()))

    def write() -> None:
        unit = 1 if sys.platform == "darwin" else 1024
        peak = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
        body = {
            "losses": losses,
            "steps": len(ticks),
            "seconds": ticks[-1] - ticks[0] if len(ticks) > 1 else 0.0,
            "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
            "peak_device_memory": peak,
            "seed": torch.initial_seed(),
        }
        with open(target, "w", encoding="utf-8") as file:
            json.dump(body, file)

    atexit.register(write)


_target = os.environ.pop("MINDFERRY_BASELINE", "")  # only the first process records, not its data workers
if _target:
    with contextlib.suppress(ImportError):  # without torch there is nothing to record
        _record(_target)
