"""safetensors.torch and safe_open: the same files, with tensors of MindSpore's."""

import json
import os

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .layers_state import load_state_dict, state_dict

NUMPY_TYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "BOOL": np.bool_,
    "C64": np.complex64,
}


class SafeFile:
    """safetensors.safe_open. A tensor is read when it is asked for."""

    def __init__(self, filename, framework="pt", device="cpu", **options):
        self.path = os.fspath(filename)
        with open(self.path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self.entries = json.loads(file.read(length))
        self.start = 8 + length
        self.about = self.entries.pop("__metadata__", None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def keys(self):
        return list(self.entries)

    offset_keys = keys

    def metadata(self):
        return self.about

    def get_tensor(self, name):
        entry = self.entries[name]
        first, last = entry["data_offsets"]
        with open(self.path, "rb") as file:
            file.seek(self.start + first)
            return tensor_of(file.read(last - first), entry["dtype"], entry["shape"])

    def get_slice(self, name):
        return SafeSlice(self, name)


class SafeSlice:
    """A tensor of such a file, to be taken in part: `file.get_slice(name)[:4]`."""

    def __init__(self, file, name):
        self.file, self.name = file, name

    def get_shape(self):
        return list(self.file.entries[self.name]["shape"])

    def get_dtype(self):
        return self.file.entries[self.name]["dtype"]

    def __getitem__(self, index):
        return self.file.get_tensor(self.name)[index]


def tensor_of(data, kind, shape):
    if kind == "BF16":  # the upper half of a float32
        wide = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return Tensor(wide.view(np.float32).reshape(shape)).astype(ms.bfloat16)
    if kind not in NUMPY_TYPES:
        raise TypeError(f"MindSpore can't hold tensors of {kind}")
    return Tensor(np.frombuffer(data, NUMPY_TYPES[kind]).reshape(shape).copy())


def safe_load_file(filename, device="cpu", **options):
    """safetensors.torch.load_file."""
    with SafeFile(filename) as file:
        return {name: file.get_tensor(name) for name in file.entries}


def safe_load(data):
    """safetensors.torch.load, of bytes."""
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    entries.pop("__metadata__", None)
    found = {}
    for name, entry in entries.items():
        first, last = (8 + length + each for each in entry["data_offsets"])
        found[name] = tensor_of(data[first:last], entry["dtype"], entry["shape"])
    return found


def safe_save(tensors, metadata=None):
    """safetensors.torch.save: the file's bytes."""
    entries, parts, start = {"__metadata__": metadata} if metadata else {}, [], 0
    kinds = {np.dtype(value): kind for kind, value in NUMPY_TYPES.items()}
    for name, value in tensors.items():
        if value.dtype == ms.bfloat16:
            kind, data = "BF16", (value.astype(ms.float32).asnumpy().view(np.uint32) >> 16).astype(np.uint16).tobytes()
        else:
            array = value.asnumpy()
            kind, data = kinds[array.dtype], array.tobytes()
        entries[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [start, start + len(data)]}
        parts.append(data)
        start += len(data)
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    return b"".join([len(header).to_bytes(8, "little"), header, *parts])


def safe_save_file(tensors, filename, metadata=None):
    """safetensors.torch.save_file."""
    with open(os.fspath(filename), "wb") as file:
        file.write(safe_save(tensors, metadata))


def safe_save_model(model, filename, metadata=None, force_contiguous=True):
    """safetensors.torch.save_model: of tensors that are the same one, the first is written."""
    once = {}
    for name, value in state_dict(model).items():
        once.setdefault(id(value), (name, value))
    safe_save_file(dict(once.values()), filename, metadata)


def safe_load_model(model, filename, strict=True, device="cpu"):
    """safetensors.torch.load_model: what is missing, and what has no place."""
    result = load_state_dict(model, safe_load_file(filename), strict=False)
    if strict and (result.missing_keys or result.unexpected_keys):
        raise RuntimeError(f"missing: {result.missing_keys}; without a place: {result.unexpected_keys}")
    return set(result.missing_keys), list(result.unexpected_keys)
