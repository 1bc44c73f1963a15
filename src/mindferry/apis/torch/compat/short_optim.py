"""The base of optimizers for projects with one group of parameters that keep no optimizer's state. optim.py has all of it."""

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

from .optim import ParameterRecords, part_of
from .parts import CHANGES_RATES, FREEZES_PARAMETERS, LACKS_GRADIENTS


class ShortParamGroup(dict):
    """A parameter group as torch's. Its learning rate is mirrored in a Parameter, which a compiled step reads."""

    def __init__(self, options):
        super().__init__(options)
        self.rate = Parameter(Tensor(float(options["lr"]), ms.float32), name="lr", requires_grad=False)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if key == "lr":
            ops.assign(self.rate, Tensor(float(value), ms.float32))


class ShortGradientOptimizer(nn.Cell):
    """An optimizer of torch.optim. `optimizer(grads)` takes the gradients of `optimizer.parameters`, in that order.

    first_state() says what is kept for a parameter, by name, and update_group() what a step does.
    """

    def __init__(self, params, **options):
        super().__init__(auto_prefix=False)
        self.parameters = ParameterTuple(params)
        if CHANGES_RATES:
            group = ShortParamGroup({"params": list(self.parameters), **options})
        else:
            group = {"params": list(self.parameters), **options}
        inertia = options["betas"][0] if "betas" in options else options.get("momentum", 0.0)
        self.param_groups = [group]
        self.kept = {
            "lr": group.rate if CHANGES_RATES else Tensor(float(options["lr"]), ms.float32),
            "momentum": Tensor(float(inertia), ms.float32),
            "step": Parameter(Tensor(0.0, ms.float32), name="step", requires_grad=False),
        }
        for p in self.parameters:
            for name, value in self.first_state(group, p).items():
                self.kept.setdefault(name, []).append(Parameter(value, name=f"{name}.{p.name}"))
        if LACKS_GRADIENTS:
            self.missed = [0] * len(self.parameters)  # steps without a gradient, which don't count for a parameter
            self.has_gaps = False
        if FREEZES_PARAMETERS:
            self.records = ParameterRecords()

    if LACKS_GRADIENTS:

        def __call__(self, grads):
            if FREEZES_PARAMETERS:
                records = self.records.of(self.parameters)  # p.requires_grad would wait until all operators have run
                grads = tuple(grad if record.requires_grad else None for record, grad in zip(records, grads))
            self.missed = [count + (grad is None) for count, grad in zip(self.missed, grads)]
            self.has_gaps = any(self.missed)
            return super().__call__(grads)

    def construct(self, grads):
        ops.assign_add(self.kept["step"], Tensor(1.0, ms.float32))
        if LACKS_GRADIENTS and self.has_gaps:
            return self.update_some(grads)
        self.update(self.kept, self.kept["step"], self.parameters, grads)
        return True

    def update_some(self, grads):
        """A step where gradients are or have been None: each parameter has made as many steps as it got gradients."""
        for missed in sorted(set(self.missed)):
            used = [j for j, grad in enumerate(grads) if grad is not None and self.missed[j] == missed]
            params, chosen = [self.parameters[j] for j in used], [grads[j] for j in used]
            self.update(part_of(self.kept, used), self.kept["step"] - missed, params, chosen)
        return True

    def update(self, kept, step, params, grads):
        self.update_group(self.param_groups[0], kept, step, kept["lr"], kept["momentum"], params, grads)
