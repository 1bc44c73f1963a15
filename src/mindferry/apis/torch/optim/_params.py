"""`model.parameters()` inside an optimizer's arguments: there the receiver is a network, even where its type isn't known."""

import ast

from ..._call import Call
from ..._rule import COMPAT

UNSHARED = ("maximize", "decoupled_weight_decay", "capturable", "differentiable")
REALS = ("eps", "alpha", "rho", "momentum_decay")


def take_trainable(call: Call) -> None:
    if not call.to.startswith(COMPAT):
        _fit_native(call)
    node = call.given.get("params")
    for each in ast.walk(node) if node is not None else ():
        match each:
            case ast.Call(func=ast.Attribute(attr="parameters", value=receiver), args=[], keywords=[]):
                if call.reading.type(receiver).kind != "unknown":
                    continue
                call.edits.replace_node(each, f"{call.before_dot(receiver)}.trainable_params()")


def _fit_native(call: Call) -> None:
    """MindSpore's optimizers tell whole numbers from others, and lack a few options."""
    if any(call.literal(name, False) not in (False, None) for name in UNSHARED):
        call.use_like()
        return
    call.set(**{name: None for name in UNSHARED if call.has(name)})
    for name in REALS:
        if call.has(name) and not isinstance(call.literal(name), float):
            call.set(**{name: f"float({call.text(name)})"})
    match call.given.get("betas"):
        case None:
            pass
        case ast.Tuple(elts=pair):
            if not all(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in pair):
                call.set(betas=f"({', '.join(_as_float(call, each) for each in pair)})")
        case other:
            call.set(betas=f"tuple(map(float, {call.of(other)}))")


def _as_float(call: Call, node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return repr(float(node.value))
    return f"float({call.of(node)})"
