"""Recurrent layers whose gates are convolutions."""

import mindspore as ms
from mindspore import ops

from .layers_conv import channels_first, channels_last, convolve, numbers
from .recurrent import LOOP, RNN, SHAPE, LSTMCell


class ConvLSTMCell(LSTMCell):
    """Gates: input, forget, cell, output. States have the size of the convolved input."""

    def __init__(
        self,
        rank,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        *args,
        **kwargs,
    ):
        super().__init__(filters, activation, recurrent_activation, use_bias, *args, **kwargs)
        self.rank, self.filters, self.padding = rank, filters, padding.lower()
        self.kernel_size, self.strides = numbers(kernel_size, rank), numbers(strides, rank)
        self.dilation_rate, self.data_format = numbers(dilation_rate, rank), data_format or "channels_last"

    def build(self, input_shape):
        is_first = self.data_format == "channels_first"
        channels, sizes = (input_shape[1], input_shape[2:]) if is_first else (input_shape[-1], input_shape[1:-1])
        self.input_sizes = tuple(sizes)
        self.kernel = self.add_weight(
            (*self.kernel_size, channels, self.filters * 4),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        self.recurrent_kernel = self.add_weight(
            (*self.kernel_size, self.filters, self.filters * 4),
            self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
            name="recurrent_kernel",
        )
        if self.use_bias:
            self.bias = self.add_bias(self.filters * 4)
        self.built = True

    def state_shape(self, batch):
        sizes = []
        for size, k, s, d in zip(self.input_sizes, self.kernel_size, self.strides, self.dilation_rate):
            sizes.append(-(-size // s) if self.padding == "same" else (size - (k - 1) * d - 1) // s + 1)
        return (batch, self.filters, *sizes) if self.data_format == "channels_first" else (batch, *sizes, self.filters)

    def get_initial_state(self, batch_size=None, **_):
        zeros = ops.zeros(self.state_shape(batch_size), ms.float32)
        return [zeros, ops.zeros_like(zeros)]

    def mask_count(self):
        return 4

    def gate_values(self, x, kernel, masks, strides, padding, dilation):
        """The four convolutions, one behind the other on the channels' axis."""
        if masks is None:
            return self.convolved(x, kernel, strides, padding, dilation)
        parts = zip(masks, ops.chunk(kernel, 4, -1))
        made = [self.convolved(x * mask, part, strides, padding, dilation) for mask, part in parts]
        return ops.cat(made, 1)

    def convolved(self, x, kernel, strides, padding, dilation):
        x = x if self.data_format == "channels_first" else channels_first(x)
        weight = ops.transpose(kernel, (self.rank + 1, self.rank, *range(self.rank)))
        return convolve(x, weight, strides, padding, dilation, 1)

    def call(self, inputs, states, training=None):
        hidden, carry = states
        ones = (1,) * self.rank
        of_inputs, of_states = self.draw_masks(inputs, hidden, training)
        z = self.gate_values(inputs, self.kernel, of_inputs, self.strides, self.padding, self.dilation_rate)
        if self.use_bias:
            z = z + ops.reshape(self.bias, (-1, *ones))
        z = z + self.gate_values(hidden, self.recurrent_kernel, of_states, ones, "same", ones)
        z = z if self.data_format == "channels_first" else channels_last(z)
        i, f, c, o = ops.chunk(z, 4, 1 if self.data_format == "channels_first" else -1)
        carry = self.recurrent_activation(f) * carry + self.recurrent_activation(i) * self.activation(c)
        hidden = self.recurrent_activation(o) * self.activation(carry)
        return hidden, [hidden, carry]


class ConvLSTM(RNN):
    """Runs the cell over the second axis."""

    rank = 2

    def __init__(self, filters, kernel_size, *args, **kwargs):
        of_loop = {name: kwargs.pop(name) for name in (*LOOP, *SHAPE, "activity_regularizer") if name in kwargs}
        kwargs.pop("seed", None)
        super().__init__(ConvLSTMCell(self.rank, filters, kernel_size, *args, **kwargs), **of_loop)

    def call(self, sequences, initial_state=None, mask=None, training=False):
        if not self.cell.built:
            first = sequences[0] if isinstance(sequences, (list, tuple)) else sequences
            self.cell.build((first.shape[0], *first.shape[2:]))
        return self.over_time(sequences, initial_state, mask, training)


class ConvLSTM1D(ConvLSTM):
    rank = 1


class ConvLSTM2D(ConvLSTM):
    rank = 2


class ConvLSTM3D(ConvLSTM):
    rank = 3
