"""The torch side, in its worker: the user's script runs as it is, and what it does at each step is written down."""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..frameworks.named_in_code import is_modal
from ..frameworks.requests import Trained, TrainRequest, TrainStep
from ..frameworks.watch.mindferry_watch.outer_steps import watch_steps
from ..frameworks.worker import Link
from .conduct import SAVED, Loops, Saves, called_in, is_being_made, is_of, listening, saved_tensors
from .exchange import PASSING, Exchange, leaves, sample
from .randomness import FAMILY, METHODS, Draws, host_state, share_fresh_generators, standard_numbers, wrap
from .script import EnoughSteps, run_script

MOST_PASSING = 100_000_000  # numbers: a script that makes layers at every call fills no disk


def record(request: TrainRequest, link: Link) -> Trained:
    """Run the script for so many optimizer steps: loss, learning rate and gradient norm of each."""
    assert link.project is not None
    recorder = Recorder(request, link)
    recorder.install()
    with listening() as printed:
        run_script(link.project, request.script, request.args, request.stdin)
    recorder.exchange.write_draws(recorder.draws.kept)
    if not recorder.steps:
        raise MindferryError(f"{request.script} made no training step; check [train] script and args in mindferry.toml")
    return Trained(
        tuple(recorder.steps),
        recorder.has_optimizer,
        tuple(printed),
        tuple(recorder.modes),
        tuple(recorder.loops.numbers),
    )


class Recorder:
    """Hooks of a run in torch. A step is an optimizer's; in a script without optimizers, each backward() ends one."""

    def __init__(self, request: TrainRequest, link: Link) -> None:
        assert link.project is not None
        self.exchange, self.wanted, self.link = Exchange(Path(request.exchange)), request.steps, link
        self.draws = Draws(link.project, self.exchange)
        self.steps: list[TrainStep] = []
        self.losses: list[float] = []
        self.roots: list[Any] = []
        self.known: set[int] = set()  # parameters of networks that have been met
        self.modules: list[Any] = []  # weak references
        self.passing = 0  # numbers in layers that are no network's
        self.has_optimizer = False
        self.modes: dict[str, None] = {}
        self.loops = Loops()
        self.shown: set[int] = set()  # networks whose first output was written down
        self.depth = self.iterations = 0
        self.batch: tuple[int, ...] = ()  # the loop and the number of the last batch

    def install(self) -> None:
        from torch.nn.modules import module

        self.exchange.write_state("first", host_state())
        share_fresh_generators()
        switch_dropout_off()
        self._watch_loaders()
        self._watch_backward()
        self._watch_networks()
        self._watch_draws()
        self._watch_saves()
        module.register_module_forward_pre_hook(self._before_forward)
        module.register_module_forward_hook(self._after_forward, always_call=True)
        watch_steps(self.before_step, self.after_step)

    def _watch_loaders(self) -> None:
        from torch.utils.data import DataLoader

        original, recorder = DataLoader.__iter__, self

        def iterate(loader: Any) -> Iterator[Any]:
            iteration, recorder.iterations = recorder.iterations, recorder.iterations + 1
            recorder.loops.add(loader)
            yield from recorder.batches(loader, original, iteration)

        DataLoader.__iter__ = iterate

    def batches(self, loader: Any, original: Any, iteration: int) -> Iterator[Any]:
        """The loader's own batches, written down as they pass."""
        source, number = original(loader), 0
        while True:
            before, self.draws.is_paused = host_state(), True  # the conversion's data sets don't run
            try:
                batch = next(source)
            except StopIteration:
                return
            finally:
                self.draws.is_paused = False
            self.exchange.write_batch(iteration, number, batch, lambda tensor: tensor.detach().cpu().numpy())
            if repr(after := host_state()) != repr(before):
                self.exchange.write_state(f"batch-{iteration}-{number}", after)
            self.batch = (iteration, number)
            number += 1
            yield batch

    def _watch_backward(self) -> None:
        import torch

        original, recorder = torch.Tensor.backward, self

        def backward(loss: Any, *args: Any, **kwargs: Any) -> Any:
            recorder.losses.append(float(loss.detach().sum()))
            result = original(loss, *args, **kwargs)
            if not recorder.has_optimizer:
                recorder.after_step(None)
            return result

        torch.Tensor.backward = backward

    def _watch_saves(self) -> None:
        import torch

        original, saves = torch.save, Saves(self.exchange, SAVED)

        def save(value: Any, *args: Any, **kwargs: Any) -> Any:
            held = value.state_dict() if isinstance(value, torch.nn.Module) else value
            saves.keep(
                {
                    way: each.detach().cpu().numpy()
                    for way, each in saved_tensors(held, "detach")
                    if each.is_floating_point()
                },
                held,
                args[0] if args else kwargs.get("f"),
            )
            return original(value, *args, **kwargs)

        torch.save = save

    def _watch_networks(self) -> None:
        """A network's first weights are taken before anything can change or read them: an optimizer, a checkpoint, a copy."""
        from torch import nn, optim

        recorder, deepcopy = self, copy.deepcopy
        start, load, optimize = nn.Module.__init__, nn.Module.load_state_dict, optim.Optimizer.__init__
        read = nn.Module.state_dict

        def module_start(module: Any, *args: Any, **kwargs: Any) -> None:
            start(module, *args, **kwargs)
            recorder.modules.append(weakref.ref(module))

        def module_load(module: Any, *args: Any, **kwargs: Any) -> Any:
            recorder.meet(module)
            return load(module, *args, **kwargs)

        def module_read(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not args and not kwargs:  # those of its parts are read with arguments
                recorder.meet_owners({id(p) for p in module.parameters()})
            return read(module, *args, **kwargs)

        def optimizer_start(optimizer: Any, params: Any, *args: Any, **kwargs: Any) -> None:
            optimize(optimizer, params, *args, **kwargs)
            recorder.has_optimizer = True
            recorder.meet_owners({id(p) for group in optimizer.param_groups for p in group["params"]})

        def copied(value: Any, *args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            is_copied = is_network(value) and not (is_of("torch", caller) or is_being_made(is_network, caller))
            if is_copied:
                recorder.meet(value)
            result = deepcopy(value, *args, **kwargs)
            if is_copied:
                recorder.known |= {id(p) for p in result.parameters()}
            return result

        nn.Module.__init__, nn.Module.load_state_dict, nn.Module.state_dict = module_start, module_load, module_read
        optim.Optimizer.__init__ = optimizer_start
        copy.deepcopy = copied  # type: ignore[assignment]

    def meet_owners(self, wanted: set[int]) -> None:
        if wanted <= self.known:
            return
        alive = [module for module in (reference() for reference in self.modules) if module is not None]
        inner = {id(child) for module in alive for child in module.children()}
        for module in alive:
            if id(module) not in inner and any(id(p) in wanted for p in module.parameters()):
                self.meet(module)

    def meet(self, module: Any, kind: str = "") -> None:
        parameters = {id(p) for p in module.parameters()}
        if parameters <= self.known or is_being_made(is_network, sys._getframe(1)):
            return
        self.known |= parameters
        self.first_weights(module, kind or type(module).__name__)
        self.roots.append(module)

    def meet_passing(self, module: Any) -> None:
        """A layer that a network calls and does not own: made in its forward(), or kept in a list; nobody else copies its weights."""
        if self.passing < MOST_PASSING and next(module.parameters(), None) is not None:
            before = len(self.roots)
            self.meet(module, PASSING)
            self.passing += sum(p.numel() for root in self.roots[before:] for p in root.parameters())

    def first_weights(self, module: Any, kind: str) -> None:
        state = {
            name: value.detach().cpu().numpy().copy()
            for name, value in module.state_dict().items()
            if hasattr(type(value), "detach")
        }
        self.exchange.write_weights(len(self.roots), kind, state)

    def _watch_draws(self) -> None:
        import torch

        wrap(torch, {name: name for name in FAMILY if hasattr(torch, name)}, self.wrap_draw)
        wrap(torch.Tensor, METHODS, self.wrap_draw)
        wrap(torch.nn.functional, {"gumbel_softmax": "gumbel_softmax"}, self.wrap_draw)

    def wrap_draw(self, name: str, original: Any) -> Any:
        def draw(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if self.draws.is_own():
                is_standard = self.draws.is_through_distribution()
                kept, values = standard_numbers(name, args, result) if is_standard else (name, result)
                self.draws.keep(kept, values.detach().cpu().numpy().copy())
            return result

        return draw

    def _before_forward(self, module: Any, inputs: Any) -> None:
        if self.depth:
            self.meet_passing(module)
        else:
            self.meet(module)
            mode = called_in(type(module).__name__, module.training)
            if mode not in self.modes and any(True for _ in module.parameters()) and is_modal(module):
                self.modes[mode] = None
        self.depth += 1

    def _after_forward(self, module: Any, inputs: Any, output: Any) -> None:
        self.depth -= 1
        number = next((index for index, root in enumerate(self.roots) if root is module), None)
        if self.depth == 0 and number is not None and number not in self.shown:
            self.shown.add(number)
            found = [each.detach().cpu().numpy() for each in leaves(output, "detach") if not each.is_sparse]
            self.exchange.write_output("", number, found)

    def after_step(self, optimizer: Any) -> None:
        groups = optimizer.param_groups if optimizer is not None else []
        parameters = [p for group in groups for p in group["params"]] or [
            p for root in self.roots for p in root.parameters()
        ]
        gradients = [p.grad for p in parameters if p.grad is not None]
        norm = sum(float(gradient.double().pow(2).sum()) for gradient in gradients) ** 0.5
        losses, self.losses = self.losses, []
        rate = float(groups[0]["lr"]) if groups else float("nan")
        self.steps.append(TrainStep(sum(losses) if losses else float("nan"), rate, norm, batch=self.batch))
        self.write_sample()
        self.link.say(f"torch loss {self.steps[-1].loss:.4f}")
        self.link.doing(f"step {len(self.steps) + 1}")
        if len(self.steps) >= self.wanted:
            raise EnoughSteps

    def before_step(self, optimizer: Any) -> None:
        """What cause.py replays: weights, gradients, and the optimizer's settings."""
        step, names = len(self.steps), self.names()
        self.exchange.write_step(f"before-{step}", self.weights())
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        gradients = {names[id(p)]: sample(p.grad.detach().cpu().numpy()) for p in parameters if id(p) in names}
        self.exchange.write_step(f"gradients-{step}", gradients)
        groups = [
            {
                "params": [names[id(p)] for p in group["params"] if id(p) in names],
                "settings": {name: value for name, value in group.items() if _is_plain(value)},
            }
            for group in optimizer.param_groups
        ]
        self.exchange.write_optimizer(step, {"kind": type(optimizer).__name__, "groups": groups})

    def names(self) -> dict[int, str]:
        return {
            id(value): f"{index}:{name}"
            for index, root in enumerate(self.roots)
            for name, value in root.named_parameters()
        }

    def weights(self) -> dict[str, Any]:
        return {
            f"{index}:{name}": sample(value.detach().cpu().numpy())
            for index, root in enumerate(self.roots)
            for name, value in root.named_parameters()
        }

    def write_sample(self) -> None:
        values = self.weights()
        self.exchange.write_sample(len(self.steps) - 1, values)
        self.exchange.write_step(f"after-{len(self.steps) - 1}", values)


def _is_plain(value: Any) -> bool:
    items = value if isinstance(value, tuple | list) else (value,)
    return all(isinstance(each, bool | int | float | None) for each in items)


def switch_dropout_off() -> None:
    import torch
    import torch.nn.functional as functional

    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        setattr(functional, name, lambda input, *args, **kwargs: input)
    attention, start = functional.scaled_dot_product_attention, torch.nn.RNNBase.__init__

    def attend(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, *rest: Any, **options: Any
    ) -> Any:
        return attention(query, key, value, attn_mask, 0.0, *rest, **options)

    def recurrent_start(module: Any, *args: Any, **kwargs: Any) -> None:
        start(module, *args, **kwargs)
        module.dropout = 0.0  # its dropout happens inside the kernel

    functional.scaled_dot_product_attention = attend
    torch.nn.RNNBase.__init__ = recurrent_start


def is_network(value: Any) -> bool:
    from torch import nn

    return isinstance(value, nn.Module)
