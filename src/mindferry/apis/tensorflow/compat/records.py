"""tf.train.Example and TFRecord files: written and read byte by byte, in TensorFlow's own format."""

import functools
import os
import struct

import numpy as np
from mindspore import Tensor

from .data import Dataset
from .files import text_of
from .tensors import as_tensor, dtype_name, numpy_of

TENSOR_TYPES = {1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 9: "int64", 10: "bool"}


def number_bytes(value):
    """A number as protocol buffers write it: seven bits a byte, the lowest first."""
    value, made = value & (2**64 - 1), bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def field_bytes(number, content):
    return number_bytes(number << 3 | 2) + number_bytes(len(content)) + content


def fields_of(content):
    """(number, value) of each field of a message: a number, or bytes."""
    place = 0
    while place < len(content):
        key, place = read_number(content, place)
        kind = key & 7
        if kind == 0:
            value, place = read_number(content, place)
        else:
            size, place = read_number(content, place) if kind == 2 else ({1: 8, 5: 4}[kind], place)
            value, place = content[place : place + size], place + size
        yield key >> 3, value


def read_number(content, place):
    value, shift = 0, 0
    while True:
        each, place = content[place], place + 1
        value |= (each & 127) << shift
        if each < 128:
            return value, place
        shift += 7


class BytesList:
    def __init__(self, value=()):
        self.value = [each.encode() if isinstance(each, str) else bytes_of(each) for each in value]

    def content(self):
        return b"".join(field_bytes(1, each) for each in self.value)


class FloatList:
    def __init__(self, value=()):
        self.value = [float(np.float32(numpy_of(each))) for each in value]

    def content(self):
        return field_bytes(1, struct.pack(f"<{len(self.value)}f", *self.value)) if self.value else b""


class Int64List:
    def __init__(self, value=()):
        self.value = [int(each) for each in value]

    def content(self):
        return field_bytes(1, b"".join(map(number_bytes, self.value))) if self.value else b""


def bytes_of(value):
    value = value.item() if isinstance(value, np.ndarray) and not value.ndim else numpy_of(value)
    return value.encode() if isinstance(value, str) else bytes(value)


class Feature:
    """tf.train.Feature: one of three lists."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        self.lists = (bytes_list, float_list, int64_list)
        self.bytes_list, self.float_list, self.int64_list = (
            given if given is not None else kind()
            for given, kind in zip(self.lists, (BytesList, FloatList, Int64List), strict=True)
        )

    def content(self):
        return b"".join(field_bytes(at, each.content()) for at, each in enumerate(self.lists, 1) if each is not None)

    @classmethod
    def of(cls, content):
        for number, value in fields_of(content):
            parts = [each for _, each in fields_of(value)]
            if number == 1:
                return cls(bytes_list=BytesList(parts))
            packed = b"".join(each if isinstance(each, bytes) else number_bytes(each) for each in parts)
            if number == 2:
                return cls(float_list=FloatList(struct.unpack(f"<{len(packed) // 4}f", packed)))
            found, place = [], 0
            while place < len(packed):
                each, place = read_number(packed, place)
                found.append(each - 2**64 if each >= 2**63 else each)
            return cls(int64_list=Int64List(found))
        return cls()


class Features:
    def __init__(self, feature=None):
        self.feature = dict(feature or {})

    def content(self):
        pairs = ((name.encode(), each.content()) for name, each in self.feature.items())
        return b"".join(field_bytes(1, field_bytes(1, name) + field_bytes(2, each)) for name, each in pairs)


class Example:
    """tf.train.Example."""

    def __init__(self, features=None):
        self.features = features if features is not None else Features()

    def SerializeToString(self):
        return field_bytes(1, self.features.content())

    def ParseFromString(self, serialized):
        for _, features in fields_of(bytes_of(serialized)):
            for _, pair in fields_of(features):
                parts = dict(fields_of(pair))
                self.features.feature[parts[1].decode()] = Feature.of(parts.get(2, b""))

    @classmethod
    def FromString(cls, serialized):
        made = cls()
        made.ParseFromString(serialized)
        return made


@functools.cache
def checksum_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


def checksum(content):
    """CRC-32C, turned as TFRecord files have it."""
    value, table = 0xFFFFFFFF, checksum_table()
    for each in content:
        value = value >> 8 ^ table[(value ^ each) & 255]
    value ^= 0xFFFFFFFF
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


class TFRecordWriter:
    """tf.io.TFRecordWriter."""

    def __init__(self, path, options=None):
        if options:
            raise ValueError("TFRecordWriter writes without compression here")
        self.file = open(text_of(path), "wb")

    def write(self, record):
        record = bytes_of(record)
        size = struct.pack("<Q", len(record))
        self.file.write(size + checksum(size) + record + checksum(record))

    def flush(self):
        self.file.flush()

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def TFRecordDataset(filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
    """tf.data.TFRecordDataset: the records as bytes."""
    if compression_type not in (None, ""):
        raise ValueError(f"TFRecordDataset does not read {compression_type} here")
    if isinstance(filenames, Dataset):
        paths = [text_of(each) for each in filenames]
    else:
        paths = [text_of(each) for each in ([filenames] if isinstance(filenames, (str, os.PathLike)) else filenames)]

    def make():
        for path in paths:
            with open(path, "rb") as file:
                while header := file.read(12):
                    yield file.read(struct.unpack("<Q", header[:8])[0])
                    file.read(4)

    return Dataset(make)


class FixedLenFeature:
    """tf.io.FixedLenFeature."""

    def __init__(self, shape, dtype, default_value=None):
        self.shape, self.dtype, self.default_value = tuple(shape), dtype, default_value


def read_feature(features, key, wanted):
    """The values of one feature, in the shape that is wanted: a tensor, or bytes."""
    found = features.get(key)
    if found is None and wanted.default_value is None:
        raise ValueError(f"Feature: {key} (data type: {wanted.dtype}) is required but could not be found.")
    if found is None:
        value = wanted.default_value
        if isinstance(value, (str, bytes)):
            return bytes_of(value)
        return as_tensor(np.broadcast_to(np.asarray(value, dtype_name(wanted.dtype)), wanted.shape).copy())
    if found.bytes_list.value:
        if not wanted.shape:
            return found.bytes_list.value[0]
        rows = np.empty(len(found.bytes_list.value), object)
        rows[:] = found.bytes_list.value
        return rows.reshape(wanted.shape)
    values = found.float_list.value or found.int64_list.value
    return as_tensor(np.array(values, dtype_name(wanted.dtype)).reshape(wanted.shape))


def parse_single_example(serialized, features, example_names=None, name=None):
    """tf.io.parse_single_example."""
    found = Example.FromString(serialized).features.feature
    return {key: read_feature(found, key, features[key]) for key in sorted(features)}


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """tf.io.decode_raw."""
    return as_tensor(np.frombuffer(bytes_of(input_bytes), dtype_name(out_type)).copy())


def serialize_tensor(tensor, name=None):
    """tf.io.serialize_tensor."""
    array = np.asarray(numpy_of(as_tensor(tensor)))
    number = next(key for key, kind in TENSOR_TYPES.items() if kind == array.dtype.name)
    sizes = b"".join(field_bytes(2, number_bytes(1 << 3) + number_bytes(size)) for size in array.shape)
    return number_bytes(1 << 3) + number_bytes(number) + field_bytes(2, sizes) + field_bytes(4, array.tobytes())


def parse_tensor(serialized, out_type, name=None):
    """tf.io.parse_tensor."""
    found = dict(fields_of(bytes_of(serialized)))
    sizes = [dict(fields_of(each)).get(1, 0) for _, each in fields_of(found.get(2, b""))]
    return Tensor(np.frombuffer(found[4], TENSOR_TYPES[found[1]]).reshape(sizes).copy())
