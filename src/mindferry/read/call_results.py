"""What a call gives, by what is called: an API of the framework's, a class or function of the project's, a method, a builtin."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .import_calls import imported_by_call
from .symbols import Kinds, Symbols
from .types import (
    BOOL,
    FLOAT,
    INT,
    MODULE,
    NDARRAY,
    RANGE,
    STR,
    TENSOR,
    UNKNOWN,
    Type,
    assumed,
    foreign,
    instance,
    join,
    list_of,
    one_of,
    resting_on,
    tuple_of,
)

REDUCTIONS = frozenset("sum mean std var max min prod argmax argmin all any dot trace ptp".split())  # of arrays
# Packages whose values are never a framework's: what comes from them is left alone.
FOREIGN = frozenset(
    "pandas PIL cv2 matplotlib scipy sklearn skimage yaml requests wandb h5py nltk omegaconf networkx rdkit librosa "
    "soundfile plotly seaborn imageio psutil argparse logging json re pathlib os sys time datetime subprocess csv "
    "string shutil glob io zipfile tarfile tempfile hashlib base64 urllib socket platform textwrap struct uuid".split()
)


OF_NUMBERS = frozenset(
    "sqrt log log2 log10 log1p exp power square abs floor ceil sin cos tan tanh sign".split()
)  # of numpy
NUMBER = foreign("numpy.generic")
WHOLE = frozenset("floor ceil trunc gcd lcm comb perm factorial isqrt".split())  # of math


class CallResults:
    """What is called is known by now, and so are the arguments: their types stand in `types`."""

    def __init__(self, symbols: Symbols, types: dict[ast.AST, Type]) -> None:
        self.symbols, self.types = symbols, types
        self.framework = symbols.framework
        self.members = symbols.framework.members
        self._tensor = f"{symbols.framework.tensor}."
        self._network = f"{symbols.framework.network}."

    def of_reference(self, qual: str, node: ast.Call, arguments: list[Type], count: int) -> Type:
        if qual.partition(".")[0] in self.framework.roots and not self.symbols.is_local(qual):
            if qual in self.framework.pairs and count >= 2:
                paired = len(arguments) < 2 or arguments[1].kind == "int"
                return tuple_of(TENSOR, TENSOR) if paired else TENSOR
            return self.framework.call_result(qual, count)
        if qual in self.symbols.classes:
            self._note_arguments(f"{qual}.__init__", node, arguments, skip=1)
            return instance(qual)
        if qual in self.symbols.results:
            self._note_arguments(qual, node, arguments)
            return self.symbols.results[qual]
        if qual.partition(".")[0] in ("numpy", "np"):
            is_number = qual.rpartition(".")[2] in OF_NUMBERS and all(map(_is_number, arguments)) and bool(arguments)
            return NUMBER if is_number else NDARRAY
        if qual.startswith("math.") and not self.symbols.is_local(qual):
            return INT if qual[5:] in WHOLE else FLOAT
        if qual.partition(".")[0] in FOREIGN and not self.symbols.is_local(qual):
            return foreign(qual)
        return self._of_builtin(qual, node, arguments)

    def _of_builtin(self, qual: str, node: ast.Call, arguments: list[Type]) -> Type:
        name = qual.rpartition(".")[2]
        first = arguments[0] if arguments else UNKNOWN
        if module := imported_by_call(qual, node, self.framework):
            return Type("ref", module)
        if name in ("len", "int", "round", "ord", "hash", "id"):
            return INT
        if name in ("list", "sorted", "reversed", "iter"):
            return list_of(iterated(first, self.symbols))
        if name == "iter" and qual.startswith("builtins."):
            return first
        if name == "tuple":
            return tuple_of(first.element()) if arguments else tuple_of()
        if name == "enumerate":
            return list_of(tuple_of(INT, iterated(first, self.symbols)))
        if name == "zip":
            return list_of(tuple_of(*(iterated(each, self.symbols) for each in arguments)))
        if name == "range":
            return Type("list", RANGE, (INT,))
        if name == "tqdm" or qual.startswith("tqdm."):
            return first
        if name in ("deepcopy", "copy", "next"):
            return first if name != "next" else iterated(first, self.symbols)
        if name in ("sum", "max", "min", "abs") and qual.startswith("builtins."):
            element = (
                first.element() if len(arguments) == 1 and name != "abs" else join(*arguments) if arguments else UNKNOWN
            )
            return first if name == "abs" else element
        return {
            "float": FLOAT,
            "bool": BOOL,
            "str": STR,
            "isinstance": BOOL,
            "hasattr": BOOL,
            "dict": _dict_of_functions(self.types[each.value] for each in node.keywords),
            "set": Type("set"),
        }.get(name if qual.startswith("builtins.") else "", UNKNOWN)

    def of_method(self, node: ast.Call, qual: str, count: int) -> Type:
        if not isinstance(node.func, ast.Attribute):  # a bound method in a variable
            return UNKNOWN
        receiver, name = self.types[node.func.value], node.func.attr
        if receiver.is_tensor or (receiver.kind == "unknown" and qual.startswith(self._tensor)):
            return resting_on(receiver, self.framework.method_result(name, count))
        if receiver.kind == "unknown" and qual.startswith(self._network):
            return self._module_method(MODULE, name, node)
        if receiver.kind == "instance":
            own = self.symbols.method(receiver.qual, name)
            if own is not None:
                self._note_arguments(qual, node, [self.types[argument] for argument in node.args], skip=1)
                return own
            given = self.framework.object_method(self.symbols.torch_base(receiver.qual), name, count)
            return given if given != UNKNOWN else self._module_method(receiver, name, node)
        if receiver.kind == "ndarray":
            return _array_method_result(name)
        if receiver.kind == "str":
            return {"split": list_of(STR)}.get(name, STR)
        if receiver.kind == "list" and name == "pop":
            return receiver.element()
        if receiver.kind == "dict":
            value, key = (
                receiver.element(),
                STR if receiver.qual else UNKNOWN,
            )  # a state's; others may be kept by tensors
            if name == "get" and len(node.args) == 2:
                return join(value, self.types[node.args[1]])
            return {
                "items": list_of(tuple_of(key, value)),
                "values": list_of(value),
                "keys": list_of(key),
                "get": value,
                "setdefault": value,
                "pop": value,
            }.get(name, UNKNOWN)
        return UNKNOWN

    def _module_method(self, receiver: Type, name: str, node: ast.Call) -> Type:
        if not self.symbols.is_module(receiver.qual):
            return UNKNOWN
        if name in self.members.parameter_names and receiver.qual in self.symbols.classes:
            match node.args:
                case [ast.Constant(value=str(attribute)), *_]:
                    self.symbols.classes[receiver.qual].note(attribute, TENSOR)
        if name == "apply" and node.args:
            self._note_applied(self.types[node.args[0]])
        if name in self.members.returning_self:
            return receiver
        return self.members.network_results.get(name, UNKNOWN)

    def _note_applied(self, function: Type) -> None:
        """`net.apply(init)`: init's argument, after self if it is a method, is a network."""
        qual = self.symbols.origin(function.qual)
        positions = (0,) if function.kind in ("ref", "value") else (0, 1) if function.kind == "method" else ()
        for index in positions:
            self.symbols.arguments.setdefault(qual, {}).setdefault(index, Kinds()).note(MODULE)

    def of_instance(self, qual: str, arguments: list[Type]) -> Type:
        if not self.symbols.is_module(qual):
            return self.symbols.method(qual, "__call__") or UNKNOWN
        own = self.symbols.method(qual, "forward")
        if own is not None:
            return own if own.kind != "unknown" else assumed(TENSOR)
        base = self.symbols.torch_base(qual)
        result = self.framework.network_call_result(base, *arguments[:1])
        return assumed(result) if base == self.framework.network else result

    def _note_arguments(self, qual: str, node: ast.Call, arguments: list[Type], skip: int = 0) -> None:
        """Remember what a project function is called with: its parameters have these types."""
        seen = self.symbols.arguments.setdefault(qual, {})
        for index, kind in enumerate(arguments):
            if isinstance(node.args[index], ast.Starred):
                break
            seen.setdefault(index + skip, Kinds()).note(kind)
        for keyword in node.keywords:
            if keyword.arg:
                seen.setdefault(keyword.arg, Kinds()).note(self.types[keyword.value])


def iterated(kind: Type, symbols: Symbols) -> Type:
    """What a loop over it binds. A loader's batches are tensors, or hold tensors."""
    if kind.kind == "instance":
        base = symbols.torch_base(kind.qual)
        if base == symbols.framework.loader:
            return Type("batch")
        return MODULE if base in symbols.framework.lists_of_networks else UNKNOWN
    return kind.element() if kind.kind != "dict" else UNKNOWN  # its keys


def _dict_of_functions(values: Iterable[Type]) -> Type:
    """`dict(pad=pad, crop=crop)`; of anything else nothing is said."""
    kinds = list(values)
    are_functions = bool(kinds) and all(each.kind in ("ref", "value") for each in kinds)
    return Type("dict", "", (one_of(*kinds),)) if are_functions else Type("dict")


def _is_number(kind: Type) -> bool:
    return kind.kind in ("int", "float", "bool") or kind == NUMBER


def _array_method_result(name: str) -> Type:
    """What a method of a numpy array gives: an array, though a reduction may give a number of numpy's."""
    if name in REDUCTIONS:
        return NUMBER
    return {"tolist": Type("list"), "item": FLOAT, "nonzero": list_of(NDARRAY)}.get(name, NDARRAY)
