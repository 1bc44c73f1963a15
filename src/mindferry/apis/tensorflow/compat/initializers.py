"""Keras' initializers: how a weight gets its first value."""

import copy
import math
import random
import re

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .random_values import Chance, truncated_numbers
from .tensors import Made, as_tensor, dtype_name


def fans(shape):
    """Numbers of inputs and outputs that a kernel of this shape connects."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class Initializer(Made):
    def __call__(self, shape, dtype="float32", **_):
        shape = tuple(int(each) for each in shape)
        return Tensor(np.asarray(self.values(shape)).astype(dtype_name(dtype or "float32")))

    def values(self, shape):
        raise NotImplementedError(f"{type(self).__name__} has no values")

    def get_config(self):
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Zeros(Initializer):
    def values(self, shape):
        return np.zeros(shape)


class Ones(Initializer):
    def values(self, shape):
        return np.ones(shape)


class Constant(Initializer):
    def __init__(self, value=0.0):
        self.value = value

    def values(self, shape):
        value = self.value.asnumpy() if isinstance(self.value, Tensor) else np.asarray(self.value)
        return np.broadcast_to(value, shape).copy()


def drawn_seed(seed):
    """Keras draws a seed that is not given from Python's own generator, with which the program may go on."""
    if seed is None:
        random.randint(1, 10**9)
    return seed


class RandomNormal(Initializer):
    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, drawn_seed(seed)

    def values(self, shape):
        return Chance.generator.normal(self.mean, self.stddev, shape)


class TruncatedNormal(RandomNormal):
    def values(self, shape):
        return self.mean + self.stddev * truncated_numbers(shape)


class RandomUniform(Initializer):
    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, drawn_seed(seed)

    def values(self, shape):
        return Chance.generator.uniform(self.minval, self.maxval, shape)


class Orthogonal(Initializer):
    def __init__(self, gain=1.0, seed=None):
        self.gain, self.seed = gain, drawn_seed(seed)

    def values(self, shape):
        rows, columns = math.prod(shape[:-1]), shape[-1]
        made = Chance.generator.normal(size=(max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(made)
        q = q * np.sign(np.diag(r))
        return self.gain * (q.T if rows < columns else q).reshape(shape)


class IdentityInitializer(Initializer):
    def __init__(self, gain=1.0):
        self.gain = gain

    def values(self, shape):
        return self.gain * np.eye(*shape)


class VarianceScaling(Initializer):
    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, drawn_seed(seed)

    def by_fans(self, inputs, outputs):
        """The same for a kernel whose shape does not tell how many inputs and outputs it connects."""
        made = copy.copy(self)
        made._fans = inputs, outputs
        return made

    def values(self, shape):
        inputs, outputs = getattr(self, "_fans", None) or fans(shape)
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return Chance.generator.uniform(-limit, limit, shape)
        if self.distribution == "untruncated_normal":
            return Chance.generator.normal(0, math.sqrt(variance), shape)
        return truncated_numbers(shape) * math.sqrt(variance) / 0.87962566103423978


class GlorotUniform(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


class HeUniform(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(2.0, "fan_in", "uniform", seed)


class HeNormal(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(2.0, "fan_in", "truncated_normal", seed)


class LecunUniform(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_in", "uniform", seed)


class LecunNormal(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_in", "truncated_normal", seed)


def named_window(name, length, periodic=False):
    """scipy.signal.get_window for the windows that are sums of cosines, and the rectangular one."""
    shares = {
        "hann": (0.5, 0.5),
        "hanning": (0.5, 0.5),
        "hamming": (0.54, 0.46),
        "blackman": (0.42, 0.5, 0.08),
        "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
        "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
        "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
        "boxcar": (1.0,),
        "ones": (1.0,),
        "rectangular": (1.0,),
    }
    if name not in shares:
        raise NotImplementedError(
            f"the window {name} is not here: give its values, as scipy.signal.get_window makes them"
        )
    if length == 1:
        return np.ones(1)
    angle = 2 * np.pi * np.arange(length) / (length if periodic else length - 1)
    return sum((-1) ** order * share * np.cos(order * angle) for order, share in enumerate(shares[name]))


class STFT(Initializer):
    """The kernel (times, 1, frequencies) of a convolution that is the real or imaginary side of a Fourier transform."""

    def __init__(self, side="real", window="hann", scaling="density", periodic=False):
        self.side, self.window, self.scaling, self.periodic = side, window, scaling, periodic

    def values(self, shape):
        length, _, count = shape
        angle = -2 * np.pi * np.arange(length)[:, None, None] * np.arange(count) / (2 * (count - 1))
        kernel = np.cos(angle) if self.side == "real" else np.sin(angle)
        if self.window is None:
            return kernel
        is_name = isinstance(self.window, str)
        window = named_window(self.window, length, self.periodic) if is_name else np.asarray(self.window)
        whole = {"density": np.sqrt((window**2).sum()), "spectrum": np.abs(window).sum()}.get(self.scaling, 1.0)
        return kernel * window[:, None, None] / whole


INITIALIZERS = {
    "zeros": Zeros,
    "ones": Ones,
    "constant": Constant,
    "random_normal": RandomNormal,
    "normal": RandomNormal,
    "truncated_normal": TruncatedNormal,
    "random_uniform": RandomUniform,
    "uniform": RandomUniform,
    "orthogonal": Orthogonal,
    "identity": IdentityInitializer,
    "variance_scaling": VarianceScaling,
    "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal,
    "he_uniform": HeUniform,
    "he_normal": HeNormal,
    "lecun_uniform": LecunUniform,
    "lecun_normal": LecunNormal,
    "stft": STFT,
}


def snake_case(name):
    """As Keras names layers: Conv2D is conv2d, BatchNormalization is batch_normalization."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def get_initializer(given):
    """By name, by class, or the initializer itself."""
    if given is None:
        return GlorotUniform()
    if isinstance(given, str):
        name = given if given in INITIALIZERS else snake_case(given)
        return INITIALIZERS[name]()
    if isinstance(given, dict):
        return INITIALIZERS[snake_case(given["class_name"])](**given.get("config", {}))
    return given() if isinstance(given, type) else given


def initial_value(initializer, shape, dtype):
    made = initializer(shape, dtype=dtype) if "dtype" in _parameters(initializer) else initializer(shape)
    return as_tensor(made, ms.float32 if dtype is None else dtype)


def _parameters(function):
    import inspect

    code = inspect.signature(function).parameters
    return set(code) | ({"dtype"} if any(each.kind is each.VAR_KEYWORD for each in code.values()) else set())
