"""Optimizers around others: one that scales the loss, and one that has another optimizer for some variables."""

import re

from mindspore import ops

from .optimizers import Optimizer


class LossScaleOptimizer(Optimizer):
    """Scales the loss up and the gradients down; leaves steps out whose gradients are too large for a number."""

    def __init__(self, inner_optimizer, initial_scale=2.0**15, dynamic_growth_steps=2000, name=None, **kwargs):
        super().__init__(name=name)
        self.inner_optimizer = inner_optimizer
        self.dynamic_scale, self.dynamic_growth_steps, self.step_counter = initial_scale, dynamic_growth_steps, 0
        self.inner_optimizer.loss_scale_factor = None

    @property
    def learning_rate(self):
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        if hasattr(self, "inner_optimizer"):
            self.inner_optimizer.learning_rate = value

    @property
    def variables(self):
        return self.inner_optimizer.variables

    def build(self, variables):
        self.inner_optimizer.build(variables)

    def apply(self, grads, trainable_variables=None):
        if all(bool(ops.isfinite(each).all()) for each in grads if each is not None):
            scaled = [None if each is None else each / self.dynamic_scale for each in grads]
            self.inner_optimizer.apply(scaled, trainable_variables)
            self.step_counter += 1
            if self.step_counter == self.dynamic_growth_steps:
                self.step_counter, self.dynamic_scale = 0, self.dynamic_scale * 2
        else:
            self.step_counter, self.dynamic_scale = 0, self.dynamic_scale / 2

    def scale_loss(self, loss):
        return loss * self.dynamic_scale

    def finalize_variable_values(self, var_list):
        self.inner_optimizer.finalize_variable_values(var_list)


class OptimizerMap:
    """Optimizers by patterns of variables' names, and one for the others."""

    def __init__(self, default_optimizer, optimizer_map=None):
        self.default_optimizer, self.by_pattern = default_optimizer, optimizer_map or {}

    def __getitem__(self, key):
        found = [key] if key in self.by_pattern else [each for each in self.by_pattern if re.fullmatch(each, key)]
        if len(found) > 1:
            raise ValueError(f"Multiple optimizers assigned to variable {key}.")
        return self.by_pattern[found[0]] if found else self.default_optimizer

    def __setitem__(self, key, optimizer):
        if key in self.by_pattern:
            raise ValueError(f"{key} already has an optimizer")
        self.by_pattern[key] = optimizer

    def __delitem__(self, key):
        del self.by_pattern[key]

    def __len__(self):
        return len(self.by_pattern)

    def __iter__(self):
        return iter(self.by_pattern)

    def __call__(self, variable):
        return self[variable.name]


class MultiOptimizer(Optimizer):
    """Each variable by the optimizer that a function, or an OptimizerMap, gives for it."""

    def __init__(self, optimizer_map, loss_scale_factor=None, name=None):
        super().__init__(0.0, loss_scale_factor=loss_scale_factor, name=name)
        self.optimizer_map, self.optimizers = optimizer_map, []

    @property
    def variables(self):
        return [self.iterations, *(each for optimizer in self.optimizers for each in optimizer.variables)]

    def apply(self, grads, trainable_variables=None):
        variables = self.known if trainable_variables is None else list(trainable_variables)
        self.known = self.known or variables
        shares = {}
        for gradient, variable in zip(grads, variables):
            optimizer = self.optimizer_map(variable)
            if not any(optimizer is each for each in self.optimizers):
                optimizer.loss_scale_factor = self.loss_scale_factor
                self.optimizers.append(optimizer)
            shares.setdefault(id(optimizer), (optimizer, []))[1].append((gradient, variable))
        for optimizer, pairs in shares.values():
            optimizer.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        ops.assign(self.iterations, self.iterations + 1)

    def finalize_variable_values(self, var_list):
        for variable in var_list:
            self.optimizer_map(variable).finalize_variable_values([variable])
