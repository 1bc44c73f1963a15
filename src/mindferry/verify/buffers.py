"""A torch model's buffers as they were: some networks change them in eval mode too, and every run has to start from the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def same_buffers(model: Any) -> Iterator[None]:
    """Afterwards every buffer is the tensor that it was, with its value, whether it was changed in place or bound anew."""
    import torch

    slots = [
        (module, name, buffer) for module in model.modules() for name, buffer in module._buffers.items()
    ]  # None as well
    before = [(*slot, None if slot[2] is None else slot[2].detach().clone()) for slot in slots]
    try:
        yield
    finally:
        for module, name, buffer, value in before:
            if getattr(module, name, None) is not buffer:
                setattr(module, name, buffer)
            if buffer is not None and not torch.equal(buffer, value):
                with torch.no_grad():
                    buffer.copy_(value)
