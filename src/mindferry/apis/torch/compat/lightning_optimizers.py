"""What configure_optimizers() returns, in all its forms, and how a Trainer steps it."""

import contextlib

from .gradients import clear_gradients, closure_with_gradients
from .schedulers import ReduceLROnPlateau


class SchedulerConfig:
    """A learning rate scheduler, and when it steps."""

    def __init__(self, scheduler, monitor=None):
        given = dict(scheduler) if isinstance(scheduler, dict) else {"scheduler": scheduler}
        if "scheduler" not in given:
            raise ValueError('configure_optimizers: the dictionary of a scheduler needs the key "scheduler"')
        self.scheduler = given["scheduler"]
        self.name = given.get("name")
        self.interval, self.frequency = given.get("interval", "epoch"), given.get("frequency", 1)
        if self.interval not in ("step", "epoch"):
            raise ValueError(f'configure_optimizers: interval is "step" or "epoch", not {self.interval!r}')
        self.reduce_on_plateau = given.get("reduce_on_plateau", isinstance(self.scheduler, ReduceLROnPlateau))
        self.monitor = given.get("monitor", None if isinstance(scheduler, dict) else monitor)
        self.strict = given.get("strict", True)


def configured_optimizers(model):
    """(optimizers, schedulers) of configure_optimizers(): an optimizer, a list, two lists, a dictionary or several."""
    given, monitor = model.configure_optimizers(), None
    if given is None:
        return [], []
    if isinstance(given, dict):
        monitor, given = given.get("monitor"), [given]
    if not isinstance(given, (list, tuple)):
        optimizers, schedulers = [given], []
    elif len(given) == 2 and isinstance(given[0], (list, tuple)):
        optimizers, schedulers = list(given[0]), given[1] if isinstance(given[1], (list, tuple)) else [given[1]]
    elif all(isinstance(each, dict) for each in given):
        optimizers = [each["optimizer"] for each in given]
        schedulers = [each["lr_scheduler"] for each in given if each.get("lr_scheduler") is not None]
    else:
        optimizers, schedulers = list(given), []
    configs = [SchedulerConfig(each, monitor) for each in schedulers]
    if model.automatic_optimization:
        if len(optimizers) > 1:
            raise RuntimeError("several optimizers need manual optimization: set self.automatic_optimization = False")
        if any(each.reduce_on_plateau and each.monitor is None for each in configs):
            raise ValueError("configure_optimizers: a ReduceLROnPlateau needs the name of what it monitors")
    return optimizers, configs


class OptimizerHandle:
    """What self.optimizers() gives: the optimizer, with the trainer's hooks and count around its steps."""

    def __init__(self, optimizer, trainer):
        self.optimizer, self.trainer = optimizer, trainer

    def __getattr__(self, name):
        return getattr(self.optimizer, name)

    def __call__(self, grads):
        """optimizer(grads), as everywhere here."""
        for parameter, grad in zip(self.optimizer.parameters, grads):
            parameter.grad = grad
        self.step()

    def step(self, closure=None, **options):
        """Run the closure, which leaves gradients on the parameters, then the hooks, then the update."""

        def prepare():
            result = closure() if closure is not None else None
            self.trainer.before_optimizer_step(self.optimizer)
            return result

        result = self.optimizer.step(closure_with_gradients(prepare, self.optimizer))
        if not self.trainer.lightning_module.automatic_optimization:
            self.trainer.global_step += 1
        return result

    def zero_grad(self, set_to_none=True):
        clear_gradients(self.optimizer)

    @contextlib.contextmanager
    def toggle_model(self, sync_grad=True):
        with self.trainer.lightning_module.toggled_optimizer(self.optimizer):
            yield


def parameters_to_train(model, optimizers, every):
    """What a loss is differentiated by: all of the model's parameters and the optimizers', frozen ones left out."""
    found = {id(each): each for each in every}
    found.update((id(each), each) for optimizer in optimizers for each in optimizer.parameters)
    return [each for each in found.values() if each.requires_grad]
