"""The same network with far larger and far smaller weights: behind a norm, a softmax or a bias no input reaches a limit or an epsilon."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..frameworks.named_in_code import handles_gaps
from .scale import has_fraction
from .variants import WEIGHTS, Inputs, variants, with_gaps

TIMES = (16.0, 1e-3)  # where a limit begins; where an epsilon counts, in a root, a quotient or a variance
LIGHT = 1 << 20  # parameters up to which a run more is for nothing


def all_variants(model: Any, inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """Other inputs, gaps in them among these, and at last the same ones with other weights: the conversion keeps those."""
    groups = variants(inputs)
    if handles_gaps(model):
        groups += [with_gaps(inputs)]
    is_light = 0 < sum(parameter.numel() for parameter in model.parameters()) <= LIGHT
    return [*groups, *([(f"{WEIGHTS} {times:g}", inputs)] for times in TIMES)] if groups and is_light else groups


def has_far_weights(said: str) -> bool:
    """Whether a variant, by its description, is about weights."""
    return said.startswith(WEIGHTS)


@contextlib.contextmanager
def far_weights(model: Any, said: str) -> Iterator[None]:
    """The torch model with the weights of a variant."""
    import torch

    tensors = [each for each in model.parameters() if has_fraction(each)] if has_far_weights(said) else []
    times = float(said.removeprefix(WEIGHTS)) if tensors else 1.0
    held = [each.detach().clone() for each in tensors]
    with torch.no_grad():
        for tensor in tensors:
            tensor.mul_(times)
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, value in zip(tensors, held, strict=True):
                tensor.copy_(value)
