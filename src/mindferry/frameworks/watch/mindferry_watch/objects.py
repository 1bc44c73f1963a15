"""The networks, loaders, optimizers and schedules that a script makes, with what first went through them, whatever their framework."""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
import sys
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from .by_identity import ByIdentity
from .probes import GIVEN
from .session import Session
from .types_seen import describe, public_name
from .written_values import literal, written

NETWORKS = 16  # kept at most
SHAPES = 64  # for each network
CALLS = 2  # whose inputs are kept
WAYS = 4  # of calling a network, one call of each besides
LARGEST = 32 * 2**20  # bytes of arrays kept for a call or a batch
LARGEST_STATE = 2 * 2**30
BASE = "Optimizer"  # Keras makes one of the base class itself, to compare with when it saves a network
DEEPEST = 8  # objects in objects that are looked into
FRAMES = 6  # functions that may have made a network
_RECONSTRUCT = getattr(getattr(copy, "_reconstruct", None), "__code__", None)


class Objects:
    """Installed once in a process; what it keeps is bounded, whatever the script makes."""

    MARK = ""  # of a framework, in the names of what is kept: a process may hold two
    WAYS: tuple[str, ...] = ()  # functions of the framework between a call of the class and its __init__

    def __init__(self, session: Session) -> None:
        self.session = session
        self.depth = 0
        self.is_too_many = False
        self.held: dict[int, Any] = {}  # networks that nobody has called yet, so that they are still there in the end
        self.networks: dict[int, dict[str, Any]] = {}
        self.alive: dict[int, Any] = {}
        self.made = ByIdentity()  # network -> the calls that made it
        self.loaders: list[dict[str, Any]] = []
        self.optimizers: list[dict[str, Any]] = []
        self.schedules: list[dict[str, Any]] = []
        self.arrays = session.arrays
        self.attributes: dict[str, dict[str, list[Any]]] = {}

    def install(self) -> None:
        self._watch_networks()
        self._watch_loaders()
        self._watch_optimizers()
        self.session.at_end(self._gather)

    def _watch_networks(self) -> None:
        """Their calls are told to `note_call`, and what made each is kept in `made`."""
        raise NotImplementedError

    def _watch_loaders(self) -> None:
        """Their batches go through `passing`."""
        raise NotImplementedError

    def _watch_optimizers(self) -> None:
        """By `_watch_start`."""
        raise NotImplementedError

    def parts(self, module: Any) -> list[Any]:
        """The network itself, and all that it is made of."""
        raise NotImplementedError

    def sizes(self, module: Any) -> list[int]:
        """How many numbers each of its parameters has."""
        raise NotImplementedError

    def structure(self, module: Any) -> list[list[str]]:
        """[path, class] of every part."""
        raise NotImplementedError

    def bytes_of(self, tensor: Any) -> int:
        raise NotImplementedError

    def array_of(self, tensor: Any) -> Any:
        """A tensor as numpy's array; TypeError, RuntimeError or ValueError where it is none."""
        raise NotImplementedError

    def is_tensor(self, value: Any) -> bool:
        raise NotImplementedError

    def state_size(self, module: Any) -> int:
        """Bytes of all that it would keep in a checkpoint."""
        raise NotImplementedError

    def save_state(self, module: Any, path: str) -> str:
        """Write it to the path and an ending, and return the ending; "" where it has no checkpoint."""
        raise NotImplementedError

    def makers(self, module: Any, frame: FrameType | None) -> list[dict[str, Any]]:
        """The calls that made a module, innermost first: its class, then the functions of the project around it."""
        calls: list[dict[str, Any]] = []
        owner = None
        while frame is not None and self._is_making(frame, module):
            owner, frame = frame if frame.f_code.co_name == "__init__" else owner, frame.f_back
        if frame is None:
            return []
        if not self.session.is_own(frame.f_code.co_filename) and not (
            owner and self.session.is_own(owner.f_code.co_filename)
        ):
            return []
        if owner is not None:
            calls.append(self._call(type(module).__module__, type(module).__qualname__, owner, frame, skip=1))
        while frame is not None and len(calls) < FRAMES and frame.f_code.co_name != "<module>":
            name, caller = frame.f_code.co_name, frame.f_back
            is_own = self.session.is_own(frame.f_code.co_filename) and name.isidentifier()
            if is_own and caller is not None and getattr(frame.f_code, "co_qualname", name) == name:
                calls.append(self._call(str(frame.f_globals.get("__name__", "")), name, frame, caller))
            frame = caller
        return calls

    def _is_making(self, frame: FrameType, module: Any) -> bool:
        """Whether the frame is the making of the module itself, and not of what it is a part of."""
        if frame.f_code.co_name == "__init__":
            return _first(frame) is module
        return frame.f_code.co_name in self.WAYS and not self.session.is_own(frame.f_code.co_filename)

    def note_start(self, module: Any, frame: FrameType) -> None:
        candidates = self.makers(module, frame)
        if candidates:
            self.made.note(module, candidates)

    def note_copy(self, module: Any, frame: FrameType | None) -> None:
        """What copy.deepcopy is copying: the copy, such as a moving average or a target network, is made as that was."""
        while frame is not None and frame.f_code.co_name == "__setstate__":
            frame = frame.f_back
        if frame is not None and frame.f_code is _RECONSTRUCT:
            makers = self.made.get(frame.f_locals["x"])
            if makers:
                self.made.note(module, makers)

    def _call(self, module: str, name: str, frame: FrameType, caller: FrameType, skip: int = 0) -> dict[str, Any]:
        code = frame.f_code
        names = code.co_varnames[skip : code.co_argcount + code.co_kwonlyargcount]
        given = frame.f_locals.get(GIVEN, {})  # before the function bound them anew
        values = {each: given.get(each, frame.f_locals.get(each)) for each in names} | _rest(frame)
        texts = {each: written(value, self._own_place) for each, value in values.items()}
        defaults = _defaults(frame)
        texts = {
            each: text
            for each, text in texts.items()
            if text is not None or values[each] is not defaults.get(each, GIVEN)
        }
        arguments = {each: text or f"<{type(values[each]).__name__}>" for each, text in texts.items()}
        is_plain = None not in texts.values() and not _more(frame)
        return {
            "module": module,
            "name": name,
            "file": self._place(code.co_filename),
            "arguments": arguments,
            "is_plain": is_plain,
            "at": [self._place(caller.f_code.co_filename), caller.f_lineno],
        }

    def _place(self, path: str) -> str:
        real = os.path.realpath(path)
        return self.session.relative(real) if self.session.is_own(real) else path

    def _own_place(self, path: str) -> str | None:
        return self.session.relative(path) if self.session.is_own(path) else None

    def note_call(self, module: Any, args: Any, kwargs: Any, is_training: bool) -> None:
        entry = self.networks.get(id(module))
        if entry is None:
            sizes = self.sizes(module)
            if not sizes:  # a loss, an activation
                return
            if len(self.networks) >= NETWORKS:
                self.is_too_many = True
                return
            self.alive[id(module)] = module
            self._hold_uncalled()
            entry = self.networks[id(module)] = {
                "number": len(self.networks),
                "class": public_name(type(module)),
                "makers": self.made.get(module, []),
                "calls": 0,
                "shapes": [],
                "inputs": [],
                "ways": [],
                "structure": self.structure(module),
                "parameters": sum(sizes),
            }
        entry["calls"] += 1
        shapes = [_shape(each) for each in args] + [[name, _shape(each)] for name, each in kwargs.items()]
        if shapes not in entry["shapes"] and len(entry["shapes"]) < SHAPES:
            entry["shapes"].append(shapes)
        way = _way(args, kwargs)
        if len(entry["inputs"]) < CALLS or (way not in entry["ways"] and len(entry["ways"]) < WAYS):
            self._keep_inputs(entry, args, kwargs, is_training)
        if way not in entry["ways"] and len(entry["ways"]) < WAYS:
            entry["ways"].append(way)

    def _keep_inputs(self, entry: dict[str, Any], args: Any, kwargs: Any, is_training: bool) -> None:
        prefix = f"{self.MARK}network-{entry['number']}-call-{len(entry['inputs'])}"
        room = [LARGEST]
        kept = [self._input(each, f"{prefix}-{index}", room) for index, each in enumerate(args)]
        named = {name: self._input(each, f"{prefix}-{name}", room) for name, each in kwargs.items()}
        entry["inputs"].append({"args": kept, "kwargs": named, "training": is_training})

    def _input(self, value: Any, name: str, room: list[int], depth: int = 0) -> list[Any]:
        """As `_value`, but containers are Python's own; ["object", [its class as `module:name`, its parts by the way to each]]."""
        if self.is_tensor(value) or literal(value) is not None:
            return self._value(value, name, room)
        if depth < DEEPEST and type(value) in (list, tuple):
            return [
                type(value).__name__,
                [self._input(each, f"{name}-{number}", room, depth + 1) for number, each in enumerate(value)],
            ]
        kind, parts = "dict", dict(value) if _is_plain_mapping(value) else {}
        own = self._importable(type(value)) if not parts else ""
        if own:
            kind, parts = "object", parts_of(value)
        if not parts or depth >= DEEPEST:
            return ["other", public_name(type(value))]
        kept = {
            key: self._input(each, f"{name}-{number}", room, depth + 1)
            for number, (key, each) in enumerate(parts.items())
        }
        return [kind, kept if kind == "dict" else [own, kept]]

    def _importable(self, kind: type) -> str:
        """`pkg.data:Batch` of a class at the top of one of the project's files; "" of any other."""
        path = os.path.realpath(str(getattr(sys.modules.get(kind.__module__), "__file__", None) or ""))
        if not self.session.is_own(path) or not path.endswith(".py") or "." in kind.__qualname__:
            return ""
        if kind.__module__ == "__main__" and "__main__" not in _text_of(path):
            return ""  # to import it would be to run it
        module = self.session.relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return f"{module}:{kind.__qualname__}"

    def _value(self, value: Any, name: str, room: list[int]) -> list[Any]:
        """["array", its name], ["plain", its repr], ["list" or "tuple" or "dict", its parts], ["other", its class]."""
        if self.is_tensor(value):
            return self._tensor(value, name, room)
        if isinstance(value, list | tuple):
            parts = [self._value(each, f"{name}-{index}", room) for index, each in enumerate(value)]
            return ["tuple" if isinstance(value, tuple) else "list", parts]
        if isinstance(value, dict):
            items = enumerate(value.items())
            return ["dict", {str(key): self._value(each, f"{name}-{index}", room) for index, (key, each) in items}]
        text = literal(value)
        return ["plain", text] if text is not None else ["other", public_name(type(value))]

    def _tensor(self, value: Any, name: str, room: list[int]) -> list[Any]:
        try:
            size = self.bytes_of(value)
            if size > room[0]:
                return ["other", "an array that is too large to keep"]
            self.arrays[name] = self.array_of(value)
        except (TypeError, RuntimeError, ValueError):
            return ["other", "a tensor that is no plain array, such as a sparse one"]
        room[0] -= size
        return ["array", name]

    def passing(self, entry: dict[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
        """The loader's own batches; the first one is kept."""
        number = len(self.loaders)
        self.loaders.append(entry)
        for index, batch in enumerate(batches):
            if index == 0:
                entry["first"] = self._value(batch, f"{self.MARK}loader-{number}-batch", [LARGEST])
            yield batch

    def _watch_start(self, kind: Any, noted: list[dict[str, Any]], more: Any) -> None:
        start, objects = kind.__init__, self

        def noted_start(made: Any, *args: Any, **kwargs: Any) -> None:
            start(made, *args, **kwargs)
            place = objects.place_of(sys._getframe(1))
            if len(noted) < NETWORKS and type(made).__name__ != BASE:
                noted.append({"class": public_name(type(made)), "at": place, **more(made)})

        kind.__init__ = noted_start

    def place_of(self, frame: FrameType | None) -> list[Any]:
        """The line of the project that asked for something, if it was the project that did; else who did."""
        while frame is not None and frame.f_code.co_name == "__init__":
            frame = frame.f_back
        own = frame
        while own is not None and not self.session.is_own(own.f_code.co_filename):
            own = own.f_back
        found = own or frame
        return [self._place(found.f_code.co_filename), found.f_lineno] if found is not None else ["", 0]

    def note_attributes(self, value: Any) -> None:
        """What an object of one of the project's classes holds."""
        module = sys.modules.get(type(value).__module__)
        if not self.session.is_own(os.path.realpath(str(getattr(module, "__file__", "") or ""))):
            return
        known = self.attributes.setdefault(public_name(type(value)), {})
        held = dict(vars(value)) if hasattr(value, "__dict__") else {}
        for group in ("_parameters", "_buffers", "_modules"):
            held.update(held.pop(group, None) or {})
        for name, each in held.items():
            kind = describe(each)
            if not name.startswith("_") and kind not in known.setdefault(name, []) and len(known[name]) < 8:
                known[name].append(kind)

    def _gather(self, is_last: bool) -> dict[str, Any]:
        for module in self.alive.values():
            for each in self.parts(module):
                self.note_attributes(each)
        if is_last:
            self._write_arrays()
            self._write_states()
        inner = self._inner()
        return {
            "networks": [entry for key, entry in self.networks.items() if key not in inner],
            "uncalled": self._uncalled(inner) if is_last else [],
            "loaders": self.loaders,
            "optimizers": self.optimizers,
            "schedules": self.schedules,
            "attributes": self.attributes,
        }

    def _inner(self) -> set[int]:
        """Parts of a network that was called as a whole; a script that calls them by themselves shows nothing more."""
        return {id(part) for whole in self.alive.values() for part in self.parts(whole) if part is not whole}

    def _uncalled(self, inner: set[int]) -> list[str]:
        """Networks of which the run shows nothing, with the reason."""
        self._hold_uncalled()
        told = [
            f"{public_name(type(each))}: it was made and never called"
            for each in self._wholes(self.held.values())
            if id(each) not in inner and not self._is_called_in_parts(each)
        ]
        more = [f"further networks: the run called more than {NETWORKS}"] if self.is_too_many else []
        return [*dict.fromkeys(told), *more]

    def _hold_uncalled(self) -> None:
        """Asked whenever a network is called for the first time: what a function made and dropped is gone in the end."""
        for module in self._wholes(self.made.living()):
            if id(module) not in self.networks and len(self.held) < NETWORKS and self.sizes(module):
                self.held[id(module)] = module

    def _is_called_in_parts(self, module: Any) -> bool:
        """Whether the script called what it holds: then those parts stand among the networks themselves."""
        return any(id(part) in self.networks for part in self.parts(module))

    def _write_arrays(self) -> None:
        import numpy

        if self.arrays:
            numpy.savez(os.path.join(self.session.settings.folder, f"arrays-{os.getpid()}.npz"), **self.arrays)

    def _write_states(self) -> None:
        left = LARGEST_STATE
        for key, module in self.alive.items():
            size = self.state_size(module)
            if size <= left:
                left -= size
                path = os.path.join(
                    self.session.settings.folder, f"weights-{os.getpid()}-{self.MARK}{self.networks[key]['number']}"
                )
                with contextlib.suppress(Exception):  # a class whose state can't be saved
                    ending = self.save_state(module, path)
                    self.networks[key]["state"] = f"{os.path.basename(path)}{ending}" if ending else ""

    def _wholes(self, modules: Iterable[Any]) -> list[Any]:
        """Those that are no part of another one."""
        listed = list(modules)
        parts = {id(part) for whole in listed for part in self.parts(whole) if part is not whole}
        return [each for each in listed if id(each) not in parts]


def _first(frame: FrameType) -> Any:
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names else None


def _defaults(frame: FrameType) -> dict[str, Any]:
    """Of the function that runs: what its arguments are where nobody gives them."""
    code, owner = frame.f_code, type(_first(frame))
    homes = [vars(each).get(code.co_name) for each in owner.__mro__] if code.co_name == "__init__" else []
    for function in (*homes, frame.f_globals.get(code.co_name)):
        if function is not None and getattr(function, "__code__", None) is code:
            signature = inspect.signature(function)
            return {name: each.default for name, each in signature.parameters.items() if each.default is not each.empty}
    return {}


def _more(frame: FrameType) -> Any:
    """What `*args` received."""
    code = frame.f_code
    is_there = bool(code.co_flags & inspect.CO_VARARGS)
    if not is_there:
        return None
    name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
    return frame.f_locals.get(GIVEN, {}).get(name, frame.f_locals.get(name))


def _rest(frame: FrameType) -> dict[str, Any]:
    """What `**kwargs` received."""
    code = frame.f_code
    if not code.co_flags & inspect.CO_VARKEYWORDS:
        return {}
    place = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    name = code.co_varnames[place]
    return dict(frame.f_locals.get(GIVEN, {}).get(name, frame.f_locals.get(name)) or {})


def _is_plain_mapping(value: Any) -> bool:
    """Whether it is a dictionary of Python's own: another kind may have attributes, or read its items otherwise."""
    is_own = isinstance(value, dict) and type(value).__module__ in ("builtins", "collections")
    return is_own and all(isinstance(key, str) for key in value)


def parts_of(value: Any) -> dict[str, Any]:
    """What an object holds: `.x` is an attribute of it, `['x']` an item."""
    if isinstance(value, tuple):
        return {f".{name}": each for name, each in zip(getattr(value, "_fields", ()), value, strict=False)}
    slots = [name for each in type(value).__mro__ for name in getattr(each, "__slots__", ()) if hasattr(value, name)]
    parts = {f".{name}": getattr(value, name) for name in (*getattr(value, "__dict__", ()), *slots)}
    if isinstance(value, dict):
        parts |= {f"['{key}']": each for key, each in value.items()}
    return parts


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _way(args: Any, kwargs: Any) -> str:
    """How a network is called: with which arguments, and what those say that switch something on or off."""
    given = [*enumerate(args), *sorted(kwargs.items())]
    return repr([(name, value if value is None or isinstance(value, bool) else "") for name, value in given])


def _shape(value: Any) -> Any:
    if hasattr(type(value), "shape") and hasattr(type(value), "dtype"):
        return [getattr(value.dtype, "name", str(value.dtype)).removeprefix("torch."), list(value.shape)]
    if isinstance(value, list | tuple):
        return [_shape(each) for each in value[:16]]
    return type(value).__name__
