"""What fit takes, as batches: arrays, datasets, generators and sequences."""

import numpy as np
from mindspore import Tensor

from .random_values import Chance
from .tensors import as_tensor, flat, map_structure


def unpack_x_y_sample_weight(data):
    """keras.utils.unpack_x_y_sample_weight."""
    data = tuple(data) if isinstance(data, (list, tuple)) else (data,)
    return (*data, None, None, None)[:3]


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    return (x, y) if sample_weight is None and y is not None else (x,) if y is None else (x, y, sample_weight)


class Batches:
    """`epoch()` gives the batches of one epoch; `count` is their number, if it is known."""

    def __init__(self, make, count=None, steps=None, source=None):
        self.make, self.count, self.steps, self.source = make, steps or count, steps, source
        self.whole, self.running, self.seen = count, None, 0

    def reset(self):
        """Before the first epoch Keras tells a sequence that an epoch has ended, which is where many shuffle."""
        self._tell("on_epoch_end")

    def epoch(self):
        self._tell("on_epoch_begin")
        yield from self.make() if self.steps is None else self._some()
        self._tell("on_epoch_end")

    def _tell(self, event):
        if hasattr(self.source, event):
            getattr(self.source, event)()

    def _some(self):
        """`steps` batches, from where the last epoch ended; an epoch is shorter where the data ends."""
        self.running = self.running or iter(self.make())
        for _ in range(self.steps):
            batch = next(self.running, None)
            if batch is None:
                self.running, self.seen = None, 0
                return
            self.seen += 1
            yield batch
            if self.seen == self.whole:
                self.running, self.seen = None, 0
                return


def batches_of(x, y, sample_weight, batch_size, shuffle, class_weight, steps):
    if isinstance(x, Batches):
        return x
    if is_arrays(x):
        return array_batches((x, y, sample_weight), batch_size or 32, shuffle, class_weight, steps)
    if hasattr(x, "__getitem__") and hasattr(x, "__len__"):
        return sequence_batches(x, shuffle, class_weight, steps)
    count = getattr(x, "count", None)
    is_generator = hasattr(x, "__next__")
    source = iter(x) if is_generator else None
    make = (lambda: as_batches(source, class_weight)) if is_generator else (lambda: as_batches(x, class_weight))
    return Batches(make, count if isinstance(count, int) else None, steps)


def validation_batches(given, batch_size, steps):
    """Of what fit is given as validation_data; they begin anew in each epoch."""
    x, y, weight = (*(given if isinstance(given, (list, tuple)) else (given,)), None, None)[:3]
    return batches_of(x, y, weight, batch_size, False, None, steps)


def is_arrays(x):
    parts = flat(x)
    return bool(parts) and all(isinstance(each, (np.ndarray, Tensor)) or hasattr(each, "to_numpy") for each in parts)


def sequence_batches(x, shuffle, class_weight, steps):
    def make():
        order = Chance.generator.permutation(len(x)) if shuffle else range(len(x))
        return as_batches((x[int(place)] for place in order), class_weight)

    return Batches(make, len(x), steps, x)


def as_batches(source, class_weight):
    for batch in source:
        yield with_class_weights(
            map_structure(as_tensor, tuple(batch) if isinstance(batch, list) else batch), class_weight
        )


def with_class_weights(batch, class_weight):
    if class_weight is None:
        return batch
    x, y, weight = unpack_x_y_sample_weight(batch)
    labels = y.asnumpy()
    labels = labels.argmax(-1) if labels.ndim > 1 and labels.shape[-1] > 1 else labels.reshape(-1)
    made = as_tensor(np.array([class_weight[int(each)] for each in labels], np.float32))
    return x, y, made if weight is None else made * weight


def as_array(value):
    value = (
        value.asnumpy()
        if isinstance(value, Tensor)
        else value.to_numpy()
        if hasattr(value, "to_numpy")
        else np.asarray(value)
    )
    return value.astype(np.float32) if value.dtype == np.float64 else value


def array_batches(parts, batch_size, shuffle, class_weight, steps):
    given = tuple(map_structure(as_array, each) for each in parts if each is not None)
    given = given[0] if len(given) == 1 and not isinstance(given[0], (list, tuple)) else given
    length = len(flat(given)[0])

    def make():
        order = Chance.generator.permutation(length) if shuffle else np.arange(length)
        for start in range(0, length, batch_size):
            chosen = order[start : start + batch_size]
            batch = map_structure(lambda each: as_tensor(each[chosen]), given)
            yield with_class_weights(batch, class_weight)

    return Batches(make, -(-length // batch_size), steps)


def merge_parts(parts):
    first = parts[0]
    if isinstance(first, dict):
        return {key: merge_parts([each[key] for each in parts]) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)(merge_parts(list(each)) for each in zip(*parts))
    return np.concatenate(parts)
