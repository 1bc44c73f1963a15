"""Keras' learning rate schedules: functions of the step."""

import math

import numpy as np
from mindspore import Tensor

from .tensors import Made, as_tensor


def step_of(step):
    return float(step.asnumpy()) if isinstance(step, Tensor) else float(step)


class LearningRateSchedule(Made):
    """One of somebody's own gets the step as a tensor, as in Keras."""

    def __call__(self, step):
        return as_tensor(np.float32(self.at(step_of(step))))

    def get_config(self):
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class ExponentialDecay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="ExponentialDecay"):
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase = staircase

    def at(self, step):
        share = step / self.decay_steps
        return self.initial_learning_rate * self.decay_rate ** (math.floor(share) if self.staircase else share)


class InverseTimeDecay(ExponentialDecay):
    def at(self, step):
        share = step / self.decay_steps
        return self.initial_learning_rate / (1 + self.decay_rate * (math.floor(share) if self.staircase else share))


class PiecewiseConstantDecay(LearningRateSchedule):
    def __init__(self, boundaries, values, name="PiecewiseConstant"):
        self.boundaries, self.values = boundaries, values

    def at(self, step):
        return self.values[sum(step > step_of(each) for each in self.boundaries)]


class PolynomialDecay(LearningRateSchedule):
    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        end_learning_rate=0.0001,
        power=1.0,
        cycle=False,
        name="PolynomialDecay",
    ):
        self.initial_learning_rate, self.decay_steps, self.end_learning_rate = (
            initial_learning_rate,
            decay_steps,
            end_learning_rate,
        )
        self.power, self.cycle = power, cycle

    def at(self, step):
        last = self.decay_steps
        if self.cycle:
            last *= math.ceil(step / self.decay_steps) if step else 1
        else:
            step = min(step, last)
        return (self.initial_learning_rate - self.end_learning_rate) * (
            1 - step / last
        ) ** self.power + self.end_learning_rate


class CosineDecay(LearningRateSchedule):
    def __init__(
        self, initial_learning_rate, decay_steps, alpha=0.0, name="CosineDecay", warmup_target=None, warmup_steps=0
    ):
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def at(self, step):
        if self.warmup_target is None:
            return self.decayed(step, self.initial_learning_rate)
        if step < self.warmup_steps:
            return (
                self.initial_learning_rate
                + (self.warmup_target - self.initial_learning_rate) * step / self.warmup_steps
            )
        return self.decayed(step - self.warmup_steps, self.warmup_target)

    def decayed(self, step, first):
        share = 0.5 * (1 + math.cos(math.pi * min(step, self.decay_steps) / self.decay_steps))
        return first * ((1 - self.alpha) * share + self.alpha)


class CosineDecayRestarts(LearningRateSchedule):
    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name="SGDRDecay"):
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha = t_mul, m_mul, alpha

    def at(self, step):
        done = step / self.first_decay_steps
        if self.t_mul == 1.0:
            restart = math.floor(done)
            done -= restart
        else:
            restart = math.floor(math.log(1 - done * (1 - self.t_mul)) / math.log(self.t_mul))
            done = (done - (1 - self.t_mul**restart) / (1 - self.t_mul)) / self.t_mul**restart
        share = 0.5 * self.m_mul**restart * (1 + math.cos(math.pi * done))
        return self.initial_learning_rate * ((1 - self.alpha) * share + self.alpha)
