"""The reference's random numbers: made from the seed, the module's path and the number of the draw, and written down.

The conversion is given the same, so a network that drops, or adds noise, or skips a block at random can be compared. Every draw is
brought back to numbers between 0 and 1 ("uniform") or standard normal ones ("normal"), on which both sides' functions are built.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from .dropout import make_mask, without_dropout
from .shared_functions import SharedFunctions

Tensor = Any  # torch.Tensor
KeepMask = Callable[[str, float, Tensor], None]  # path#number, rate, mask
KeepDraw = Callable[[str, str, Tensor], None]  # path#number, uniform or normal, numbers
Note = Callable[[str], None]  # the name of a function of torch's
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d")


@contextlib.contextmanager
def shared_randomness(
    model: Any, seed: int, keep_mask: KeepMask, keep_draw: KeepDraw, note: Note = lambda name: None
) -> Iterator[None]:
    """While the block runs, `keep_mask` sees each dropout mask, `keep_draw` every other random tensor, `note` each function.

    Inside recurrent layers and alpha dropout it stays off; what is drawn from a generator of the user's own is not touched.
    """
    import torch.nn.functional as functional

    source = _Source(seed, keep_mask, keep_draw)
    handles = []
    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, path=path: source.enter(path)))
        handles.append(module.register_forward_hook(source.leave, always_call=True))
    originals = {getattr(functional, name): name for name in DROPOUTS}
    attention = functional.scaled_dot_product_attention
    with without_dropout(model):
        for name in DROPOUTS:
            setattr(functional, name, source.dropout(name))  # taken back by without_dropout
        functional.scaled_dot_product_attention = source.attention(attention)
        try:
            with _sharing()(source, originals, attention, note):
                yield
        finally:
            for handle in handles:
                handle.remove()


def mask_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Which numbers of an input share one of the mask; on fewer axes than its name says, each function has a way of its own."""
    kept = {
        "dropout": len(shape),
        "dropout1d": len(shape) - 1,
        "dropout2d": 2,  # batch and channel, also where one axis follows, or none
        "dropout3d": 2 if len(shape) == 5 else 1,  # without a batch
    }[name]
    return (*shape[:kept], *[1] * (len(shape) - kept))


class _Source:
    """Numbers by the path of the module that runs and how often it has drawn."""

    def __init__(self, seed: int, keep_mask: KeepMask, keep_draw: KeepDraw) -> None:
        self.seed, self.keep_mask, self.keep_draw = seed, keep_mask, keep_draw
        self.running = [""]
        self.counts: dict[str, int] = {}
        self.is_busy = False

    def enter(self, path: str) -> None:
        self.running.append(path)

    def leave(self, *_: Any) -> None:  # what a hook returns replaces the output
        self.running.pop()

    def place(self, kind: str) -> str:
        path = f"{kind}{self.running[-1]}"
        number = self.counts[path] = self.counts.get(path, -1) + 1
        return f"{self.running[-1]}#{number}"

    def dropout(self, name: str) -> Callable[..., Tensor]:
        def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
            if not training or not p:
                return input
            place = self.place("mask")
            with self.busy():
                mask = make_mask(place, self.seed, p, mask_shape(name, tuple(input.shape)))
                self.keep_mask(place, p, mask)
                return input * mask.to(input)

        return dropout

    def attention(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """Fused attention drops inside; written out, its mask can be shared."""
        drop = self.dropout("dropout")

        def scaled_dot_product_attention(
            query: Tensor,
            key: Tensor,
            value: Tensor,
            attn_mask: Tensor = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            **rest: Any,
        ) -> Tensor:
            if not dropout_p or rest.get("enable_gqa"):
                return original(query, key, value, attn_mask, 0.0, is_causal, **rest)
            scale = rest.get("scale") or query.shape[-1] ** -0.5
            scores = query @ key.transpose(-2, -1) * scale
            if is_causal:
                scores = scores.masked_fill(scores.new_ones(scores.shape[-2:]).tril() == 0, float("-inf"))
            if attn_mask is not None:
                is_kept = str(attn_mask.dtype) == "torch.bool"
                scores = scores.masked_fill(~attn_mask, float("-inf")) if is_kept else scores + attn_mask
            return drop(scores.softmax(-1), dropout_p) @ value

        return scaled_dot_product_attention

    def draw(self, family: str, like: Tensor) -> Tensor:
        import torch

        place = self.place("draw")
        generator = torch.Generator().manual_seed(self.seed + zlib.crc32(f"{family}{place}".encode()))
        with self.busy():
            make = torch.rand if family == "uniform" else torch.randn
            numbers = make(like.shape, generator=generator, dtype=torch.float32)
            self.keep_draw(place, family, numbers)
            return numbers.to(like.device, like.dtype if like.is_floating_point() else torch.float32)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        before, self.is_busy = self.is_busy, True
        try:
            yield
        finally:
            self.is_busy = before


@cache
def _sharing() -> Any:
    from torch.overrides import TorchFunctionMode

    class Sharing(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, source: _Source, dropouts: dict[Any, str], attention: Any, note: Note) -> None:
            super().__init__()
            self.source, self.dropouts, self.attention, self.note = source, dropouts, attention, note
            self.functions = SharedFunctions(source.draw)
            self.known = self.functions.known()

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if self.source.is_busy or named.get("generator") is not None:
                return function(*args, **named)
            if function in self.dropouts:  # where a file took it by `from torch.nn.functional import dropout`
                return self.source.dropout(self.dropouts[function])(*args, **named)
            if function is self.attention:
                return self.source.attention(function)(*args, **named)
            name = getattr(function, "__name__", "")
            self.note(name)
            if not self.is_known(function):
                return function(*args, **named)
            return getattr(self.functions, name.rstrip("_"))(function, args, named)

        def is_known(self, function: Any) -> bool:
            try:
                return function in self.known
            except TypeError:
                return False

    return Sharing
