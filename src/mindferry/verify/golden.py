"""A golden file being read: what the reference computed, tensor by tensor, straight from the disk."""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MindferryError
from .literals import Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

FORMAT = "mindferry golden 3"
_DTYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}
_DTYPES["C64"] = "<c8"
ALIGNED = 16  # bytes
FRACTIONS = ("F32", "F64", "C64")  # what is not compared as whole numbers


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of one module."""

    path: str
    call: int
    kind: str  # the module's class
    outputs: tuple[str, ...]  # keys
    inputs: tuple[tuple[str, str], ...] = ()  # keys of the value, and of the gradient by way of this module
    arguments: dict[str, Any] = field(default_factory=dict)  # parameter -> plain value, or "a tensor"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of what the network returns: the way to it, its type, and its value where it is no tensor."""

    way: str
    dtype: str  # "" for a plain value
    value: Any = None
    opaque: str = ""  # the class of something that can't be looked into
    container: str = ""  # list, tuple or dict: what is around other parts


@dataclass(frozen=True, slots=True)
class Unrun:
    """A branch of the reference's code that no run reached."""

    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """A module of the reference."""

    kind: str  # its class
    home: str  # the class's module: torch.nn.modules.conv
    parameters: int  # of its own
    children: int
    rate: float = 0.0  # of a recurrent layer's own dropout, which is off while it is compared


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of one output that are far smaller than the others, see columns.py."""

    output: int
    axis: int
    columns: tuple[int, ...]
    key: str  # of what is known of them


@dataclass(frozen=True, slots=True)
class ModeRecord:
    calls: tuple[CallRecord, ...]
    outputs: tuple[str, ...]  # keys of the network's outputs
    gradients: bool
    cotangents: dict[int, str]
    parameters: dict[str, str]  # torch name -> key of its gradient
    buffers: dict[str, str]  # torch name -> key of its value after the run
    loss: str = ""  # key
    runs: tuple[str, ...] = ("own", "whole")
    reference: str = "float64"  # or float32
    masks: tuple[tuple[str, str, float], ...] = ()  # module path, key, rate of each dropout mask, as they were used
    draws: tuple[tuple[str, str, str], ...] = ()  # module path, key, family of every other random tensor
    is_random: bool = False  # it drew numbers that could not be shared
    structure: tuple[Leaf, ...] = ()  # of what the network returns
    input_gradients: dict[int, str] = field(default_factory=dict)  # number of the input -> key; "" if none arrives
    second: int = 0  # how many tensors a second call returns, on rolled inputs; 0 if there was none
    is_stateful: bool = False  # the first call changed an attribute or a buffer
    draws_outside: bool = False  # from Python's or numpy's random numbers
    kept: tuple[str, ...] = ()  # plain attributes that a call changes
    moved: tuple[str, ...] = ()  # these and the buffers of the network's own classes that a call changes
    overwritten: tuple[int, ...] = ()  # the numbers of the inputs that a call writes into
    columns: tuple[Columns, ...] = ()
    penalties: str = ""  # key of what layers add to the loss; of Keras alone
    drawn: tuple[
        tuple[str, tuple[int, ...]], ...
    ] = ()  # module path and shape of every draw from shared numbers; of Keras alone
    left: dict[str, str] = field(default_factory=dict)  # attribute that a call leaves a tensor in -> key
    later: dict[str, str] = field(default_factory=dict)  # buffer -> key of its value after `later_steps` more steps
    later_steps: int = 0
    numbers: dict[str, float] = field(default_factory=dict)  # attribute that calls change -> what it is after two
    outside: dict[str, str] = field(
        default_factory=dict
    )  # place outside of the modules -> key of a tensor; "": a number
    reshaped: tuple[str, ...] = ()  # inputs that a call added something to, or took something out of
    again: tuple[
        tuple[str, tuple[Input, ...], tuple[str, ...]], ...
    ] = ()  # second calls on other sizes: said, inputs, keys
    handed_out: tuple[str, ...] = ()  # outputs that are the network's own tensors, and lists that are its attributes


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of one tensor: its size, and how far torch's float32 is from float64 (nan: not measured)."""

    scale: float
    own: float = math.nan
    whole: float = math.nan
    sum: float = 0.0  # of the absolute values that were added up for one element; 0.0 where it is not known
    is_constant: bool = False  # all elements are the same
    is_plain: bool = False  # no value is a mask, or so large that it may be one


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    key: str
    literal: Any = None


@dataclass(frozen=True, slots=True)
class Golden:
    path: Path
    title: str
    torch: str
    device: str
    complete: bool  # every mode in float64 where possible, with inputs
    why: str  # why not float64
    seed: int
    inputs: tuple[Input, ...]
    targets: tuple[Input, ...]
    weights: dict[str, str]
    attributes: dict[str, dict[str, Any]]  # module path -> its settings
    updates: dict[str, str]  # torch name -> key of what the optimizer adds to it
    modes: dict[str, ModeRecord]
    references: dict[str, Reference]
    entries: dict[str, dict[str, Any]]
    start: int
    steps: tuple[str, ...] = ()  # keys of the losses of real training steps
    initial: dict[str, str] = field(default_factory=dict)  # buffer -> key of what __init__ made of it
    loose: dict[str, str] = field(default_factory=dict)  # buffers that are not in the state dict -> key
    tied: tuple[tuple[str, ...], ...] = ()  # names of one and the same parameter, the one that has the gradient first
    parts: dict[str, Part] = field(default_factory=dict)  # module path -> what it is
    unrun: tuple[Unrun, ...] = ()
    is_modal: bool = True  # whether train mode can differ from eval mode
    trainable: tuple[str, ...] = ()  # parameters that take a gradient, each under one name
    rough: tuple[str, ...] = ()  # functions that ran and that MindSpore computes roughly, see kernels.py
    is_rough: bool = False  # they were computed as MindSpore does
    asks_mode: bool = False  # the network's own code asks whether it trains
    source: str = "torch"  # or tensorflow
    defaults: dict[str, dict[str, Any]] = field(default_factory=dict)  # module path -> those of its forward's arguments
    shared: tuple[tuple[str, ...], ...] = ()  # parameters that are two, and lie in one place
    constants: dict[str, float] = field(default_factory=dict)  # parameters that start with one number everywhere
    starts: dict[str, str] = field(default_factory=dict)  # parameters of which a part starts with known numbers -> key
    was_training: bool = True  # the mode in which its weights were read
    asked: tuple[str, ...] | None = (
        None  # what the network's own code asks for beside its inputs; Keras' is not looked at
    )

    literals: tuple[Literal, ...] | None = None  # numbers in the code that ran; older files and Keras' do not tell
    hooks: dict[str, int] = field(default_factory=dict)  # module path -> hooks that the network's own code put on it
    known: tuple[Literal, ...] = ()  # and those elsewhere in its files, or left to defaults of what it calls
    gradient_hooks: tuple[str, ...] = ()  # modules and parameters whose gradients its own code watches
    raised: dict[str, int] | None = None  # kinds of errors that the code which ran may raise -> in how many places
    drawn: dict[str, list[float]] = field(
        default_factory=dict
    )  # parameters -> how the numbers they start with are spread
    tables: dict[str, str] = field(default_factory=dict)  # numbers in plain attributes -> key
    beside: dict[str, dict[str, Any]] = field(default_factory=dict)  # names of forward's arguments; properties
    bounds: tuple[int, ...] | None = None  # comparisons without the border, with it, and limits of values
    methods: dict[str, list[str]] = field(default_factory=dict)  # class -> methods that nothing has called
    ran: frozenset[str] = frozenset()  # functions that ran, by their full names
    is_watched: bool = False  # of other inputs: lines that ran were noted
    types: dict[str, str] | None = (
        None  # parameters and buffers of numbers that are not float32 in torch; older files do not tell
    )
    later_updates: dict[str, str] = field(default_factory=dict)  # torch name -> key of what many more steps add to it
    later_turns: int = 0  # how many
    moving: frozenset[int] = frozenset()  # outputs that were another number in other runs, on both sides

    @property
    def framework(self) -> str:
        """As people call it."""
        return "TensorFlow" if self.source == "tensorflow" else "torch"

    @property
    def is_quick(self) -> bool:
        """Nothing but the network's own outputs was recorded."""
        return not self.complete and all(not call.path for mode in self.modes.values() for call in mode.calls)

    def array(self, key: str) -> Array:
        """The tensor, read from the file into memory of its own."""
        import numpy as np

        entry = self.entries[key]
        return self._read(key, np.empty(entry["shape"], _DTYPES[entry["dtype"]]))

    def lent(self, key: str, *, is_writable: bool = False) -> Array:
        """The same to read, straight from the system's own copy of the file, for as long as the array is held.

        What is written into a writable one is a copy of its own; an odd address, which a kernel may not stand, is read into memory.
        """
        import numpy as np

        entry = self.entries[key]
        begin, end = (self.start + offset for offset in entry["data_offsets"])
        page = begin // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        if begin == end or (is_writable and begin % ALIGNED):
            return self.array(key)
        with _opened(self.path) as file:
            try:
                access = mmap.ACCESS_COPY if is_writable else mmap.ACCESS_READ
                memory = mmap.mmap(file, end - page, access=access, offset=page)
            except (OSError, ValueError):  # a file system that does not map, or a file that was cut short
                return self.array(key)
        array = np.frombuffer(memory, _DTYPES[entry["dtype"]], math.prod(entry["shape"]), begin - page)
        return array.reshape(entry["shape"])

    def _read(self, key: str, array: Array) -> Array:
        flat: Any = array.reshape(-1).view("u1")
        left = memoryview(flat)
        begin = self.start + self.entries[key]["data_offsets"][0]
        with _opened(self.path) as file:
            while left:
                count = os.preadv(file, [left], begin)
                if not count:
                    raise MindferryError(f"{self.path} was cut short while it was read")
                left, begin = left[count:], begin + count
        return array

    def state(self) -> dict[str, Array]:
        """The weights, each in memory of its own."""
        return {name: self.lent(key, is_writable=True) for name, key in self.weights.items()}


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Its descriptor: a golden file is opened for every tensor, and Python's own files take longer."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield file
    finally:
        os.close(file)


def open_golden(path: Path) -> Golden:
    """Read the header; a file that is broken or of another kind is refused here, not later."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= size - 8:
                raise ValueError("not in safetensors format")
            header = json.loads(file.read(length))
        facts = json.loads(header.pop("__metadata__")["mindferry"])
        if facts["format"] != FORMAT:
            raise ValueError(f"format {facts['format']!r}")
        if any(8 + length + entry["data_offsets"][1] > size for entry in header.values()):
            raise ValueError("the file ends too early")
        return _golden(path, facts, header, 8 + length)
    except FileNotFoundError:
        raise MindferryError(f"no golden file {path}; make one with `mindferry record`") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise MindferryError(f"{path} is not a golden file ({reason}); make one with `mindferry record`") from None


def _golden(path: Path, facts: Any, entries: dict[str, dict[str, Any]], start: int) -> Golden:
    return Golden(
        path,
        facts["title"],
        facts["torch"],
        facts["device"],
        facts["complete"],
        facts["why"],
        facts["seed"],
        _inputs(facts["inputs"]),
        _inputs(facts["targets"]),
        facts["weights"],
        facts["attributes"],
        facts["step"],
        {name: _mode(mode) for name, mode in facts["modes"].items()},
        {key: Reference(**error) for key, error in facts["errors"].items()},
        entries,
        start,
        tuple(facts.get("steps", ())),
        facts["initial"],
        facts["loose"],
        tuple(tuple(names) for names in facts["tied"]),
        {path: Part(**part) for path, part in facts["parts"].items()},
        tuple(Unrun(**each) for each in facts["unrun"]),
        facts["modal"],
        tuple(facts["trainable"]),
        tuple(facts.get("rough", ())),
        facts.get("is_rough", False),
        facts.get("asks_mode", False),
        facts.get("source", "torch"),
        facts.get("defaults", {}),
        tuple(tuple(names) for names in facts.get("shared", ())),
        facts.get("constants", {}),
        facts.get("starts", {}),
        facts.get("was_training", True),
        tuple(facts["asked"]) if "asked" in facts else None,
        tuple(Literal(value, is_size) for value, is_size in facts["literals"]) if "literals" in facts else None,
        facts.get("hooks", {}),
        tuple(Literal(value, is_size) for value, is_size in facts.get("known", ())),
        tuple(facts.get("gradient_hooks", ())),
        facts.get("raised"),
        facts.get("drawn", {}),
        facts.get("tables", {}),
        facts.get("beside", {}),
        tuple(facts["bounds"]) if facts.get("bounds") else None,
        facts.get("methods", {}),
        frozenset(facts.get("ran", ())),
        facts.get("is_watched", False),
        facts.get("types"),
        facts.get("later_step", {}),
        facts.get("later_turns", 0),
    )


def _inputs(facts: list[dict[str, Any]]) -> tuple[Input, ...]:
    return tuple(Input(item["name"], item.get("key", ""), item.get("literal")) for item in facts)


def _mode(facts: dict[str, Any]) -> ModeRecord:
    calls = tuple(
        CallRecord(
            c["path"],
            c["call"],
            c["class"],
            tuple(c["outputs"]),
            tuple((v, g) for v, g in c["inputs"]),
            c.get("arguments", {}),
        )
        for c in facts["calls"]
    )
    return ModeRecord(
        calls,
        tuple(facts["outputs"]),
        facts["gradients"],
        {int(index): key for index, key in facts["cotangents"]},
        facts["parameters"],
        facts["buffers"],
        facts["loss"],
        tuple(facts["runs"]),
        facts["reference"],
        tuple((path, key, rate) for path, key, rate in facts.get("masks", ())),
        tuple((path, key, family) for path, key, family in facts.get("draws", ())),
        facts.get("random", False),
        tuple(Leaf(**each) for each in facts.get("structure", ())),
        {int(index): key for index, key in facts.get("input_gradients", ())},
        facts.get("second", 0),
        facts.get("is_stateful", False),
        facts.get("draws_outside", False),
        tuple(facts.get("kept", ())),
        tuple(facts.get("moved", ())),
        tuple(facts.get("overwritten", ())),
        tuple(Columns(output, axis, tuple(found), key) for output, axis, found, key in facts.get("columns", ())),
        facts.get("penalties", ""),
        tuple((path, tuple(shape)) for path, shape in facts.get("drawn", ())),
        facts.get("left", {}),
        facts.get("later", {}),
        facts.get("later_steps", 0),
        facts.get("numbers", {}),
        facts.get("outside", {}),
        tuple(facts.get("reshaped", ())),
        tuple((said, _inputs(given), tuple(keys)) for said, given, keys in facts.get("again", ())),
        tuple(facts.get("handed_out", ())),
    )
