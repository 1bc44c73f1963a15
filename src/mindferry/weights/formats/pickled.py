"""An interpreter for the few pickle operations that tensors need. It imports nothing and calls nothing by name."""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .limits import ARGUMENTS, OPERATIONS, BadFileError, bad, shown
from .rebuilt import FROZEN_SET, SET, Inert, Rebuilder, Storage

_MARK = object()
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "EMPTY_SET": lambda: Inert(SET, ([],)),  # as a call of set() leaves it: members here need not be hashable
}
_LITERALS = frozenset(
    (
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    )
)
_MAX_KEY = 1 << 60  # beyond, integers can be chosen to collide in a dictionary


@dataclass(slots=True)
class Interpreter:
    """Reads one pickle. `where` names it in messages: "record 3 (archive/data.pkl)"."""

    path: Path
    where: str
    allowed: frozenset[str] = frozenset()

    def load(self, data: bytes | Any) -> tuple[Any, dict[str, Storage]]:
        """The value, and the storages that it refers to. `data` is bytes, or has read and readline."""
        size = len(data) if isinstance(data, bytes) else data.room
        run = _Run(self, 2 * size)
        try:
            return run.execute(pickletools.genops(data)), run.rebuild.storages
        except (ValueError, IndexError, KeyError, TypeError, OverflowError, UnicodeError, RecursionError) as error:
            raise self.refuse(f"is no complete pickle ({shown(error)})") from None

    def refuse(self, reason: str) -> BadFileError:
        return bad(self.path, f"{self.where} {reason}; nothing in it was run")


class _Run:
    """The stack and memo of one pickle."""

    def __init__(self, pickle: Interpreter, budget: int) -> None:
        self.pickle = pickle
        self.rebuild = Rebuilder(pickle.refuse, pickle.allowed, budget)
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def execute(self, operations: Iterator[tuple[pickletools.OpcodeInfo, Any, int | None]]) -> Any:
        for count, (opcode, argument, position) in enumerate(operations):
            name = opcode.name
            if count >= OPERATIONS:
                raise self.pickle.refuse(f"has more than {OPERATIONS} operations")
            if name == "STOP":
                return self.pop()
            if name in _LITERALS:
                self.stack.append(argument)
            elif name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name]())
            elif step := _STEPS.get(name):
                step(self, argument)
            else:
                raise self.pickle.refuse(f"uses the operation {name} at byte {position}, which no tensor needs")
        raise self.pickle.refuse("ends without its STOP")

    def pop(self) -> Any:
        value = self.stack.pop()
        if value is _MARK:
            raise ValueError("a mark where a value should be")
        return value

    def top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise ValueError(f"expected a {kind.__name__} on the stack")
        return self.stack[-1]

    def to_mark(self) -> list[Any]:
        items = []
        while (value := self.stack.pop()) is not _MARK:
            items.append(value)
        return items[::-1]

    def mark(self, _: Any) -> None:
        self.stack.append(_MARK)

    def nothing(self, _: Any) -> None:
        """PROTO and FRAME: for readers that need them."""

    def discard(self, _: Any) -> None:
        self.stack.pop()

    def discard_to_mark(self, _: Any) -> None:
        self.to_mark()

    def duplicate(self, _: Any) -> None:
        self.stack.append(self.stack[-1])

    def put(self, index: int) -> None:
        if not 0 <= index < 1 << 32:
            raise ValueError("a memo beyond any pickle's")
        self.memo[index] = self.stack[-1]

    def memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def get(self, index: int) -> None:
        self.stack.append(self.memo[index])

    def short_tuple(self, size: int) -> None:
        items = [self.pop() for _ in range(size)]
        self.stack.append(tuple(reversed(items)))

    def long_tuple(self, _: Any) -> None:
        self.stack.append(tuple(self.to_mark()))

    def whole_list(self, _: Any) -> None:
        self.stack.append(self.to_mark())

    def whole_dict(self, _: Any) -> None:
        items = self.to_mark()
        self.stack.append({})
        self.set_pairs(items)

    def append(self, _: Any) -> None:
        value = self.pop()
        self.top(list).append(value)

    def appends(self, _: Any) -> None:
        items = self.to_mark()
        self.top(list).extend(items)

    def add_members(self, _: Any) -> None:
        items = self.to_mark()
        match self.top(Inert):
            case Inert(name, (list(members),)) if name == SET:
                members.extend(items)
            case other:
                raise self.pickle.refuse(f"adds members to a {shown(other.name)}")

    def frozen_set(self, _: Any) -> None:
        self.stack.append(Inert(FROZEN_SET, (self.to_mark(),)))

    def set_item(self, _: Any) -> None:
        value = self.pop()
        self.set_pairs([self.pop(), value])

    def set_items(self, _: Any) -> None:
        self.set_pairs(self.to_mark())

    def set_pairs(self, items: list[Any]) -> None:
        if len(items) % 2:
            raise ValueError("a key without a value")
        if self.stack and isinstance(self.stack[-1], Inert):
            return
        table = self.top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            self.check_key(key)
            if key in table and isinstance(key, str):
                raise self.pickle.refuse(f"has the key {shown(key)!r} twice")
            table[key] = value

    def check_key(self, key: Any) -> None:
        """Only keys that can't be chosen to collide: a dictionary of those takes forever."""
        is_text = key is None or isinstance(key, str | bytes)
        is_small = isinstance(key, int) and abs(key) < _MAX_KEY
        is_path = isinstance(key, tuple) and len(key) <= ARGUMENTS and all(isinstance(part, str) for part in key)
        if not (is_text or is_small or is_path):
            raise self.pickle.refuse(f"has a key of type {type(key).__name__} that is too large or no text")

    def named_global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self.stack.append(self.rebuild.named(module, name))

    def stacked_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("a global that is not named by text")
        self.stack.append(self.rebuild.named(module, name))

    def call(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        if not isinstance(arguments, tuple):
            raise ValueError("arguments that are no tuple")
        self.stack.append(self.rebuild.call(function, arguments))

    def new_object(self, _: Any) -> None:
        self.call(None)

    def new_object_with_names(self, _: Any) -> None:
        if self.pop():
            raise self.pickle.refuse("builds an object from keywords, which no tensor needs")
        self.call(None)

    def build(self, _: Any) -> None:
        state = self.pop()
        self.rebuild.build(self.stack[-1], state)

    def persistent(self, _: Any) -> None:
        self.stack.append(self.rebuild.storage(self.pop()))


_STEPS: dict[str, Callable[[_Run, Any], None]] = {
    "PROTO": _Run.nothing,
    "FRAME": _Run.nothing,
    "MARK": _Run.mark,
    "POP": _Run.discard,
    "POP_MARK": _Run.discard_to_mark,
    "DUP": _Run.duplicate,
    "PUT": _Run.put,
    "BINPUT": _Run.put,
    "LONG_BINPUT": _Run.put,
    "MEMOIZE": _Run.memoize,
    "GET": _Run.get,
    "BINGET": _Run.get,
    "LONG_BINGET": _Run.get,
    "TUPLE1": lambda run, _: run.short_tuple(1),
    "TUPLE2": lambda run, _: run.short_tuple(2),
    "TUPLE3": lambda run, _: run.short_tuple(3),
    "TUPLE": _Run.long_tuple,
    "LIST": _Run.whole_list,
    "DICT": _Run.whole_dict,
    "FROZENSET": _Run.frozen_set,
    "APPEND": _Run.append,
    "APPENDS": _Run.appends,
    "ADDITEMS": _Run.add_members,
    "SETITEM": _Run.set_item,
    "SETITEMS": _Run.set_items,
    "GLOBAL": _Run.named_global,
    "STACK_GLOBAL": _Run.stacked_global,
    "REDUCE": _Run.call,
    "NEWOBJ": _Run.new_object,
    "NEWOBJ_EX": _Run.new_object_with_names,
    "BUILD": _Run.build,
    "BINPERSID": _Run.persistent,
}
