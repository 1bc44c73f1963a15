"""`model.parameters()` inside an optimizer's arguments: there the receiver is a network, even where its type isn't known."""

import ast

from ..._call import Call
from ..._rule import COMPAT
from ..nn._context import is_thawed_later

UNSHARED = ("maximize", "decoupled_weight_decay", "capturable", "differentiable")
PARAMETERS = ("parameters", "named_parameters")
COLLECTING = {"list", "tuple", "filter", "getattr"}
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
                if is_thawed_later(call):
                    call.edits.replace_node(each, f"{call.name(f'{COMPAT}parameters')}({call.of(receiver)})")
                else:
                    call.edits.replace_node(each, f"{call.before_dot(receiver)}.trainable_params()")


def _fit_native(call: Call) -> None:
    """MindSpore's optimizers tell whole numbers from others, and lack a few options."""
    is_shared = all(call.literal(name, False) in (False, None) for name in UNSHARED)
    if not is_shared or not all(map(_is_one_network, _groups(call.given.get("params")))) or not _has_one_root(call):
        call.use_like()
        return
    call.name(f"{COMPAT}prepare_cpu")  # a script that trains is told what MindSpore needs, though it uses no helper
    call.set(**{name: None for name in UNSHARED if call.has(name)})
    for name in REALS:
        if call.has(name) and not isinstance(call.literal(name), float):
            call.set(**{name: f"float({call.text(name)})"})
    rate = call.given.get("lr")
    if rate is not None and call.reading.type(rate).kind not in ("int", "float"):  # a number of numpy's is refused
        call.set(lr=f"float({call.text('lr')})")
    match call.given.get("betas"):
        case None:
            pass
        case ast.Tuple(elts=pair):
            if not all(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in pair):
                call.set(betas=f"({', '.join(_as_float(call, each) for each in pair)})")
        case other:
            call.set(betas=f"tuple(map(float, {call.of(other)}))")


def _groups(node: ast.expr | None) -> list[ast.expr]:
    """What stands under "params" in each group, or what is given in place of groups."""
    match node:
        case None:
            return []
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if any(isinstance(e, ast.Dict) for e in elements):
            return [part for each in elements for part in _group(each)]
    return [node]


def _group(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Dict):
        return [node]
    pairs = zip(node.keys, node.values, strict=True)
    return [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "params"]


def _is_one_network(node: ast.expr) -> bool:
    """`net.parameters()`, also filtered: MindSpore's optimizers refuse two parameters of one name, as two networks have."""
    return bool(_receivers(node)) and len(_roots(node)) == 1


def _has_one_root(call: Call) -> bool:
    return len(set().union(*map(_roots, _groups(call.given.get("params"))))) == 1


def _receivers(node: ast.expr) -> list[ast.expr]:
    return [
        each.func.value
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in PARAMETERS
    ]


def _roots(node: ast.expr) -> set[str]:
    """The variables that parameters are taken from: `net`, `self.net`. What a lambda or a comprehension binds is none."""
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - bound - COLLECTING
    if found == {"self"}:
        attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
        found = {
            f"self.{each.attr}" for each in attributes if isinstance(each.value, ast.Name) and each.value.id == "self"
        }
    return found


def _as_float(call: Call, node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return repr(float(node.value))
    return f"float({call.of(node)})"
