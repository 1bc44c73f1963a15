"""Arrays with torch's types, for datasets and collate functions."""

import mindspore as ms
import numpy as np


def array_of(data):
    """torch.tensor as a numpy array: Python floats become float32; arrays keep their type."""
    if isinstance(data, ms.Tensor):
        return data.asnumpy()
    array = np.array(data)
    return array.astype(np.float32) if array.dtype == np.float64 and not has_array(data) else array


def float_operand(value):
    """What torch computes with where a float meets it or it is divided: float32 in place of integers, not numpy's float64."""
    is_whole = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub"
    return value.astype(np.float32) if is_whole else value


def has_array(data):
    """Whether a nested list holds numpy values, whose type counts."""
    if isinstance(data, (list, tuple)):
        return bool(data) and has_array(data[0])
    return isinstance(data, (np.ndarray, np.generic))


def drop_axis(array, axis):
    """Tensor.squeeze: an axis that is longer than one stays."""
    return np.squeeze(array, axis) if array.shape[axis] == 1 else array


def pad_arrays(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """torch.nn.utils.rnn.pad_sequence for arrays."""
    arrays = [each.asnumpy() if isinstance(each, ms.Tensor) else np.asarray(each) for each in sequences]
    longest = max(len(each) for each in arrays)
    padded = np.full((len(arrays), longest, *arrays[0].shape[1:]), padding_value, arrays[0].dtype)
    for row, array in zip(padded, arrays):
        row[slice(len(array)) if padding_side == "right" else slice(longest - len(array), None)] = array
    return padded if batch_first else padded.swapaxes(0, 1)
