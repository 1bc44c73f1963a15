"""Where a value comes from: followed through constants, parameters, argparse defaults, config classes and YAML files."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .scan import FUNCTIONS, CallSite, FileScan, argument

DEEPEST = 12  # names followed one after the other
OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}
CLASSES_OF_SETTINGS = re.compile(r"config|cfg|args|arguments|param|setting|option|hyper|^exp(eriment)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Spot:
    """An expression and the function that it stands in."""

    node: ast.expr
    home: str


@dataclass(slots=True)
class Values:
    """What the project's names are set to, over all files. A name that is set twice has no plain value."""

    names: dict[str, list[Spot]] = field(
        default_factory=dict
    )  # "module.NAME", "module.function.name", "module.Class.attribute"
    parameters: dict[str, list[str]] = field(default_factory=dict)  # function -> its parameters in order
    defaults: dict[str, Spot] = field(default_factory=dict)  # "function.parameter" -> its default
    calls: dict[str, list[CallSite]] = field(default_factory=dict)  # project function or class -> where it is called
    options: dict[str, Spot] = field(default_factory=dict)  # dest of an argparse or click option -> its default
    fields: dict[str, list[Spot]] = field(
        default_factory=dict
    )  # attribute of a settings class, dict or YAML file -> its value
    imports: dict[str, dict[str, str]] = field(default_factory=dict)  # module -> local name -> dotted name
    updated: set[str] = field(default_factory=set)  # names that code changes step by step

    def collect(self, scan: FileScan) -> None:
        reading = scan.reading
        self.imports[scan.module] = {
            name: kind.qual for name, kind in reading.scope.names.items() if kind.kind == "ref"
        }
        for node in reading.source.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._note(target, node.value, scan.homes[node], scan)
            elif isinstance(node, ast.AugAssign):
                self.updated.add(f"{scan.homes[node]}.{scan.text(node.target)}")
            elif isinstance(node, FUNCTIONS) and scan.homes[node] in scan.functions:
                self._note_function(node, scan.homes[node])
        for call in scan.calls:
            self._note_call(call, scan)

    def _note(self, target: ast.expr, value: ast.expr, home: str, scan: FileScan) -> None:
        match target:
            case ast.Name(id=name):
                self.names.setdefault(f"{home}.{name}", []).append(Spot(value, home))
                if home in scan.reading.symbols.classes:
                    self.fields.setdefault(name, []).append(Spot(value, home))
                elif isinstance(value, ast.Dict) and CLASSES_OF_SETTINGS.search(name):
                    self._note_mapping(value, home)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                owner = home.rpartition(".")[0]
                self.names.setdefault(f"{owner}.{name}", []).append(Spot(value, home))
                if CLASSES_OF_SETTINGS.search(owner.rpartition(".")[2]):
                    self.fields.setdefault(name, []).append(Spot(value, home))
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if CLASSES_OF_SETTINGS.search(owner):
                self.fields.setdefault(name, []).append(Spot(value, home))
            case ast.Tuple(elts=targets) if isinstance(value, ast.Tuple) and len(targets) == len(value.elts):
                for each, part in zip(targets, value.elts, strict=True):
                    self._note(each, part, home, scan)

    def _note_mapping(self, node: ast.Dict, home: str) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                if isinstance(value, ast.Dict):
                    self._note_mapping(value, home)
                else:
                    self.fields.setdefault(key.value, []).append(Spot(value, home))

    def _note_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, home: str) -> None:
        arguments = node.args
        positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        self.parameters[home] = [*positional, *(each.arg for each in arguments.kwonlyargs)]
        outer = home.rpartition(".")[0]
        for name, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
            self.defaults[f"{home}.{name}"] = Spot(default, outer)
        for each, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if given is not None:
                self.defaults[f"{home}.{each.arg}"] = Spot(given, outer)

    def _note_call(self, call: CallSite, scan: FileScan) -> None:
        if call.last in ("add_argument", "add_arg", "option"):
            self._note_option(call)
        elif scan.reading.symbols.is_local(call.name):
            self.calls.setdefault(call.name, []).append(call)

    def _note_option(self, call: CallSite) -> None:
        flags = [
            each.value for each in call.node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        flags = [each for each in flags if each.startswith("--")] or flags
        if not flags:
            return
        dest = argument(call.node, -1, "dest")
        name = dest.value if isinstance(dest, ast.Constant) else flags[0].lstrip("-").replace("-", "_")
        default = argument(call.node, -1, "default")
        action = argument(call.node, -1, "action")
        if default is None and isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
            default = ast.Constant(action.value == "store_false")
        if default is not None:
            self.options.setdefault(str(name), Spot(default, call.home))

    def plain(self, node: ast.expr | None, home: str, depth: int = 0) -> object:
        """The literal value of an expression, or None."""
        if node is None or depth > DEEPEST:
            return None
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                parts = [self.plain(each, home, depth + 1) for each in elements]
                return None if None in parts else tuple(parts) if isinstance(node, ast.Tuple) else parts
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self.plain(operand, home, depth + 1)
                return -number if isinstance(number, int | float) else None
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(self.plain(left, home, depth + 1), type(op), self.plain(right, home, depth + 1))
            case ast.Call():
                return self._called(node, home, depth)
        spots = self.origin(node, home)
        found = [self.plain(spot.node, spot.home, depth + 1) for spot in spots]
        return found[0] if found and found[0] is not None and all(each == found[0] for each in found) else None

    def described(self, node: ast.expr, home: str, depth: int = 0) -> str:
        """The value; where it isn't plain, the ways it can be, or the expression with what is known filled in."""
        value = self.plain(node, home)
        if value is not None or isinstance(node, ast.Constant):
            return shown(value)
        if depth > DEEPEST:
            return ast.unparse(node)
        if isinstance(node, ast.Name) and f"{home}.{node.id}" in self.updated:
            first = self.names.get(f"{home}.{node.id}", [])
            plain = self.plain(first[0].node, home) if first else None
            return f"{shown(plain)} at first" if plain is not None else node.id
        spots = self.origin(node, home)
        ways = list(dict.fromkeys(self.described(spot.node, spot.home, depth + 1) for spot in spots))
        if ways:
            return " or ".join(ways)
        if isinstance(node, ast.BinOp):
            left, right = (self.described(each, home, depth + 1) for each in (node.left, node.right))
            return f"{left} {SIGNS[type(node.op)]} {right}" if type(node.op) in SIGNS else ast.unparse(node)
        return ast.unparse(node)

    @staticmethod
    def _arithmetic(left: object, op: type, right: object) -> object:
        if not (isinstance(left, int | float) and isinstance(right, int | float)) or op not in OPERATORS:
            return None
        try:
            return OPERATORS[op](left, right)
        except (ArithmeticError, ValueError):
            return None

    def _called(self, node: ast.Call, home: str, depth: int) -> object:
        """int(x), float(x) and `config.get("lr", 0.1)`."""
        match node:
            case ast.Call(func=ast.Name(id="int" | "float"), args=[inner]):
                number = self.plain(inner, home, depth + 1)
                return number if isinstance(number, int | float) else None
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *rest]):
                spots = self.fields.get(key, []) or [Spot(each, home) for each in rest]
                return self.plain(spots[0].node, spots[0].home, depth + 1) if len(spots) == 1 else None
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(key)), default]):
                spot = self.options.get(key, Spot(default, home))
                return self.plain(spot.node, spot.home, depth + 1)
        return None

    def origin(self, node: ast.expr, home: str) -> list[Spot]:
        """What the name, attribute or item is set to; nothing if that is not plain."""
        match node:
            case ast.Name(id=name):
                return self._name(name, home)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                own = self.names.get(f"{home.rpartition('.')[0]}.{name}", [])
                return own if len(own) == 1 else self._setting(name) if not own else []
            case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=str(name))):
                mapping = self.origin(owner, home)
                item = _item(mapping[0].node, name) if len(mapping) == 1 else None
                return (
                    [Spot(item, mapping[0].home)]
                    if item is not None
                    else self._setting(name)
                    if hasattr(node, "lineno")
                    else []
                )
            case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                return self._setting(name)
        return []

    def _name(self, name: str, home: str) -> list[Spot]:
        if f"{home}.{name}" in self.updated:
            return []
        local = self.names.get(f"{home}.{name}")
        if local:
            return local if len(local) == 1 else []
        if name in self.parameters.get(home, ()):
            return self._parameter(name, home)
        module = home
        while module and module not in self.imports:
            module = module.rpartition(".")[0]
        full = self.imports.get(module, {}).get(name, f"{module}.{name}")
        spots = self.names.get(full, [])
        return spots if len(spots) == 1 and full not in self.updated else []

    def _parameter(self, name: str, home: str) -> list[Spot]:
        """What callers give, or the default where none gives it."""
        owner = home.removesuffix(".__init__")
        position = self.parameters[home].index(name) - (1 if home.endswith(".__init__") or self._is_method(home) else 0)
        given: list[Spot] = []
        default = self.defaults.get(f"{home}.{name}")
        for call in self.calls.get(owner, []) or self.calls.get(home, []):
            value = argument(call.node, position, name)
            if value is not None:
                given.append(Spot(value, call.home))
            elif default is not None:
                given.append(default)
        return given or ([default] if default is not None else [])

    def _is_method(self, home: str) -> bool:
        return self.parameters[home][:1] in (["self"], ["cls"])

    def _setting(self, name: str) -> list[Spot]:
        if name in self.options:
            return [self.options[name]]
        spots = self.fields.get(name, [])
        return spots if len(spots) == 1 else []


def _item(mapping: ast.expr, key: str) -> ast.expr | None:
    """What {"key": value} or dict(key=value) holds."""
    if isinstance(mapping, ast.Dict):
        return next(
            (
                v
                for k, v in zip(mapping.keys, mapping.values, strict=True)
                if isinstance(k, ast.Constant) and k.value == key
            ),
            None,
        )
    if isinstance(mapping, ast.Call) and isinstance(mapping.func, ast.Name) and mapping.func.id == "dict":
        return argument(mapping, -1, key)
    return None


def shown(value: object) -> str:
    """A number as one would write it."""
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, str) else repr(value)
