"""The optimizers that came with Keras 3: Adafactor, Muon and the AdamW that needs no schedule."""

import math
import re

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .optimizers import Adam, Optimizer
from .products import product
from .row_gradients import squared
from .tensors import Names, as_tensor


def root_mean_square(x):
    return ops.sqrt(ops.mean(ops.square(x)))


class Adafactor(Optimizer):
    """Remembers a matrix' squared gradients by rows and by columns."""

    def __init__(
        self,
        learning_rate=0.001,
        beta_2_decay=-0.8,
        epsilon_1=1e-30,
        epsilon_2=1e-3,
        clip_threshold=1.0,
        relative_step=True,
        weight_decay=None,
        **kwargs,
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step

    def squares(self, variable, name, new, share):
        """A moving average of a shape of its own."""
        made = self.state.setdefault(id(variable), {})
        if name not in made:
            unique = Names.unique(f"{self.name}/{name}")
            made[name] = ms.Parameter(Tensor(np.zeros(new.shape, np.float32)), name=unique, requires_grad=False)
        ops.assign(made[name], share * made[name] + (1 - share) * new)
        return made[name]

    def update_step(self, gradient, variable, rate):
        step = self.step_number
        share = 1 - step**self.beta_2_decay
        size = ops.maximum(as_tensor(self.epsilon_2), root_mean_square(variable)) * min(rate, 1 / math.sqrt(step))
        new = squared(gradient) + self.epsilon_1
        if variable.ndim >= 2:
            rows = self.squares(variable, "rows", ops.mean(new, -1), share)
            columns = self.squares(variable, "columns", ops.mean(new, -2), share)
            rows = rows / ops.mean(rows, -1, True)
            squares = ops.expand_dims(rows, -1) * ops.expand_dims(columns, -2)
        else:
            squares = self.squares(variable, "velocity", new, share)
        move = gradient / ops.sqrt(squares)
        move = move / ops.maximum(as_tensor(1.0), root_mean_square(move) / self.clip_threshold)
        ops.assign(variable, variable - size * move)


class Muon(Adam):
    """Moves matrices by the nearest orthogonal matrix to their momentum, and everything else as AdamW does."""

    def __init__(
        self,
        learning_rate=0.001,
        adam_beta_1=0.9,
        adam_beta_2=0.999,
        adam_weight_decay=0.004,
        epsilon=1e-7,
        weight_decay=0.004,
        exclude_layers=None,
        exclude_embeddings=True,
        muon_a=3.4445,
        muon_b=-4.775,
        muon_c=2.0315,
        adam_lr_ratio=1,
        momentum=0.95,
        ns_steps=5,
        nesterov=True,
        rms_rate=0.2,
        **kwargs,
    ):
        super().__init__(learning_rate, adam_beta_1, adam_beta_2, epsilon, False, weight_decay, **kwargs)
        self.adam_weight_decay, self.adam_lr_ratio = adam_weight_decay, adam_lr_ratio
        self.exclude_layers, self.exclude_embeddings = exclude_layers or [], exclude_embeddings
        self.factors, self.ns_steps = (muon_a, muon_b, muon_c), ns_steps
        self.momentum, self.nesterov, self.rms_rate = momentum, nesterov, rms_rate

    def is_left_to_adam(self, variable):
        is_embedding = self.exclude_embeddings and "embedding" in variable.name.lower()
        return variable.ndim != 2 or is_embedding or any(re.search(each, variable.name) for each in self.exclude_layers)

    def decay_of(self, variable):
        return self.adam_weight_decay if self.is_left_to_adam(variable) else self.weight_decay

    def update_step(self, gradient, variable, rate):
        if self.is_left_to_adam(variable):
            super().update_step(gradient, variable, rate * self.adam_lr_ratio)
            return
        (m,) = self.slots(variable, "momentum")
        ops.assign(m, m * self.momentum + gradient)
        move = rate * self.orthogonal(gradient + self.momentum * m if self.nesterov else m)
        if self.rms_rate is not None:
            move = move * math.sqrt(max(variable.shape)) * self.rms_rate
        ops.assign(variable, variable - move)

    def orthogonal(self, x):
        """By Newton and Schulz: a polynomial of the matrix, over and over."""
        is_tall = x.shape[0] > x.shape[1]
        x = ops.swapaxes(x, 0, 1) if is_tall else x
        x = x / (ops.sqrt(ops.sum(x * x)) + 1e-7)
        a, b, c = self.factors
        for _ in range(self.ns_steps):
            square = product(x, ops.swapaxes(x, 0, 1))
            x = a * x + product(b * square + c * product(square, square), x)
        return ops.swapaxes(x, 0, 1) if is_tall else x


class ScheduleFreeAdamW(Optimizer):
    """The variables are between a fast sequence (the momentum) and its mean."""

    def __init__(
        self,
        learning_rate=0.0025,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        warmup_steps=0,
        weight_decay=None,
        **kwargs,
    ):
        super().__init__(learning_rate, weight_decay, **kwargs)
        self.beta_1, self.beta_2, self.epsilon, self.warmup_steps = beta_1, beta_2, epsilon, warmup_steps

    def build(self, variables):
        super().build(variables)
        for each in self.known:
            (fast,) = self.slots(each, "momentum")
            ops.assign(fast, each)

    def before_updates(self):
        if not self.state:
            self.build(self.known)

    def update_step(self, gradient, variable, rate):
        fast, v = self.slots(variable, "momentum", "velocity")
        step = self.step_number
        rate = rate * min(step / self.warmup_steps, 1.0) if self.warmup_steps else rate
        ops.assign(v, v + (squared(gradient) - v) * (1 - self.beta_2))
        ops.assign(fast, fast - rate * gradient / (ops.sqrt(v / (1 - self.beta_2**step)) + self.epsilon))
        mean = (variable - (1 - self.beta_1) * fast) / self.beta_1  # of the new one: so Keras does on TensorFlow
        mean = (1 - 1 / step) * mean + fast / step
        ops.assign(variable, (1 - self.beta_1) * fast + self.beta_1 * mean)
