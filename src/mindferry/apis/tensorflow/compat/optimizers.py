"""Keras' optimizers with Keras' arithmetic and defaults."""

import inspect
import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .initializers import snake_case
from .row_gradients import map_rows, squared
from .tensors import Made, Names, as_tensor, assign


class Optimizer(Made):
    """What the optimizers share: the step counter, the learning rate, decay and clipping."""

    def __init__(
        self,
        learning_rate=0.001,
        weight_decay=None,
        clipnorm=None,
        clipvalue=None,
        global_clipnorm=None,
        use_ema=False,
        ema_momentum=0.99,
        ema_overwrite_frequency=None,
        loss_scale_factor=None,
        gradient_accumulation_steps=None,
        name=None,
        lr=None,
        **kwargs,
    ):
        if kwargs:
            raise ValueError(f"{type(self).__name__} does not take {', '.join(sorted(kwargs))}")
        self.name = name or snake_case(type(self).__name__)
        self.weight_decay, self.clipnorm, self.clipvalue, self.global_clipnorm = (
            weight_decay,
            clipnorm,
            clipvalue,
            global_clipnorm,
        )
        self.iterations = ms.Parameter(
            Tensor(0, ms.int64), name=Names.unique(f"{self.name}/iterations"), requires_grad=False
        )
        self.use_ema, self.ema_momentum, self.ema_overwrite_frequency = use_ema, ema_momentum, ema_overwrite_frequency
        self.loss_scale_factor = loss_scale_factor
        self.gradient_accumulation_steps, self.calls = gradient_accumulation_steps, 0
        self.state, self.not_decayed, self.known = {}, [], []
        self.learning_rate = learning_rate if lr is None else lr

    @property
    def learning_rate(self):
        if not callable(self._rate) or isinstance(self._rate, Tensor):
            return self._rate
        return self._rate(as_tensor(np.int64(self.calls)) if self.gradient_accumulation_steps else self.iterations)

    @learning_rate.setter
    def learning_rate(self, value):
        if callable(value) and not isinstance(value, Tensor):
            self._rate = value
        elif isinstance(getattr(self, "_rate", None), Tensor):
            assign(self._rate, value)
        else:
            number = value.asnumpy() if isinstance(value, Tensor) else value
            name = Names.unique(f"{self.name}/learning_rate")
            self._rate = ms.Parameter(Tensor(np.float32(number)), name=name, requires_grad=False)

    lr = learning_rate

    @property
    def step_number(self):
        return int(self.iterations.asnumpy()) + 1

    @property
    def variables(self):
        rate = [self._rate] if isinstance(self._rate, Tensor) else []
        return [self.iterations, *rate, *(value for slots in self.state.values() for value in slots.values())]

    def build(self, variables):
        self.known = list(variables)

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        self.not_decayed += [id(each) for each in var_list or ()]
        self.not_decayed += list(var_names or ())

    def slots(self, variable, *names, first=0.0):
        """What is remembered of a variable."""
        made = self.state.setdefault(id(variable), {})
        for name in names:
            if name not in made:
                made[name] = ms.Parameter(
                    Tensor(np.full(variable.shape, first, np.float32)),
                    name=Names.unique(f"{self.name}/{name}"),
                    requires_grad=False,
                )
        return [made[name] for name in names]

    def apply_gradients(self, grads_and_vars, name=None, **_):
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        return self.iterations

    def apply(self, grads, trainable_variables=None):
        variables = self.known if trainable_variables is None else list(trainable_variables)
        self.known = self.known or variables
        pairs = [(gradient, variable) for gradient, variable in zip(grads, variables) if gradient is not None]
        if not pairs:
            return
        variables = [variable for _, variable in pairs]
        gradients = self.collected([gradient for gradient, _ in pairs], variables)
        if gradients is not None:
            self.update(self.clipped(gradients), variables)
        if self.use_ema:
            self.average(variables)
        for variable in variables:
            constraint = getattr(variable, "constraint", None)
            if constraint is not None:
                assign(variable, constraint(variable))
        self.calls += 1
        if gradients is not None:
            assign(self.iterations, self.step_number)

    def update(self, gradients, variables):
        rate = float(np.float32(as_tensor(self.learning_rate).asnumpy()))
        self.before_updates()
        for gradient, variable in zip(gradients, variables):
            decay = self.decay_of(variable)
            if decay and not self._is_excluded(variable):
                ops.assign(variable, variable - variable * decay * rate)
            self.update_step(gradient, variable, rate)

    def decay_of(self, variable):
        return self.weight_decay

    def collected(self, gradients, variables):
        """The gradients to update with: the mean of those of several calls, at the last of these calls only."""
        if self.loss_scale_factor is not None:
            gradients = [each / self.loss_scale_factor for each in gradients]
        count = self.gradient_accumulation_steps
        if not count:
            return gradients
        totals = [self.slots(each, "gradient_accumulator")[0] for each in variables]
        if (self.calls + 1) % count:
            for total, gradient in zip(totals, gradients):
                ops.assign(total, total + gradient)
            return None
        means = [(gradient + total) / count for total, gradient in zip(totals, gradients)]
        for total in totals:
            ops.assign(total, ops.zeros_like(total))
        return means

    def average(self, variables):
        """Keep moving averages of the variables; now and then, the variables become these."""
        momentum = self.ema_momentum if self.step_number > 1 else 0.0
        for variable in variables:
            (mean,) = self.slots(variable, "average")
            ops.assign(mean, momentum * mean + (1 - momentum) * variable)
        if self.ema_overwrite_frequency and self.step_number % self.ema_overwrite_frequency == 0:
            self.finalize_variable_values(variables)

    def finalize_variable_values(self, var_list):
        """After training: the variables become their averages."""
        if self.use_ema:
            for variable in var_list:
                assign(variable, self.slots(variable, "average")[0])

    def scale_loss(self, loss):
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def minimize(self, loss, var_list, tape=None):
        raise NotImplementedError("take the gradients with tf.GradientTape and give them to apply_gradients")

    def before_updates(self):
        pass

    def _is_excluded(self, variable):
        return id(variable) in self.not_decayed or any(
            isinstance(each, str) and each in variable.name for each in self.not_decayed
        )

    def clipped(self, gradients):
        if self.clipnorm:
            return [clip_by_norm(each, self.clipnorm) for each in gradients]
        if self.global_clipnorm:
            factor = norm_factor(global_norm(gradients), self.global_clipnorm)
            return [each * factor for each in gradients]
        if self.clipvalue:
            limit = float(self.clipvalue)
            return [map_rows(each, lambda part: ops.clamp(part, -limit, limit)) for each in gradients]
        return gradients

    def get_config(self):
        """Every setting that it takes, as it is now; somebody's own class says for itself what it takes beside these."""
        ours = next(each for each in type(self).__mro__ if each.__module__ == Optimizer.__module__)
        own = inspect.signature(ours.__init__).parameters
        config = {name: each.default for name, each in own.items() if name not in ("self", "kwargs")}
        args, kwargs = self._made_with
        config |= {key: value for key, value in (*zip(config, args), *kwargs.items()) if key in config}
        names = [*config, *inspect.signature(Optimizer.__init__).parameters]
        config |= {name: getattr(self, name) for name in names if hasattr(self, name)}
        rate = self._rate
        config["learning_rate"] = float(rate.asnumpy()) if isinstance(rate, Tensor) else rate
        return {name: value for name, value in config.items() if name != "lr"}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def norm_factor(norm, largest):
    """What brings a norm down to the largest one that is allowed."""
    return largest / ops.maximum(norm, as_tensor(largest, norm.dtype))


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """tf.clip_by_norm."""
    t = as_tensor(t)
    norm = ops.sqrt(ops.sum(t * t, axes, True)) if axes is not None else global_norm([t])
    factor = norm_factor(norm, clip_norm)
    return map_rows(t, lambda each: each * factor)


def global_norm(t_list, name=None):
    """tf.linalg.global_norm."""
    return ops.sqrt(sum(ops.sum(squared(each)) for each in t_list if each is not None))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """tf.clip_by_global_norm: the clipped tensors, and the norm."""
    norm = global_norm(t_list) if use_norm is None else as_tensor(use_norm)
    factor = norm_factor(norm, clip_norm)
    return [None if each is None else map_rows(each, lambda part: part * factor) for each in t_list], norm


class SGD(Optimizer):
    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.momentum, self.nesterov = momentum, nesterov

    def update_step(self, gradient, variable, rate):
        if not self.momentum:
            ops.assign(variable, variable - gradient * rate)
            return
        (m,) = self.slots(variable, "momentum")
        ops.assign(m, m * self.momentum - gradient * rate)
        ops.assign(variable, variable + (m * self.momentum - gradient * rate if self.nesterov else m))


class RMSprop(Optimizer):
    def __init__(
        self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, weight_decay=None, **kwargs
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def update_step(self, gradient, variable, rate):
        velocity, average, momentum = self.slots(variable, "velocity", "average_gradient", "momentum")
        ops.assign(velocity, self.rho * velocity + (1 - self.rho) * squared(gradient))
        below = velocity + self.epsilon
        if self.centered:
            ops.assign(average, self.rho * average + (1 - self.rho) * gradient)
            below = velocity - average * average + self.epsilon
        step = rate * gradient * ops.rsqrt(below)
        if self.momentum:
            ops.assign(momentum, self.momentum * momentum + step)
            step = momentum
        ops.assign(variable, variable - step)


class Adam(Optimizer):
    def __init__(
        self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, weight_decay=None, **kwargs
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad

    def update_step(self, gradient, variable, rate):
        m, v = self.slots(variable, "momentum", "velocity")
        step = self.step_number
        size = rate * math.sqrt(1 - self.beta_2**step) / (1 - self.beta_1**step)
        ops.assign(m, m + (gradient - m) * (1 - self.beta_1))
        ops.assign(v, v + (squared(gradient) - v) * (1 - self.beta_2))
        if self.amsgrad:
            (largest,) = self.slots(variable, "velocity_hat")
            ops.assign(largest, ops.maximum(largest, v))
            v = largest
        ops.assign(variable, variable - m * size / (ops.sqrt(v) + self.epsilon))


class AdamW(Adam):
    def __init__(
        self, learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, **kwargs
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay, **kwargs)


class Nadam(Optimizer):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon, self.product = beta_1, beta_2, epsilon, 1.0

    def share(self, step):
        return self.beta_1 * (1 - 0.5 * 0.96**step)

    def before_updates(self):
        self.product *= self.share(self.step_number)

    def update_step(self, gradient, variable, rate):
        m, v = self.slots(variable, "momentum", "velocity")
        step = self.step_number
        now, later = self.share(step), self.share(step + 1)
        ops.assign(m, m + (gradient - m) * (1 - self.beta_1))
        ops.assign(v, v + (squared(gradient) - v) * (1 - self.beta_2))
        first = later * m / (1 - self.product * later) + (1 - now) * gradient / (1 - self.product)
        second = v / (1 - self.beta_2**step)
        ops.assign(variable, variable - first * rate / (ops.sqrt(second) + self.epsilon))


class Adamax(Optimizer):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def update_step(self, gradient, variable, rate):
        m, u = self.slots(variable, "momentum", "norm")
        ops.assign(m, m + (gradient - m) * (1 - self.beta_1))
        ops.assign(u, ops.maximum(self.beta_2 * u, map_rows(gradient, ops.abs)))
        ops.assign(variable, variable - rate * m / ((1 - self.beta_1**self.step_number) * (u + self.epsilon)))


class Adagrad(Optimizer):
    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def update_step(self, gradient, variable, rate):
        (total,) = self.slots(variable, "accumulator", first=self.initial_accumulator_value)
        ops.assign(total, total + squared(gradient))
        ops.assign(variable, variable - rate * gradient / ops.sqrt(total + self.epsilon))


class Adadelta(Optimizer):
    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.rho, self.epsilon = rho, epsilon

    def update_step(self, gradient, variable, rate):
        total, moved = self.slots(variable, "accumulated_grad", "accumulated_delta_var")
        ops.assign(total, self.rho * total + (1 - self.rho) * squared(gradient))
        size = ops.sqrt(moved + self.epsilon) / ops.sqrt(total + self.epsilon)
        ops.assign(moved, self.rho * moved + (1 - self.rho) * size * size * squared(gradient))
        ops.assign(variable, variable - rate * size * gradient)


class Lion(Optimizer):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.99, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2 = beta_1, beta_2

    def update_step(self, gradient, variable, rate):
        (m,) = self.slots(variable, "momentum")
        ops.assign(variable, variable - rate * ops.sign(m * self.beta_1 + gradient * (1 - self.beta_1)))
        ops.assign(m, m * self.beta_2 + gradient * (1 - self.beta_2))


class Lamb(Optimizer):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, **kwargs):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def update_step(self, gradient, variable, rate):
        m, v = self.slots(variable, "momentum", "velocity")
        step = self.step_number
        ops.assign(m, m + (gradient - m) * (1 - self.beta_1))
        ops.assign(v, v + (squared(gradient) - v) * (1 - self.beta_2))
        wanted = (m / (1 - self.beta_1**step)) / (ops.sqrt(v / (1 - self.beta_2**step)) + self.epsilon)
        norms = [float(ops.sqrt(ops.sum(each * each)).asnumpy()) for each in (variable, wanted)]
        ratio = norms[0] / norms[1] if norms[0] > 0 and norms[1] > 0 else 1.0
        ops.assign(variable, variable - ratio * rate * wanted)


class Ftrl(Optimizer):
    def __init__(
        self,
        learning_rate=0.001,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        l2_shrinkage_regularization_strength=0.0,
        beta=0.0,
        weight_decay=None,
        **kwargs,
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.power, self.first, self.l1, self.l2 = (
            learning_rate_power,
            initial_accumulator_value,
            l1_regularization_strength,
            l2_regularization_strength,
        )
        self.shrinkage, self.beta = l2_shrinkage_regularization_strength, beta

    def update_step(self, gradient, variable, rate):
        (total,) = self.slots(variable, "accumulator", first=self.first)
        (line,) = self.slots(variable, "linear")
        l2 = self.l2 + self.beta / (2 * rate)
        used = gradient + 2 * self.shrinkage * variable
        grown = total + squared(gradient)
        change = (ops.pow(grown, -self.power) - ops.pow(total, -self.power)) / rate
        ops.assign(line, line + used - change * variable)
        below = ops.pow(grown, -self.power) / rate + 2 * l2
        ops.assign(variable, (ops.clamp(line, -self.l1, self.l1) - line) / below)
        ops.assign(total, grown)
