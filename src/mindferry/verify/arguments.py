"""The arguments in `module:factory(depth=3, config=model.Config(width=8))`: plain values, and calls that make records of them."""

from __future__ import annotations

import ast
import sys
from typing import Any

from ..frameworks.project_modules import import_of_project
from .goldenfile import RecordError


def read_arguments(spec: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named ones of "(3, width=8)" or ""; `spec` is what the user wrote around it."""
    try:
        call = ast.parse(f"f{text or '()'}", mode="eval").body
        if not isinstance(call, ast.Call):
            raise ValueError
        return _arguments(call)
    except (SyntaxError, ValueError, KeyError):
        raise RecordError(
            f"the arguments in {spec!r} must be plain values, or calls such as model.Config(width=8) that make records of them; "
            "for anything else write a function that makes it, and name that"
        ) from None


def _arguments(call: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    named = {str(each.arg): _value(each.value) for each in call.keywords if each.arg is not None}
    if len(named) < len(call.keywords):
        raise ValueError
    return [_value(each) for each in call.args], named


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Call(func=ast.Name(id="object"), args=[made]):  # without its constructor: attributes, as they are
            kind = _named(made)
            record = kind.__new__(kind)
            vars(record).update(_arguments(ast.Call(made, [], node.keywords))[1])
            return record
        case ast.Call():
            positional, named = _arguments(node)
            return _named(node.func)(*positional, **named)
        case ast.Attribute():
            return _named(node)
        case ast.List() | ast.Tuple():
            items = [_value(each) for each in node.elts]
            return items if isinstance(node, ast.List) else tuple(items)
        case ast.Dict():
            keys = [_value(each) for each in node.keys if each is not None]
            return dict(zip(keys, map(_value, node.values), strict=True))
    return ast.literal_eval(node)


def _named(node: ast.expr) -> Any:
    """`package.module.Class` -> the object of that name."""
    dotted = ast.unparse(node)
    names = dotted.split(".")
    if len(names) < 2 or not all(map(str.isidentifier, names)):
        raise ValueError
    if names[0] == "torch" and "mindspore" in sys.modules:
        return _stand_in(names[-1])
    for count in range(len(names) - 1, 0, -1):
        module = ".".join(names[:count])
        try:
            found: Any = import_of_project(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
            continue
        for name in names[count:]:
            if not hasattr(found, name):
                raise RecordError(f"{module} has no {name!r}; check {dotted}")
            found = getattr(found, name)
        return found
    raise RecordError(f"no module {names[0]!r} in {sys.path[0]}; check {dotted}")


def _stand_in(name: str) -> Any:
    """What a converted project has in place of torch.device, and of one of torch's types."""
    import mindspore as ms

    if name == "device":
        return getattr(sys.modules.get("ms_compat"), "Device", lambda *given: "CPU")
    return getattr(ms, {"bool": "bool_", "half": "float16", "double": "float64", "float": "float32"}.get(name, name))
