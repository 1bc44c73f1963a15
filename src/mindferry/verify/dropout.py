"""The reference's dropout: off, or with masks that randomness.py shares with the conversion."""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterator
from typing import Any

Tensor = Any  # torch.Tensor


@contextlib.contextmanager
def without_dropout(model: Any) -> Iterator[None]:
    """Dropout off, also where a function asks for it: the two frameworks' random numbers can't be the same."""
    import torch.nn.functional as functional

    recurrent = {m: m.dropout for m in model.modules() if hasattr(m, "proj_size") and hasattr(m, "dropout")}
    for module in recurrent:
        module.dropout = 0.0
    names = [name for name in dir(functional) if name.endswith("dropout") or re.fullmatch(r"dropout[123]d", name)]
    originals = {name: getattr(functional, name) for name in names}
    attention = functional.scaled_dot_product_attention
    for name in names:
        setattr(functional, name, lambda input, *_, **__: input)

    def without(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **rest: Any,
    ) -> Any:
        return attention(query, key, value, attn_mask, 0.0, is_causal, **rest)

    functional.scaled_dot_product_attention = without  # type: ignore[assignment]
    try:
        yield
    finally:
        functional.scaled_dot_product_attention = attention
        for name, original in originals.items():
            setattr(functional, name, original)
        for module, rate in recurrent.items():
            module.dropout = rate


def make_mask(name: str, seed: int, p: float, shape: tuple[int, ...]) -> Tensor:
    """0 where dropped, 1 / (1 - p) elsewhere."""
    import torch

    generator = torch.Generator().manual_seed(seed + zlib.crc32(name.encode()))
    kept = (torch.rand(shape, generator=generator, dtype=torch.float32) >= p).float()
    return kept / (1 - p) if p < 1 else kept
