"""What an expression is known to be. Small on purpose: a rewrite needs certainty, not precision."""

from __future__ import annotations

import ast
import functools
from enum import Enum
from typing import NamedTuple


class Provenance(Enum):
    """How a type is known."""

    PROVEN = "proven"  # an assignment, an annotation, a test or the table says so
    OBSERVED = "observed"  # it was seen when the reference ran
    ASSUMED = "assumed"  # a name, or the way in which it is used, suggests it
    UNKNOWN = "unknown"


class Type(NamedTuple):
    """`kind` is one of the constants below; `qual` a dotted name for REF and INSTANCE; `items` the element types."""

    kind: str
    qual: str = ""
    items: tuple[Type, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @property
    def provenance(self) -> Provenance:
        return Provenance.PROVEN if self.kind != "unknown" else Provenance.UNKNOWN

    def element(self) -> Type:
        """What iterating over it, or indexing it with an unknown number, gives."""
        if self.kind in ("tensor", "ndarray", "foreign"):
            return self
        if self.kind == "size":
            return INT
        if self.kind in ("list", "tuple", "set", "dict") and self.items:
            return join(*self.items)
        return UNKNOWN


class Assumed(Type):
    """Equal to the proven type of the same kind: what is computed from it is assumed too, and nothing else differs."""

    __slots__ = ()

    @property
    def provenance(self) -> Provenance:
        return Provenance.ASSUMED

    def element(self) -> Type:
        return assumed(super().element())


class Observed(Type):
    __slots__ = ()

    @property
    def provenance(self) -> Provenance:
        return Provenance.OBSERVED


class OneOf(Type):
    """Equal to what is unknown: which of the project's functions and classes it is shows only when the code runs."""

    options: tuple[Type, ...] = ()


def assumed(kind: Type) -> Type:
    if kind.items:  # how sure its parts are is no part of what they are equal by
        return Assumed(*kind)
    return kind if kind.kind == "unknown" else _assumed(kind.kind, kind.qual)


@functools.lru_cache(maxsize=16384)
def _assumed(kind: str, qual: str) -> Type:
    return Assumed(kind, qual)


def observed(kind: Type) -> Type:
    return kind if kind.kind == "unknown" else Observed(*kind)


def surest(*types: Type) -> Type:
    """Of several that are the same, the one that is known best."""
    return min(types, key=lambda each: type(each) is Assumed)


def resting_on(ground: Type, kind: Type) -> Type:
    """`kind`, as certain as what it was told from."""
    return assumed(kind) if type(ground) is Assumed else kind


UNKNOWN = Type("unknown")
NONE = Type("none")
TENSOR = Type("tensor")
NDARRAY = Type("ndarray")
INT, FLOAT, BOOL, STR = Type("int"), Type("float"), Type("bool"), Type("str")
EMPTY = Type("list", "empty")  # `[]`, to be filled
SIZE = Type("size")  # torch.Size: becomes a plain tuple
MODULE = Type("instance", "torch.nn.Module")
# By the names that the tables of types use.
SIMPLE = {
    "unknown": UNKNOWN,
    "none": NONE,
    "tensor": TENSOR,
    "ndarray": NDARRAY,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "str": STR,
    "size": SIZE,
    "list": Type("list"),
}


@functools.lru_cache(maxsize=16384)
def ref(qual: str) -> Type:
    """A module, class, function or constant, by its dotted name."""
    return Type("ref", qual)


@functools.lru_cache(maxsize=16384)
def instance(qual: str) -> Type:
    return Type("instance", qual)


def foreign(qual: str) -> Type:
    """A value of a package whose values are never torch's, such as a data frame or a logger."""
    return Type("foreign", qual)


RANGE = "builtins.range"  # read as a list, which it may take the place of; but MindSpore makes no tensor of one


MOST_PARTS = 128  # of what lies in a collection, if there are collections in it


def collection(kind: str, *parts: Type) -> Type:
    """A list, tuple, set or dict: after `x = (x, x)` thirty times no type that is written out could be held."""
    return Type(
        kind, "", tuple(each._replace(items=()) if each.items and _has_many_parts(each) else each for each in parts)
    )


def _has_many_parts(kind: Type) -> bool:
    if not any(each.items for each in kind.items):
        return False
    count, waiting = 0, [kind]
    while waiting and count <= MOST_PARTS:
        count += 1
        waiting += waiting.pop().items
    return bool(waiting)


def list_of(element: Type) -> Type:
    return collection("list", element)


def tuple_of(*elements: Type) -> Type:
    return collection("tuple", *elements)


WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel")


def join(*types: Type) -> Type:
    """What is true of all of them, no more certain than the least certain; None is taken as "not yet set"."""
    if types and all(each is types[0] for each in types):
        return types[0]
    joined = _join(types)
    return assumed(joined) if Assumed in map(type, types) else joined


def _join(types: tuple[Type, ...]) -> Type:
    known = [each for each in dict.fromkeys(types) if each.kind != "none"]
    known = [each for each in known if each.qual not in WRAPPERS] or known  # a wrapped network is that network
    known = [each for each in known if each != EMPTY] or known
    if not known:
        return NONE if types else UNKNOWN
    if len(known) == 1 and known[0].kind != "unknown":
        return known[0]
    kinds = {each.kind for each in known}
    if kinds == {"ref"} and len({each.qual.replace("torch.cuda.", "torch.") for each in known}) == 1:
        return ref(
            known[0].qual.replace("torch.cuda.", "torch.")
        )  # Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
    if kinds == {"instance"} and all(each.qual.startswith("torch.nn.") for each in known):
        return MODULE
    if len(kinds) == 1 and known[0].kind in ("list", "tuple", "dict", "set"):
        lengths = {len(each.items) for each in known}
        qual = RANGE if any(each.qual == RANGE for each in known) else ""
        if len(lengths) == 1:
            columns = zip(*(each.items for each in known), strict=True)
            return Type(known[0].kind, qual, tuple(join(*column) for column in columns))
        return Type(known[0].kind, qual)
    if kinds <= {"int", "float", "bool"}:
        return FLOAT if "float" in kinds else INT
    return one_of(*types)


MOST_OPTIONS = 256  # of a table of functions


def one_of(*types: Type) -> Type:
    """`{"pad": pad, "crop": crop}[how]`: unknown, but if it is a function, then one of these."""
    options = [each for kind in types for each in options_of(kind)]
    if not options or len(options) > MOST_OPTIONS:
        return UNKNOWN
    made = OneOf(*UNKNOWN)
    made.options = tuple(dict.fromkeys(options))
    return made


def options_of(kind: Type) -> tuple[Type, ...]:
    """The functions, classes and objects that a value of this type may be."""
    if isinstance(kind, OneOf):
        return kind.options
    return (kind,) if kind.kind in ("ref", "value", "instance") else ()


def arithmetic(left: Type, right: Type, operator: ast.operator) -> Type:
    """What an operator makes of two."""
    if left.kind == "tensor":
        return surest(left, right) if right.kind == "tensor" else left
    if right.kind == "tensor":
        return right
    if "ndarray" in (left.kind, right.kind):
        return NDARRAY
    if "foreign" in (left.kind, right.kind):
        if "unknown" in (left.kind, right.kind):
            return UNKNOWN  # a number of another package times what may be a tensor
        return left if left.kind == "foreign" else right
    if left.kind in ("list", "tuple", "str", "size") and isinstance(operator, ast.Add | ast.Mult | ast.Mod):
        if left.kind == "size":
            return SIZE
        return left if left.items == right.items or right.kind == "int" or left.kind == "str" else Type(left.kind)
    if left.kind in ("int", "float", "bool") and right.kind in ("int", "float", "bool"):
        is_float = "float" in (left.kind, right.kind) or isinstance(operator, ast.Div)
        return FLOAT if is_float else INT
    return UNKNOWN
