"""Module.state_dict and load_state_dict: the names of the entries are torch's, whatever MindSpore's layers call them."""

import ast

from ... import Case, rule
from ..._call import Call
from ..nn._context import parent_of

READING = frozenset({"load", "load_state_dict", "loads"})
FILES = "files are the business of tests/optim/test_saving.py"


@rule(
    "torch.nn.Module.state_dict",
    to="compat.state_dict",
    args="self destination prefix keep_vars",
    like="compat.state_dict",
    differs="names are torch's: weight for gamma. Handed from network to network or to a file as it is, MindSpore's own is used",
    cases=[
        Case(
            "nn.BatchNorm1d(3).state_dict()['running_var'] * x",
            "ms_compat.state_dict(nn.BatchNorm1d(3))['running_var'] * x",
            shapes=((2, 3),),
            gradient=False,
        ),
        Case(
            "torch.save(nn.ReLU().state_dict(), f)", "ms_compat.save(nn.ReLU().state_dict(), f)", runs=False, why=FILES
        ),
        Case(
            "torch.save({'net': nn.ReLU().state_dict()}, f)",
            "ms_compat.save({'net': nn.ReLU().state_dict()}, f)",
            runs=False,
            why=FILES,
        ),
    ],
)
def state_dict(call: Call) -> None:
    parent = parent_of(call)
    if len(call.given) != 1:
        return
    if isinstance(parent, ast.Call):
        is_passed_on = call.node in parent.args and _takes_all_names(call, parent)
    else:
        is_passed_on = isinstance(parent, ast.Dict) and _is_only_saved(call, parent)
    if is_passed_on:
        call.replace(f"{call.target}.state_dict()")


def _takes_all_names(call: Call, receiver: ast.Call) -> bool:
    """Whether a state dict goes to torch.save or to another network's load_state_dict, whole."""
    is_loaded = isinstance(receiver.func, ast.Attribute) and receiver.func.attr == "load_state_dict"
    return is_loaded or call.reading.type(receiver.func).qual == "torch.save"


def _is_only_saved(call: Call, record: ast.Dict) -> bool:
    """`state = {"net": net.state_dict()}; torch.save(state, path)` in a project that never loads: nobody sees the names."""
    if READING & call.reading.symbols.mentioned:
        return False
    source = call.reading.source
    parent = source.parents.get(record)
    if isinstance(parent, ast.Call):
        return record in parent.args and _takes_all_names(call, parent)
    match parent:
        case ast.Assign(targets=[ast.Name(id=name)]):
            named = [node for node in source.named.get(name, ()) if isinstance(node.ctx, ast.Load)]
            return bool(named) and all(_is_saved(call, node) for node in named)
    return False


def _is_saved(call: Call, node: ast.expr) -> bool:
    saving = call.reading.source.parents.get(node)
    return isinstance(saving, ast.Call) and node in saving.args and _takes_all_names(call, saving)


rule(
    "torch.nn.Module.load_state_dict",
    to="compat.load_state_dict",
    args="self state_dict strict assign",
    drop="assign",
    like="compat.load_state_dict",
    differs="takes torch's names and MindSpore's, as a file has them",
    cases=[
        Case(
            "nn.ReLU().load_state_dict(torch.load('a.pth'), strict=False)",
            "ms_compat.load_state_dict(nn.ReLU(), ms_compat.load('a.ckpt'), strict=False)",
            runs=False,
            why=FILES,
        )
    ],
)
