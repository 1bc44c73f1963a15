"""Keras' recurrent layers: cells, and the loop over time that runs them."""

import mindspore as ms
from mindspore import Tensor, ops

from .activations import get_activation, get_constraint
from .layers_base import Layer
from .products import product
from .random_values import dropout_mask
from .tensors import map_structure


class RecurrentCell(Layer):
    """Gates side by side in one kernel, in Keras' order."""

    gates, has_carry = 1, False

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units, self.use_bias, self.activation = units, use_bias, get_activation(activation)
        self.kernel_initializer, self.recurrent_initializer = kernel_initializer, recurrent_initializer
        self.bias_initializer, self.kernel_regularizer = bias_initializer, kernel_regularizer
        self.recurrent_regularizer, self.bias_regularizer = recurrent_regularizer, bias_regularizer
        self.kernel_constraint, self.recurrent_constraint = (
            get_constraint(kernel_constraint),
            get_constraint(recurrent_constraint),
        )
        self.bias_constraint = get_constraint(bias_constraint)
        self.dropout, self.recurrent_dropout = dropout, recurrent_dropout
        self.state_size = [units, units] if self.has_carry else units
        self.output_size, self.bias = units, None
        self.__dict__["masks"] = None

    def build(self, input_shape):
        width = self.units * self.gates
        self.kernel = self.add_weight(
            (input_shape[-1], width),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        self.recurrent_kernel = self.add_weight(
            (self.units, width),
            self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
            name="recurrent_kernel",
        )
        if self.use_bias:
            self.bias = self.add_bias(width)
        self.built = True

    def add_bias(self, width):
        return self.add_weight(
            (width,),
            self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
            name="bias",
        )

    def forget_masks(self):
        """Before a sequence: its steps share what is dropped."""
        self.__dict__["masks"] = None

    def draw_masks(self, inputs, state, training):
        """(for the inputs, for the state), or nothing; a mask for each gate where parts of the state are dropped."""
        if not training or not (self.dropout or self.recurrent_dropout):
            return None, None
        if self.masks is None:
            count = self.mask_count()
            shapes = ((inputs.shape, self.dropout), (state.shape, self.recurrent_dropout))
            self.__dict__["masks"] = [
                [dropout_mask(shape, rate) for _ in range(count)] if rate else None for shape, rate in shapes
            ]
        return self.masks

    def mask_count(self):
        return self.gates if self.recurrent_dropout else 1

    def gate_products(self, x, kernel, masks):
        """x @ kernel, with what is dropped for each gate."""
        if masks is None:
            return product(x, kernel)
        if len(masks) == 1:
            return product(x * masks[0], kernel)
        parts = zip(masks, ops.chunk(kernel, len(masks), -1))
        return ops.cat([product(x * mask, part) for mask, part in parts], -1)

    def get_initial_state(self, batch_size=None, **_):
        zeros = ops.zeros((batch_size, self.units), ms.float32)
        return [zeros, ops.zeros_like(zeros)] if self.has_carry else [zeros]


class SimpleRNNCell(RecurrentCell):
    def call(self, inputs, states, training=None):
        state = states[0] if isinstance(states, (list, tuple)) else states
        of_inputs, of_state = self.draw_masks(inputs, state, training)
        x = self.gate_products(inputs, self.kernel, of_inputs)
        x = x + self.bias if self.use_bias else x
        out = self.activation(x + self.gate_products(state, self.recurrent_kernel, of_state))
        return out, [out]


class LSTMCell(RecurrentCell):
    """Gates: input, forget, cell, output."""

    gates, has_carry = 4, True

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        *args,
        unit_forget_bias=True,
        **kwargs,
    ):
        super().__init__(units, activation, use_bias, *args, **kwargs)
        self.recurrent_activation, self.unit_forget_bias = get_activation(recurrent_activation), unit_forget_bias

    def add_bias(self, width):
        bias = super().add_bias(width)
        if self.unit_forget_bias:
            value = bias.asnumpy().copy()
            value[self.units : 2 * self.units] = 1.0
            bias.set_data(Tensor(value))
        return bias

    def call(self, inputs, states, training=None):
        hidden, carry = states
        of_inputs, of_state = self.draw_masks(inputs, hidden, training)
        z = self.gate_products(inputs, self.kernel, of_inputs)
        z = z + self.gate_products(hidden, self.recurrent_kernel, of_state)
        z = z + self.bias if self.use_bias else z
        i, f, c, o = ops.chunk(z, 4, -1)
        carry = self.recurrent_activation(f) * carry + self.recurrent_activation(i) * self.activation(c)
        hidden = self.recurrent_activation(o) * self.activation(carry)
        return hidden, [hidden, carry]


class GRUCell(RecurrentCell):
    """Gates: update, reset, candidate. With reset_after, the reset gate acts on the product, and there are two biases."""

    gates = 3

    def __init__(
        self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, *args, reset_after=True, **kwargs
    ):
        super().__init__(units, activation, use_bias, *args, **kwargs)
        self.recurrent_activation, self.reset_after = get_activation(recurrent_activation), reset_after

    def add_bias(self, width):
        shape = (2, width) if self.reset_after else (width,)
        return self.add_weight(
            shape,
            self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
            name="bias",
        )

    def call(self, inputs, states, training=None):
        state = states[0] if isinstance(states, (list, tuple)) else states
        of_inputs, of_state = self.draw_masks(inputs, state, training)
        x = self.gate_products(inputs, self.kernel, of_inputs)
        if self.use_bias:
            x = x + (self.bias[0] if self.reset_after else self.bias)
        xz, xr, xh = ops.chunk(x, 3, -1)
        if self.reset_after:
            inner = self.gate_products(state, self.recurrent_kernel, of_state)
            inner = inner + self.bias[1] if self.use_bias else inner
            hz, hr, hh = ops.chunk(inner, 3, -1)
            z, r = self.recurrent_activation(xz + hz), self.recurrent_activation(xr + hr)
            candidate = self.activation(xh + r * hh)
        else:
            kz, kr, kh = ops.chunk(self.recurrent_kernel, 3, -1)
            sz, sr, sh = (state, state, state) if of_state is None else [state * mask for mask in of_state]
            z = self.recurrent_activation(xz + product(sz, kz))
            r = self.recurrent_activation(xr + product(sr, kr))
            candidate = self.activation(xh + product(r * sh, kh))
        out = z * state + (1 - z) * candidate
        return out, [out]


def first_state_of(cell, batch_size):
    """Zeros, unless the cell says otherwise."""
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(batch_size=batch_size)
    sizes = cell.state_size if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
    return [ops.zeros((batch_size, int(size)), ms.float32) for size in sizes]


class StackedRNNCells(Layer):
    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        self.cell_list = list(cells)

    @property
    def state_size(self):
        return [each.state_size for each in self.cell_list]

    @property
    def output_size(self):
        return self.cell_list[-1].output_size

    def forget_masks(self):
        for each in self.cell_list:
            if hasattr(each, "forget_masks"):
                each.forget_masks()

    def get_initial_state(self, batch_size=None, **_):
        return [first_state_of(each, batch_size) for each in self.cell_list]

    def call(self, inputs, states, training=None):
        made = []
        for cell, state in zip(self.cell_list, states):
            inputs, state = cell(inputs, state, training=training)
            made.append(state)
        return inputs, made


class RNN(Layer):
    """Runs a cell over the second axis."""

    def __init__(
        self,
        cell,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        zero_output_for_mask=False,
        time_major=False,
        use_cudnn="auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.stateful, self.zero_output_for_mask = stateful, zero_output_for_mask
        self.__dict__["states"] = None

    def compute_mask(self, inputs, previous_mask=None):
        mask = previous_mask[0] if isinstance(previous_mask, (list, tuple)) else previous_mask
        return mask if self.return_sequences else None

    def reset_states(self, states=None):
        self.__dict__["states"] = None

    reset_state = reset_states

    def first_states(self, inputs, initial_state):
        if initial_state is not None:
            return list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        if self.stateful and self.states is not None:
            return self.states
        return self.get_initial_state(inputs.shape[0])

    def get_initial_state(self, batch_size):
        return first_state_of(self.cell, int(batch_size))

    def call(self, sequences, initial_state=None, mask=None, training=False):
        return self.over_time(sequences, initial_state, mask, training)

    def over_time(self, sequences, initial_state, mask, training):
        if isinstance(sequences, (list, tuple)):
            sequences, initial_state = sequences[0], list(sequences[1:])
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        states = self.first_states(sequences, initial_state)
        if hasattr(self.cell, "forget_masks"):
            self.cell.forget_masks()
        steps = sequences.unbind(1)
        kept = None if mask is None else ops.cast(mask, ms.bool_).unbind(1)
        order = range(len(steps) - 1, -1, -1) if self.go_backwards else range(len(steps))
        outputs, last = [], None
        takes_mode = "training" in self.cell._parameters_of_call()
        for place in order:
            settings = {"training": training} if takes_mode else {}
            out, new = self.cell(steps[place], states, **settings)
            new = list(new) if isinstance(new, (list, tuple)) else [new]
            if kept is not None:
                before = ops.zeros_like(out) if last is None or self.zero_output_for_mask else last
                last = kept_states(kept[place], out, before)
                new = kept_states(kept[place], new, states)
                out = last
            states = new
            outputs.append(out)
        if self.stateful:
            self.__dict__["states"] = map_structure(ops.stop_gradient, states)
        result = ops.stack(outputs, 1) if self.return_sequences else outputs[-1]
        return [result, *states] if self.return_state else result


def kept_states(is_kept, new, old):
    """The new states where the step counts, the old ones where it is masked."""
    if isinstance(new, (list, tuple)):
        return [kept_states(is_kept, fresh, before) for fresh, before in zip(new, old)]
    return ops.where(ops.reshape(is_kept, (-1, *(1,) * (new.ndim - 1))), new, old)


LOOP = (
    "return_sequences",
    "return_state",
    "go_backwards",
    "stateful",
    "unroll",
    "time_major",
    "use_cudnn",
    "name",
    "trainable",
)
SHAPE = ("input_shape", "input_dim", "batch_input_shape", "batch_shape", "dtype")


class GatedRNN(RNN):
    """The layer of one cell, with the cell's arguments and the loop's."""

    cell_class = SimpleRNNCell

    def __init__(self, *args, **kwargs):
        of_loop = {name: kwargs.pop(name) for name in (*LOOP, *SHAPE) if name in kwargs}
        kwargs.pop("input_length", None)
        kwargs.pop("implementation", None)
        regularizer = kwargs.pop("activity_regularizer", None)
        kwargs.pop("seed", None)
        super().__init__(self.cell_class(*args, **kwargs), activity_regularizer=regularizer, **of_loop)

    @property
    def units(self):
        return self.cell.units


class SimpleRNN(GatedRNN):
    cell_class = SimpleRNNCell


class LSTM(GatedRNN):
    cell_class = LSTMCell


class GRU(GatedRNN):
    cell_class = GRUCell


class Bidirectional(Layer):
    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        super().__init__(**kwargs)
        self.forward_layer, self.merge_mode = layer, merge_mode
        self.backward_layer = backward_layer or twin_backwards(layer)
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        for each in (self.forward_layer, self.backward_layer):  # where a step is masked, both ways give zeros
            each.zero_output_for_mask = each.return_sequences

    def compute_mask(self, inputs, previous_mask=None):
        mask = previous_mask[0] if isinstance(previous_mask, (list, tuple)) else previous_mask
        return ([mask] if self.merge_mode else [mask, mask]) if self.return_sequences else None

    def call(self, sequences, initial_state=None, mask=None, training=None):
        half = len(initial_state) // 2 if initial_state is not None else 0
        first, second = (initial_state[:half], initial_state[half:]) if half else (None, None)
        ahead = self.forward_layer(sequences, initial_state=first, mask=mask, training=training)
        back = self.backward_layer(sequences, initial_state=second, mask=mask, training=training)
        states = []
        if self.return_state:
            ahead, *some = ahead
            back, *others = back
            states = [*some, *others]
        back = ops.flip(back, (1,)) if self.return_sequences else back
        merged = merge_ways(ahead, back, self.merge_mode)
        return [*(merged if isinstance(merged, list) else [merged]), *states] if states else merged


def merge_ways(ahead, back, mode):
    if mode == "concat":
        return ops.cat([ahead, back], -1)
    if mode == "sum":
        return ahead + back
    if mode == "ave":
        return (ahead + back) / 2
    if mode == "mul":
        return ahead * back
    return [ahead, back]


def twin_backwards(layer):
    """A second layer with the same settings, and cells and weights of its own, that goes the other way."""
    made = made_anew(layer)
    made.go_backwards = not layer.go_backwards
    return made


def made_anew(value):
    """Layers, and those that they were given, once more; whatever else is handed on as it is."""
    if isinstance(value, (list, tuple)):
        return type(value)(made_anew(each) for each in value)
    if not isinstance(value, Layer):
        return value
    args, kwargs = value._made_with
    return type(value)(*made_anew(args), **{key: made_anew(each) for key, each in kwargs.items() if key != "name"})


class TimeDistributed(Layer):
    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layer, self.supports_masking = layer, True

    def call(self, inputs, training=None, mask=None):
        batch, steps = inputs.shape[:2]
        out = self.layer(ops.reshape(inputs, (batch * steps, *inputs.shape[2:])), training=training)
        return ops.reshape(out, (batch, steps, *out.shape[1:]))
