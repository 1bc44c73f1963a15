"""RNN, LSTM and GRU with torch's arguments: unbatched inputs, packed sequences and projections included."""

import math

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import Uniform, initializer

from .recurrent_packed import PackedSequence, pack_padded_sequence, pad_packed_sequence


def order_as_torch(cell, num_layers, bidirectional, kinds=("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")):
    """List the parameters layer by layer; MindSpore's layers list them kind by kind."""
    for layer in range(num_layers):
        for suffix in ("", "_reverse") if bidirectional else ("",):
            for kind in kinds:
                name = f"{kind}_l{layer}{suffix}"
                if hasattr(cell, name):
                    value = getattr(cell, name)
                    delattr(cell, name)
                    setattr(cell, name, value)


def run_recurrent(cell, run, input, hx):
    """Call `run(x, hx, lengths)` on a batch, whatever form the input has, and give the result in that form."""
    if isinstance(input, PackedSequence):
        x, lengths = pad_packed_sequence(input, cell.batch_first)
        output, state = run(x, hx, lengths.astype(ms.int32))
        return pack_padded_sequence(output, lengths, cell.batch_first, False, input.sorted_indices), state
    if input.ndim == 3:
        return run(input, hx, None)
    axis = 0 if cell.batch_first else 1
    if hx is not None:
        hx = (hx[0].expand_dims(1), hx[1].expand_dims(1)) if isinstance(hx, tuple) else hx.expand_dims(1)
    output, state = run(input.expand_dims(axis), hx, None)
    state = (state[0].squeeze(1), state[1].squeeze(1)) if isinstance(state, tuple) else state.squeeze(1)
    return output.squeeze(axis), state


class RNN(nn.RNN):
    """mindspore.nn.RNN with torch's arguments."""

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 device=None, dtype=None):  # fmt: skip
        super().__init__(input_size, hidden_size, num_layers, bool(bias), bool(batch_first), float(dropout), bool(bidirectional), nonlinearity=nonlinearity)
        self.input_size, self.nonlinearity, self.bias = input_size, nonlinearity, bias
        order_as_torch(self, num_layers, bidirectional)

    def construct(self, input, hx=None):
        return run_recurrent(self, super().construct, input, hx)


class GRU(nn.GRU):
    """mindspore.nn.GRU with torch's arguments."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None):
        super().__init__(input_size, hidden_size, num_layers, bool(bias), bool(batch_first), float(dropout), bool(bidirectional))
        self.input_size, self.bias = input_size, bias
        order_as_torch(self, num_layers, bidirectional)

    def construct(self, input, hx=None):
        return run_recurrent(self, super().construct, input, hx)


class LSTM(nn.LSTM):
    """mindspore.nn.LSTM with torch's arguments, and with projections."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None):  # fmt: skip
        super().__init__(input_size, hidden_size, num_layers, bool(bias), bool(batch_first), float(dropout), bool(bidirectional))
        self.input_size, self.bias, self.proj_size = input_size, bias, proj_size
        if proj_size:
            self.add_projections(input_size, hidden_size, proj_size)
        order_as_torch(self, num_layers, bidirectional)

    def add_projections(self, input_size, hidden_size, proj_size):
        start, directions = Uniform(1 / math.sqrt(hidden_size)), 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            for suffix in ("", "_reverse") if self.bidirectional else ("",):
                width = input_size if layer == 0 else proj_size * directions
                for kind, shape in (("ih", (4 * hidden_size, width)), ("hh", (4 * hidden_size, proj_size)), ("hr", (proj_size, hidden_size))):
                    name = f"weight_{kind}_l{layer}{suffix}"
                    if kind != "hr":
                        delattr(self, name)
                    setattr(self, name, ms.Parameter(initializer(start, shape), name=name))

    def construct(self, input, hx=None):
        if self.proj_size:
            return run_recurrent(self, self.project, input, hx)
        return run_recurrent(self, super().construct, input, hx)

    def project(self, x, hx, lengths):
        """Step by step, each hidden state projected down. Packed sequences are run to their end."""
        x = x.swapaxes(0, 1) if self.batch_first else x
        suffixes = ("", "_reverse") if self.bidirectional else ("",)
        hidden, memory = [], []
        for layer in range(self.num_layers):
            outputs = []
            for index, suffix in enumerate(suffixes):
                place = layer * len(suffixes) + index
                h = ops.zeros((x.shape[1], self.proj_size), x.dtype) if hx is None else hx[0][place]
                c = ops.zeros((x.shape[1], self.hidden_size), x.dtype) if hx is None else hx[1][place]
                steps = self.walk(x, h, c, f"l{layer}{suffix}", suffix == "_reverse")
                outputs.append(steps[0])
                hidden.append(steps[1])
                memory.append(steps[2])
            x = ops.cat(outputs, -1) if len(outputs) > 1 else outputs[0]
            if self.dropout and layer < self.num_layers - 1:
                x = self.dropout_op(x)
        return x.swapaxes(0, 1) if self.batch_first else x, (ops.stack(hidden), ops.stack(memory))

    def walk(self, x, h, c, name, is_reverse):
        weights = [getattr(self, f"weight_{kind}_{name}") for kind in ("ih", "hh", "hr")]
        bias = getattr(self, f"bias_ih_{name}") + getattr(self, f"bias_hh_{name}") if self.bias else 0
        outputs = []
        for step in range(x.shape[0]):
            gates = ops.matmul(x[x.shape[0] - 1 - step if is_reverse else step], weights[0].T) + ops.matmul(h, weights[1].T) + bias
            i, f, g, o = ops.chunk(gates, 4, -1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * exact_tanh(g)
            h = ops.matmul(ops.sigmoid(o) * exact_tanh(c), weights[2].T)
            outputs.append(h)
        return ops.stack(outputs[::-1] if is_reverse else outputs), h, c


def exact_tanh(x):
    """tanh whose gradient doesn't vanish beyond 5, as that of MindSpore's does on CPU."""
    return 2 * ops.sigmoid(2 * x) - 1


def gates_of(cell, x, h):
    """What the input and the hidden state contribute to the gates."""
    from_input, from_hidden = ops.matmul(x, cell.weight_ih.T), ops.matmul(h, cell.weight_hh.T)
    if cell.bias_ih is not None:
        from_input, from_hidden = from_input + cell.bias_ih, from_hidden + cell.bias_hh
    return from_input, from_hidden


def start_state(cell, x, hx):
    """The given state, or zeros for a batch or a single sample."""
    return ops.zeros((*x.shape[:-1], cell.hidden_size), x.dtype) if hx is None else hx


class RNNCell(nn.RNNCell):
    """mindspore.nn.RNNCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bool(bias), nonlinearity)
        self.bias = bias

    def construct(self, input, hx=None):
        from_input, from_hidden = gates_of(self, input, start_state(self, input, hx))
        return ops.relu(from_input + from_hidden) if self.nonlinearity == "relu" else exact_tanh(from_input + from_hidden)


class GRUCell(nn.GRUCell):
    """mindspore.nn.GRUCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bool(bias))
        self.bias = bias

    def construct(self, input, hx=None):
        h = start_state(self, input, hx)
        from_input, from_hidden = gates_of(self, input, h)
        (reset, update, new), (h_reset, h_update, h_new) = ops.chunk(from_input, 3, -1), ops.chunk(from_hidden, 3, -1)
        update = ops.sigmoid(update + h_update)
        new = exact_tanh(new + ops.sigmoid(reset + h_reset) * h_new)
        return new + update * (h - new)


class LSTMCell(nn.LSTMCell):
    """mindspore.nn.LSTMCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bool(bias))
        self.bias = bias

    def construct(self, input, hx=None):
        h, c = (start_state(self, input, None), start_state(self, input, None)) if hx is None else (hx[0], hx[1])
        from_input, from_hidden = gates_of(self, input, h)
        i, f, g, o = ops.chunk(from_input + from_hidden, 4, -1)
        c = ops.sigmoid(f) * c + ops.sigmoid(i) * exact_tanh(g)
        return ops.sigmoid(o) * exact_tanh(c), c
