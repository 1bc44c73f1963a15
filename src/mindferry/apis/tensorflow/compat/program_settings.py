"""Settings that programs make and ask for: types, the layout of images, versions; and what layers say about themselves."""

from .layers_base import Layer


class Settings:
    policy = "float32"


def set_policy(policy):
    """keras.mixed_precision.set_global_policy: layers compute in float32 whatever it says."""
    Settings.policy = str(getattr(policy, "name", policy))


def global_policy():
    return Policy(Settings.policy)


class Policy:
    """keras.mixed_precision.Policy: its name; weights and computation are float32."""

    compute_dtype = variable_dtype = "float32"

    def __init__(self, name="float32"):
        self.name = name

    def __str__(self):
        return self.name


class InputSpec:
    """keras.layers.InputSpec: what a layer asks of its input, which is not checked."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None, **_):
        self.dtype, self.shape, self.ndim, self.max_ndim = dtype, shape, ndim, max_ndim
        self.min_ndim, self.axes = min_ndim, axes or {}


class TensorShape(tuple):
    """tf.TensorShape."""

    def __new__(cls, dims=()):
        return super().__new__(cls, (None if each is None else int(each) for each in dims))

    def as_list(self):
        return list(self)

    def concatenate(self, other):
        return TensorShape((*self, *other))

    def num_elements(self):
        made = 1
        for each in self:
            made *= each
        return made

    @property
    def rank(self):
        return len(self)

    ndims = rank


class Wrapper(Layer):
    """keras.layers.Wrapper: a layer around a layer."""

    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True


def as_given(value):
    """serialize() of what a configuration holds: the thing itself, which get() takes too."""
    return value


def plot_model(model, to_file="model.png", **_):
    """keras.utils.plot_model."""
    print(f"{to_file}: the picture of the network is not drawn")


def built_with_cuda(*args, **kwargs):
    """tf.test.is_built_with_cuda and the like: devices are MindSpore's own affair."""
    return False


def gpu_device_name():
    return ""
