"""tf.data: a dataset is a function that makes an iterator, so it can be gone through again and again."""

import numpy as np
from mindspore import Tensor

from .random_values import Chance
from .tensors import as_tensor, dtype_name, flat, map_structure, numpy_of, to_numpy


class DatasetIterator:
    """What iter(dataset) gives."""

    def __init__(self, elements):
        self.elements = iter(elements)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.elements)

    get_next = __next__


class Dataset:
    """Elements are tensors, or tuples and dictionaries of tensors."""

    def __init__(self, make, count=None):
        self.make, self.count = make, count

    def __iter__(self):
        return DatasetIterator(self.make())

    def __len__(self):
        if self.count is None:
            raise TypeError("The dataset length is unknown.")
        return self.count

    def __bool__(self):
        return True

    def cardinality(self):
        return as_tensor(np.int64(-2 if self.count is None else self.count))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        arrays = map_structure(slices_of, listed(tensors))
        count = len(flat(arrays)[0])

        def make():
            for place in range(count):
                yield map_structure(lambda each: as_tensor(each[place]), arrays)

        return Dataset(make, count)

    @staticmethod
    def from_tensors(tensors, name=None):
        return Dataset(lambda: iter([map_structure(as_tensor, listed(tensors))]), 1)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        wanted = output_signature if output_signature is not None else output_types

        def make():
            for each in generator(*(args or ())):
                yield typed(each, wanted)

        return Dataset(make)

    @staticmethod
    def range(*args, output_type="int64", name=None):
        numbers = range(*(int(each) for each in args))
        return Dataset(lambda: (as_tensor(each, output_type) for each in numbers), len(numbers))

    @staticmethod
    def zip(*datasets, datasets_=None, name=None):
        parts = datasets[0] if len(datasets) == 1 else datasets
        parts = parts if isinstance(parts, dict) else tuple(parts)
        counts = [each.count for each in flat_datasets(parts)]
        count = min(counts) if all(each is not None for each in counts) else None
        if isinstance(parts, dict):
            return Dataset(lambda: (dict(zip(parts, row)) for row in zip(*parts.values())), count)
        return Dataset(lambda: (tuple(row) for row in zip(*parts)), count)

    def map(self, map_func, num_parallel_calls=None, deterministic=None, name=None):
        def make():
            for each in self:
                made = map_func(*each) if isinstance(each, tuple) else map_func(each)
                yield map_structure(as_tensor, tuple(made) if isinstance(made, list) else made)

        return Dataset(make, self.count)

    def filter(self, predicate, name=None):
        def make():
            for each in self:
                if bool(predicate(*each) if isinstance(each, tuple) else predicate(each)):
                    yield each

        return Dataset(make)

    def flat_map(self, map_func, name=None):
        def make():
            for each in self:
                yield from map_func(*each) if isinstance(each, tuple) else map_func(each)

        return Dataset(make)

    def interleave(
        self, map_func, cycle_length=None, block_length=1, num_parallel_calls=None, deterministic=None, name=None
    ):
        def make():
            slots, source, place, given = [None] * (cycle_length or 4), iter(self), 0, 0
            while source is not None or any(each is not None for each in slots):
                if slots[place] is None and source is not None:
                    each = next(source, self)
                    if each is self:
                        source = None
                    else:
                        slots[place] = iter(map_func(*each) if isinstance(each, tuple) else map_func(each))
                    continue
                found = self if slots[place] is None else next(slots[place], self)
                if found is self:  # nothing is left: the place gets another one when its turn comes
                    slots[place], given = None, block_length
                else:
                    yield found
                    given += 1
                if given >= block_length:
                    place, given = (place + 1) % len(slots), 0

        return Dataset(make)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        size = int(batch_size)
        return Dataset(
            lambda: in_groups(self, size, drop_remainder, stacked), groups_in(self.count, size, drop_remainder)
        )

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        size = int(batch_size)

        def join(rows):
            return padded(rows, padded_shapes, padding_values)

        return Dataset(lambda: in_groups(self, size, drop_remainder, join), groups_in(self.count, size, drop_remainder))

    def unbatch(self, name=None):
        def make():
            for each in self:
                for place in range(flat(each)[0].shape[0]):
                    yield map_structure(lambda part: part[place], each)

        return Dataset(make)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        chance = np.random.default_rng(seed) if seed is not None else None

        again = int(Chance.generator.integers(2**31)) if seed is None else seed

        def make():
            source = chance or Chance.generator
            if reshuffle_each_iteration is False:  # every epoch in the same order
                source = np.random.default_rng(again)
            held = []
            for each in self:
                held.append(each)
                if len(held) >= int(buffer_size):
                    yield held.pop(int(source.integers(len(held))))
            while held:
                yield held.pop(int(source.integers(len(held))))

        return Dataset(make, self.count)

    def repeat(self, count=None, name=None):
        is_endless = count is None or count < 0

        def make():
            done = 0
            while is_endless or done < count:
                yield from self
                done += 1

        return Dataset(make, None if is_endless or self.count is None else self.count * count)

    def take(self, count, name=None):
        def make():
            for place, each in enumerate(self):
                if 0 <= count <= place:
                    return
                yield each
                if place + 1 == count:
                    return

        return Dataset(make, self.count if count < 0 else count if self.count is None else min(count, self.count))

    def skip(self, count, name=None):
        return Dataset(
            lambda: (each for place, each in enumerate(self) if place >= count),
            None if self.count is None else max(self.count - count, 0),
        )

    def shard(self, num_shards, index, name=None):
        left = None if self.count is None else len(range(index, self.count, num_shards))
        return Dataset(lambda: (each for place, each in enumerate(self) if place % num_shards == index), left)

    def enumerate(self, start=0, name=None):
        return Dataset(
            lambda: ((as_tensor(np.int64(place)), each) for place, each in enumerate(self, start)), self.count
        )

    def concatenate(self, dataset, name=None):
        def make():
            yield from self
            yield from dataset

        return Dataset(make, None if self.count is None or dataset.count is None else self.count + dataset.count)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of what stands side by side."""

        def make():
            elements, start = list(self), 0
            while start < len(elements):
                rows = elements[start : start + (size - 1) * stride + 1 : stride]
                if len(rows) < size and drop_remainder:
                    return
                yield windowed(rows)
                start += shift or size

        return Dataset(make)

    def scan(self, initial_state, scan_func, name=None):
        def make():
            state = map_structure(as_tensor, initial_state)
            for each in self:
                state, made = scan_func(state, *each) if isinstance(each, tuple) else scan_func(state, each)
                yield map_structure(as_tensor, made)

        return Dataset(make, self.count)

    def take_while(self, predicate, name=None):
        def make():
            for each in self:
                if not bool(predicate(*each) if isinstance(each, tuple) else predicate(each)):
                    return
                yield each

        return Dataset(make)

    def unique(self, name=None):
        def make():
            seen = set()
            for each in self:
                key = np.asarray(numpy_of(each)).tobytes()
                if key not in seen:
                    seen.add(key)
                    yield each

        return Dataset(make)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        return self.unbatch().batch(batch_size, drop_remainder)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """What has the same key is gathered, and handed on when there is enough of it; the rest comes by its keys' order."""

        def make():
            groups = {}
            for each in self:
                key = int(key_func(*each) if isinstance(each, tuple) else key_func(each))
                rows = groups.setdefault(key, [])
                rows.append(each)
                if len(rows) >= int(window_size_func(key) if window_size is None else window_size):
                    yield from reduce_func(as_tensor(np.int64(key)), from_rows(groups.pop(key)))
            for key in sorted(groups):
                yield from reduce_func(as_tensor(np.int64(key)), from_rows(groups[key]))

        return Dataset(make)

    def bucket_by_sequence_length(
        self,
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes=None,
        padding_values=None,
        pad_to_bucket_boundary=False,
        no_padding=False,
        drop_remainder=False,
        name=None,
    ):
        if pad_to_bucket_boundary:
            raise ValueError("pad_to_bucket_boundary is not known here: give padded_shapes")

        def bucket_of(*each):
            length = int(element_length_func(*each))
            return sum(length >= boundary for boundary in bucket_boundaries)

        def join(key, rows):
            size = bucket_batch_sizes[int(key)]
            if no_padding:
                return rows.batch(size, drop_remainder)
            return rows.padded_batch(size, padded_shapes, padding_values, drop_remainder)

        return self.group_by_window(bucket_of, join, window_size_func=lambda key: bucket_batch_sizes[key])

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        def make():
            sources = [iter(each) for each in datasets]
            for choice in choice_dataset:
                found = next(sources[int(choice)], sources)
                if found is not sources:
                    yield found
                elif stop_on_empty_dataset:
                    return

        return Dataset(make)

    def snapshot(self, path=None, **_):
        return self

    def reduce(self, initial_state, reduce_func, name=None):
        state = map_structure(as_tensor, initial_state)
        for each in self:
            state = map_structure(as_tensor, reduce_func(state, each))
        return state

    def prefetch(self, buffer_size=None, name=None):
        return self

    def cache(self, filename="", name=None):
        held = []

        def make():
            if not held:
                held.extend(self)
            return iter(held)

        return Dataset(make, self.count)

    def with_options(self, options, name=None):
        return self

    def apply(self, transformation_func):
        return transformation_func(self)

    def as_numpy_iterator(self):
        return (map_structure(to_numpy, row) for row in self)

    def get_single_element(self, name=None):
        return next(iter(self))

    @property
    def element_spec(self):
        return map_structure(lambda each: TensorSpec(each.shape, each.dtype), next(iter(self)))


class TensorSpec:
    """tf.TensorSpec."""

    def __init__(self, shape=None, dtype="float32", name=None):
        self.shape, self.dtype, self.name = shape, dtype, name

    def __repr__(self):
        return f"TensorSpec(shape={self.shape}, dtype=tf.{dtype_name(self.dtype)}, name={self.name!r})"


def listed(tensors):
    """Tuples and tables hold several tensors; a list is one."""
    if isinstance(tensors, tuple):
        parts = [listed(each) for each in tensors]
        return type(tensors)(*parts) if hasattr(tensors, "_fields") else tuple(parts)
    if isinstance(tensors, dict):
        return {key: listed(each) for key, each in tensors.items()}
    return np.asarray(numpy_of(as_tensor(tensors))) if isinstance(tensors, list) else tensors


def slices_of(value):
    value = value.asnumpy() if isinstance(value, Tensor) else value.to_numpy() if hasattr(value, "to_numpy") else value
    return np.asarray(numpy_of(as_tensor(value))) if isinstance(value, list) else np.asarray(value)


def from_rows(rows):
    return Dataset(lambda: iter(rows), len(rows))


def flat_datasets(parts):
    if isinstance(parts, Dataset):
        return [parts]
    return [each for part in (parts.values() if isinstance(parts, dict) else parts) for each in flat_datasets(part)]


def typed(value, wanted):
    if wanted is None:
        return map_structure(as_tensor, value)
    if isinstance(wanted, dict):
        return {key: typed(value[key], wanted[key]) for key in wanted}
    if isinstance(wanted, (tuple, list)):
        return tuple(typed(each, kind) for each, kind in zip(value, wanted))
    return as_tensor(value, getattr(wanted, "dtype", wanted))


def groups_in(count, size, drop_remainder):
    return None if count is None else count // size if drop_remainder else -(-count // size)


def in_groups(source, size, drop_remainder, join):
    rows = []
    for each in source:
        rows.append(each)
        if len(rows) == size:
            yield join(rows)
            rows = []
    if rows and not drop_remainder:
        yield join(rows)


def stacked(rows):
    if isinstance(rows[0], Dataset):
        return Dataset(lambda: iter(rows))
    return map_structure(lambda *parts: as_tensor(np.stack([numpy_of(each) for each in parts])), *rows)


def padded(rows, shapes, values):
    if isinstance(rows[0], dict):
        return {
            key: padded([row[key] for row in rows], (shapes or {}).get(key), (values or {}).get(key)) for key in rows[0]
        }
    if isinstance(rows[0], tuple):
        shapes, values = shapes or (None,) * len(rows[0]), values if values is not None else (None,) * len(rows[0])
        return tuple(padded(list(part), shape, value) for part, shape, value in zip(zip(*rows), shapes, values))
    arrays = [np.asarray(numpy_of(each)) for each in rows]
    longest = [max(sizes) for sizes in zip(*(each.shape for each in arrays))]
    wanted = [
        size if given in (None, -1) else int(given)
        for size, given in zip(longest, shapes if shapes is not None else longest)
    ]
    fill = 0 if values is None else values.asnumpy() if isinstance(values, Tensor) else values
    made = np.full((len(arrays), *wanted), fill, arrays[0].dtype)
    for place, each in enumerate(arrays):
        made[(place, *(slice(size) for size in each.shape))] = each
    return as_tensor(made)


def windowed(rows):
    if isinstance(rows[0], tuple):
        return tuple(windowed(list(part)) for part in zip(*rows))
    return from_rows(rows)
