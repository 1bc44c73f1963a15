"""RNN, LSTM and GRU with torch's arguments: unbatched inputs, packed sequences and projections included."""

import math

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import Uniform, initializer

from .functional_norm import tanh
from .layers_dropout import Dropout
from .parts import PACKS_SEQUENCES
from .recurrent_packed import PackedSequence, pack_padded_sequence, pad_packed_sequence


def order_as_torch(
    cell, num_layers, bidirectional, kinds=("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
):
    """List the parameters layer by layer; MindSpore's layers list them kind by kind."""
    cell._all_weights = []
    for layer in range(num_layers):
        for suffix in ("", "_reverse") if bidirectional else ("",):
            names = [f"{kind}_l{layer}{suffix}" for kind in kinds]
            cell._all_weights.append([name for name in names if hasattr(cell, name)])
            for name in cell._all_weights[-1]:
                value = getattr(cell, name)
                delattr(cell, name)
                setattr(cell, name, value)


class ListedWeights:
    """torch's `all_weights`: the parameters of each layer and direction."""

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]


def drop_between_layers(cell, share):
    """MindSpore's layers refuse to drop everything, torch's don't."""
    cell.dropout, cell.dropout_op = float(share), Dropout(share)


def run_recurrent(cell, run, input, hx):
    """Call `run(x, hx, lengths)` on a batch, whatever form the input has, and give the result in that form."""
    if isinstance(hx, list):  # of [h.detach() for h in states]
        hx = (hx[0], hx[1])
    if PACKS_SEQUENCES and isinstance(input, PackedSequence):
        x, lengths = pad_packed_sequence(input, cell.batch_first)
        output, state = run(x, hx, lengths.astype(ms.int32))
        return pack_padded_sequence(
            output, lengths, cell.batch_first, input.sorted_indices is None, input.sorted_indices
        ), state
    if input.ndim == 3:
        return run(input, hx, None)
    axis = 0 if cell.batch_first else 1
    if hx is not None:
        hx = (hx[0].expand_dims(1), hx[1].expand_dims(1)) if isinstance(hx, tuple) else hx.expand_dims(1)
    output, state = run(input.expand_dims(axis), hx, None)
    state = (state[0].squeeze(1), state[1].squeeze(1)) if isinstance(state, tuple) else state.squeeze(1)
    return output.squeeze(axis), state


class RNN(ListedWeights, nn.RNN):
    """mindspore.nn.RNN with torch's arguments."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bool(bias),
            bool(batch_first),
            0.0,
            bool(bidirectional),
            nonlinearity=nonlinearity,
        )
        self.input_size, self.nonlinearity, self.bias = input_size, nonlinearity, bias
        drop_between_layers(self, dropout)
        order_as_torch(self, num_layers, bidirectional)

    def construct(self, input, hx=None):
        return run_recurrent(self, self.stack, input, hx)

    def stack(self, x, hx, lengths):
        output, states = run_layers(self, x, None if hx is None else (hx,), lengths, (self.hidden_size,))
        return output, states[0]

    def step(self, x, state, weights):
        total = x + ops.matmul(state[0], weights[1].T) + weights[3]
        return (ops.relu(total) if self.nonlinearity == "relu" else tanh(total),)


class GRU(ListedWeights, nn.GRU):
    """mindspore.nn.GRU with torch's arguments."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(input_size, hidden_size, num_layers, bool(bias), bool(batch_first), 0.0, bool(bidirectional))
        self.input_size, self.bias = input_size, bias
        drop_between_layers(self, dropout)
        order_as_torch(self, num_layers, bidirectional)

    def construct(self, input, hx=None):
        return run_recurrent(self, self.stack, input, hx)

    def stack(self, x, hx, lengths):
        output, states = run_layers(self, x, None if hx is None else (hx,), lengths, (self.hidden_size,))
        return output, states[0]

    def step(self, x, state, weights):
        return (gru_step(x, ops.matmul(state[0], weights[1].T) + weights[3], state[0]),)


class LSTM(ListedWeights, nn.LSTM):
    """mindspore.nn.LSTM with torch's arguments, and with projections."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__(input_size, hidden_size, num_layers, bool(bias), bool(batch_first), 0.0, bool(bidirectional))
        self.input_size, self.bias, self.proj_size = input_size, bias, proj_size
        if proj_size:
            self.add_projections(input_size, hidden_size, proj_size)
        drop_between_layers(self, dropout)
        order_as_torch(self, num_layers, bidirectional)

    def add_projections(self, input_size, hidden_size, proj_size):
        start, directions = Uniform(1 / math.sqrt(hidden_size)), 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            for suffix in ("", "_reverse") if self.bidirectional else ("",):
                width = input_size if layer == 0 else proj_size * directions
                for kind, shape in (
                    ("ih", (4 * hidden_size, width)),
                    ("hh", (4 * hidden_size, proj_size)),
                    ("hr", (proj_size, hidden_size)),
                ):
                    name = f"weight_{kind}_l{layer}{suffix}"
                    if kind != "hr":
                        delattr(self, name)
                    setattr(self, name, ms.Parameter(initializer(start, shape), name=name))

    @property
    def is_rewritten(self):
        """Whether a weight is not the one that it was built with, which MindSpore's own layer would go on using."""
        built = [each for name in ("w_ih_list", "w_hh_list", "b_ih_list", "b_hh_list") for each in getattr(self, name)]
        return not {id(each) for row in self.all_weights for each in row} <= {id(each) for each in built}

    def construct(self, input, hx=None):
        if self.proj_size or self.is_rewritten:
            return run_recurrent(self, self.stack, input, hx)
        return run_recurrent(self, super().construct, input, hx)

    def stack(self, x, hx, lengths):
        return run_layers(self, x, hx, lengths, (self.proj_size or self.hidden_size, self.hidden_size))

    def step(self, x, state, weights):
        h, c = lstm_step(x + ops.matmul(state[0], weights[1].T) + weights[3], state[1])
        return ops.matmul(h, weights[4].T) if self.proj_size else h, c


def run_layers(cell, x, hx, lengths, sizes):
    """Stacked recurrent layers, step by step: (outputs, final states). `sizes` are the widths of the states."""
    x = x.swapaxes(0, 1) if cell.batch_first else x
    suffixes = ("", "_reverse") if cell.bidirectional else ("",)
    finals = []
    for layer in range(cell.num_layers):
        outputs = []
        for index, suffix in enumerate(suffixes):
            place = layer * len(suffixes) + index
            state = tuple(
                ops.zeros((x.shape[1], size), x.dtype) if hx is None else hx[k][place] for k, size in enumerate(sizes)
            )
            output, state = walk_steps(cell, x, state, lengths, f"l{layer}{suffix}", suffix == "_reverse")
            outputs.append(output)
            finals.append(state)
        x = ops.cat(outputs, -1) if len(outputs) > 1 else outputs[0]
        if cell.dropout and layer < cell.num_layers - 1:
            x = cell.dropout_op(x)
    states = tuple(ops.stack([final[k] for final in finals]) for k in range(len(sizes)))
    return x.swapaxes(0, 1) if cell.batch_first else x, states


def walk_steps(cell, x, state, lengths, name, is_reverse):
    """One layer in one direction. A sequence that is over keeps its state and puts out zeros."""
    weights = [
        getattr(cell, f"{kind}_{name}", 0) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    ]
    inputs, count = ops.matmul(x, weights[0].T) + weights[2], x.shape[0]
    outputs = []
    for index in range(count):
        time = count - 1 - index if is_reverse else index
        new = cell.step(inputs[time], state, weights)
        if not PACKS_SEQUENCES or lengths is None:
            state = new
            outputs.append(state[0])
        else:
            runs = (lengths > time).astype(x.dtype).expand_dims(1)
            state = tuple(runs * after + (1 - runs) * before for after, before in zip(new, state))
            outputs.append(state[0] * runs)
    return ops.stack(outputs[::-1] if is_reverse else outputs), state


def gru_step(from_input, from_hidden, h):
    """torch's GRU: the new value is gated before it meets the reset."""
    (reset, update, new), (h_reset, h_update, h_new) = ops.chunk(from_input, 3, -1), ops.chunk(from_hidden, 3, -1)
    new = tanh(new + ops.sigmoid(reset + h_reset) * h_new)
    return new + ops.sigmoid(update + h_update) * (h - new)


def lstm_step(gates, c):
    """torch's LSTM: gates in the order input, forget, cell, output."""
    i, f, g, o = ops.chunk(gates, 4, -1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * tanh(g)
    return ops.sigmoid(o) * tanh(c), c


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
        return ops.relu(from_input + from_hidden) if self.nonlinearity == "relu" else tanh(from_input + from_hidden)


class GRUCell(nn.GRUCell):
    """mindspore.nn.GRUCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bool(bias))
        self.bias = bias

    def construct(self, input, hx=None):
        h = start_state(self, input, hx)
        from_input, from_hidden = gates_of(self, input, h)
        return gru_step(from_input, from_hidden, h)


class LSTMCell(nn.LSTMCell):
    """mindspore.nn.LSTMCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bool(bias))
        self.bias = bias

    def construct(self, input, hx=None):
        h, c = (start_state(self, input, None), start_state(self, input, None)) if hx is None else (hx[0], hx[1])
        from_input, from_hidden = gates_of(self, input, h)
        return lstm_step(from_input + from_hidden, c)
