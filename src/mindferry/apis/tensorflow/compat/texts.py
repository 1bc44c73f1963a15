"""Text stays in numpy's arrays: tf.strings, and TensorFlow's functions of shape for it."""

import csv
import functools
import re

import numpy as np
from mindspore import Tensor

from .tensors import as_tensor, flat, numpy_of


def holds_text(value):
    return isinstance(value, (str, bytes)) or (isinstance(value, np.ndarray) and value.dtype.kind in "USO")


def or_text(of_arrays):
    """Another function where the first argument is text, or a list of it."""

    def decorate(function):
        @functools.wraps(function)
        def either(*args, **kwargs):
            is_of_text = any(map(holds_text, flat(args[:1] or list(kwargs.values())[:1])))
            return (of_arrays if is_of_text else function)(*args, **kwargs)

        return either

    return decorate


def text_of_each(function, value):
    """A function of each text; bytes are read as UTF-8."""
    if isinstance(value, TextRows):
        return TextRows([[function(each) for each in row] for row in value.rows])
    array = np.asarray(value.asnumpy() if isinstance(value, Tensor) else value)
    made = [function(each.decode("utf-8") if isinstance(each, bytes) else str(each)) for each in array.ravel()]
    return np.array(made).reshape(array.shape)


def strings_lower(input, encoding="", name=None):
    return text_of_each(str.lower, input)


def strings_upper(input, encoding="", name=None):
    return text_of_each(str.upper, input)


def strings_strip(input, name=None):
    return text_of_each(str.strip, input)


def strings_length(input, unit="BYTE", name=None):
    return as_tensor(text_of_each(lambda each: len(each.encode() if unit == "BYTE" else each), input).astype(np.int32))


def strings_substr(input, pos, len, unit="BYTE", name=None):
    return text_of_each(lambda each: each[int(pos) : int(pos) + int(len)], input)


def strings_regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    pattern = pattern.replace("[:punct:]", re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"))
    return text_of_each(lambda each: re.sub(pattern, rewrite, each, count=0 if replace_global else 1), input)


def strings_regex_full_match(input, pattern, name=None):
    return as_tensor(text_of_each(lambda each: re.fullmatch(pattern, each) is not None, input).astype(bool))


def strings_to_number(input, out_type="float32", name=None):
    return as_tensor(text_of_each(float, input), out_type)


def strings_as_string(input, precision=-1, name=None, **_):
    array = np.asarray(input.asnumpy() if isinstance(input, Tensor) else input)
    shown = (lambda each: f"{each:.{6 if precision < 0 else precision}f}") if array.dtype.kind == "f" else str
    return np.array([shown(each) for each in array.ravel()]).reshape(array.shape)


def strings_join(inputs, separator="", name=None):
    parts = np.broadcast_arrays(*(text_of_each(str, each) for each in inputs))
    made = [separator.join(each) for each in zip(*(part.ravel() for part in parts))]
    return np.array(made).reshape(parts[0].shape)


def strings_reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    array = text_of_each(str, inputs)
    if isinstance(array, TextRows):
        joined = np.array([separator.join(row) for row in array.rows], str)
        return np.array(separator.join(joined)) if axis is None else joined
    if axis is None:
        return np.array(separator.join(array.ravel()))
    moved = np.moveaxis(array, axis, -1)
    made = np.array([separator.join(each) for each in moved.reshape(-1, moved.shape[-1])]).reshape(moved.shape[:-1])
    return np.expand_dims(made, axis) if keepdims else made


class TextRows:
    """A ragged tensor of text: rows of several lengths."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return (np.array(row, str) for row in self.rows)

    def __getitem__(self, key):
        if isinstance(key, tuple):
            picked = self[key[0]]
            if isinstance(picked, TextRows):
                return TextRows([row[key[1]] for row in picked.rows])
            return picked[key[1]]
        return TextRows(self.rows[key]) if isinstance(key, slice) else np.array(self.rows[int(key)], str)

    def __array__(self, dtype=None, copy=None):
        if len({len(row) for row in self.rows}) > 1:
            raise ValueError("rows of several lengths are no array: call to_tensor, which fills them up")
        return np.array(self.rows, str)

    def __repr__(self):
        return f"<tf.RaggedTensor {self.to_list()}>"

    @property
    def shape(self):
        return (len(self.rows), None)

    @property
    def flat_values(self):
        return np.array([each for row in self.rows for each in row], str)

    values = flat_values

    def to_list(self):
        return [[each.encode() for each in row] for row in self.rows]

    def numpy(self):
        made = np.empty(len(self.rows), object)
        for place, row in enumerate(self.to_list()):
            made[place] = np.array(row, object)
        return made if len({len(row) for row in self.rows}) > 1 else np.array(self.to_list(), object)

    def row_lengths(self, axis=1, name=None):
        return as_tensor(np.array([len(row) for row in self.rows], np.int64))

    def nrows(self):
        return as_tensor(np.int64(len(self.rows)))

    def to_tensor(self, default_value="", shape=None, name=None):
        """An array, filled up or cut off to the length that `shape` asks for."""
        size = max(map(len, self.rows), default=0) if shape is None or shape[-1] is None else int(shape[-1])
        fill = default_value.decode() if isinstance(default_value, bytes) else str(default_value)
        return np.array([row[:size] + [fill] * (size - len(row)) for row in self.rows], str)


def rows_of_text(function, value):
    """A list for a single text; for several, a row for each."""
    array = text_of_each(str, value)
    rows = [list(function(each)) for each in array.ravel()]
    if not array.ndim:
        return np.array(rows[0], str)
    return TextRows(rows) if array.ndim == 1 else np.array(rows).reshape(*array.shape, -1)


def strings_split(input, sep=None, maxsplit=-1, name=None):
    return rows_of_text(lambda each: each.split(sep, maxsplit), input)


def strings_characters(input, input_encoding="UTF-8", **_):
    """tf.strings.unicode_split."""
    return rows_of_text(list, input)


def filled_up(rows, *args, **kwargs):
    """ragged.to_tensor(), of rows of several lengths; what is no such thing is dense already."""
    return rows.to_tensor(*args, **kwargs) if hasattr(rows, "to_tensor") else rows


def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None
):
    """tf.io.decode_csv: a tensor a column, of its default's type; text stays with numpy."""
    lines = text_of_each(str, records)
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    rows = [next(csv.reader([each], delimiter=field_delim, quoting=quoting)) for each in lines.ravel()]
    places = range(len(record_defaults)) if select_cols is None else select_cols
    columns = [[row[place] for row in rows] for place in places]
    return [csv_column(*each, na_value, lines.shape) for each in zip(columns, record_defaults, strict=True)]


def csv_column(column, default, absent, shape):
    """Of one column; an empty tensor as its default means that every line has the value."""
    fill = np.ravel(numpy_of(as_tensor(default)))
    if not fill.size and any(each in ("", absent) for each in column):
        raise ValueError("a line lacks a value of a column that has no default")
    kind = fill.dtype.type
    made = [fill[0] if each in ("", absent) else each if kind is np.str_ else kind(each) for each in column]
    return as_tensor(np.array(made, None if kind is np.str_ else kind).reshape(shape))
