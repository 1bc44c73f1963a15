"""torch.save and torch.load over MindSpore checkpoints: tensors as records, everything around them as JSON; no pickle unless asked for."""

import base64
import collections
import functools
import io
import json
import os
import pickle
import tempfile

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops

from .parts import NAMES_ENTRIES, RENAMES_ENTRIES, SAVES_OBJECTS, TAKES_FILES
from .state_names import torch_named

STRUCTURE = "__structure__"  # the record that holds the JSON


def save(obj, f):
    """Write obj to exactly this path (save_checkpoint would append .ckpt) or file object."""
    is_state = isinstance(obj, dict) and obj and all(isinstance(k, str) and is_plain_tensor(v) for k, v in obj.items())
    if not SAVES_OBJECTS and not is_state:
        raise ValueError(f"{f}: save() writes a network's state: a dict of tensors that are not empty")
    records = obj
    if SAVES_OBJECTS and not is_state:
        records = {}
        text = json.dumps(pack_checkpoint(obj, records))
        records[STRUCTURE] = Tensor(np.frombuffer(text.encode(), np.uint8).copy())
    is_path = not TAKES_FILES or isinstance(f, (str, os.PathLike))
    folder = os.path.dirname(os.path.abspath(os.fspath(f))) if is_path else None
    with tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as scratch:
        path = os.path.join(scratch, "data.ckpt")
        ms.save_checkpoint([{"name": name, "data": Tensor(value)} for name, value in records.items()], path)
        os.chmod(path, 0o644)
        if is_path:
            os.replace(path, f)
        else:
            with open(path, "rb") as written:
                f.write(written.read())


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None):
    """Read what save() or ms.save_checkpoint() wrote. Objects that only pickle can restore need weights_only=False, as in torch."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "data.ckpt")  # load_checkpoint() takes no other ending
        if not TAKES_FILES or isinstance(f, (str, os.PathLike)):
            name = checkpoint_path(f)
            if name.endswith(".ckpt"):
                path = name
            else:
                os.symlink(name, path)
        else:
            with open(path, "wb") as copy:
                copy.write(f.read())
        records = ms.load_checkpoint(path)
    if not SAVES_OBJECTS or STRUCTURE not in records:
        return torch_named(records) if NAMES_ENTRIES and RENAMES_ENTRIES else records
    return unpack_checkpoint(json.loads(records[STRUCTURE].asnumpy().tobytes()), records, weights_only)


def checkpoint_path(f):
    """Where the checkpoint is: save_checkpoint() may have appended .ckpt, and last.ckpt may have been made of last.pth."""
    name = os.path.abspath(os.fspath(f))
    names = (name, name + ".ckpt", os.path.splitext(name.removesuffix(".tar"))[0] + ".ckpt")
    name = next((each for each in names if os.path.exists(each)), name)
    with open(name, "rb") as file:
        if file.read(2) in (b"PK", b"\x80\x02"):
            raise ValueError(
                f"{name} was written by PyTorch: load what `mindferry weights convert --whole` makes of it"
            )
    return name


def is_plain_tensor(value):
    """Whether a checkpoint can hold it as it is: empty tensors would be dropped, complex ones can't be read back."""
    return isinstance(value, Tensor) and value.size > 0 and value.dtype not in (ms.complex64, ms.complex128)


def pack_checkpoint(value, records):
    """The value as JSON; tensors go to records."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if np.isfinite(value) else {"float": repr(value)}
    if is_plain_tensor(value):
        name = f"tensor.{len(records)}"
        records[name] = value
        return {"tensor": name, "parameter": isinstance(value, Parameter)}
    if isinstance(value, Tensor):
        return {"as_tensor": pack_checkpoint(value.asnumpy(), records)}
    if isinstance(value, (np.ndarray, np.generic)):
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        return {"numpy": base64.b64encode(buffer.getvalue()).decode(), "scalar": isinstance(value, np.generic)}
    if type(value) in (list, tuple, set):
        return {type(value).__name__: [pack_checkpoint(each, records) for each in value]}
    if isinstance(value, dict):
        kind = "ordered" if isinstance(value, collections.OrderedDict) else "dict"
        return {kind: [[pack_checkpoint(key, records), pack_checkpoint(each, records)] for key, each in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    return {"pickle": base64.b64encode(pickled(value)).decode(), "class": type(value).__name__}


class CellPickler(pickle.Pickler):
    """Pickles whole networks too: MindSpore's operators are made anew from the arguments that they were made from."""

    def reducer_override(self, obj):
        if isinstance(obj, ops.Primitive):
            return functools.partial(type(obj), **obj.init_attrs), ()
        return NotImplemented


def pickled(value):
    buffer = io.BytesIO()
    CellPickler(buffer).dump(value)
    return buffer.getvalue()


def unpack_checkpoint(value, records, weights_only):
    """What pack_checkpoint() was given."""
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind == "tensor":
        return records[content] if value["parameter"] else Tensor(records[content])
    if kind in ("list", "tuple", "set"):
        made = [unpack_checkpoint(each, records, weights_only) for each in content]
        return {"list": list, "tuple": tuple, "set": set}[kind](made)
    if kind in ("dict", "ordered"):
        pairs = [
            (unpack_checkpoint(key, records, weights_only), unpack_checkpoint(each, records, weights_only))
            for key, each in content
        ]
        return collections.OrderedDict(pairs) if kind == "ordered" else dict(pairs)
    if kind == "pickle":
        if weights_only and not safe_globals.trusted:
            raise pickle.UnpicklingError(
                f"it holds a {value['class']}, which is code: load with weights_only=False if you trust the file"
            )
        reader = (TrustedUnpickler if weights_only else pickle.Unpickler)(io.BytesIO(base64.b64decode(content)))
        return reader.load()
    if kind == "float":
        return float(content)
    if kind == "as_tensor":
        return Tensor(unpack_checkpoint(content, records, weights_only))
    if kind == "bytes":
        return base64.b64decode(content)
    array = np.load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)
    return array[()] if value["scalar"] else array


class safe_globals:
    """torch.serialization.safe_globals: within the block, load() restores objects of these classes too."""

    trusted = ()

    def __init__(self, safe_globals):
        self.more = tuple(each[0] if isinstance(each, tuple) else each for each in safe_globals)

    def __enter__(self):
        safe_globals.trusted = safe_globals.trusted + self.more

    def __exit__(self, *error):
        safe_globals.trusted = safe_globals.trusted[: len(safe_globals.trusted) - len(self.more)]


def add_safe_globals(classes):
    """torch.serialization.add_safe_globals: from here on."""
    safe_globals(classes).__enter__()


class TrustedUnpickler(pickle.Unpickler):
    """Restores trusted classes, MindSpore's own and plain containers; of functions, those that make an array or an operator, and activations."""

    FUNCTIONS = (("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"))
    PLAIN = ("set", "frozenset", "complex", "bytearray", "slice", "range", "object")
    ACTIVATIONS = ("relu", "exact_gelu")  # functions that a Transformer's layers hold

    def find_class(self, module, name):
        for each in safe_globals.trusted:
            if (each.__module__, each.__qualname__) == (module, name):
                return each
        if (module, name) in self.FUNCTIONS or (module == "builtins" and name in self.PLAIN):
            return super().find_class(module, name)
        is_known = module.partition(".")[0] in ("mindspore", "numpy", "collections", "functools") or module == __name__
        if is_known and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) or name in self.ACTIVATIONS:
                return found
        raise pickle.UnpicklingError(
            f"{module}.{name} is not trusted: add it to the safe globals, or load with weights_only=False"
        )
