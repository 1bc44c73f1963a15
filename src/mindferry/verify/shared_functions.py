"""Random functions of torch's, built on uniform or standard normal numbers that the conversion can be given too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Tensor = Any  # torch.Tensor


class SharedFunctions:
    """A method for each, by torch's name without a last underscore. It takes the function, its arguments and their names."""

    def __init__(self, draw: Callable[[str, Tensor], Tensor]) -> None:
        import torch

        self.torch: Any = torch
        self.draw = draw  # family, a tensor of the shape and type that is wanted

    def known(self) -> set[Any]:
        """The functions that there is a method for."""
        import torch.nn.functional as functional

        torch, methods = self.torch, self.torch.Tensor
        found = {torch.rand, torch.randn, torch.rand_like, torch.randn_like, torch.bernoulli, torch.normal}
        found |= {methods.bernoulli, methods.bernoulli_, methods.uniform_, methods.normal_}
        found |= {torch.randint, torch.randint_like, torch.randperm, torch.multinomial, methods.multinomial}
        return found | {methods.exponential_, methods.random_, functional.gumbel_softmax, functional.rrelu}

    def shaped(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        """What the function returns, without a change to torch's own stream of numbers."""
        with self.torch.random.fork_rng(devices=[]):
            return function(*args, **named)

    def rand(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        return self.draw("uniform", self.shaped(function, args, named))

    def randn(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        return self.draw("normal", self.shaped(function, args, named))

    rand_like, randn_like = rand, randn

    def bernoulli(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        given, chance = first(args, named, ("input", "p"), (None, None))
        is_inplace = function.__name__.endswith("_")
        chance = 0.5 if chance is None and is_inplace else given if chance is None else chance
        drawn = (self.draw("uniform", given) < chance).to(given.dtype)
        return given.copy_(drawn) if is_inplace else drawn

    def uniform(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        given, low, high = first(args, named, ("self", "from", "to"), (None, 0.0, 1.0))
        return given.copy_(low + (high - low) * self.draw("uniform", given))

    def normal(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        if function.__name__ == "normal_":
            given, mean, std = first(args, named, ("self", "mean", "std"), (None, 0.0, 1.0))
            return given.copy_(mean + std * self.draw("normal", given))
        mean, std = first(args, named, ("mean", "std"), (0.0, 1.0))
        return mean + std * self.draw("normal", self.shaped(function, args, named))

    def randint(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        rest = args[1:] if function is self.torch.randint_like else args
        bounds = [int(each) for each in rest if hasattr(each, "__index__")]  # the size is a tuple
        low, high = first(bounds, named, ("low", "high"), (0, None))
        low, high = (0, low) if high is None else (low, high)
        like = self.shaped(function, args, named)
        return (low + (self.draw("uniform", like).double() * (high - low)).floor()).to(like.dtype)

    randint_like = randint

    def randperm(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        like = self.shaped(function, args, named)
        return self.draw("uniform", like).argsort(stable=True).to(like.dtype)

    def multinomial(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        """As the converted one: by the edges of the sums, or the largest of u ** (1 / weight)."""
        given, number, replacement = first(args, named, ("input", "num_samples", "replacement"), (None, 1, False))
        like = self.shaped(function, args, named)  # torch's own complaints, too
        weights = given.detach().double()
        if not replacement:
            keys = self.draw("uniform", given).double().log() / weights
            return keys.argsort(dim=-1, descending=True, stable=True)[..., :number]
        edges = (weights / weights.sum(-1, keepdim=True)).cumsum(-1)
        edges[..., -1] = 1.0
        return (self.draw("uniform", like).double()[..., None] > edges[..., None, :]).sum(-1)

    def exponential(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        given, rate = first(args, named, ("self", "lambd"), (None, 1.0))
        return given.copy_(-self.torch.log(1.0 - self.draw("uniform", given)) / rate)

    def random(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        given, low, high = first(args, named, ("self", "from", "to"), (None, 0, None))
        low, high = (low, high) if high is not None else (0, low or 2**24)
        return given.copy_((low + (high - low) * self.draw("uniform", given)).floor())

    def gumbel_softmax(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        names, defaults = ("logits", "tau", "hard", "eps", "dim"), (None, 1, False, 1e-10, -1)
        logits, tau, is_hard, _, axis = first(args, named, names, defaults)
        noise = -self.torch.log(-self.torch.log1p(-self.draw("uniform", logits)))
        soft = ((logits + noise) / tau).softmax(axis)
        if not is_hard:
            return soft
        return self.torch.zeros_like(soft).scatter_(axis, soft.argmax(axis, keepdim=True), 1.0) - soft.detach() + soft

    def rrelu(self, function: Any, args: Any, named: dict[str, Any]) -> Tensor:
        names, defaults = ("input", "lower", "upper", "training", "inplace"), (None, 1 / 8, 1 / 3, False, False)
        given, lower, upper, is_training, is_inplace = first(args, named, names, defaults)
        if not is_training or is_inplace:
            return function(*args, **named)
        return self.torch.where(given > 0, given, given * (lower + (upper - lower) * self.draw("uniform", given)))


def first(args: Any, named: dict[str, Any], names: tuple[str, ...], defaults: tuple[Any, ...]) -> list[Any]:
    """The values of these arguments, given by place, by name or not at all."""
    return [args[i] if i < len(args) else named.get(n, d) for i, (n, d) in enumerate(zip(names, defaults, strict=True))]
