"""Normalization, with Keras' momentum and epsilon."""

from mindspore import ops

from .activations import get_constraint
from .initializers import TruncatedNormal
from .layers_base import Layer
from .layers_shaping import unit_vectors
from .nested_gradients import held
from .products import product
from .tensors import Calls, as_tensor, assign


class BatchNormalization(Layer):
    """With Keras' momentum: the share of the old value that a moving average keeps."""

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        moving_mean_initializer="zeros",
        moving_variance_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        synchronized=False,
        renorm=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if synchronized or renorm:
            raise NotImplementedError(
                "BatchNormalization is neither synchronized nor renormalized here: leave both out"
            )
        self.axis = axis[0] if isinstance(axis, (list, tuple)) else axis
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.moving_mean_initializer, self.moving_variance_initializer = (
            moving_mean_initializer,
            moving_variance_initializer,
        )
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = get_constraint(beta_constraint), get_constraint(gamma_constraint)
        self.supports_masking = True
        self.gamma = self.beta = None

    def build(self, input_shape):
        shape = (input_shape[self.axis],)
        if self.scale:
            self.gamma = self.add_weight(
                shape,
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                name="gamma",
            )
        if self.center:
            self.beta = self.add_weight(
                shape,
                self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                name="beta",
            )
        self.moving_mean = self.add_weight(shape, self.moving_mean_initializer, trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )
        self.built = True

    def call(self, inputs, training=None, mask=None):
        axis = self.axis % inputs.ndim
        shape = tuple(size if place == axis else 1 for place, size in enumerate(inputs.shape))
        if training and self.trainable:
            axes = tuple(place for place in range(inputs.ndim) if place != axis)
            mean, variance = self._moments(inputs, axes, mask)
            if not Calls.is_rehearsal:
                assign_average(self.moving_mean, mean, self.momentum)
                assign_average(self.moving_variance, variance, self.momentum)
        else:
            mean, variance = self.moving_mean, self.moving_variance
        factor = ops.rsqrt(variance + self.epsilon)
        factor = factor * self.gamma if self.scale else factor
        shift = (self.beta if self.center else 0) - mean * factor
        return inputs * ops.reshape(factor, shape) + ops.reshape(shift, shape)

    def _moments(self, x, axes, mask):
        if mask is None:
            mean = ops.mean(x, axes, True)
            variance = ops.mean(ops.square(x - held(mean)), axes, False)
            return ops.reshape(mean, variance.shape), variance
        weight = ops.expand_dims(mask.astype(x.dtype), -1)
        count = ops.sum(weight * ops.ones_like(x), axes, True)
        mean = ops.sum(x * weight, axes, True) / count
        variance = ops.sum(ops.square(x - mean) * weight, axes, True) / count
        return ops.reshape(mean, (-1,)), ops.reshape(variance, (-1,))


def assign_average(variable, value, momentum):
    ops.assign(variable, variable * momentum + ops.stop_gradient(value) * (1 - momentum))


class LayerNormalization(Layer):
    def __init__(
        self,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        rms_scaling=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.axis, self.epsilon, self.center, self.scale, self.rms_scaling = axis, epsilon, center, scale, rms_scaling
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = get_constraint(beta_constraint), get_constraint(gamma_constraint)
        self.supports_masking = True
        self.gamma = self.beta = None

    def build(self, input_shape):
        axes = self.axis if isinstance(self.axis, (list, tuple)) else [self.axis]
        self.__dict__["axes"] = tuple(sorted(axis % len(input_shape) for axis in axes))
        shape = tuple(input_shape[axis] for axis in self.axes)
        if self.scale or self.rms_scaling:
            self.gamma = self.add_weight(
                shape,
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                name="gamma",
            )
        if self.center and not self.rms_scaling:
            self.beta = self.add_weight(
                shape,
                self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                name="beta",
            )
        self.built = True

    def call(self, inputs, training=None):
        shape = tuple(size if place in self.axes else 1 for place, size in enumerate(inputs.shape))
        mean = ops.mean(inputs, self.axes, True)
        variance = ops.mean(ops.square(inputs - (mean if self.rms_scaling else held(mean))), self.axes, True)
        if self.rms_scaling:
            return inputs * ops.rsqrt(variance + self.epsilon) * ops.reshape(self.gamma, shape)
        x = (inputs - mean) * ops.rsqrt(variance + self.epsilon)
        x = x * ops.reshape(self.gamma, shape) if self.gamma is not None else x
        return x + ops.reshape(self.beta, shape) if self.beta is not None else x


class RMSNormalization(Layer):
    def __init__(self, axis=-1, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape):
        self.scale = self.add_weight((input_shape[self.axis],), "ones", name="scale")
        self.built = True

    def call(self, inputs, training=None):
        axis = self.axis % inputs.ndim
        shape = tuple(size if place == axis else 1 for place, size in enumerate(inputs.shape))
        mean = ops.mean(ops.square(inputs), axis, True)
        return inputs * ops.rsqrt(mean + self.epsilon) * ops.reshape(self.scale, shape)


class GroupNormalization(Layer):
    def __init__(
        self,
        groups=32,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = get_constraint(beta_constraint), get_constraint(gamma_constraint)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.gamma = self.beta = None

    def build(self, input_shape):
        shape = (input_shape[self.axis],)
        if self.groups == -1:
            self.groups = shape[0]
        if self.scale:
            self.gamma = self.add_weight(
                shape,
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                name="gamma",
            )
        if self.center:
            self.beta = self.add_weight(
                shape,
                self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                name="beta",
            )
        self.built = True

    def call(self, inputs, training=None):
        axis = self.axis % inputs.ndim
        size = inputs.shape[axis]
        grouped = ops.reshape(
            inputs, (*inputs.shape[:axis], self.groups, size // self.groups, *inputs.shape[axis + 1 :])
        )
        axes = tuple(place for place in range(1, grouped.ndim) if place != axis)
        mean = ops.mean(grouped, axes, True)
        variance = ops.mean(ops.square(grouped - held(mean)), axes, True)
        x = ops.reshape((grouped - mean) * ops.rsqrt(variance + self.epsilon), inputs.shape)
        shape = tuple(each if place == axis else 1 for place, each in enumerate(inputs.shape))
        x = x * ops.reshape(self.gamma, shape) if self.scale else x
        return x + ops.reshape(self.beta, shape) if self.center else x


class UnitNormalization(Layer):
    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.supports_masking = axis, True

    def call(self, inputs, training=None):
        return inputs * ops.rsqrt(ops.maximum(ops.sum(inputs * inputs, self.axis, True), as_tensor(1e-12)))


class SpectralNormalization(Layer):
    """Divides a layer's kernel by its largest singular value, at each step of training."""

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(**kwargs)
        self.layer, self.power_iterations = layer, power_iterations

    def build(self, input_shape):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.kernel = self.layer.kernel if hasattr(self.layer, "kernel") else self.layer.embeddings
        start = TruncatedNormal(stddev=0.02)
        self.vector_u = self.add_weight((1, self.kernel.shape[-1]), start, trainable=False, name="vector_u")
        self.built = True

    def call(self, inputs, training=False):
        if training:
            self.divide_kernel()
        return self.layer(inputs)

    def divide_kernel(self):
        matrix = ops.stop_gradient(ops.reshape(self.kernel, (-1, self.kernel.shape[-1])))
        if not bool(ops.any(ops.not_equal(matrix, as_tensor(0.0, matrix.dtype)))):
            return
        right = ops.stop_gradient(self.vector_u)
        for _ in range(self.power_iterations):
            left = unit_vectors(product(right, ops.swapaxes(matrix, 0, 1)), 1)
            right = unit_vectors(product(left, matrix), 1)
        largest = product(product(left, matrix), ops.swapaxes(right, 0, 1))
        assign(self.vector_u, right)
        assign(self.kernel, self.kernel / largest)
