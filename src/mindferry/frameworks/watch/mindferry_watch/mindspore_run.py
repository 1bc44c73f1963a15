"""What a converted script does with MindSpore: its steps and losses, with nothing given to it and nothing taken away."""

from __future__ import annotations

from typing import Any

from .compiled_steps import GRADIENT, compiling, update_as_called
from .helper_package import gradient_functions
from .own_steps import OwnSteps
from .seeds import Seeds
from .session import Session


class Steps:
    """A step is an optimizer's; in a script without optimizers, each gradient ends one. The same count as on torch's side."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.losses: list[float] = []
        self.nesting = self.depth = 0
        self.has_optimizer = False
        self.own_steps = OwnSteps(lambda optimizer: None, self.after_step, lambda: self.depth > 0)

    def after_gradient(self, loss: Any) -> None:
        self.losses.append(float(loss.asnumpy().sum()))
        if not self.has_optimizer:
            self.after_step(None)

    def after_step(self, optimizer: Any) -> None:
        groups = getattr(optimizer, "param_groups", None)
        self.note(float("nan") if optimizer is None else groups[0]["lr"] if groups else optimizer.get_lr())

    def note(self, rate: Any) -> None:
        losses, self.losses = self.losses, []
        rate = rate.asnumpy() if hasattr(rate, "asnumpy") else rate
        self.session.step({"loss": sum(losses) if losses else float("nan"), "lr": float(rate)})


def watch_mindspore(session: Session) -> None:
    import mindspore

    mindspore.runtime.launch_blocking()  # else an error surfaces at a later, unrelated line
    steps = Steps(session)
    session.facts["has_mindspore"] = True
    if session.settings.seed:
        Seeds(session).install([(mindspore, "set_seed", "mindspore")])
    _watch_optimizers(steps)
    _watch_gradients(steps)
    session.watched_steps = steps


def _watch_optimizers(steps: Steps) -> None:
    from mindspore import nn
    from mindspore.experimental import optim

    call = nn.Cell.__call__

    def noted_call(cell: Any, *args: Any, **kwargs: Any) -> Any:
        if steps.depth or not _is_optimizer(cell):
            return call(cell, *args, **kwargs)
        steps.depth += 1
        try:
            result = call(cell, *args, **kwargs)
        finally:
            steps.depth -= 1
        if not steps.own_steps.is_inside:
            steps.after_step(cell)
        return result

    nn.Cell.__call__ = noted_call
    for kind in (nn.Optimizer, optim.Optimizer):
        _note_start(steps, kind)


def _watch_gradients(steps: Steps) -> None:
    import mindspore

    original = mindspore.value_and_grad

    def value_and_grad(
        fn: Any, grad_position: Any = 0, weights: Any = None, has_aux: bool = False, **options: Any
    ) -> Any:
        return watched(original(fn, grad_position, weights, has_aux, **options), has_aux)

    def watched(inner: Any, has_aux: bool) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            steps.nesting += 1
            try:
                result = inner(*args, **kwargs)
            finally:
                steps.nesting -= 1
            if steps.nesting == 0:  # a gradient inside a loss is not a loss
                steps.after_gradient(result[0][0] if has_aux else result[0])
            return result

        setattr(run, GRADIENT, (inner, has_aux))
        return run

    mindspore.value_and_grad, mindspore.jit = value_and_grad, compiling(mindspore.jit, watched)


def watch_helpers(session: Session, helper: Any) -> None:
    """Steps that are taken inside of the project's ms_compat."""
    steps = session.watched_steps
    if steps is None:
        return
    update_as_called(helper)
    _watch_helper_optimizer(steps, helper)
    steps.own_steps.install(helper)
    _watch_kept_gradients(steps, helper)
    if session.settings.seed and hasattr(helper, "manual_seed"):
        seed = helper.manual_seed
        helper.manual_seed = lambda number: seed(number + session.settings.seed)


def _watch_helper_optimizer(steps: Steps, helper: Any) -> None:
    """Every class of optimizers that the project brings along, whichever of our forms it is."""
    from mindspore import nn

    for kind in [each for each in vars(helper).values() if isinstance(each, type) and issubclass(each, nn.Cell)]:
        if kind.__name__.endswith("Optimizer") and "__init__" in vars(kind):
            _note_start(steps, kind)


def _note_start(steps: Steps, kind: Any) -> None:
    original = kind.__init__

    def start(optimizer: Any, *args: Any, **kwargs: Any) -> None:
        steps.has_optimizer = True
        original(optimizer, *args, **kwargs)

    kind.__init__ = start


def _watch_kept_gradients(steps: Steps, helper: Any) -> None:
    """Where gradients are kept on the parameters, a loss counts when they are added, as backward() does."""
    names, add = gradient_functions(helper), getattr(helper, "add_gradients", None)
    if not names:
        return
    losses: dict[int, Any] = {}

    def noted(take: Any) -> Any:
        def taken(*args: Any) -> Any:
            steps.nesting += 1
            try:
                result, gradients = take(*args)
            finally:
                steps.nesting -= 1
            losses[id(gradients)] = result[0] if isinstance(result, tuple) else result
            return result, gradients

        return taken

    def counted(gradients: Any) -> None:
        if steps.nesting == 0 and id(gradients) in losses:
            steps.after_gradient(losses.pop(id(gradients)))

    def made(forward: Any, parameters: Any) -> Any:
        def run(*inputs: Any) -> Any:
            result, gradients = helper.loss_and_gradients(forward, parameters, *inputs)
            counted(gradients)
            return result, gradients

        return run

    def added(parameters: Any, gradients: Any) -> None:
        if add is not None:
            add(parameters, gradients)
        counted(gradients)

    for name in names:
        setattr(helper, name, noted(getattr(helper, name)))
    helper.value_and_gradients = made
    if add is not None:
        helper.add_gradients = added


def _is_optimizer(cell: Any) -> bool:
    from mindspore import nn

    return hasattr(cell, "param_groups") or isinstance(cell, nn.Optimizer)
