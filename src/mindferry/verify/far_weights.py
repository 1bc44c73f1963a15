"""The same network with far larger and far smaller weights: behind a norm, a softmax or a bias no input reaches a limit or an epsilon."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..frameworks.named_in_code import chooses, handles_gaps, ignored, is_torchs, rounds
from .other_kinds import other_kinds
from .other_sizes import Inputs
from .scale import has_fraction
from .trained_inputs import trained_inputs
from .tried_methods import tried_methods
from .unasked_inputs import unasked
from .variants import WEIGHTS, between_whole, variants, with_gaps, with_ties, without_labels

# Where a limit begins; where an epsilon counts, in a root, a quotient or a variance; where a sign does. Of each group the
# first that float32 has room for.
TIMES = ((16.0, 4.0), (1e-3, 0.1), (-1.0,))
FAR_ON = 1000  # steps: where a warm-up has ended, or a share has come to its limit
COUNTS = f", counts plus {FAR_ON}"
LIGHT = 1 << 20  # parameters up to which a run more is for nothing


def all_variants(
    model: Any, inputs: Inputs, methods: Mapping[str, Sequence[str]] | None = None
) -> list[list[tuple[str, Inputs]]]:
    """Other inputs, gaps in them among these, and at last the same ones with other weights, and methods: the conversion keeps those.

    `methods`: class -> those that nothing has called.
    """
    groups = variants(inputs)
    if handles_gaps(model):
        groups += with_gaps(inputs)
    groups += [[(said, given) for number in ignored(model) for said, given in without_labels(inputs, number)]]
    is_light = 0 < sum(parameter.numel() for parameter in model.parameters()) <= LIGHT
    if not groups or not is_light:
        return [group for group in groups if group]
    groups += [*unasked(model, inputs), *between_whole(inputs, rounds(model))]
    groups += with_ties(inputs) if chooses(model) else []
    groups += [[(f"{WEIGHTS} {times:g}", inputs) for times in group] for group in TIMES]
    groups += [[(f"{WEIGHTS} 1{COUNTS}", inputs)]] if _counts(model) else []
    groups += tried_methods(model, inputs, methods or {})
    groups += [*trained_inputs(model, inputs), *other_kinds(model, inputs)]
    return [group for group in groups if group]


def _counts(model: Any) -> list[Any]:
    """Buffers of one number that the network's own classes keep: counts of steps, shares that grow."""
    own = (module for module in model.modules() if not is_torchs(module))
    return [each for module in own for each in module.buffers(recurse=False) if each.numel() == 1]


def has_far_weights(said: str) -> bool:
    """Whether a variant, by its description, is about weights."""
    return said.startswith(WEIGHTS)


@contextlib.contextmanager
def far_weights(model: Any, said: str) -> Iterator[None]:
    """The torch model with the weights of a variant."""
    import torch

    tensors = [each for each in model.parameters() if has_fraction(each)] if has_far_weights(said) else []
    times = float(said.removeprefix(WEIGHTS).removesuffix(COUNTS)) if tensors else 1.0
    counts = _counts(model) if said.endswith(COUNTS) else []
    held = [each.detach().clone() for each in (*tensors, *counts)]
    with torch.no_grad():
        for tensor in tensors:
            tensor.mul_(times)
        for tensor in counts:
            if tensor.dtype != torch.bool:
                tensor.add_(FAR_ON)
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, value in zip((*tensors, *counts), held, strict=True):
                tensor.copy_(value)
