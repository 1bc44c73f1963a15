"""What a pickle of tensors may name, and what each name stands for here: descriptions of tensors, never calls."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..dtypes import BY_NUMPY, BY_STORAGE, DTYPES
from .limits import ARGUMENTS, MAX_SIZE, RANK, shown


class Global(NamedTuple):
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class Storage:
    dtype: str  # empty: untyped, the tensor says
    key: str
    numel: int


@dataclass(frozen=True, slots=True)
class TensorRef:
    """A view of a storage, as torch's rebuild functions describe it."""

    storage: Storage
    dtype: str
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    is_conjugate: bool = False  # torch's lazy bits: what the storage holds is not yet what the tensor means
    is_negative: bool = False


@dataclass(slots=True)
class NumpyDtype:
    code: str
    order: str = "<"


@dataclass(slots=True)
class NumpyArray:
    """Filled by the BUILD that follows its creation."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    data: bytes = b""
    is_fortran: bool = False
    is_scalar: bool = False  # a number of numpy's, not an array without axes


@dataclass(slots=True)
class Inert:
    """A value that is carried around and means nothing to a network: a device, an argparse.Namespace."""

    name: str
    arguments: tuple[Any, ...] = ()
    state: Any = None


SET, FROZEN_SET = "builtins.set", "builtins.frozenset"
_PATHS = ("Path", "PosixPath", "PurePath", "PurePosixPath", "WindowsPath", "PureWindowsPath")
# Classes whose instances are read as inert: nothing of theirs is imported.
_BUILTINS = (
    "set",
    "frozenset",
    "complex",
    "slice",
    "int",
    "float",
    "bool",
    "str",
    "list",
    "dict",
    "tuple",
    "bytearray",
)
INERT = frozenset(
    (
        *(f"{module}.{name}" for module in ("builtins", "__builtin__") for name in _BUILTINS),
        *(f"torch.{name}" for name in ("device", "Size", "Tensor", "strided", "nn.parameter.Parameter")),
        *("torch.serialization._get_layout", "torch.torch_version.TorchVersion", "numpy.ndarray"),
        *("argparse.Namespace", "types.SimpleNamespace", "collections.defaultdict", "collections.Counter"),
        *("datetime.datetime", "datetime.date", "datetime.timedelta"),
        *(f"{module}.{name}" for module in ("pathlib", "pathlib._local") for name in _PATHS),
    )
)
_REPLACING = ("data", "real", "imag")  # attributes of a tensor that torch sets by changing its values
_ARRAY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")


class Rebuilder:
    """Answers for every global, call and state of a pickle."""

    def __init__(self, refuse: Callable[[str], Exception], allowed: frozenset[str], budget: int) -> None:
        """`budget`: bytes that calls may make beyond those that the pickle holds."""
        self.refuse, self.allowed, self.budget = refuse, allowed, budget
        self.storages: dict[str, Storage] = {}
        self.globals: dict[tuple[str, str], Global] = {}  # each once, however often it is named

    def named(self, module: str, name: str) -> Global:
        if (module, name) not in self.globals:
            self.globals[module, name] = self._checked(module, name)
        return self.globals[module, name]

    def _checked(self, module: str, name: str) -> Global:
        found = Global(module, name)
        if str(found) in _CALLS or str(found) in INERT or str(found) in self.allowed or _dtype_of(found) is not None:
            return found
        if module in ("torch._utils", "torch._tensor") and name.startswith("_rebuild"):
            kind = name.removeprefix("_rebuild_")
            raise self.refuse(
                f"holds a tensor of a kind that mindferry can't carry ({shown(kind)}); make it a plain one"
            )
        if module.startswith("__torch__"):
            raise self.refuse("belongs to a TorchScript program; save its state_dict() from torch instead")
        advice = "ask for a file of model.state_dict(), or for safetensors"
        raise self.refuse(f"names {shown(found)}, which is code and not a tensor: refused; {advice}")

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        if not isinstance(function, Global):
            raise self.refuse(f"calls a {type(function).__name__}")
        if rebuild := _CALLS.get(str(function)):
            if len(arguments) > ARGUMENTS:
                raise self.refuse(f"calls {shown(function)} with {len(arguments)} arguments")
            return rebuild(self, *arguments)
        if str(function) == "torch.Size" and len(arguments) == 1 and isinstance(arguments[0], tuple | list):
            if len(arguments[0]) > RANK:
                raise self.refuse(f"holds a torch.Size of {len(arguments[0])} dimensions")
            return tuple(arguments[0])
        if str(function) in INERT or str(function) in self.allowed:
            return Inert(str(function), arguments)
        raise self.refuse(f"calls {shown(function)}, which is not for calling")

    def build(self, target: Any, state: Any) -> None:
        """An object's state: only numpy's arrays and types have one that matters."""
        if isinstance(target, NumpyDtype):
            if isinstance(state, tuple) and len(state) > 2 and isinstance(state[1], str):
                target.order = state[1]
        elif isinstance(target, NumpyArray):
            self._fill(target, state)
        elif isinstance(target, TensorRef):
            self._check_state(state)
        elif isinstance(target, Inert):
            target.state = state
        elif not isinstance(target, dict):
            raise self.refuse(f"gives a state to a {type(target).__name__}")

    def _check_state(self, state: Any) -> None:
        """A tensor's own attributes mean nothing here; those that would change its values are refused."""
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        if any(not isinstance(part, dict | None) for part in parts):
            raise self.refuse("gives a tensor a state of a form that mindferry doesn't know; save it again from torch")
        for part in parts:
            if replaced := [name for name in _REPLACING if name in (part or ())]:
                raise self.refuse(f"replaces the {replaced[0]} of a tensor after making it; save it again from torch")

    def storage(self, identity: Any) -> Storage:
        """("storage", storage class, key, device, number of elements) and, in old files, a view of it."""
        if not isinstance(identity, tuple) or len(identity) not in (5, 6) or identity[0] != "storage":
            raise self.refuse("refers to something outside that is no storage")
        _, kind, key, _, numel, *view = identity
        if any(part is not None for part in view):
            raise self.refuse("holds a view of a storage, as torch 0.1 wrote them; save it again from torch")
        dtype = _dtype_of(kind) if isinstance(kind, Global) else None
        if dtype is None or not isinstance(key, str) or not self.is_size(numel):
            raise self.refuse("refers to a storage that is not described as one")
        storage = Storage(dtype, key, numel)
        if self.storages.setdefault(key, storage) != storage:
            raise self.refuse(f"describes the storage {shown(key)} in two ways")
        return storage

    def oldest_tensor(self, storage: Any, offset: Any, shape: Any, stride: Any) -> TensorRef:
        return self._tensor(storage, getattr(storage, "dtype", ""), offset, shape, stride)

    def tensor(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        stride: Any,
        grad: Any = None,
        hooks: Any = None,
        metadata: Any = None,
    ) -> TensorRef:
        return self._meant(self.oldest_tensor(storage, offset, shape, stride), metadata)

    def typed_tensor(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        stride: Any,
        grad: Any,
        hooks: Any,
        kind: Any,
        metadata: Any = None,
    ) -> TensorRef:
        dtype = _dtype_of(kind) if isinstance(kind, Global) else None
        return self._meant(self._tensor(storage, dtype or "", offset, shape, stride), metadata)

    def _meant(self, tensor: TensorRef, metadata: Any) -> TensorRef:
        """With the conjugation and negation that torch had put off when it saved the tensor."""
        if metadata is None:
            return tensor
        if not isinstance(metadata, dict) or len(metadata) > ARGUMENTS:
            raise self.refuse("holds a tensor with metadata that is no table, or a long one")
        unknown = [key for key, value in metadata.items() if key not in ("conj", "neg") and value is not False]
        if unknown:
            raise self.refuse(f"holds a tensor with the metadata {shown(unknown[0])!r}, which mindferry can't carry")
        bits = [metadata.get(key, False) for key in ("conj", "neg")]
        if any(type(bit) is not bool for bit in bits):
            raise self.refuse("holds a tensor whose conj or neg is neither true nor false")
        is_conjugate, is_negative = bits
        if is_negative and (tensor.dtype == "bool" or tensor.dtype.startswith("float8")):
            raise self.refuse(
                f"holds a negated view of {tensor.dtype}, which mindferry can't compute; save it resolved"
            )
        is_conjugate &= tensor.dtype.startswith("complex")
        return replace(tensor, is_conjugate=is_conjugate, is_negative=is_negative)

    def _tensor(self, storage: Any, dtype: str, offset: Any, shape: Any, stride: Any) -> TensorRef:
        if not isinstance(storage, Storage) or dtype not in DTYPES:
            raise self.refuse("holds a tensor without a storage or without a known type")
        sizes = [shape, stride]
        if any(not isinstance(part, tuple) or len(part) > RANK or not all(map(self.is_size, part)) for part in sizes):
            raise self.refuse(f"holds a tensor of shape {shown(shape)} and stride {shown(stride)}")
        if len(shape) != len(stride) or not self.is_size(offset):
            raise self.refuse(f"holds a tensor of shape {shown(shape)}, stride {shown(stride)}, offset {shown(offset)}")
        return TensorRef(storage, dtype, offset, shape, stride)

    def parameter(self, data: Any, grad: Any = None, hooks: Any = None, state: Any = None) -> Any:
        if not isinstance(data, TensorRef):
            raise self.refuse("holds a parameter that is no tensor")
        self._check_state(state)
        return data

    def subclass(self, function: Any, kind: Any, arguments: Any, state: Any = None) -> Any:
        if not isinstance(arguments, tuple) or (isinstance(function, Global) and _CALLS.get(str(function)) in _NESTING):
            raise self.refuse("holds a tensor subclass without its arguments, or one inside another")
        made = self.call(function, arguments)
        if isinstance(made, TensorRef):
            self._check_state(state)
        return made

    def ordered(self, pairs: Any = (), *rest: Any) -> dict[Any, Any]:
        """Empty in today's files; with its pairs in those of Python 2."""
        if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise self.refuse("builds an OrderedDict from something other than pairs")
        self._spend(len(pairs))
        if not all(isinstance(key, str) for key, _ in pairs) or len({key for key, _ in pairs}) != len(pairs):
            raise self.refuse("builds an OrderedDict with keys that are no text or appear twice")
        return OrderedDict(pairs)

    def encode(self, text: Any, encoding: Any = "latin1") -> bytes:
        """How protocol 2 spells bytes."""
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            raise self.refuse("encodes something that is not text")
        self._spend(len(text))
        return text.encode("latin1")

    def _spend(self, size: int) -> None:
        self.budget -= size
        if self.budget < 0:
            raise self.refuse("makes more bytes than it holds, by using the same part of it again and again")

    def numpy_dtype(self, code: Any = "", *rest: Any) -> NumpyDtype:
        if not isinstance(code, str) or len(code) > 8:
            raise self.refuse("holds a numpy type without a name")
        if code.lstrip("<>|=") == "O" or code.startswith("O"):
            raise self.refuse("holds a numpy array of objects, which only running code can read: refused")
        return NumpyDtype(code)

    def numpy_array(self, *rest: Any) -> NumpyArray:
        return NumpyArray()

    def numpy_scalar(self, kind: Any = None, data: Any = b"", *rest: Any) -> NumpyArray:
        array = NumpyArray(is_scalar=True)
        self._fill(array, (1, (), kind, False, data))
        return array

    def _fill(self, array: NumpyArray, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[2], NumpyDtype):
            raise self.refuse("holds a numpy array without shape, type and bytes")
        _, shape, kind, is_fortran, data = state
        code = kind.code.lstrip("<>|=")
        dtype = BY_NUMPY.get(f"{'|' if code in ('i1', 'u1', 'b1') else '<'}{code}")
        if dtype is None or kind.order == ">" or kind.code.startswith(">"):
            raise self.refuse(f"holds a numpy array of type {shown(kind.order + kind.code)}, which is no tensor's")
        if isinstance(data, str):
            self._spend(len(data))
            data = data.encode("latin1")
        if not isinstance(shape, tuple) or len(shape) > RANK or not all(map(self.is_size, shape)):
            raise self.refuse(f"holds a numpy array of shape {shown(shape)}")
        count = DTYPES[dtype].size
        for size in shape:
            count *= size
        if not isinstance(data, bytes | bytearray) or len(data) != count:
            raise self.refuse("holds a numpy array whose bytes don't match its shape")
        self._spend(len(data) if isinstance(data, bytearray) else 0)
        array.dtype, array.shape, array.data, array.is_fortran = dtype, shape, bytes(data), bool(is_fortran)

    @staticmethod
    def is_size(value: Any) -> bool:
        return type(value) is int and 0 <= value < MAX_SIZE


def _dtype_of(found: Global) -> str | None:
    """A storage class's or dtype's name here; "" for an untyped storage; None for anything else."""
    if found.module in ("torch", "torch.cuda", "torch.storage") and found.name in BY_STORAGE:
        return BY_STORAGE[found.name]
    if found.name == "UntypedStorage" and found.module in ("torch", "torch.storage"):
        return ""
    return found.name if found.module == "torch" and found.name in DTYPES else None


_CALLS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": Rebuilder.oldest_tensor,
    "torch._utils._rebuild_tensor_v2": Rebuilder.tensor,
    "torch._utils._rebuild_tensor_v3": Rebuilder.typed_tensor,
    "torch._utils._rebuild_parameter": Rebuilder.parameter,
    "torch._utils._rebuild_parameter_with_state": Rebuilder.parameter,
    "torch._tensor._rebuild_from_type_v2": Rebuilder.subclass,
    "collections.OrderedDict": Rebuilder.ordered,
    "_codecs.encode": Rebuilder.encode,
    "numpy.dtype": Rebuilder.numpy_dtype,
    **{f"{module}._reconstruct": Rebuilder.numpy_array for module in _ARRAY_MODULES},
    **{f"{module}.scalar": Rebuilder.numpy_scalar for module in _ARRAY_MODULES},
}
_NESTING = (Rebuilder.subclass,)
