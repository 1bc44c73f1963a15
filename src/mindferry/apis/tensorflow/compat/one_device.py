"""tf.distribute on one device: the strategy runs what it is given, and has nothing to spread or to gather."""

import contextlib

from .functions_math import tf_reduce_mean, tf_reduce_sum


class OneDevice:
    """tf.distribute.MirroredStrategy with one device. Several processes are `mindferry launch`'s."""

    num_replicas_in_sync = 1

    def __init__(self, *args, **kwargs):
        self.extended = self

    def scope(self):
        return contextlib.nullcontext(self)

    def run(self, fn, args=(), kwargs=None, options=None):
        return fn(*args, **(kwargs or {}))

    experimental_run_v2 = run

    def reduce(self, reduce_op, value, axis=None):
        if axis is None:
            return value
        return (tf_reduce_mean if str(reduce_op).upper() == "MEAN" else tf_reduce_sum)(value, axis)

    def experimental_distribute_dataset(self, dataset, options=None):
        return dataset

    def experimental_local_results(self, value):
        return (value,)


def default_strategy():
    """tf.distribute.get_strategy()."""
    return OneDevice()
