"""What a project defines: its modules, classes with their attributes, functions with their results."""

from __future__ import annotations

import ast
from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .container_uses import ContainerUse
from .differentiated_arguments import Differentiated
from .framework import Framework, Role
from .guesses import looks_like_network
from .observed import ObservedTypes
from .selections import Selections
from .types import MODULE, UNKNOWN, OneOf, Type, join

V = TypeVar("V")


@dataclass(slots=True)
class ClassInfo:
    qual: str
    bases: list[str]  # resolved dotted names
    attributes: dict[str, Type] = field(default_factory=dict)
    results: dict[str, Type] = field(default_factory=dict)  # method -> what it returns

    def note(self, attribute: str, kind: Type) -> None:
        known = self.attributes.get(attribute)
        self.attributes[attribute] = kind if known is None else join(known, kind)


class Kinds(list[Type]):
    """What an argument is given at all calls, every kind once: many functions may share a name, and each asks for all."""

    def __init__(self, kinds: Iterable[Type] = ()) -> None:
        super().__init__()
        self._known: set[tuple[type[Type], Type, tuple[Type, ...]]] = set()  # an assumed type is equal to a proven one
        for kind in kinds:
            self.note(kind)

    def note(self, kind: Type) -> None:
        told = (type(kind), kind, kind.options if isinstance(kind, OneOf) else ())
        if told not in self._known:
            self._known.add(told)
            self.append(kind)


Arguments = dict[int | str, Kinds]
Slot = tuple[str, int | str]  # a function, and which of its arguments


class Overlay(dict[str, Arguments]):
    """Arguments noted on top of others, which stay as they are."""

    def __init__(self, base: dict[str, Arguments]) -> None:
        super().__init__()
        self.base = base

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else self.base.get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = {name: Kinds(kinds) for name, kinds in self.base.get(key, {}).items()} or default
        return self[key]


class Layered(dict[str, V]):
    """Entries on top of others, which stay as they are. Looked up far more often than anything else, so there are two layers, not a chain."""

    def __init__(self, base: Mapping[str, V]) -> None:
        super().__init__()
        self.base = base

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if dict.__contains__(self, key) else self.base.get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else super().setdefault(key, default)

    def __missing__(self, key: str) -> V:
        return self.base[key]

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or key in self.base

    def every(self) -> Iterator[str]:
        yield from self
        yield from self.base


class Classes(MutableMapping[str, ClassInfo]):
    """The project's classes by dotted name, perhaps on top of others, which stay as they are: one is copied when it is taken to be changed."""

    def __init__(self, base: Classes | None = None) -> None:
        self.base = base
        self.own: dict[str, ClassInfo] = {}
        self._by_method: dict[str, dict[str, None]] = {}  # method -> those of `own` that may have it

    def get(self, qual: str, default: Any = None) -> Any:
        """To look at, not to change."""
        found = self.own.get(qual)
        if found is None and self.base is not None:
            found = self.base.get(qual)
        return default if found is None else found

    def __getitem__(self, qual: str) -> ClassInfo:
        """To change."""
        found = self.own.get(qual)
        if found is None:
            each = self.get(qual)
            if each is None:
                raise KeyError(qual)
            found = self[qual] = ClassInfo(qual, each.bases, dict(each.attributes), dict(each.results))
        return found

    def __setitem__(self, qual: str, info: ClassInfo) -> None:
        self.own[qual] = info
        for method in info.results:
            self.note_method(qual, method)

    def __delitem__(self, qual: str) -> None:
        raise TypeError("classes are added, never removed")

    def __contains__(self, qual: object) -> bool:
        return qual in self.own or (self.base is not None and qual in self.base)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def items(self) -> ItemsView[str, ClassInfo]:
        """To look at, not to change: no class is copied."""
        return ItemsView(self._all())

    def values(self) -> ValuesView[ClassInfo]:
        """To look at, not to change: no class is copied."""
        return ValuesView(self._all())

    def _all(self) -> dict[str, ClassInfo]:
        """A project stands on its libraries, and a file's conversion on the project."""
        return {**self.base._all(), **self.own} if self.base is not None else self.own

    def note_method(self, qual: str, method: str) -> None:
        """So that `with_method` need not look at every class."""
        self._by_method.setdefault(method, {})[qual] = None

    def with_method(self, name: str) -> Iterator[str]:
        """The classes that define a method of that name."""
        yield from (qual for qual in self._by_method.get(name, ()) if name in self.own[qual].results)
        if self.base is not None:
            yield from (qual for qual in self.base.with_method(name) if qual not in self.own)


@dataclass(slots=True)
class Symbols:
    """Everything by dotted name; filled while files are read, used while they are read again."""

    framework: Framework  # that the project is written for
    classes: Classes = field(default_factory=Classes)
    results: dict[str, Type] = field(default_factory=dict)  # function -> what it returns
    exports: dict[str, dict[str, Type]] = field(default_factory=dict)  # module -> its global names
    arguments: dict[str, Arguments] = field(default_factory=dict)  # function -> what it is called with
    excluded: frozenset[str] = frozenset()  # modules left out of the conversion
    sets_inner_mode: bool = False  # a network puts parts of itself in a mode
    runs_networks: bool = False  # outside of other networks: a script, not only a collection of models
    draws_host_numbers: bool = False  # from Python's or numpy's global random numbers
    differentiates_arguments: bool = False  # a function goes backward from a loss that it was given
    roots: frozenset[str] = frozenset()  # top-level modules and packages of the project
    mentioned: set[str] = field(default_factory=set)  # every attribute's name that the project reads or calls
    unsure: set[str] = field(default_factory=set)  # networks and optimizers with parameters that a loss may not reach
    writing: set[str] = field(default_factory=set)  # functions that change an argument in place
    clearing: set[str] = field(default_factory=set)  # names of functions that clear gradients
    differentiated: set[Differentiated] = field(default_factory=set)  # arguments that functions differentiate
    called_with_losses: set[str] = field(default_factory=set)  # functions of these that some file calls
    plain: set[str] = field(default_factory=set)  # classes and functions that run no network
    array_names: set[str] = field(default_factory=set)  # of numbers and arrays of numpy's or pandas'
    listed: set[str] = field(
        default_factory=set
    )  # names with an underscore that `from module import *` brings all the same
    seen: ObservedTypes = field(default_factory=ObservedTypes)  # what a watched run showed
    selections: Selections = field(default_factory=Selections)  # tensors that may hold nothing
    beside: frozenset[str] = frozenset()  # modules that a file which uses the framework imports
    ported: dict[str, str] = field(
        default_factory=dict
    )  # library that is brought along -> how it is imported from now on
    served: tuple[
        str, ...
    ] = ()  # parts of such libraries that the table has for the project's own files, each with a dot at its end
    collates: set[str] = field(default_factory=set)  # what the project's loaders are given as collate_fn, by name
    collate_slots: set[Slot] = field(default_factory=set)  # arguments that functions hand on as collate_fn
    transforms: set[str] = field(default_factory=set)  # what its data sets are given to change samples, by name
    stars: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # module -> modules of others that it takes all of by `*`
    container_uses: set[ContainerUse] = field(default_factory=set)
    thawing: set[tuple[str, int, int]] = field(default_factory=set)  # places where parameters get gradients again
    fills: dict[str, str] = field(default_factory=dict)  # function -> the table that it puts what it is given into
    registered: dict[str, Type] = field(default_factory=dict)  # table -> what decorators put there
    computing: set[str] = field(default_factory=set)  # classes and functions that call the framework, or a transform
    second: Symbols | None = None  # the same project as one that is written for another framework, if a file of it is
    is_first_used: bool = True  # whether any file uses this framework
    _origins: dict[str, str] = field(default_factory=dict)  # what `origin` and `bases` found, until more is defined
    _bases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _torch_bases: dict[str, str] = field(default_factory=dict)  # as long as `_bases`
    _modules: dict[str, bool] = field(default_factory=dict)
    _parts: set[str] | None = None  # the project's networks with all that they derive from

    def fork(self, is_known: bool = False) -> Symbols:
        """What one file's conversion may add to: what the others find must not depend on which came first.

        Nothing is copied that is not looked at, so that a file costs the same in a large project. `is_known`: the file
        was read before, so all names that it mentions are there.
        """
        return Symbols(
            self.framework,
            Classes(self.classes),
            Layered(self.results),
            Layered(self.exports),
            Overlay(self.arguments),
            self.excluded,
            self.sets_inner_mode,
            self.runs_networks,
            self.draws_host_numbers,
            self.differentiates_arguments,
            self.roots,
            self.mentioned if is_known else set(self.mentioned),
            set(self.unsure),
            set(self.writing),
            set(self.clearing),
            set(self.differentiated),
            set(self.called_with_losses),
            set(self.plain),
            set(self.array_names),
            set(self.listed),
            self.seen,
            self.selections.copy(),
            self.beside,
            self.ported,
            self.served,
            set(self.collates),
            set(self.collate_slots),
            set(self.transforms),
            Layered(self.stars),
            set(self.container_uses),
            set(self.thawing),
            Layered(self.fills),
            Layered(self.registered),
            set(self.computing),
        )

    def define_class(self, qual: str, bases: list[str]) -> ClassInfo:
        """The class as it is known so far, with the bases that its statement names."""
        info = self.classes.setdefault(qual, ClassInfo(qual, []))
        info.bases = bases
        self._forget_bases()
        return info

    def _forget_bases(self) -> None:
        self._bases.clear()
        self._torch_bases.clear()
        self._modules.clear()
        self._parts = None

    def define_method(self, owner: str, name: str, result: Type) -> None:
        self.classes[owner].results[name] = result
        self.classes.note_method(owner, name)

    def export(self, module: str, names: dict[str, Type], stars: Iterable[str] = ()) -> None:
        """The module's global names, and modules that nobody reads of which it has all."""
        self.exports[module] = names
        self.stars[module] = tuple(stars)
        self._origins.clear()
        self._forget_bases()

    def origin(self, qual: str) -> str:
        """Follow re-exports, of the project (`pkg.Net` that pkg/__init__.py imports from pkg.model) and of the framework."""
        found = self._origins.get(qual)
        if found is None:
            found = self._origins[qual] = self._follow(qual)
        return found

    def _follow(self, qual: str) -> str:
        for _ in range(8):
            if self.framework.is_own(qual) and not self.is_local(qual):  # no file exports those again
                return self.framework.canonical(qual)
            module, _, name = qual.rpartition(".")
            found = self.exports.get(module, {}).get(name)
            if found is None or found.kind != "ref" or found.qual == qual:
                break
            qual = found.qual
        return qual

    def is_local(self, qual: str) -> bool:
        """Whether the project itself defines it, whatever its name: torchvision's own sources may be what is converted."""
        return qual.partition(".")[0] in self.roots and not (self.served and self.is_served(qual))

    def is_served(self, qual: str) -> bool:
        """Whether the table has it, although its library is brought along: torchvision's transforms beside its networks."""
        return f"{qual}.".startswith(self.served)

    def redirected(self, module: str) -> str:
        """Where a library's module stands from now on, if the project brings it along."""
        head, dot, rest = module.partition(".")
        return module if self.is_served(module) else self.ported.get(head, head) + dot + rest

    def redirected_import(self, alias: ast.alias) -> list[str]:
        """What stands behind `import`. `import timm.models` binds timm: the module is imported, and the name bound to where it stands now."""
        new = self.redirected(alias.name)
        if new == alias.name or alias.asname:
            return [new + (f" as {alias.asname}" if alias.asname else "")]
        head = alias.name.partition(".")[0]
        return [*([new] if new != self.ported[head] else []), f"{self.ported[head]} as {head}"]

    def bases(self, qual: str) -> tuple[str, ...]:
        """The class and all its bases, nearest first, into torch's own names."""
        found = self._bases.get(qual)
        if found is None:
            found = self._bases[qual] = tuple(self._all_bases(qual))
        return found

    def _all_bases(self, qual: str) -> dict[str, None]:
        """Each once: by way of classes with two bases, those again with two, there are more ways to a base than can be gone."""
        found: dict[str, None] = {}
        waiting = [qual]
        while waiting:
            name = self.origin(waiting.pop())
            if name not in found:
                found[name] = None
                info = self.classes.get(name)
                waiting += reversed(info.bases) if info is not None else ()
        return found

    def is_module(self, qual: str) -> bool:
        """Whether it is a network: derived from one of the framework's, or one of those."""
        found = self._modules.get(qual)
        if found is None:
            homes, is_network = self.framework.role_homes, self.framework.is_network
            found = any(base.startswith(homes) and is_network(base) for base in self.bases(qual))
            self._modules[qual] = found
        return found

    def role(self, qual: str) -> Role:
        """What a class is for, by the framework's class that it derives from."""
        return self.framework.role(self.torch_base(qual))

    def is_part_of_module(self, qual: str) -> bool:
        """A module, or a mixin: a class that a module of the project derives from too."""
        if self.is_module(qual):
            return True
        if self._parts is None:
            self._parts = {base for each in self.classes if self.is_module(each) for base in self.bases(each)}
        return qual in self._parts

    def settle(self, kinds: list[Type]) -> Type:
        """What an argument or attribute is that was given all of these; networks of several classes are a network."""
        known = [kind for kind in kinds if kind.kind not in ("unknown", "none")]
        if known and all(kind.kind == "instance" and self.is_module(kind.qual) for kind in known):
            return known[0] if len(set(known)) == 1 else MODULE
        return join(*kinds)

    def defines(self, name: str) -> bool:
        """Whether the project has a function, class or method of that name."""
        functions = self.results.every() if isinstance(self.results, Layered) else self.results
        found = any(qual.rpartition(".")[2] == name for each in (functions, self.classes) for qual in each)
        return found or any(self.classes.with_method(name))

    def defines_like_network(self, method: str) -> bool:
        """Whether a class of the project that is named like a network has such a method of its own."""
        return any(looks_like_network(qual.rpartition(".")[2]) for qual in self.classes.with_method(method))

    def torch_base(self, qual: str) -> str:
        """The nearest base that is torch's or torchvision's own class, or ''."""
        found = self._torch_bases.get(qual)
        if found is None:
            own = self.framework.homes
            found = next((base for base in self.bases(qual) if base.startswith(own) and base not in self.classes), "")
            self._torch_bases[qual] = found
        return found

    def has_object_with(self, method: str) -> bool:
        """Whether a class of the project that is none of the framework's defines it: a batch may be moved as a tensor is."""
        return any(not self.torch_base(qual) for qual in self.classes.with_method(method))

    def has_attribute(self, qual: str, name: str) -> bool:
        """Whether a class of the project sets it, even if its type isn't known."""
        known = (self.classes.get(base) for base in self.bases(qual))
        return any(name in info.attributes for info in known if info is not None)

    def attribute(self, qual: str, name: str) -> Type:
        for base in self.bases(qual):
            info: ClassInfo | None = self.classes.get(base)
            if info and name in info.attributes:
                return info.attributes[name]
        return UNKNOWN

    def method(self, qual: str, name: str) -> Type | None:
        """What a method defined in the project returns; None if no class here defines it."""
        for base in self.bases(qual):
            info: ClassInfo | None = self.classes.get(base)
            if info and name in info.results:
                return info.results[name]
        return None
