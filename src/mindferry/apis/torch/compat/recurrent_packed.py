"""torch.nn.utils.rnn: sequences of different lengths in one tensor."""

from dataclasses import dataclass

import mindspore as ms
import numpy as np
from mindspore import ops


@dataclass
class PackedSequence:
    """Steps of all sequences one after the other: first every sequence's first step, then the second of those that have one."""

    data: ms.Tensor
    batch_sizes: ms.Tensor = None
    sorted_indices: ms.Tensor = None
    unsorted_indices: ms.Tensor = None

    def __post_init__(self):
        if self.unsorted_indices is None:
            self.unsorted_indices = invert(self.sorted_indices)

    def __iter__(self):
        return iter((self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices))

    def __getitem__(self, index):
        return list(self)[index]

    def to(self, *args, **kwargs):
        return self

    cuda = cpu = to


def invert(permutation):
    """The permutation that undoes another."""
    return None if permutation is None else ms.Tensor(np.argsort(permutation.asnumpy()), ms.int64)


def whole_numbers(values):
    """Lengths given as a list or tensor, as a list of int."""
    return [int(each) for each in (values.asnumpy().reshape(-1) if isinstance(values, ms.Tensor) else values)]


def packed_places(lengths, batch):
    """For each packed step, its place in a (time, batch) table of sequences sorted by falling length; and how many run at each time."""
    sizes = [sum(length > step for length in lengths) for step in range(max(lengths))]
    return [step * batch + index for step, size in enumerate(sizes) for index in range(size)], sizes


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True, sorted_indices=None):
    """torch.nn.utils.rnn.pack_padded_sequence."""
    x = input.swapaxes(0, 1) if batch_first else input
    lengths = whole_numbers(lengths)
    if enforce_sorted and sorted(lengths, reverse=True) != lengths:
        raise RuntimeError(
            "`lengths` must be sorted in decreasing order when `enforce_sorted` is True; pass enforce_sorted=False to sort them"
        )
    if not enforce_sorted:
        order = (
            np.argsort([-length for length in lengths], kind="stable")
            if sorted_indices is None
            else sorted_indices.asnumpy()
        )
        sorted_indices = ms.Tensor(order, ms.int64)
        x, lengths = ops.gather(x, sorted_indices.astype(ms.int32), 1), [lengths[index] for index in order]
    places, sizes = packed_places(lengths, x.shape[1])
    data = ops.gather(x.reshape((-1, *x.shape[2:])), ms.Tensor(places, ms.int32), 0)
    return PackedSequence(data, ms.Tensor(sizes, ms.int64), sorted_indices)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """torch.nn.utils.rnn.pad_packed_sequence: (padded sequences, lengths)."""
    sizes = whole_numbers(sequence.batch_sizes)
    steps, batch = total_length or len(sizes), sizes[0]
    lengths = [sum(size > index for size in sizes) for index in range(batch)]
    table = np.full((steps, batch), len(sequence.data), np.int32)
    table.reshape(-1)[packed_places(lengths, batch)[0]] = np.arange(len(sequence.data))
    lengths = ms.Tensor(lengths, ms.int64)
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices.asnumpy()
        table, lengths = table[:, order], lengths[sequence.unsorted_indices]
    filler = ops.full((1, *sequence.data.shape[1:]), padding_value, dtype=sequence.data.dtype)
    x = ops.gather(ops.cat((sequence.data, filler), 0), ms.Tensor(table.reshape(-1)), 0)
    x = x.reshape((steps, batch, *sequence.data.shape[1:]))
    return x.swapaxes(0, 1) if batch_first else x, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """torch.nn.utils.rnn.pad_sequence."""
    longest, rows = max(each.shape[0] for each in sequences), []
    for each in sequences:
        missing = longest - each.shape[0]
        filler = ops.full((missing, *each.shape[1:]), padding_value, dtype=each.dtype)
        rows.append(each if not missing else ops.cat((each, filler) if padding_side == "right" else (filler, each), 0))
    return ops.stack(rows, 0 if batch_first else 1)


def pack_sequence(sequences, enforce_sorted=True):
    """torch.nn.utils.rnn.pack_sequence."""
    return pack_padded_sequence(pad_sequence(sequences), [each.shape[0] for each in sequences], False, enforce_sorted)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """torch.nn.utils.rnn.unpad_sequence."""
    x = padded_sequences if batch_first else padded_sequences.swapaxes(0, 1)
    return [x[index, :length] for index, length in enumerate(whole_numbers(lengths))]


def unpack_sequence(packed_sequences):
    """torch.nn.utils.rnn.unpack_sequence."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, True), True)
