"""The base of all optimizers: torch's parameter groups and state, called with gradients as MindSpore's are."""

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

from .functions_create import complex_of, view_as_real
from .parts import (
    EXTENDS_OPTIMIZERS,
    FREEZES_PARAMETERS,
    HAS_OWN_OPTIMIZERS,
    KEEPS_OPTIMIZER_STATE,
    LACKS_GRADIENTS,
    RESETS_STATE,
    SHARES_STATE,
    TAKES_CLOSURES,
    TAKES_COMPLEX_NUMBERS,
    TAKES_ORDER,
    TAKES_PLANNED_RATES,
)


class RateList(nn.Cell):
    """A rate for each step, and the last one when the list is over."""

    def __init__(self, rates):
        super().__init__(auto_prefix=False)
        self.rates, self.last = Tensor([float(rate) for rate in rates], ms.float32), len(rates) - 1

    def construct(self, step):
        return ops.gather(self.rates, ops.clamp(step, max=self.last), 0)


class ParamGroup(dict):
    """A parameter group as torch's: plain numbers. lr and momentum are mirrored in Parameters, which a compiled step reads."""

    def __init__(self, options, index):
        super().__init__(options)
        self.rate = Parameter(Tensor(0.0, ms.float32), name=f"lr.{index}", requires_grad=False)
        self.inertia = Parameter(Tensor(0.0, ms.float32), name=f"momentum.{index}", requires_grad=False)
        self.count = Parameter(Tensor(0.0, ms.float32), name=f"step.{index}", requires_grad=False)
        if TAKES_PLANNED_RATES:
            self.plan = None  # a Cell that says the rate of a step: MindSpore's LearningRateSchedule, or a list as one
        self.update(options)

    def __setitem__(self, key, value):
        if TAKES_PLANNED_RATES and key == "lr" and isinstance(value, (list, tuple, nn.Cell)):
            self.plan = value if isinstance(value, nn.Cell) else RateList(value)
            value = float(self.plan(Tensor(0, ms.int32)))
        super().__setitem__(key, value)
        if key == "lr":
            ops.assign(self.rate, Tensor(float(value), ms.float32))
        elif key == "momentum":
            ops.assign(self.inertia, Tensor(float(value), ms.float32))
        elif key == "betas" and value[0] is not None:
            ops.assign(self.inertia, Tensor(float(value[0]), ms.float32))

    if TAKES_PLANNED_RATES:

        def show_rate(self):
            """The rate of the last step, which a compiled step leaves in the Parameter alone."""
            if self.plan is not None:
                super().__setitem__("lr", float(self.rate.asnumpy()))

    def update(self, *others, **options):
        for key, value in dict(*others, **options).items():
            self[key] = value


class ParameterRecords:
    """What MindSpore keeps about each parameter. It can't be copied, so a copied optimizer asks its own parameters again."""

    def __init__(self):
        self.known = []

    def of(self, parameters):
        if len(self.known) != len(parameters):
            self.known = [p.param_info for p in parameters]
        return self.known

    def __reduce__(self):
        return ParameterRecords, ()


class required:
    """torch.optim.optimizer.required: stands for a setting that has no default."""


class Optimizer(nn.Cell):
    """torch.optim.Optimizer. `optimizer(grads)` takes the gradients of `optimizer.parameters`, in that order.

    A subclass written for torch reads them as p.grad in its step().
    """

    if HAS_OWN_OPTIMIZERS:

        def __new__(cls, *arguments, **options):
            """A Cell before its __init__: one that wraps another optimizer sets attributes first, or never calls it."""
            made = super().__new__(cls)
            nn.Cell.__init__(made, auto_prefix=False)
            return made

    def __init__(self, params, defaults):
        if not HAS_OWN_OPTIMIZERS:
            super().__init__(auto_prefix=False)
        self.defaults, self.param_groups, self.state = dict(defaults), [], {}
        if FREEZES_PARAMETERS:
            self.records = ParameterRecords()
        groups = list(params)
        if TAKES_ORDER:  # `order_params` asks for an order of the gradients; here it is that of optimizer.parameters
            groups = [each for each in groups if not (isinstance(each, dict) and "order_params" in each)]
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        params = param_group["params"]
        params = [params] if isinstance(params, Parameter) else [p[1] if isinstance(p, tuple) else p for p in params]
        if {id(p) for p in params} & {id(p) for group in self.param_groups for p in group["params"]}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(ParamGroup({**self.defaults, **param_group, "params": params}, len(self.param_groups)))
        everything = [p for each in self.param_groups for p in each["params"]]
        if len({p.name for p in everything}) == len(everything):
            self.parameters = ParameterTuple(everything)
        else:  # two networks of one class have the same names, which a Cell refuses to hold
            self.__dict__["parameters"] = tuple(everything)
        self.state.update({p: {} for p in params})

    def without_frozen(self, grads):
        """The gradients, None for a frozen parameter. Reading p.requires_grad would wait until all operators have run."""
        return tuple(
            grad if record.requires_grad else None for record, grad in zip(self.records.of(self.parameters), grads)
        )

    def zero_grad(self, set_to_none=True):
        """Clear the gradients that backward() has added up."""
        for p in self.parameters:
            p.grad = None

    if HAS_OWN_OPTIMIZERS:

        def __getattr__(self, name):
            if name == "parameters" and "param_groups" in self.__dict__:  # those of the optimizer that it wraps
                return tuple(p for group in self.param_groups for p in group["params"])
            return super().__getattr__(name)

        def construct(self, grads):
            for p, grad in zip(self.parameters, grads):
                p.grad = grad
            self.step()
            return True

        def step(self, closure=None):
            raise RuntimeError(
                "there is no backward() here: call optimizer(grads) with the gradients from mindspore.value_and_grad"
            )

    if KEEPS_OPTIMIZER_STATE:

        def state_dict(self):
            if TAKES_PLANNED_RATES:
                for group in self.param_groups:
                    group.show_rate()
            index = {id(p): number for number, p in enumerate(self.parameters)}
            groups = [{**group, "params": [index[id(p)] for p in group["params"]]} for group in self.param_groups]
            return {"state": {index[id(p)]: dict(values) for p, values in self.state.items()}, "param_groups": groups}

        def load_state_dict(self, state_dict):
            groups = state_dict["param_groups"]
            if len(groups) != len(self.param_groups):
                raise ValueError("loaded state dict has a different number of parameter groups")
            if any(len(new["params"]) != len(old["params"]) for new, old in zip(groups, self.param_groups)):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
            for new, old in zip(groups, self.param_groups):
                old.update({key: value for key, value in new.items() if key != "params"})
                for number, p in zip(new["params"], old["params"]):
                    self.load_state(p, state_dict["state"].get(number, {}))

        def load_state(self, p, values):
            for name, value in values.items():
                own = self.state[p].get(name)
                if isinstance(own, Parameter):
                    ops.assign(own, Tensor(value).astype(own.dtype).reshape(own.shape))
                else:
                    self.state[p][name] = value


class GradientOptimizer(Optimizer):
    """An optimizer of torch.optim: its state lives in Parameters, so that ms.jit can compile it.

    first_state() says what is kept for a parameter, by name, and update_group() what a step does to a group.
    As in torch, a parameter that is frozen or whose gradient is None stays as it is.
    """

    if TAKES_CLOSURES:
        takes_gradients = True  # the closure of step() returns (loss, gradients)

    def __init__(self, params, **defaults):
        self.starts, self.rates, self.inertias, self.counts, self.slots = [0], [], [], [], []
        if TAKES_PLANNED_RATES:
            self.plans = []
        if LACKS_GRADIENTS:
            self.has_gaps = False  # some gradients are or have been None; not asked for in a compiled step
            self.missed = {}  # position of a parameter -> steps of its group without a gradient for it, which don't count for it
        if TAKES_COMPLEX_NUMBERS:
            self.__dict__["twins"] = {}  # by name; no parameters of this cell's own
        super().__init__(params, defaults)

    if SHARES_STATE:

        def shared_state(self, group):
            """What is kept once for a group, beside the number of steps."""
            return {}

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        self.starts.append(self.starts[-1] + len(group["params"]))
        self.rates.append(group.rate)
        self.inertias.append(group.inertia)
        self.counts.append(group.count)
        if TAKES_PLANNED_RATES:
            self.plans.append(group.plan)
        self.slots.append({})
        if SHARES_STATE:
            for name, value in self.shared_state(group).items():
                self.slots[-1][name] = Parameter(value, name=f"{name}.{len(self.slots)}")
        shared = dict(self.slots[-1])
        for p in group["params"]:
            self.state[p] = {"step": group.count, **shared}
            for name, value in self.first_state(group, self.real(p) if TAKES_COMPLEX_NUMBERS else p).items():
                self.state[p][name] = Parameter(value, name=f"{name}.{p.name}")
                self.slots[-1].setdefault(name, []).append(self.state[p][name])

    if EXTENDS_OPTIMIZERS:

        def __call__(self, grads):
            if type(self).step is GradientOptimizer.step:
                return self.update(grads)
            for p, grad in zip(self.parameters, grads):
                p.grad = grad
            return self.step()  # of a class that extends this one

        def step(self, closure=None):
            """What super().step() does: the update with the gradients that the parameters keep."""
            loss = None if closure is None else closure()
            loss, grads = (
                loss if isinstance(loss, tuple) else (loss, [getattr(p, "grad", None) for p in self.parameters])
            )
            if all(grad is None for grad in grads):
                raise RuntimeError("no parameter has a gradient: call optimizer(grads) with those from value_and_grad")
            self.update(grads)
            return loss

    else:

        def __call__(self, grads):
            return self.update(grads)

    def update(self, grads):
        if len(grads) != len(self.parameters):
            raise ValueError("the optimizer takes one gradient for each of optimizer.parameters")
        if RESETS_STATE:
            self.start_anew()
        if LACKS_GRADIENTS:
            grads = self.without_frozen(grads) if FREEZES_PARAMETERS else grads
            self.has_gaps = bool(self.missed) or any(grad is None for grad in grads)
        done = super().__call__(grads)
        if TAKES_PLANNED_RATES:
            for group in self.param_groups:
                group.show_rate()
        return done

    if RESETS_STATE:

        def start_anew(self):
            """What somebody took out of .state begins again, as in torch: its slots, and the number of its steps."""
            for i, group in enumerate(self.param_groups):
                gone = [k for k, p in enumerate(group["params"]) if not self.state.get(p)]
                slots = self.slots[i]
                if SHARES_STATE and gone and len(gone) == len(group["params"]):
                    for name, value in self.shared_state(group).items():
                        ops.assign(slots[name], value)
                for k in gone:
                    p = group["params"][k]
                    for name, value in self.first_state(group, p).items():
                        ops.assign(slots[name][k], value)
                    own = {name: kept[k] if isinstance(kept, list) else kept for name, kept in slots.items()}
                    self.state[p] = {"step": group.count, **own}
                    self.missed[self.starts[i] + k] = int(group.count)

    if TAKES_PLANNED_RATES:

        def take_rate(self, i):
            """The rate that is planned for the group's next step. In construct(), so that it is part of a compiled step."""
            if self.plans[i] is not None:
                ops.assign(self.rates[i], self.plans[i](self.counts[i].astype(ms.int32)))

    def construct(self, grads):
        if LACKS_GRADIENTS and self.has_gaps:
            return self.update_some(grads)
        for i, group in enumerate(self.param_groups):
            start, end = self.starts[i], self.starts[i + 1]
            used = [j for j in range(start, end) if grads[j] is not None]
            if len(used) == 0:
                continue
            if TAKES_PLANNED_RATES:
                self.take_rate(i)
            ops.assign_add(self.counts[i], Tensor(1.0, ms.float32))
            self.update_part(i, group, used, grads, self.counts[i])
        return True

    def update_part(self, i, group, used, grads, step):
        start, end = self.starts[i], self.starts[i + 1]
        chosen = [-grads[j] if group["maximize"] else grads[j] for j in used]
        slots = self.slots[i] if len(used) == end - start else part_of(self.slots[i], [j - start for j in used])
        params = [self.parameters[j] for j in used]
        if TAKES_COMPLEX_NUMBERS:
            kept, params = params, [self.real(p) for p in params]
            chosen = [
                view_as_real(grad) if p.dtype in (ms.complex64, ms.complex128) else grad
                for p, grad in zip(kept, chosen)
            ]
        self.update_group(group, slots, step, self.rates[i], self.inertias[i], params, chosen)
        if TAKES_COMPLEX_NUMBERS:
            for p, own in zip(kept, params):
                if p.dtype in (ms.complex64, ms.complex128):
                    ops.assign(p, complex_of(own[..., 0], own[..., 1]))

    if TAKES_COMPLEX_NUMBERS:

        def real(self, p):
            """As in torch, a complex parameter is updated as two real ones, with an axis more. Others are what they are."""
            if p.dtype not in (ms.complex64, ms.complex128):
                return p
            if p.name not in self.twins:
                self.twins[p.name] = Parameter(view_as_real(p), name=f"parts.{p.name}")
            else:
                ops.assign(self.twins[p.name], view_as_real(p))
            return self.twins[p.name]

    def update_some(self, grads):
        """construct() where some gradients are None: each parameter has made as many steps as it got gradients."""
        for i, group in enumerate(self.param_groups):
            positions = range(self.starts[i], self.starts[i + 1])
            used = [j for j in positions if grads[j] is not None]
            if not used:
                continue
            if TAKES_PLANNED_RATES:
                self.take_rate(i)
            ops.assign_add(self.counts[i], Tensor(1.0, ms.float32))
            for missed in sorted({self.missed.get(j, 0) for j in used}):
                same = [j for j in used if self.missed.get(j, 0) == missed]
                step = self.counts[i] - missed if missed else self.counts[i]
                self.update_part(i, group, same, grads, step)
            for j in positions:
                if grads[j] is None:
                    self.missed[j] = self.missed.get(j, 0) + 1
        return True

    if LACKS_GRADIENTS and KEEPS_OPTIMIZER_STATE:

        def state_dict(self):
            result = super().state_dict()
            for j, missed in self.missed.items():
                if "step" in result["state"][j]:
                    result["state"][j]["step"] = result["state"][j]["step"] - missed
            return result

    if KEEPS_OPTIMIZER_STATE:

        def load_state_dict(self, state_dict):
            super().load_state_dict(state_dict)
            steps = [state_dict["state"].get(j, {}).get("step") for j in range(len(self.parameters))]
            if LACKS_GRADIENTS:
                self.missed = {}
            for i, count in enumerate(self.counts):
                own = {j: float(steps[j]) for j in range(self.starts[i], self.starts[i + 1]) if steps[j] is not None}
                most = max(own.values(), default=0.0)
                ops.assign(count, Tensor(most, ms.float32))
                if LACKS_GRADIENTS:
                    self.missed.update({j: int(most - step) for j, step in own.items() if step < most})

    if TAKES_CLOSURES and not EXTENDS_OPTIMIZERS:

        def step(self, closure=None):
            """torch's form with a closure: it returns (loss, grads) here, as a function from mindspore.value_and_grad does."""
            if closure is not None:
                loss, grads = closure()
            else:  # what an optimizer around this one calls
                loss, grads = None, [getattr(p, "grad", None) for p in self.parameters]
                if all(grad is None for grad in grads):
                    super().step()
            self(grads)
            return loss


def part_of(slots, positions):
    """The state of some of a group's parameters."""
    return {name: [kept[j] for j in positions] if isinstance(kept, list) else kept for name, kept in slots.items()}


def decayed(grad, p, weight_decay):
    """The gradient with the L2 penalty."""
    return grad if weight_decay == 0 else grad + p * weight_decay


def bias_correction(beta, step):
    """1 - beta ** step, without the cancellation of float32."""
    return -ops.expm1(step * ops.log(beta))
