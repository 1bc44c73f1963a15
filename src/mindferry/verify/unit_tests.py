"""A converted project -> tests/test_<module>.py: one test for each cell against its torch original. Nothing is executed here.

How a class is made is read from the code: its defaults, or a call with plain arguments somewhere in the project. What it is called with is
read from its first layer, where that tells. Where the project's mindferry.toml names a network, or one was observed, a test takes the cell
as it stands there, on what reaches it there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..artifacts import ProjectConversion
from ..config import read_config
from ..files import write_text
from ..suggest import INPUTS
from .settings import input_sets

FOLDER = "tests"
BASES = re.compile(r"(?:torch\.)?(?:nn\.)?(?:Module|Sequential|ModuleList|ModuleDict)$|(?:torch\.)?nn\.\w+$")


@dataclass(frozen=True, slots=True)
class Subject:
    """One class, and what is known about how to test it."""

    name: str
    arguments: str  # "(64, 64)"; "" if not known
    inputs: str  # "float32[2,64,32,32]"; "" if not known
    why: str  # what is not known


def write_tests(result: ProjectConversion, model: str = "", inputs: tuple[str, ...] = ()) -> list[Path]:
    """Write the tests beside the conversion; a file that is there already, and not ours, stays.

    `model` and `inputs`: a network that was observed and what it was called with; mindferry.toml goes before them.
    """
    source, output = Path(result.source), Path(result.output)
    root = source if source.is_dir() else source.parent
    trees = dict(_read(root, [file.path for file in result.files if file.status == "converted"]))
    modules = _module_classes(trees.values())
    calls = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    config = read_config(root).verify
    if config.model and config.inputs:
        model, inputs = config.model, next(iter(input_sets(config.inputs)))
    written = []
    for path, tree in trees.items():
        subjects = [
            _subject(modules[node.name], modules, calls)
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name in modules
        ]
        if subjects:
            target = _target(output, path)
            write_text(target, _text(root, path, subjects, model, inputs, config.seed))
            written.append(target)
    return written


def _read(root: Path, paths: Sequence[str]) -> Iterator[tuple[str, ast.Module]]:
    for path in paths:
        if path.endswith(".py"):
            yield path, ast.parse((root / path).read_text("utf-8", "replace"))


def _module_classes(trees: Iterable[ast.Module]) -> dict[str, ast.ClassDef]:
    """Classes that are torch modules, by way of others of the project too."""
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    found: dict[str, ast.ClassDef] = {}
    while True:
        more = {
            node.name: node for node in classes if any(BASES.fullmatch(base) or base in found for base in _bases(node))
        }
        if more.keys() <= found.keys():
            return found
        found |= more


def _bases(node: ast.ClassDef) -> list[str]:
    """Their names as written, and without the module that they come from."""
    names = [ast.unparse(base) for base in node.bases]
    return names + [name.rpartition(".")[2] for name in names]


def _subject(node: ast.ClassDef, classes: dict[str, ast.ClassDef], calls: list[ast.Call]) -> Subject:
    start, forward = _method(node, "__init__", classes), _method(node, "forward", classes)
    required = _required(start)
    call = next((each for each in calls if _is_plain_call(each, node.name, start)), None)
    if required and call is None:
        return Subject(node.name, "", "", f"no call in the project says what {', '.join(required)} of {node.name} are")
    arguments = (
        f"({', '.join([*map(ast.unparse, call.args), *map(ast.unparse, call.keywords)])})" if call is not None else "()"
    )
    takes = _required(forward)
    if len(takes) > 1:
        return Subject(node.name, arguments, "", f"forward of {node.name} takes {', '.join(takes)}")
    inputs = _first_input(start, call)
    return Subject(
        node.name, arguments, inputs, "" if inputs else f"the first layer of {node.name} does not tell what it takes"
    )


def _method(node: ast.ClassDef, name: str, classes: dict[str, ast.ClassDef]) -> ast.FunctionDef | None:
    """Its own, or that of a base in the project."""
    own = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name), None)
    bases = [classes[base] for base in _bases(node) if base in classes and classes[base] is not node]
    return own or next((found for base in bases if (found := _method(base, name, classes)) is not None), None)


def _required(function: ast.FunctionDef | None) -> list[str]:
    if function is None:
        return []
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][1:]
    only = [
        each.arg
        for each, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if default is None
    ]
    return names[: len(names) - len(function.args.defaults)] + only


def _is_plain_call(call: ast.Call, name: str, start: ast.FunctionDef | None) -> bool:
    """Whether it makes an object of that class from numbers and strings alone."""
    if ast.unparse(call.func).rpartition(".")[2] != name or any(each.arg is None for each in call.keywords):
        return False
    try:
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(each)
    except ValueError:
        return False
    given = len(call.args) + len(call.keywords)
    return given >= len(_required(start))


def _first_input(start: ast.FunctionDef | None, call: ast.Call | None) -> str:
    """From the first layer that __init__ makes, if its first argument is a number there or an argument of this class."""
    values = _values(start, call)
    for node in (
        sorted((each for each in ast.walk(start) if isinstance(each, ast.Call)), key=lambda each: each.lineno)
        if start
        else ()
    ):
        shape = INPUTS.get(ast.unparse(node.func).rpartition(".")[2])
        if shape is None:
            continue
        first = node.args[0] if node.args else node.keywords[0].value if node.keywords else None
        number = (
            values.get(first.id)
            if isinstance(first, ast.Name)
            else first.value
            if isinstance(first, ast.Constant)
            else None
        )
        return shape.format(n=number) if isinstance(number, int) else ""
    return ""


def _values(start: ast.FunctionDef | None, call: ast.Call | None) -> dict[str, object]:
    """What the arguments of __init__ are in this call."""
    if start is None:
        return {}
    names = [each.arg for each in (*start.args.posonlyargs, *start.args.args)][1:]
    defaults = dict(zip(names[len(names) - len(start.args.defaults) :], start.args.defaults, strict=True))
    if call is not None:
        defaults |= dict(zip(names, call.args, strict=False)) | {str(each.arg): each.value for each in call.keywords}
    return {name: node.value for name, node in defaults.items() if isinstance(node, ast.Constant)}


def _target(output: Path, path: str) -> Path:
    stem = path.removesuffix(".py").replace("/", "_")
    target = output / FOLDER / f"test_{stem}.py"
    if target.is_file() and "mindferry convert --tests" not in target.read_text("utf-8", "replace"):
        return output / FOLDER / f"test_{stem}_cells.py"  # the project's own test stays
    return target


def _text(root: Path, path: str, subjects: list[Subject], model: str, inputs: tuple[str, ...], seed: int) -> str:
    network = f", model={model!r}, inputs={list(inputs)!r}" if model and inputs else ""
    network += f", seed={seed}" if seed else ""  # that of `mindferry verify`, so that both see the same numbers
    lines = [
        f'"""Each cell of {path} against its torch original; run by pytest. Written by `mindferry convert --tests`."""',
        "",
        "from pathlib import Path",
        "",
        "from mindferry.testing import Pair",
        "",
        f"PAIR = Pair({str(root.resolve())!r}, Path(__file__).parents[1]{network})",
    ]
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    for each in subjects:
        known = [f"{module}:{each.name}{each.arguments}"]
        given = "".join(f", {name}={value!r}" for name, value in (("inputs", each.inputs), ("why", each.why)) if value)
        lines += ["", "", f"def test_{_snake(each.name)}() -> None:", f"    PAIR.check({known[0]!r}{given})"]
    return "\n".join(lines) + "\n"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
