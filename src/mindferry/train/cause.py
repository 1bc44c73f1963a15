"""Why two trainings part: the last step that both began alike is replayed in torch with each setting of the optimizer in turn.

Runs in torch's worker, on what both sides left in the exchange folder: the batch of each step, gradients as they came to the optimizer,
weights before and after. The setting with which torch does what the conversion did is the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..frameworks.requests import Cause, CauseRequest, TrainStep
from ..frameworks.worker import Link
from .exchange import Exchange

Arrays = dict[str, Any]
ALIKE = 1e-4  # relative; closer than that, two tensors are the same but for rounding
ROUNDING = 1e-6  # of a weight
EXPLAINED = 0.05  # the share of the difference that a cause may leave
LONGEST = 6  # steps that are replayed
SWITCHES = ("nesterov", "amsgrad", "centered", "maximize")
SCALES = ("lr", "weight_decay", "eps")  # searched by powers of ten
SHARES = ("momentum", "dampening", "alpha", "betas 0", "betas 1")  # between 0 and 1
TITLES = {"lr": "the learning rate", "weight_decay": "weight decay", "eps": "epsilon", "betas 0": "beta 1"}
TITLES |= {"betas 1": "beta 2", "momentum": "momentum", "dampening": "dampening", "alpha": "alpha"}


def explain(request: CauseRequest, link: Link) -> Cause:
    """In the worker: the cause, if one explains the difference."""
    link.doing("replaying a step")
    return Cause(cause_of(History(Exchange(Path(request.exchange)), request.reference, request.converted)))


@dataclass(frozen=True, slots=True)
class History:
    """What both sides did, step by step."""

    exchange: Exchange
    reference: Sequence[TrainStep]
    converted: Sequence[TrainStep]

    def arrays(self, kind: str, step: int) -> tuple[Arrays, Arrays]:
        """The reference's and the conversion's, of the parameters that both have."""
        theirs, ours = self.exchange.read_step(f"{kind}-{step}"), self.exchange.read_step(f"ours-{kind}-{step}")
        shared = [key for key in theirs if key in ours and theirs[key].shape == ours[key].shape]
        return {key: theirs[key] for key in shared}, {key: ours[key] for key in shared}


def cause_of(history: History) -> str:
    """The order of data, the loss, the schedule or rate, clipping, the gradient, or a setting of the optimizer."""
    for step, (theirs, ours) in enumerate(zip(history.reference, history.converted, strict=False)):
        if theirs.batch != ours.batch:
            return (
                f"the order of data: at step {step + 1} torch is at {_batch(theirs)}, the conversion at {_batch(ours)}"
            )
        if _apart(theirs.loss, ours.loss) > 10 * ALIKE:
            return f"the loss of step {step + 1} differs, though weights and batch are the same: see `mindferry verify`"
        rate = _rate(history, step)
        if rate:
            return rate
        gradients = _gradients(history, step)
        if gradients:
            return gradients
        if _moved_otherwise(history, step):
            return _optimizer(history, step)
    return ""


def _batch(step: TrainStep) -> str:
    return f"batch {step.batch[1] + 1} of loop {step.batch[0] + 1}" if step.batch else "no batch"


def _apart(one: float, other: float) -> float:
    return abs(one - other) / max(abs(one), abs(other), 1e-12) if one == one and other == other else 0.0


def _rate(history: History, step: int) -> str:
    theirs, ours = ([each.lr for each in side] for side in (history.reference, history.converted))
    if _apart(theirs[step], ours[step]) <= ALIKE:
        return ""
    told = f"{theirs[step]:g} in torch and {ours[step]:g} in MindSpore at step {step + 1}"
    if not step and not any(_apart(each, theirs[0]) > ALIKE for each in theirs):
        return f"the learning rate is {told}"
    ratios = [b / a for a, b in zip(theirs, ours, strict=False) if a]
    if not step and len(ratios) > 1 and all(_apart(each, ratios[0]) <= ALIKE for each in ratios):
        return f"the learning rate is {ratios[0]:.4g} times torch's in every step: {told}"
    for shift, said in ((1, "a step too early"), (-1, "a step too late")):
        pairs = [(ours[i], theirs[i + shift]) for i in range(len(ours)) if 0 <= i + shift < len(theirs)]
        if len(pairs) > 1 and all(_apart(a, b) <= ALIKE for a, b in pairs[:-1]):
            return f"the schedule comes {said}: the rate is {told}"
    return f"the schedule: the rate is {told}"


def _differing(theirs: Arrays, ours: Arrays) -> list[str]:
    import numpy as np

    largest = max((float(np.linalg.norm(value)) for value in theirs.values()), default=0.0)
    return [
        key
        for key, value in theirs.items()
        if np.linalg.norm(ours[key] - value) > ALIKE * max(float(np.linalg.norm(value)), 1e-3 * largest, 1e-12)
    ]


def _moved_otherwise(history: History, step: int) -> list[str]:
    """Parameters that the step changed otherwise, beyond the rounding of float32."""
    import numpy as np

    befores, afters = history.arrays("before", step), history.arrays("after", step)
    found = []
    for key in afters[0]:
        if key in befores[0]:
            theirs, ours = (after[key] - before[key] for before, after in zip(befores, afters, strict=True))
            rounding = ROUNDING * float(np.linalg.norm(afters[0][key]))
            if np.linalg.norm(ours - theirs) > max(10 * ALIKE * float(np.linalg.norm(theirs)), rounding, 1e-12):
                found.append(key)
    return found


def _gradients(history: History, step: int) -> str:
    """Gradients as they come to the optimizer; after clipping, that is."""
    import numpy as np

    theirs, ours = history.arrays("gradients", step)
    wrong = _differing(theirs, ours)
    if not wrong:
        return ""
    a, b = (np.concatenate([side[key].ravel() for key in theirs]).astype(np.float64) for side in (theirs, ours))
    norms = [[each.grad_norm for each in side] for side in (history.reference, history.converted)]
    cosine = float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30)
    told = f"{norms[0][step]:.4g} in torch and {norms[1][step]:.4g} in MindSpore at step {step + 1}"
    if cosine > 1 - 1e-6:
        limits = [_limit(each) for each in norms]
        if limits[0] != limits[1] and any(limits):
            said = [f"to a norm of {limit:.4g}" if limit else "not at all" for limit in limits]
            return f"clipping: torch clips {said[0]}, the conversion {said[1]} (the norm is {told})"
        ratio = float(np.linalg.norm(b) / np.linalg.norm(a))
        return (
            f"the gradients are {ratio:.4g} times as large (norm {told}): clipping, accumulation, or a sum for a mean"
        )
    for one, other, who in ((a, b, "torch"), (b, a, "the conversion")):
        bound = float(np.abs(one).max())
        if bound < np.abs(other).max() and np.allclose(
            np.clip(other, -bound, bound), one, rtol=1e-3, atol=1e-3 * bound
        ):
            return f"clipping: {who} alone clips each value, at {bound:.4g}"
    weights = history.arrays("before", step)[1]
    w = np.concatenate(
        [weights[key].ravel() if key in weights else np.zeros_like(theirs[key]).ravel() for key in theirs]
    )
    share = float((b - a) @ w) / max(float(w @ w), 1e-30)
    if np.linalg.norm(b - a - share * w) < EXPLAINED * np.linalg.norm(b - a):
        return f"weight decay: the conversion's gradients hold {share:.4g} times the weights"
    return f"the gradient of {_named(wrong)} differs at step {step + 1}, the loss does not: see `mindferry verify --bisect`"


def _limit(norms: list[float]) -> float:
    """The norm to which gradients are clipped: the largest, if it comes again and again."""
    largest = max(norms)
    return largest if sum(_apart(each, largest) < 1e-3 for each in norms) > max(1, len(norms) // 3) else 0.0


def _optimizer(history: History, step: int) -> str:
    """The setting with which torch's optimizer does to these weights what the conversion's did."""
    if step >= LONGEST:
        return f"the optimizer: the same gradients change the weights otherwise from step {step + 1} on"
    replay = Replay(history, step)
    before = replay.off()
    if not replay.is_possible or not before:
        return f"the optimizer: the same gradients change {_named(replay.wrong)} otherwise at step {step + 1}"
    found = min(replay.tried(), key=lambda each: each[0], default=(math.inf, ""))
    whom = "" if len(replay.wrong) == len(replay.keys) else f" of {_named(replay.wrong)}"
    if found[0] <= EXPLAINED * before:
        return f"{found[1]}{whom}: replayed so, torch changes the weights of step {step + 1} as the conversion does"
    return f"the optimizer: the same gradients change {_named(replay.wrong)} otherwise at step {step + 1}"


def _named(keys: list[str]) -> str:
    names = [key.partition(":")[2] for key in keys]
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "") if names else "the weights"


class Replay:
    """The steps up to one, made again by torch's optimizer from the conversion's weights and gradients."""

    def __init__(self, history: History, last: int) -> None:
        import torch

        self.last = last
        self.made = history.exchange.read_optimizer(0)
        self.settings = [history.exchange.read_optimizer(step) for step in range(last + 1)]
        self.start = history.arrays("before", 0)[1]
        self.gradients = [history.arrays("gradients", step)[1] for step in range(last + 1)]
        self.goal = history.arrays("after", last)[1]
        self.keys = [key for key in self.start if all(key in each for each in (*self.gradients, self.goal))]
        self.wrong = [key for key in _moved_otherwise(history, last) if key in self.keys]
        self.kind: Any = getattr(torch.optim, self.made.get("kind", ""), None)

    @property
    def is_possible(self) -> bool:
        return bool(self.kind is not None and self.wrong and all(each.get("groups") for each in self.settings))

    def tried(self) -> Iterator[tuple[float, str]]:
        """(what is left of the difference, what was changed) for each setting."""
        given_here = self._settings_of_wrong()
        for name in SCALES:
            if name in given_here:
                value = float(given_here[name])
                left, best = self._search(name, [0.0, *(10 ** (power / 4) for power in range(-48, 9))], 10**0.25)
                yield left, f"{TITLES[name]} is {value:g} in torch and about {best:.3g} in MindSpore"
        for name in SHARES:
            given = _setting(given_here, name)
            if given is not None:
                left, best = self._search(name, [index / 40 for index in range(40)] + [0.99, 0.999, 0.9999], 1.02)
                yield left, f"{TITLES[name]} is {given:g} in torch and about {best:.3g} in MindSpore"
        for name in SWITCHES:
            is_on = given_here.get(name)
            if isinstance(is_on, bool):
                yield self.off({name: not is_on}), f"{name} is {is_on} in torch and {not is_on} in MindSpore"
        for other, said in (("Adam", "weight decay is added to the gradient"), ("AdamW", "weight decay is decoupled")):
            if {self.made["kind"], other} == {"Adam", "AdamW"}:
                yield self.off(kind=other), f"{said} in MindSpore, as in {other}; torch has {self.made['kind']}"

    def _settings_of_wrong(self) -> dict[str, Any]:
        """Torch's own for the first of the parameters that come out otherwise."""
        groups = self.settings[0]["groups"]
        found = [each for each in groups if self.wrong[0] in each["params"]] if self.wrong else []
        settings: dict[str, Any] = (found or groups)[0]["settings"]
        return settings

    def _search(self, name: str, values: list[float], width: float) -> tuple[float, float]:
        """The best of the values, and of others near it."""
        tried: dict[float, float] = {}
        measure: Callable[[float], float] = lambda value: tried.setdefault(value, self.off({name: value}))  # noqa: E731
        best = min(values, key=measure)
        for _ in range(4):
            near = [best * width ** (index / 4) for index in range(-4, 5)]
            best = min((each for each in (best, *near) if name not in SHARES or each < 1), key=measure)
            width = width**0.3
        if tried.get(0.0, math.inf) <= EXPLAINED * self.off():  # nothing at all explains it as well as next to nothing
            best = 0.0
        return tried[best], best

    def off(self, change: dict[str, Any] | None = None, kind: str = "") -> float:
        """How far torch, with a change for the parameters that differ, is from the conversion."""
        import torch

        if not self.is_possible:
            return 0.0
        made = getattr(torch.optim, kind) if kind else self.kind
        tensors = {key: torch.tensor(self.start[key], dtype=torch.float64) for key in self.keys}
        groups = [
            {"params": [tensors[key] for key in each["params"] if key in tensors and (key in self.wrong) == is_wrong]}
            for each in self.settings[0]["groups"]
            for is_wrong in (False, True)
        ]
        try:
            optimizer = made([group for group in groups if group["params"]] or list(tensors.values()))
            for step in range(self.last + 1):
                self._set(optimizer.param_groups, step, tensors, change or {})
                for key, tensor in tensors.items():
                    tensor.grad = torch.tensor(self.gradients[step][key], dtype=torch.float64)
                optimizer.step()
        except (TypeError, ValueError, RuntimeError):
            return math.inf
        return math.sqrt(sum(float(((tensors[key].numpy() - self.goal[key]) ** 2).sum()) for key in self.wrong))

    def _set(self, groups: Any, step: int, tensors: Arrays, change: dict[str, Any]) -> None:
        owners = {id(tensors[key]): key for key in tensors}
        for group in groups:
            first = owners[id(group["params"][0])]
            source = next(each for each in self.settings[step]["groups"] if first in each["params"])
            wanted = {name: value for name, value in source["settings"].items() if name in group}
            for name, value in change.items() if first in self.wrong else ():
                if name.startswith("betas "):
                    betas = list(wanted["betas"])
                    betas[int(name[-1])] = value
                    wanted["betas"] = betas
                else:
                    wanted[name] = value
            group.update(wanted)


def _setting(settings: dict[str, Any], name: str) -> float | None:
    if name.startswith("betas "):
        return float(settings["betas"][int(name[-1])]) if "betas" in settings else None
    value = settings.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
