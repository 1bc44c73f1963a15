"""The reference's dropout: off, or with masks that the conversion can be given too."""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any

Tensor = Any  # torch.Tensor
Keep = Callable[[str, float, Tensor], None]
RANKS = {
    "dropout": 0,
    "dropout1d": 1,
    "dropout2d": 2,
    "dropout3d": 3,
}  # function -> how many last axes share one number


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


@contextlib.contextmanager
def shared_dropout(model: Any, seed: int, keep: Keep) -> Iterator[None]:
    """Masks made of the seed, the module's path and the number of the call there. `keep(path#number, rate, mask)` sees each.

    Inside recurrent layers, fused attention and alpha dropout it stays off.
    """
    import torch.nn.functional as functional

    running = [""]
    counts: dict[str, int] = {}
    handles = []

    def leave(*_: Any) -> None:  # what a hook returns replaces the output
        running.pop()

    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, path=path: running.append(path)))
        handles.append(module.register_forward_hook(leave, always_call=True))

    def masked(rank: int) -> Callable[..., Tensor]:
        def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
            if not training or not p:
                return input
            path = running[-1]
            number = counts[path] = counts.get(path, -1) + 1
            mask = make_mask(f"{path}#{number}", seed, p, (*input.shape[: input.dim() - rank], *[1] * rank))
            keep(f"{path}#{number}", p, mask)
            return input * mask.to(input)

        return dropout

    with without_dropout(model):
        for name, rank in RANKS.items():
            setattr(functional, name, masked(rank))  # taken back by without_dropout
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def make_mask(name: str, seed: int, p: float, shape: tuple[int, ...]) -> Tensor:
    """0 where dropped, 1 / (1 - p) elsewhere."""
    import torch

    generator = torch.Generator().manual_seed(seed + zlib.crc32(name.encode()))
    kept = (torch.rand(shape, generator=generator) >= p).float()
    return kept / (1 - p) if p < 1 else kept
