"""Steps of torch's optimizers as a script takes them: a step() that calls its base's, or another optimizer's, is one step.

torch's own hooks run once for every class in the line of bases that an optimizer was made of before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Seen = Callable[[Any], None]  # is given the optimizer


def watch_steps(before: Seen, after: Seen) -> None:
    """From now on, `before` and `after` see the outermost step() alone."""
    from torch.optim import Optimizer

    hook, depth = Optimizer.profile_hook_step, 0

    def hooked(function: Any) -> Any:
        inner = hook(function)

        @functools.wraps(inner)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            if depth:
                return inner(optimizer, *args, **kwargs)
            before(optimizer)
            depth += 1
            try:
                result = inner(optimizer, *args, **kwargs)
            finally:
                depth -= 1
            after(optimizer)
            return result

        return step

    Optimizer.profile_hook_step = staticmethod(hooked)
