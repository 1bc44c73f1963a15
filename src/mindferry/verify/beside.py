"""What a network is beside what its forward computes: other methods, properties, the order of arguments, tables, how its weights start.

Plain Python on classes and objects, so that both sides are read alike.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

Array = Any  # numpy.ndarray
FORWARD = {"forward", "construct"}
TOLD = {"extra_repr", "train", "set_train", "eval", "to", "half", "cuda", "cpu", "float", "compile"}
ORDINARY = set(  # Python or a framework calls these by itself
    "__init__ __post_init__ __new__ __call__ __repr__ __str__ __getattr__ __setattr__ __delattr__ __getattribute__ "
    "__init_subclass__ __class_getitem__ __del__ __dir__".split()
)
PLAIN = (bool, int, float, str)
FEW = 16  # numbers of a parameter, from which a spread tells something
SHAPED = 256  # from which it tells a normal distribution from an even one
SURE = 6.0  # standard errors
SURE_OF_BUFFERS = 4.0  # which nobody trains: what they start with stays
MANY = 64  # numbers of a buffer, from which its spread says enough
EVEN = 1.9  # the largest of evenly drawn numbers, in standard deviations: the root of 3, and some chance
MOST = 1 << 14  # numbers of a parameter that are looked at
DEEPEST = 3  # records in records
HUGE = 1e300  # beyond that, no number that a float holds
LARGEST = 1 << 16  # numbers of a table in an attribute


def argument_names(function: Any) -> list[str]:
    """In the order in which they are given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def own_bases(kind: type, framework: str) -> list[type]:
    return [base for base in kind.__mro__ if base is not object and not base.__module__.startswith(framework)]


def plain_properties(module: Any, framework: str) -> dict[str, Any]:
    """Properties of its own class that give a plain value."""
    found = {}
    for base in own_bases(type(module), framework):
        for name, each in vars(base).items():
            if isinstance(each, property) and name not in found:
                try:
                    value = getattr(module, name)
                except Exception:  # whatever the user's code raises outside of a run
                    continue
                if isinstance(value, PLAIN):
                    found[name] = value
    return found


def methods_beside(
    kinds: Iterable[type], framework: str, ran: Iterable[CodeType], is_own_file: Callable[[str], bool]
) -> dict[str, list[str]]:
    """Class -> methods that compute or change something and that nothing has called: neither forward nor a constructor."""
    seen, found = {(code.co_filename, code.co_firstlineno) for code in ran}, {}
    for kind in kinds:
        bases = [each for each in own_bases(kind, framework) if is_own_file(_file(each))]
        methods = {name: code for base in reversed(bases) for name, code in _methods(base)}
        called = _called_by(methods, {"__init__", "__post_init__"})
        names = [
            name
            for name, code in methods.items()
            if not (name.startswith("__") or name in FORWARD or name in TOLD or name in called)
            and (code.co_filename, code.co_firstlineno) not in seen
            and _does_something(code)
        ]
        if names:
            found[kind.__name__] = names
    return found


def special_methods(kind: type, framework: str) -> dict[str, str]:
    """Methods of its own classes by which a script counts, indexes or joins it (`len(net)`, `net[0]`), with what they say."""
    found: dict[str, str] = {}
    for base in own_bases(kind, framework):
        for name, code in _methods(base):
            if name.startswith("__") and name not in found and name not in ORDINARY:
                with contextlib.suppress(OSError, TypeError, SyntaxError):  # what a dataclass makes has no text
                    found[name] = ast.dump(ast.parse(textwrap.dedent(inspect.getsource(code))))
    return found


def _file(kind: type) -> str:
    try:
        return inspect.getsourcefile(kind) or "<"
    except (OSError, TypeError):
        return "<"


def _methods(kind: type) -> Iterator[tuple[str, CodeType]]:
    for name, value in vars(kind).items():
        code = getattr(inspect.unwrap(getattr(value, "__func__", value)), "__code__", None)
        if isinstance(code, CodeType):
            yield name, code


def _called_by(methods: dict[str, CodeType], first: set[str]) -> set[str]:
    """Methods that these name, and so on."""
    found, left = set(first), list(first)
    while left:
        code = methods.get(left.pop())
        names = _names(code) & methods.keys() - found if code is not None else set()
        found |= names
        left += names
    return found


def _names(code: CodeType) -> set[str]:
    inner = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names}.union(*inner)


def _does_something(code: CodeType) -> bool:
    """Whether it calls something or stores something, but for messages and errors: `return self.width` does not."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return False
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or all(_is_idle(each) for each in function.body):
        return False
    nodes = [each for statement in function.body if not _is_idle(statement) for each in ast.walk(statement)]
    return any(
        isinstance(each, ast.Call | ast.BinOp)
        or (isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store))
        for each in nodes
    )


def _is_idle(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass | ast.Raise):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def tables_of(
    owner: Any, framework: str, is_tensor: Callable[[Any], bool], read: Callable[[Any], Array]
) -> dict[str, Array]:
    """Numbers that an object keeps beside its plain attributes, flat, by the way to them: tensors, arrays, lists, dictionaries,
    records of settings, defaults of functions and of partial ones, and what its class holds."""
    import numpy as np

    found = {}
    for name, value in _own_attributes(owner, framework):
        if is_tensor(value):
            array = np.asarray(read(value))
            if 0 < array.size <= LARGEST and array.dtype.kind in "fiub":
                found[name] = array.astype(np.float64).ravel()
            continue
        for way, numbers in _held(name, value, 0):
            if 0 < len(numbers) <= LARGEST:
                found[way] = np.array(numbers, np.float64).ravel()
    return found


def _own_attributes(owner: Any, framework: str) -> Iterator[tuple[str, Any]]:
    own = vars(owner)
    yield from ((name, value) for name, value in own.items() if not name.startswith("_"))
    for base in own_bases(type(owner), framework):
        for name, value in vars(base).items():
            if isinstance(value, int | float) and not (name.startswith("__") or name in own):
                yield f"{name} of the class", [value]


def _held(way: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """(way, numbers) of everything in a plain attribute that is not a number itself."""
    import numpy as np

    if depth > DEEPEST:
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiub":
            yield way, value
    elif isinstance(value, list | tuple):
        numbers = list(_numbers_in(value))
        if numbers and None not in numbers:
            yield way, numbers
    else:
        for name, each in _inside(value):
            if isinstance(each, int | float):
                yield f"{way}{name}", [float(each)] if abs(each) < HUGE else []
            else:
                yield from _held(f"{way}{name}", each, depth + 1)


def _inside(value: Any) -> list[tuple[str, Any]]:
    """What a dictionary, a record, a partial function or a function holds; nothing is called."""
    if isinstance(value, dict):
        return [(f"[{key!r}]", each) for key, each in value.items() if isinstance(key, str | int)]
    if isinstance(value, functools.partial):
        return [(f" ({name}=)", each) for name, each in value.keywords.items()]
    if isinstance(value, FunctionType):
        given = list(zip(reversed(argument_names(value)), reversed(value.__defaults__ or ()), strict=False))
        return [(f" ({name}=)", each) for name, each in (*given, *(value.__kwdefaults__ or {}).items())]
    if isinstance(value, type | ModuleType) or any(hasattr(type(value), name) for name in FORWARD):
        return []
    is_record = hasattr(value, "__dict__") and not type(value).__module__.startswith(("torch", "mindspore"))
    return [(f".{name}", each) for name, each in vars(value).items() if not name.startswith("_")] if is_record else []


def _numbers_in(value: Any) -> Iterator[float | None]:
    """Of nested lists; None stands for what is no number."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _numbers_in(each)
    else:
        yield float(value) if isinstance(value, int | float) and abs(value) < HUGE else None


def drawn(values: Array) -> list[float]:
    """How the numbers of a parameter are spread: how many, mean, standard deviation, kurtosis, largest beside the deviation."""
    import numpy as np

    numbers = np.asarray(values, np.float64).ravel()
    mean = float(numbers.mean())
    off = numbers - mean
    deviation = float(np.sqrt(np.square(off).mean()))
    if not deviation or not math.isfinite(deviation):
        return [float(numbers.size), mean, 0.0, 0.0, 0.0]
    off = off / deviation
    return [float(numbers.size), mean, deviation, float((off**4).mean()), float(np.abs(off).max())]


def sample(values: Array) -> Array:
    """Evenly chosen ones of a large parameter."""
    flat = values.reshape(-1)
    return flat[:: max(1, flat.shape[0] // MOST)]


def drawn_otherwise(theirs: list[float], ours: list[float], sure: float = SURE) -> str:
    """What of two spreads can't be chance, by so many standard errors; "" if nothing."""
    count, mean, deviation, kurtosis, peak = theirs
    other_count, other_mean, other_deviation, other_kurtosis, other_peak = ours
    if not deviation or min(count, other_count) < 2:
        return ""
    if not other_deviation:
        return (
            f"it is drawn at random in torch (standard deviation {deviation:.3g}), and {other_mean:.3g} everywhere here"
        )
    if min(count, other_count) < FEW:
        return ""
    errors = [0.25 * max(each - 1, 0.8) / number for each, number in ((kurtosis, count), (other_kurtosis, other_count))]
    if abs(math.log(other_deviation / deviation)) > sure * math.sqrt(sum(errors)) + 0.02:
        return f"it starts with a standard deviation of {deviation:.3g} in torch, of {other_deviation:.3g} here"
    error = math.sqrt(deviation**2 / count + other_deviation**2 / other_count)
    if abs(mean - other_mean) > sure * error + 0.01 * deviation:
        return f"it starts with a mean of {mean:.3g} in torch, of {other_mean:.3g} here"
    if min(count, other_count) >= SHAPED and min(peak, other_peak) < EVEN and max(peak, other_peak) > 2.1:
        kinds = ["evenly" if each < EVEN else "not evenly" for each in (peak, other_peak)]
        return f"it is drawn {kinds[0]} in torch, {kinds[1]} here"
    return ""
