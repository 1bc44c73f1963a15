"""Transforms that call other transforms."""

import functools

import mindspore as ms
import numpy as np

from .host_numbers import python_numbers
from .parts import PRINTS_DATASETS


class Compose:
    """torchvision.transforms.Compose. (mindspore.dataset.transforms.Compose returns a tuple when it is called.)"""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, *inputs):
        for transform in self.transforms:
            outputs = transform(*inputs)
            inputs = outputs if len(inputs) > 1 else (outputs,)
        return inputs if len(inputs) > 1 else inputs[0]

    if PRINTS_DATASETS:

        def __repr__(self):
            return "\n".join(["Compose(", *(f"    {each}" for each in self.transforms), ")"])


class RandomApply:
    """torchvision.transforms.RandomApply: all of them, with probability p."""

    def __init__(self, transforms, p=0.5):
        self.transforms = transforms
        self.p = p

    def __call__(self, image):
        if python_numbers().random() <= self.p:
            for transform in self.transforms:
                image = transform(image)
        return image


class RandomChoice:
    """torchvision.transforms.RandomChoice: one of them."""

    def __init__(self, transforms, p=None):
        self.transforms = transforms
        self.p = p

    def __call__(self, *inputs):
        return python_numbers().choices(self.transforms, weights=self.p)[0](*inputs)


class RandomOrder:
    """torchvision.transforms.RandomOrder: all of them, in random order."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in python_numbers().sample(list(self.transforms), len(self.transforms)):
            image = transform(image)
        return image


class Lambda:
    """torchvision.transforms.Lambda: a function as a transform."""

    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, image):
        return self.lambd(image)


def on_tensors(transform):
    """A transform that computes with Tensors, between others that hand arrays on: for arrays it gets Tensors, and gives arrays."""

    @functools.wraps(transform, ("__module__", "__name__", "__doc__"), ())
    def apply(*inputs, **named):
        made = transform(*as_tensors(inputs), **as_tensors(named))
        given = (*inputs, named)
        return as_arrays(made) if holds(np.ndarray, given) and not holds(ms.Tensor, given) else made

    apply.stays_in_process = True  # worker processes must not run its operators
    return apply


def holds(kind, value):
    """Whether it is one, or has one in lists, tuples and dictionaries."""
    parts = value.values() if isinstance(value, dict) else value if type(value) in (list, tuple) else ()
    return isinstance(value, kind) or any(holds(kind, each) for each in parts)


def as_tensors(value):
    """Arrays in lists, tuples and dictionaries as Tensors."""
    if isinstance(value, np.ndarray):
        return ms.Tensor(value)
    return mapped_inside(as_tensors, value)


def as_arrays(value):
    """Tensors in lists, tuples and dictionaries as arrays."""
    if isinstance(value, ms.Tensor):
        return value.asnumpy()
    return mapped_inside(as_arrays, value)


def mapped_inside(function, value):
    if isinstance(value, dict):
        return {key: function(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(function(each) for each in value)
    return value
