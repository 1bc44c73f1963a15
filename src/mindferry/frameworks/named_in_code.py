"""What the code of a torch network names: the mode that it asks for, gaps that it expects."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from types import CodeType
from typing import Any

MODE = frozenset({"training"})
SURROUNDINGS = {  # what code may ask for beside its inputs, and the names by which it does
    "float16": frozenset({"float16", "half", "autocast"}),
    "bfloat16": frozenset({"bfloat16", "autocast"}),
    "float64": frozenset({"float64", "double"}),
    "the environment": frozenset({"environ", "getenv", "putenv"}),
    "the time": frozenset(
        "time perf_counter monotonic time_ns process_time datetime strftime localtime gmtime ctime today".split()
    ),
    "files": frozenset({"open", "read_text", "write_text", "exists"}),
    "short whole numbers": frozenset("int8 uint8 byte char int16 short ByteTensor CharTensor ShortTensor".split()),
    "the command line": frozenset({"argv", "orig_argv", "stdin"}),
    "the seeds of random numbers": frozenset({"seed", "set_seed", "manual_seed", "manual_seed_all"}),
    "the settings of the process": frozenset(
        "seterr simplefilter filterwarnings set_context setrecursionlimit set_default_dtype set_num_threads".split()
    ),
    "what is no number": frozenset({"isnan", "isinf", "isfinite", "nan_to_num"}),
    "the machine": frozenset({"cpu_count", "getpid", "gethostname", "platform", "uname", "getuid", "getlogin"}),
}
MADE_BEFORE = "what earlier constructions left"
CHANGING = {"append", "add", "update", "setdefault", "pop", "extend", "insert", "increment"}
LABELLED = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})
IGNORED = -100  # the label that such a loss ignores by default
GAPS = frozenset({"isnan", "isinf", "nan_to_num", "isfinite", "nansum", "nanmean", "nanmedian", "nanquantile"})

CHOOSING = frozenset("argmax argmin topk sort argsort kthvalue median mode unique".split())
ROUNDING = frozenset(
    "round floor ceil trunc frac fmod remainder floor_divide div rint fix sign sgn signbit heaviside bucketize searchsorted".split()
)


def is_modal(model: Any) -> bool:
    """Whether some module may compute something else in train mode: it drops, keeps statistics, or asks."""
    import torch

    steady = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase)
    return asks_mode(model) or any(isinstance(each, steady) or hidden_rate(each) for each in model.modules())


def asks_mode(model: Any) -> bool:
    """Whether the code of some module of its own asks for the mode: what it computes and what it trains may differ there."""
    return any(names_any(kind, MODE, "torch.") for kind in _own_kinds(model))


def handles_gaps(model: Any) -> bool:
    """Whether its own code asks for what is no number: then it may be given some."""
    return any(names_any(kind, GAPS, "torch.") or _compares_itself(kind) for kind in _own_kinds(model))


def rounds(model: Any) -> bool:
    """Whether its own code rounds or divides into whole numbers: what lies right between two of them, or below zero, may go either way."""
    kinds = _own_kinds(model)
    return any(names_any(kind, ROUNDING, "torch.") for kind in kinds) or any(map(_divides, kinds))


def chooses(model: Any) -> bool:
    """Whether its own code picks or sorts: of equal numbers, one comes first."""
    return any(names_any(kind, CHOOSING, "torch.") for kind in _own_kinds(model))


@cache
def _divides(kind: type) -> bool:
    return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.FloorDiv | ast.Mod) for each in _nodes(kind))


@cache
def _compares_itself(kind: type) -> bool:
    """`x != x` is true of what is no number alone."""
    return any(
        isinstance(each, ast.Compare) and ast.dump(each.left) == ast.dump(each.comparators[0]) for each in _nodes(kind)
    )


def ignored(model: Any) -> list[int]:
    """Labels that a loss in it ignores: those that its code or its modules name, and the one that is ignored by default."""
    if not any(names_any(kind, LABELLED, "torch.") for kind in _own_kinds(model)):
        return []
    kept = [each.ignore_index for each in model.modules() if isinstance(getattr(each, "ignore_index", None), int)]
    named = [number for kind in _own_kinds(model) for number in _ignored_in(kind)]
    return list(dict.fromkeys((*named, *kept, IGNORED)))


def _nodes(kind: type) -> list[ast.AST]:
    """Of the text of a class; none where it has none."""
    try:
        return list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))))
    except (OSError, TypeError, SyntaxError):
        return []


@cache
def _ignored_in(kind: type) -> tuple[int, ...]:
    given = [each.value for each in _nodes(kind) if isinstance(each, ast.keyword) and each.arg == "ignore_index"]
    found = []
    for node in given:
        try:
            found.append(ast.literal_eval(node))
        except ValueError:
            continue
    return tuple(each for each in found if isinstance(each, int))


def surroundings_asked(model: Any) -> list[str]:
    """What the code of its own modules asks for beside the inputs: see SURROUNDINGS."""
    return asked_by(_own_kinds(model), "torch.")


def asked_by(kinds: set[type], framework: str) -> list[str]:
    asked = [what for what, names in SURROUNDINGS.items() if any(names_any(kind, names, framework) for kind in kinds)]
    return [*asked, *([MADE_BEFORE] if any(_leaves_traces(kind) for kind in kinds) else [])]


@cache
def _leaves_traces(kind: type) -> bool:
    """Whether its constructor changes something outside of the object: a network made later may be another one."""
    function = vars(kind).get("__init__")
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))) if function is not None else None
    except (OSError, TypeError, SyntaxError):
        return False
    if tree is None or not isinstance(tree.body[0], ast.FunctionDef):
        return False
    names = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    arguments = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    shared = {name for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
    defined = {each.name for each in ast.walk(tree.body[0]) if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    local = ({each.id for each in names if isinstance(each.ctx, ast.Store)} | arguments | defined) - shared
    return bool(shared) or any(_root(each) not in local for each in ast.walk(tree) if _changes(each))


def _changes(node: ast.AST) -> bool:
    """Whether it stores into a part of something, or calls what does."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in CHANGING and isinstance(node.func.value, ast.Name | ast.Attribute | ast.Subscript)
    return isinstance(node.func, ast.Name) and node.func.id == "next"


def _root(node: ast.AST) -> str:
    """`MADE` of `MADE[0]`, `Net` of `Net.made`, `type` of `type(self).made`."""
    if isinstance(node, ast.Call):
        is_next = isinstance(node.func, ast.Name) and node.func.id == "next" and bool(node.args)
        return _root(node.args[0] if is_next else node.func)
    if isinstance(node, ast.Attribute):
        return "type" if node.attr == "__class__" else _root(node.value)
    if isinstance(node, ast.Subscript):
        return _root(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _own_kinds(model: Any) -> set[type]:
    return {type(each) for each in model.modules() if not is_torchs(each)}


def names_any(kind: type, names: frozenset[str], framework: str) -> bool:
    """Whether a method of the class, or of a base that is not the framework's, names one of these attributes."""
    own = [base for base in kind.__mro__ if base is not object and not base.__module__.startswith(framework)]
    return any(_has_name(code, names) for base in own for code in _codes(base))


def _codes(kind: type) -> Iterator[CodeType]:
    for value in vars(kind).values():
        for each in (value, getattr(value, "__func__", None), getattr(value, "fget", None)):
            code = getattr(inspect.unwrap(each), "__code__", None) if callable(each) else None
            if isinstance(code, CodeType):
                yield code


def _has_name(code: CodeType, names: frozenset[str]) -> bool:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    texts = (each for each in code.co_consts if isinstance(each, str))
    return not names.isdisjoint((*code.co_names, *texts)) or any(_has_name(each, names) for each in inner)


def hidden_rate(module: Any) -> float:
    rate = getattr(module, "dropout", 0.0)
    return float(rate) if hasattr(module, "proj_size") and isinstance(rate, int | float) else 0.0


def is_torchs(module: Any) -> bool:
    return type(module).__module__.startswith("torch.")
