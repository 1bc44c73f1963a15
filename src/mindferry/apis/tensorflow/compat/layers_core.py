"""Dense, Embedding, dropout, activations, and layers that shape or merge."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .activations import (
    L1L2,
    elu,
    get_activation,
    get_constraint,
    leaky_relu,
    relu,
    softmax,
)
from .initializers import VarianceScaling, drawn_seed, get_initializer
from .layers_base import Layer
from .masks import any_unequal, unequal
from .products import einsum, product
from .random_values import Chance, drawn_tensor, dropout_mask
from .row_gradients import look_up
from .tensors import as_dtype, as_tensor, assign, is_float


class Dense(Layer):
    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        lora_rank=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if lora_rank is not None:
            raise NotImplementedError("Dense has no lora_rank here: write the low-rank layers out")
        self.units, self.use_bias = int(units), use_bias
        self.activation = get_activation(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = (
            get_constraint(kernel_constraint),
            get_constraint(bias_constraint),
        )
        self.supports_masking = True
        self.bias = None

    def build(self, input_shape):
        self.kernel = self.add_weight(
            (input_shape[-1], self.units),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )
        self.built = True

    def call(self, inputs, training=None):
        x = product(inputs, self.kernel)
        return self.activation(x + self.bias if self.use_bias else x)


class EinsumDense(Layer):
    def __init__(
        self,
        equation,
        output_shape,
        activation=None,
        bias_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        lora_rank=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if lora_rank is not None:
            raise NotImplementedError("EinsumDense has no lora_rank here: write the low-rank layers out")
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = (
            get_constraint(kernel_constraint),
            get_constraint(bias_constraint),
        )
        self.equation, self.bias_axes = equation.replace(" ", ""), bias_axes
        self.partial_shape = tuple(output_shape) if isinstance(output_shape, (list, tuple)) else (output_shape,)
        self.activation = get_activation(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.bias = None

    def build(self, input_shape):
        left, output = self.equation.split("->")
        given, kernel = left.split(",")
        given, output = self._spelled(given, len(input_shape)), self._spelled(output, None, given, len(input_shape))
        sizes = dict(zip(given, input_shape, strict=True))
        wanted = [None] * (len(output) - len(self.partial_shape)) + list(self.partial_shape)
        sizes.update({name: size for name, size in zip(output, wanted, strict=True) if size is not None})
        self.__dict__["letters"] = f"{given},{kernel}->{output}"
        initializer = get_initializer(self.kernel_initializer)
        if isinstance(initializer, VarianceScaling):
            counts = [
                math.prod(sizes[name] for name in kernel if (name in output) is is_out) for is_out in (False, True)
            ]
            initializer = initializer.by_fans(*counts)
        self.kernel = self.add_weight(
            [sizes[name] for name in kernel],
            initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        if self.bias_axes is not None:
            first = min(output.index(each) for each in self.bias_axes)
            shape = [sizes[name] if name in self.bias_axes else 1 for name in output[first:]]
            self.bias = self.add_weight(
                shape,
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )
        self.built = True

    def _spelled(self, names, rank, given=None, given_rank=None):
        """Letters in the place of dots."""
        if "..." not in names:
            return names
        count = rank - len(names) + 3 if rank is not None else given_rank - len(given) + 3
        return names.replace("...", "ZYXWVU"[:count])

    def call(self, inputs, training=None):
        x = einsum(self.letters, inputs, self.kernel)
        return self.activation(x + self.bias if self.bias is not None else x)


class Embedding(Layer):
    def __init__(
        self,
        input_dim,
        output_dim,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        weights=None,
        input_length=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.input_dim, self.output_dim, self.mask_zero = input_dim, output_dim, mask_zero
        self.embeddings = self.add_weight(
            (input_dim, output_dim),
            embeddings_initializer,
            regularizer=embeddings_regularizer,
            constraint=get_constraint(embeddings_constraint),
            name="embeddings",
        )
        if weights is not None:
            assign(self.embeddings, weights[0] if isinstance(weights, (list, tuple)) else weights)
        self.built = True

    def call(self, inputs, training=None):
        return self.vectors(inputs)

    def vectors(self, inputs):
        return look_up(self.embeddings, ops.cast(as_tensor(inputs), ms.int32))

    def compute_mask(self, inputs, previous_mask=None):
        return unequal(inputs, 0) if self.mask_zero else None


class ReversibleEmbedding(Embedding):
    """Numbers into vectors, and with `reverse` vectors into scores of numbers."""

    def __init__(
        self,
        input_dim,
        output_dim,
        tie_weights=True,
        embeddings_initializer="uniform",
        *args,
        reverse_dtype=None,
        logit_soft_cap=None,
        **kwargs,
    ):
        super().__init__(input_dim, output_dim, embeddings_initializer, *args, **kwargs)
        self.tie_weights, self.reverse_dtype, self.logit_soft_cap = tie_weights, reverse_dtype, logit_soft_cap
        if not tie_weights:
            self.reverse_embeddings = self.add_weight(
                (output_dim, input_dim), embeddings_initializer, name="reverse_embeddings"
            )

    def call(self, inputs, reverse=False, training=None):
        if not reverse:
            return self.vectors(inputs)
        kernel = ops.swapaxes(self.embeddings, 0, 1) if self.tie_weights else self.reverse_embeddings
        if self.reverse_dtype is not None:
            kind = as_dtype(self.reverse_dtype)
            inputs, kernel = ops.cast(inputs, kind), ops.cast(kernel, kind)
        scores = product(inputs, kernel)
        return scores if self.logit_soft_cap is None else ops.tanh(scores / self.logit_soft_cap) * self.logit_soft_cap

    def compute_mask(self, inputs, previous_mask=None):
        return None if is_float(inputs) else super().compute_mask(inputs, previous_mask)


class Masking(Layer):
    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs, previous_mask=None):
        return any_unequal(inputs, self.mask_value)

    def call(self, inputs, training=None):
        return inputs * ops.expand_dims(self.compute_mask(inputs), -1).astype(inputs.dtype)


class Dropout(Layer):
    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.supports_masking = rate, noise_shape, True
        self.seed = drawn_seed(seed) if rate else seed

    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        return inputs * dropout_mask(self.mask_shape(inputs), self.rate).astype(inputs.dtype)

    def mask_shape(self, inputs):
        given = self.noise_shape or inputs.shape
        return tuple(size if each is None else each for each, size in zip(given, inputs.shape, strict=True))


class SpatialDropout1D(Dropout):
    def __init__(self, rate, seed=None, name=None, dtype=None, data_format=None):
        super().__init__(rate, name=name, dtype=dtype)
        self.data_format = data_format

    def mask_shape(self, inputs):
        if self.data_format == "channels_first":
            return (*inputs.shape[:2], *(1,) * (inputs.ndim - 2))
        return (inputs.shape[0], *(1,) * (inputs.ndim - 2), inputs.shape[-1])


class SpatialDropout2D(SpatialDropout1D):
    def __init__(self, rate, data_format=None, seed=None, name=None, dtype=None):
        super().__init__(rate, seed, name, dtype, data_format)


class SpatialDropout3D(SpatialDropout2D):
    pass


class AlphaDropout(Dropout):
    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        low = -1.6732632423543772 * 1.0507009873554805
        kept = drawn_tensor(lambda: (Chance.generator.random(self.mask_shape(inputs)) >= self.rate).astype(np.float32))
        a = (1 - self.rate) ** -0.5 * (1 + self.rate * low**2) ** -0.5
        return a * (inputs * kept + low * (1 - kept)) - a * low * self.rate


class GaussianNoise(Layer):
    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.stddev, self.supports_masking = stddev, True

    def call(self, inputs, training=False):
        if not training or not self.stddev:
            return inputs
        return inputs + drawn_tensor(lambda: Chance.generator.normal(0, self.stddev, inputs.shape).astype(np.float32))


class GaussianDropout(Layer):
    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.supports_masking = rate, True

    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        spread = math.sqrt(self.rate / (1 - self.rate))
        return inputs * drawn_tensor(lambda: Chance.generator.normal(1, spread, inputs.shape).astype(np.float32))


class ActivityRegularization(Layer):
    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=L1L2(l1, l2), **kwargs)
        self.supports_masking = True

    def call(self, inputs, training=None):
        return inputs


class Activation(Layer):
    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation, self.supports_masking = get_activation(activation), True

    def call(self, inputs, training=None):
        return self.activation(inputs)


class ReLU(Layer):
    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        self.max_value, self.negative_slope, self.threshold, self.supports_masking = (
            max_value,
            negative_slope,
            threshold,
            True,
        )

    def call(self, inputs, training=None):
        return relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    def __init__(self, negative_slope=0.3, alpha=None, **kwargs):
        super().__init__(**kwargs)
        self.negative_slope, self.supports_masking = negative_slope if alpha is None else alpha, True

    def call(self, inputs, training=None):
        return leaky_relu(inputs, self.negative_slope)


class PReLU(Layer):
    def __init__(
        self, alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs
    ):
        super().__init__(**kwargs)
        self.alpha_constraint, self.supports_masking = get_constraint(alpha_constraint), True
        self.alpha_initializer, self.alpha_regularizer = alpha_initializer, alpha_regularizer
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes or []

    def build(self, input_shape):
        shape = [1 if place in self.shared_axes else size for place, size in enumerate(input_shape)][1:]
        self.alpha = self.add_weight(
            shape,
            self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
            name="alpha",
        )
        self.built = True

    def call(self, inputs, training=None):
        return ops.relu(inputs) - self.alpha * ops.relu(-inputs)


class ELU(Layer):
    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha, self.supports_masking = alpha, True

    def call(self, inputs, training=None):
        return elu(inputs, self.alpha)


class Softmax(Layer):
    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.supports_masking = axis, True

    def call(self, inputs, mask=None, training=None):
        if mask is None:
            return softmax(inputs, self.axis)
        seen = ops.cast(as_tensor(mask), inputs.dtype) > 0.5
        made = softmax(ops.where(seen, inputs, as_tensor(-1e9, inputs.dtype)), self.axis)
        return ops.where(seen, made, ops.zeros_like(made))


class Identity(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, training=None):
        return inputs


class Lambda(Layer):
    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function, self.arguments = function, arguments or {}

    def call(self, inputs, training=None):
        return self.function(inputs, **self.arguments)
