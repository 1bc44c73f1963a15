"""The base of optimizers for projects with one group of parameters. optim.py has all of it."""

import math

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.experimental import optim

from .optim import ParameterRecords, part_of
from .parts import CHANGES_RATES, FREEZES_PARAMETERS, KEEPS_OPTIMIZER_STATE, LACKS_GRADIENTS


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
    """An optimizer of torch.optim: first_state() says what is kept for a parameter, update_group() what a step does."""

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
            "momentum": Parameter(Tensor(float(inertia), ms.float32), name="momentum", requires_grad=False)
            if KEEPS_OPTIMIZER_STATE
            else Tensor(float(inertia), ms.float32),
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

    if KEEPS_OPTIMIZER_STATE:

        def state_dict(self):
            count = len(self.parameters)
            kept = {name: held if isinstance(held, list) else [held] * count for name, held in self.kept.items()}
            names = [name for name in kept if name not in ("lr", "momentum")]
            group = {**self.param_groups[0], "params": list(range(count))}
            return {"state": {j: {n: kept[n][j] for n in names} for j in range(count)}, "param_groups": [group]}

        def load_state_dict(self, state_dict):
            (group,) = state_dict["param_groups"]
            if len(group["params"]) != len(self.parameters):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the optimizer's")
            for key in group.keys() - {"params"}:
                self.param_groups[0][key] = group[key]
            inertia = group["betas"][0] if "betas" in group else group.get("momentum", 0.0)
            ops.assign(self.kept["momentum"], Tensor(float(inertia), ms.float32))
            for j, values in state_dict["state"].items():
                for name, value in ((name, value) for name, value in values.items() if name in self.kept):
                    held = self.kept[name][j] if isinstance(self.kept[name], list) else self.kept[name]
                    ops.assign(held, Tensor(value).astype(held.dtype).reshape(held.shape))


class ShortAdam(optim.Optimizer):
    """torch.optim.Adam beside MindSpore's own optimizers and schedules. Their Adam doesn't correct epsilon's bias."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
        super().__init__(params, {"lr": float(lr)})
        self.betas, self.eps, self.decay = betas, eps, weight_decay
        self.exp_avg = self.parameters.clone("exp_avg", "zeros")
        self.exp_avg_sq = self.parameters.clone("exp_avg_sq", "zeros")
        self.steps = Parameter(Tensor(0.0, ms.float32), name="steps", requires_grad=False)
        self.fused = ops.Adam()

    def construct(self, grads):
        ops.assign_add(self.steps, Tensor(1.0, ms.float32))
        beta1, beta2 = self.betas
        # The kernel takes 1 - beta2 in float32, which is 1e-5 off for 0.999: its second moment is off by this factor.
        excess = math.sqrt(float(np.float32(1) - np.float32(beta2)) / (1 - beta2))
        root = ops.sqrt(-ops.expm1(self.steps * math.log(beta2 or 1e-45))) * excess
        size = self.lrs[0] * root / -ops.expm1(self.steps * math.log(beta1 or 1e-45))
        eps = root * self.eps
        for p, m, v, grad in zip(self.parameters, self.exp_avg, self.exp_avg_sq, grads):
            grad = grad if self.decay == 0 else grad + p * self.decay
            self.fused(p, m, v, 0.0, 0.0, size, beta1, beta2, eps, grad)
        return True
