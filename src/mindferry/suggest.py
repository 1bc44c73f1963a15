"""Lines for a mindferry.toml, as far as the text tells: the call that makes the network, inputs that fit its first layer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .apis import framework
from .foreign import tree_of
from .layout import find_files
from .made_networks import made_by

UNTOLD = "…"
INPUTS = {  # a layer -> the input of a network that begins with one whose first argument is n; generated tests use it too
    "Linear": "float32[2,{n}]",
    "Conv1d": "float32[2,{n},64]",
    "Conv2d": "float32[2,{n},64,64]",
    "Conv3d": "float32[2,{n},16,32,32]",
    "ConvTranspose1d": "float32[2,{n},8]",
    "ConvTranspose2d": "float32[2,{n},8,8]",
    "BatchNorm1d": "float32[4,{n}]",
    "BatchNorm2d": "float32[2,{n},16,16]",
    "LayerNorm": "float32[2,5,{n}]",
    "Embedding": "int64[2,16]@0..{n}",
    "LSTM": "float32[2,5,{n}]",
    "GRU": "float32[2,5,{n}]",
    "RNN": "float32[2,5,{n}]",
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    model: str  # module:factory(arguments)
    is_complete: bool  # False: it has places to fill in
    inputs: str
    is_read: bool  # the inputs come from the first layer


def suggest_network(project: Path) -> str:
    """module:factory(arguments) of the last class that is a network and that no other one holds; '' if there is none."""
    files = find_files(project, ()).python
    classes = [(file, node) for file in files for node in ast.walk(_tree(file.path)) if isinstance(node, ast.ClassDef)]
    networks = [(file, node) for file, node in classes if any(_is_module(base) for base in node.bases)]
    held = {
        part.id
        for _, node in networks
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and part.id != node.name
    }
    free = [(file, node) for file, node in networks if node.name not in held]
    if not free:
        return ""
    file, node = free[-1]
    told = suggest_model(project, file.relative, node.name)
    return told.model if told.is_complete else ""


def looks_like_loss(name: str) -> bool:
    """A loss is a module too, and not what a user wants to see compared first."""
    return name.lower().endswith(("loss", "criterion"))


def _is_module(base: ast.expr) -> bool:
    return f".{framework().network}".endswith(f".{ast.unparse(base)}")


def suggest_model(project: Path, path: str, name: str) -> Suggestion:
    """For the network class `name` in the file `path` of the project."""
    root = project if project.is_dir() else project.parent
    tree = _tree(root / path)
    owner = next((each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == name), None)
    start = _method(owner, "__init__")
    call = _written_call(project, name, tree)
    given = _arguments(start, call)
    missing = [each for each in _required(start) if each not in given]
    module = path.removesuffix(".py").replace("/", ".")
    words = [f"{each}={value!r}" for each, value in given.items()] if call else []
    words += [f"{each}=…" for each in missing]
    model = f"{module}:{name}({', '.join(words)})" if words else f"{module}:{name}"
    made = made_by(project, name) or (made_by(project, name, path) if missing else None)
    if made is not None:  # what the project's own script calls
        model, missing = made.spec, []
        given = {**given, **made.values(_names(start))} if made.function == name else given
    inputs = _inputs(start, {**_defaults(start), **given}, _classes(project))
    return Suggestion(model, not missing, inputs or UNTOLD, bool(inputs) and UNTOLD not in inputs)


def _tree(path: Path) -> ast.Module:
    return tree_of(path) or ast.Module([], [])


def _method(owner: ast.ClassDef | None, name: str) -> ast.FunctionDef | None:
    found = owner.body if owner else []
    return next((each for each in found if isinstance(each, ast.FunctionDef) and each.name == name), None)


def _written_call(project: Path, name: str, own: ast.Module) -> ast.Call | None:
    """The first call of the class with plain arguments, scripts before the file that defines it."""
    trees = [_tree(file.path) for file in find_files(project, ()).python]
    calls = [each for tree in (*trees, own) for each in ast.walk(tree) if isinstance(each, ast.Call)]
    for call in calls:
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        values = [*call.args, *(each.value for each in call.keywords)]
        if called == name and values and all(_literal(each) is not None for each in values):
            return call
    return None


def _literal(node: ast.expr) -> tuple[object] | None:
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _names(start: ast.FunctionDef | None) -> list[str]:
    return [each.arg for each in (*start.args.posonlyargs, *start.args.args)][1:] if start else []


def _arguments(start: ast.FunctionDef | None, call: ast.Call | None) -> dict[str, object]:
    if call is None:
        return {}
    given = dict(zip(_names(start), (ast.literal_eval(each) for each in call.args), strict=False))
    return {**given, **{each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}}


def _required(start: ast.FunctionDef | None) -> list[str]:
    """The arguments without which the class can't be built."""
    if start is None:
        return []
    names = _names(start)
    words = zip(start.args.kwonlyargs, start.args.kw_defaults, strict=True)
    wanted = names[: len(names) - len(start.args.defaults)]
    return [*wanted, *(word.arg for word, default in words if default is None)]


def _defaults(start: ast.FunctionDef | None) -> dict[str, object]:
    if start is None:
        return {}
    names, values = _names(start), start.args.defaults
    pairs = [*zip(names[len(names) - len(values) :], values, strict=True)]
    pairs += [
        (word.arg, value) for word, value in zip(start.args.kwonlyargs, start.args.kw_defaults, strict=True) if value
    ]
    return {name: found[0] for name, value in pairs if (found := _literal(value)) is not None}


def _classes(project: Path) -> dict[str, ast.ClassDef]:
    nodes = (node for file in find_files(project, ()).python for node in _tree(file.path).body)
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def _inputs(start: ast.FunctionDef | None, known: dict[str, object], classes: dict[str, ast.ClassDef]) -> str:
    """What the first layer takes: Conv2d(3, …) a picture of three channels, Embedding(n, …) numbers below n.

    The first layer may be that of a block, which is one of `classes`; each of them is taken out when it is looked at."""
    for kind, call in _calls(start):
        if kind in INPUTS:
            first = call.args[0] if call.args else next((each.value for each in call.keywords if each.arg), None)
            size = _size(first, known)
            return INPUTS[kind].format(n=UNTOLD if size is None else size)
        if kind in classes:
            block = _method(classes.pop(kind), "__init__")
            values = [*zip(_names(block), call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
            sizes = {name: size for name, node in values if name and (size := _size(node, known)) is not None}
            inner = _inputs(block, {**_defaults(block), **sizes}, classes)
            if inner:
                return inner
    return ""


def _calls(start: ast.FunctionDef | None) -> Iterator[tuple[str, ast.Call]]:
    """What is called in __init__, by its last name, in the order in which it is written."""
    calls = [each for each in ast.walk(start) if isinstance(each, ast.Call)] if start else []
    for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        yield call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", ""), call


def _size(node: ast.expr | None, known: dict[str, object]) -> int | None:
    value = known.get(node.id) if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) else None
