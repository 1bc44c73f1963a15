"""How a project makes its network, as far as the text tells: the factory that it calls, with the arguments that it gives."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from .foreign import tree_of
from .layout import find_files

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Made:
    """`resnet50(num_classes=10)`, and the module in which the function is."""

    module: str
    function: str
    arguments: tuple[str, ...]  # as they would be written: "num_classes=10"

    @property
    def spec(self) -> str:
        return f"{self.module}:{self.function}" + (f"({', '.join(self.arguments)})" if self.arguments else "")

    def values(self, names: list[str]) -> dict[str, object]:
        """The arguments by name, where `names` are those that the function takes."""
        found: dict[str, object] = {}
        for index, each in enumerate(self.arguments):
            label, sign, value = each.partition("=")
            if sign and label.isidentifier():
                found[label] = ast.literal_eval(value)
            elif index < len(names):
                found[names[index]] = ast.literal_eval(each)
        return found


def made_by(project: Path, name: str, home: str = "") -> Made | None:
    """The first call, by a script of the project, of a function that returns an object of the class `name`.

    With `home`, the file of the class, the first call of the class itself.
    """
    trees = {file.relative: _tree(file.path) for file in find_files(project, ()).python}
    factories = {name: home} if home else _factories(trees, name)
    options = _defaults_of_options(trees)
    for tree in trees.values():
        constants = {**_constants(tree), **options}
        own = {node for each in tree.body if getattr(each, "name", "") in factories for node in ast.walk(each)}
        for call in ast.walk(tree):
            called = _called(call) if isinstance(call, ast.Call) and call not in own else ""
            if not isinstance(call, ast.Call) or called not in factories:
                continue
            arguments = _written(call, constants)
            if arguments is not None:
                return Made(_module(factories[called]), called, arguments)
    return None


def _tree(path: Path) -> ast.Module:
    return tree_of(path) or ast.Module([], [])


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _factories(trees: dict[str, ast.Module], name: str) -> dict[str, str]:
    """Functions that return such an object -> the file that they are in; one that returns what another makes is one too."""
    functions = [(path, each) for path, tree in trees.items() for each in tree.body if isinstance(each, FUNCTIONS)]
    found: dict[str, str] = {}
    while True:
        more = {
            each.name: path for path, each in functions if _returns(each, {name, *found}) and each.name not in found
        }
        if not more:
            return found
        found |= more


def _returns(function: ast.AST, makers: set[str]) -> bool:
    """Whether it returns a call of one of them, itself or by way of a name."""
    held = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _makes(node.value, makers)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    return any(_makes(each, makers) or (isinstance(each, ast.Name) and each.id in held) for each in returned)


def _makes(node: ast.expr, makers: set[str]) -> bool:
    """`Net(3)`, `Net(3).to(device)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        node = node.func.value
    return isinstance(node, ast.Call) and _called(node) in makers


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _written(call: ast.Call, constants: dict[str, object]) -> tuple[str, ...] | None:
    """The arguments as plain values; None if one of them can't be told."""
    found = []
    for label, node in [("", each) for each in call.args] + [(each.arg or "**", each.value) for each in call.keywords]:
        value = _plain(node, constants)
        if value is None or label == "**":
            return None
        found.append(f"{label}={value[0]!r}" if label else repr(value[0]))
    return tuple(found)


def _plain(node: ast.expr, constants: dict[str, object]) -> tuple[object] | None:
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = _plain(node.operand, constants)
            return (not inner[0],) if inner is not None else None
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        return (constants[name],) if name in constants else None


def _constants(tree: ast.Module) -> dict[str, object]:
    """Names of a file that are set once, to a plain value."""
    found: dict[str, list[object]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _defaults_of_options(trees: dict[str, ast.Module]) -> dict[str, object]:
    """`add_argument("--num-classes", default=10)` -> num_classes: 10."""
    found: dict[str, object] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str()), *_] as flags):
                    names = [str(each.value) for each in flags if isinstance(each, ast.Constant)]
                    long = next((each for each in names if each.startswith("--")), names[0])
                    option = long.lstrip("-").replace("-", "_")
                    for each in node.keywords:
                        if each.arg == "default" and isinstance(each.value, ast.Constant):
                            found[option] = each.value.value
                        elif each.arg == "action" and ast.unparse(each.value) == "'store_true'":
                            found.setdefault(option, False)
    return found
