"""The MindSpore side, in its worker: the converted script runs as it is, on the reference's weights, batches and random numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..frameworks.helper_modules import helpers_of
from ..frameworks.requests import Trained, TrainRequest, TrainStep
from ..frameworks.watch.mindferry_watch.compiled_steps import GRADIENT, compiling, update_as_called
from ..frameworks.watch.mindferry_watch.helper_package import gradient_functions
from ..frameworks.watch.mindferry_watch.own_steps import OwnSteps
from ..frameworks.worker import Link
from .conduct import OURS, Loops, Saves, called_in, listening, saved_tensors
from .exchange import Exchange, leaves, sample
from .networks import Networks, is_optimizer
from .randomness import FAMILY, METHODS, Draws, HostStream, share_fresh_generators, wrap
from .script import EnoughSteps, run_script


def replay(request: TrainRequest, link: Link) -> Trained:
    """Run the converted script for as many steps, on what the reference recorded."""
    assert link.project is not None
    _hide_torch()
    player = _Player(request, link)
    player.install(helpers_of(request.helpers))
    with listening() as printed:
        run_script(link.project, request.script, request.args, request.stdin)
    if not player.steps:
        raise MindferryError(
            f"the converted {request.script} made no training step; was its loop converted? see `mindferry convert`"
        )
    return Trained(
        tuple(player.steps),
        player.has_optimizer,
        tuple(printed),
        tuple(player.modes),
        tuple(player.loops.numbers),
        tuple(player.networks.starts),
    )


def _hide_torch() -> None:
    """As if it were not installed, since the conversion has to run where it is not: asked for it, importlib finds nothing.

    Not a None in sys.modules: packages such as scipy look there to see whether it has been imported.
    """
    original = PathFinder.find_spec

    def find_spec(cls: Any, fullname: str, path: Any = None, target: Any = None) -> Any:
        return None if fullname.partition(".")[0] == "torch" else original(fullname, path, target)

    PathFinder.find_spec = classmethod(find_spec)  # type: ignore[assignment, method-assign]


class _Player:
    def __init__(self, request: TrainRequest, link: Link) -> None:
        assert link.project is not None
        self.exchange, self.wanted, self.link = Exchange(Path(request.exchange)), request.steps, link
        self.has_optimizer = request.has_optimizer
        self.draws = Draws(link.project, self.exchange, request.helpers)
        self.draws.read()
        self.host = HostStream(self.draws)
        self.networks = Networks(self.exchange)
        self.steps: list[TrainStep] = []
        self.losses: list[float] = []
        self.norm = float("nan")
        self.modes: dict[str, None] = {}
        self.loops = Loops()
        self.depth = self.nesting = self.iterations = 0
        self.is_updating = False
        self.own_steps = OwnSteps(
            lambda optimizer: self.before_step(optimizer, ()), self.after_step, lambda: self.is_updating
        )
        self.batch: tuple[int, ...] = ()

    def install(self, helpers: list[Any]) -> None:
        self.host.move_to(self.exchange.read_state("first"))
        self.host.install()
        share_fresh_generators()
        switch_dropout_off(helpers)
        self.networks.install()
        self._watch_cells()
        self._watch_gradients()
        self._share_draws(helpers)
        self._replay_batches(helpers)
        self._watch_saves(helpers)
        for helper in helpers:
            update_as_called(helper)
            self.own_steps.install(helper)
            self._watch_kept_gradients(helper)
            self._watch_groups(helper)
        self._watch_own_optimizers()

    def _watch_cells(self) -> None:
        from mindspore import nn

        original, player = nn.Cell.__call__, self

        def call(cell: Any, *args: Any, **kwargs: Any) -> Any:
            is_update = is_optimizer(cell)
            if player.is_updating or (player.depth and not is_update):  # a network may train itself when it is called
                if not player.is_updating:
                    player.networks.meet_passing(cell)
                return original(cell, *args, **kwargs)
            if is_update:
                player.norm = _norm(args[0]) if args else float("nan")
                player.before_step(cell, args[0] if args else ())
            else:
                player.networks.meet(cell)
                player.modes[called_in(type(cell).__name__, cell.training)] = None
            player.depth += 1
            player.is_updating = is_update
            try:
                result = original(cell, *args, **kwargs)
            finally:
                player.depth -= 1
                player.is_updating = False
            if is_update and not player.own_steps.is_inside:
                player.after_step(cell)
            elif not is_update:
                player.after_network(cell, result)
            return result

        nn.Cell.__call__ = call

    def _watch_saves(self, helpers: list[Any]) -> None:
        """What one of these writes by way of another counts once."""
        import mindspore as ms

        saves, nesting = Saves(self.exchange, OURS), [0]

        def watched(original: Any) -> Any:
            def save(value: Any, *args: Any, **kwargs: Any) -> Any:
                if not nesting[0]:
                    held = value.parameters_dict() if isinstance(value, ms.nn.Cell) else value
                    target = args[0] if args else kwargs.get("f", kwargs.get("ckpt_file_name"))
                    saves.keep({way: each.asnumpy() for way, each in saved_tensors(held, "asnumpy")}, held, target)
                nesting[0] += 1
                try:
                    return original(value, *args, **kwargs)
                finally:
                    nesting[0] -= 1

            return save

        ms.save_checkpoint = watched(ms.save_checkpoint)
        for helper in helpers:
            if hasattr(helper, "save"):
                helper.save = watched(helper.save)

    def _watch_gradients(self) -> None:
        import mindspore as ms

        original, player = ms.value_and_grad, self

        def value_and_grad(
            fn: Any, grad_position: Any = 0, weights: Any = None, has_aux: bool = False, **options: Any
        ) -> Any:
            return watched(original(fn, grad_position, weights, has_aux, **options), has_aux)

        def watched(inner: Any, has_aux: bool) -> Any:
            def run(*args: Any, **kwargs: Any) -> Any:
                player.nesting += 1
                try:
                    result = inner(*args, **kwargs)
                finally:
                    player.nesting -= 1
                if player.nesting == 0:  # a gradient inside a loss is not a loss
                    player.after_gradient(result[0][0] if has_aux else result[0], result[1])
                return result

            setattr(run, GRADIENT, (inner, has_aux))
            return run

        ms.value_and_grad, ms.jit = value_and_grad, compiling(ms.jit, watched)

    def _watch_groups(self, helper: Any) -> None:
        """Networks whose parameters have the same names are not told by a ParameterTuple."""
        kind = getattr(helper, "Optimizer", None)
        if kind is None or "add_param_group" not in vars(kind):
            return self._watch_single_group(helper)
        self._watch_added_groups(kind)

    def _watch_own_optimizers(self) -> None:
        """MindSpore's own, which a script may use beside its helpers or without any."""
        from mindspore.experimental import optim

        self._watch_added_groups(optim.Optimizer)

    def _watch_added_groups(self, kind: Any) -> None:
        original, player = kind.add_param_group, self

        def add(optimizer: Any, group: Any) -> None:
            original(optimizer, group)
            player.networks.meet_owners({id(p) for p in optimizer.param_groups[-1]["params"]})

        kind.add_param_group = add

    def _watch_single_group(self, helper: Any) -> None:
        """Optimizers in their short form have one group, from the start."""
        kind, player = getattr(helper, "GradientOptimizer", None), self
        if kind is None:
            return
        original = kind.__init__

        def start(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            player.networks.meet_owners({id(p) for p in optimizer.parameters})

        kind.__init__ = start

    def _watch_kept_gradients(self, helper: Any) -> None:
        """Where gradients are kept on the parameters, a loss counts when they are added, as backward() does."""
        add, player = getattr(helper, "add_gradients", None), self
        if add is None:
            return
        losses: dict[int, Any] = {}

        def noted(take: Any) -> Any:
            def taken(*args: Any) -> Any:
                player.nesting += 1
                try:
                    result, gradients = take(*args)
                finally:
                    player.nesting -= 1
                losses[id(gradients)] = result[0] if isinstance(result, tuple) else result
                return result, gradients

            return taken

        def made(forward: Any, parameters: Any) -> Any:
            def run(*inputs: Any) -> Any:
                result, gradients = helper.loss_and_gradients(forward, parameters, *inputs)
                if player.nesting == 0:
                    player.after_gradient(losses.pop(id(gradients)), gradients)
                return result, gradients

            return run

        def added(parameters: Any, gradients: Any) -> None:
            add(parameters, gradients)
            if player.nesting == 0:
                player.after_gradient(losses.pop(id(gradients)), gradients)

        for name in gradient_functions(helper):
            setattr(helper, name, noted(getattr(helper, name)))
        helper.add_gradients, helper.value_and_gradients = added, made

    def after_gradient(self, loss: Any, gradients: Any) -> None:
        self.losses.append(float(loss.asnumpy().sum()))
        if not self.has_optimizer:
            self.norm = _norm(gradients)
            self.after_step(None)

    def _share_draws(self, helpers: list[Any]) -> None:
        from mindspore import ops

        for owner in (ops, *helpers):
            wrap(owner, {name: name for name in FAMILY}, self._wrap_draw)
            wrap(owner, {name: name for name in METHODS.values()}, self._wrap_draw)

    def _wrap_draw(self, name: str, original: Any) -> Any:
        import mindspore as ms

        def draw(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            values = self.draws.take(name, tuple(result.shape)) if self.draws.is_own() else None
            return result if values is None else ms.Tensor(values).astype(result.dtype)

        return draw

    def _replay_batches(self, helpers: list[Any]) -> None:
        import mindspore as ms
        from mindspore import dataset

        player = self

        def batches(loader: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            iteration, player.iterations = player.iterations, player.iterations + 1
            player.loops.add(loader)
            for number, batch in enumerate(player.exchange.read_batches(iteration, ms.Tensor)):
                player.host.move_to(player.exchange.read_state(f"batch-{iteration}-{number}"))
                player.batch = (iteration, number)
                yield batch

        base = next(each for each in dataset.GeneratorDataset.__mro__ if "create_tuple_iterator" in vars(each))
        base.create_tuple_iterator = batches
        base.create_dict_iterator = batches
        base.__iter__ = batches
        for helper in helpers:
            loader = getattr(helper, "DataLoader", None)
            if loader is not None:
                loader.__iter__ = batches

    def after_step(self, optimizer: Any) -> None:
        losses, self.losses = self.losses, []
        groups = getattr(optimizer, "param_groups", None)
        rate = float("nan") if optimizer is None else groups[0]["lr"] if groups else optimizer.get_lr()
        distance, worst = self.distance(len(self.steps))
        self.steps.append(
            TrainStep(
                sum(losses) if losses else float("nan"),
                float(rate.asnumpy() if hasattr(rate, "asnumpy") else rate),
                self.norm,
                distance,
                worst,
                self.batch,
            )
        )
        self.exchange.write_step(f"ours-after-{len(self.steps) - 1}", self.weights())
        self.link.say(f"MindSpore loss {self.steps[-1].loss:.4f}")
        self.link.doing(f"step {len(self.steps) + 1}")
        if len(self.steps) >= self.wanted:
            raise EnoughSteps

    def after_network(self, cell: Any, output: Any) -> None:
        """What each network gives at its first call; a graph that is being compiled has nothing to show."""
        root = self.networks.roots.pop(id(cell), None)
        if root is not None:
            with contextlib.suppress(Exception):
                self.exchange.write_output("ours-", root, [each.asnumpy() for each in leaves(output, "asnumpy")])

    def before_step(self, optimizer: Any, gradients: Any) -> None:
        """What cause.py replays."""
        step = len(self.steps)
        self.exchange.write_step(f"ours-before-{step}", self.weights())
        names = {id(parameter): key for key, parameter in self.networks.parameters.items()}
        parameters = list(getattr(optimizer, "parameters", ())) if isinstance(gradients, tuple | list) else []
        if len(parameters) == len(gradients):
            pairs = [(names[id(p)], g) for p, g in zip(parameters, gradients, strict=True) if id(p) in names]
            found = {key: sample(g.asnumpy()) for key, g in pairs if hasattr(g, "asnumpy")}
            self.exchange.write_step(f"ours-gradients-{step}", found)

    def weights(self) -> dict[str, Any]:
        return {key: sample(parameter.asnumpy()) for key, parameter in self.networks.parameters.items()}

    def distance(self, step: int) -> tuple[float, str]:
        """(largest relative distance between a parameter and its twin, which one), over the sampled elements."""
        import numpy as np

        worst, name = 0.0, ""
        for key, expected in self.exchange.read_sample(step).items():
            if key not in self.networks.parameters:
                continue
            actual = sample(self.networks.parameters[key].asnumpy())
            if actual.shape != expected.shape:
                continue
            distance = float(np.linalg.norm(actual - expected) / (np.linalg.norm(expected) or 1.0))
            if distance > worst:
                worst, name = distance, key.partition(":")[2]
        return worst, name


def _norm(gradients: Any) -> float:
    import numpy as np

    arrays = [
        each.asnumpy().astype(np.float64)
        for each in (gradients if isinstance(gradients, tuple | list) else ())
        if hasattr(type(each), "asnumpy")
    ]
    return float(np.sqrt(sum(float((array**2).sum()) for array in arrays)))


def switch_dropout_off(helpers: list[Any]) -> None:
    from mindspore import nn, ops

    for owner in (nn, *helpers):
        for name, kind in vars(owner).items():
            if "Dropout" in name and isinstance(kind, type) and "construct" in vars(kind):
                kind.construct = lambda self, x: x  # type: ignore[attr-defined]
    for owner in (ops, *helpers):
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            if hasattr(owner, name):
                setattr(owner, name, lambda input, *args, **kwargs: input)
