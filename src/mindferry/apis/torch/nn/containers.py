"""Sequential, lists and dicts of modules and parameters."""

import ast

from ....read.container_uses import ADDED, OF_LISTS
from ... import Case, rule
from ..._call import Call
from ._context import calls_a, is_only_called, parent_of, slices_a


@rule(
    "torch.nn.Sequential",
    to="mindspore.nn.SequentialCell",
    like="compat.Sequential",
    is_variadic=True,
    differs="a slice of a SequentialCell renames the parameters that it shares, so files that slice get a helper",
    cases=[
        Case("nn.Sequential(nn.ReLU(), nn.Sigmoid())", "nn.SequentialCell(nn.ReLU(), nn.Sigmoid())", shapes=((2, 3),)),
        Case(
            "nn.Sequential(*[nn.Sigmoid(), nn.Sigmoid()])",
            "nn.SequentialCell(*[nn.Sigmoid(), nn.Sigmoid()])",
            shapes=((2, 3),),
        ),
        Case(
            "nn.Sequential(nn.Sigmoid(), nn.ReLU()).append(nn.Sigmoid())(x)",
            "ms_compat.Sequential(nn.Sigmoid(), nn.ReLU()).append(nn.Sigmoid())(x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.Sequential(nn.Sigmoid(), nn.ReLU()).pop(0)(x)",
            "ms_compat.Sequential(nn.Sigmoid(), nn.ReLU()).pop(0)(x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.Sequential(nn.Sigmoid(), nn.ReLU())[:1](x)",
            "ms_compat.Sequential(nn.Sigmoid(), nn.ReLU())[:1](x)",
            shapes=((2, 3),),
        ),
    ],
)
def sequential(call: Call) -> None:
    api = "torch.nn.Sequential"
    if _passes_on(call):
        call.use("mindspore.nn.Identity")
    elif not call.node.args or slices_a(call, api) or calls_a(call, api, ADDED, *OF_LISTS):
        call.use_like()


def _passes_on(call: Call) -> bool:
    """`self.shortcut = nn.Sequential()`, which is never filled: an empty SequentialCell does not compile."""
    match parent_of(call):
        case ast.Assign(targets=[ast.Attribute(attr=name)]) if not call.node.args and not call.node.keywords:
            return is_only_called(call.reading, name)
    return False


@rule(
    "torch.nn.ModuleList",
    to="mindspore.nn.CellList",
    args="modules",
    like="compat.ModuleList",
    differs="CellList takes a list only, and a slice of it renames the parameters that it shares",
    cases=[
        Case(
            "nn.ModuleList([nn.Sigmoid(), nn.ReLU()])[0](x)",
            "nn.CellList([nn.Sigmoid(), nn.ReLU()])[0](x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.ModuleList([nn.Sigmoid() for _ in range(2)])[-1](x)",
            "nn.CellList([nn.Sigmoid() for _ in range(2)])[-1](x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.ModuleList(nn.Sigmoid() for _ in range(2))[1](x)",
            "ms_compat.ModuleList(nn.Sigmoid() for _ in range(2))[1](x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.ModuleList([nn.ReLU(), nn.Sigmoid()])[1:][0](x)",
            "ms_compat.ModuleList([nn.ReLU(), nn.Sigmoid()])[1:][0](x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.ModuleList([nn.ReLU(), nn.Sigmoid()]).pop(-1)(x)",
            "ms_compat.ModuleList([nn.ReLU(), nn.Sigmoid()]).pop(-1)(x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.ModuleList([nn.Sigmoid(), None])[0](x)",
            "ms_compat.ModuleList([nn.Sigmoid(), None])[0](x)",
            shapes=((2, 3),),
        ),
        Case(
            "nn.ModuleList().append(nn.Sigmoid())[0](x)",
            "ms_compat.ModuleList().append(nn.Sigmoid())[0](x)",
            shapes=((2, 3),),
        ),
    ],
)
def module_list(call: Call) -> None:
    modules = call.given.get("modules")
    api = "torch.nn.ModuleList"
    if not _are_layers(call, modules) or slices_a(call, api) or calls_a(call, api, ADDED, "append", "extend", "pop"):
        call.use_like()


def _are_layers(call: Call, modules: ast.expr | None) -> bool:
    """A list that holds something, and no None: a CellList takes neither None nor what comes one by one."""
    match modules:
        case ast.ListComp(elt=element):
            elements = [element]
        case ast.List(elts=elements):
            pass
        case _:
            return False
    return bool(elements) and not any(_may_be_none(call, each) for each in elements)


def _may_be_none(call: Call, element: ast.expr) -> bool:
    match element:
        case ast.Constant(value=None):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _may_be_none(call, body) or _may_be_none(call, orelse)
        case ast.BoolOp():
            return True
        case ast.Name():
            return call.reading.type(element).kind in ("unknown", "none")
    return False


rule(
    "torch.nn.ModuleDict",
    to="compat.ModuleDict",
    args="modules",
    like="compat.ModuleDict",
    cases=[
        Case(
            "nn.ModuleDict({'a': nn.Sigmoid(), 'b': nn.Sequential(nn.ReLU())})['a'](x)",
            "ms_compat.ModuleDict({'a': nn.Sigmoid(), 'b': nn.SequentialCell(nn.ReLU())})['a'](x)",
            shapes=((2, 3),),
        ),
    ],
)
rule(
    "torch.nn.ParameterList",
    to="compat.ParameterList",
    args="values",
    like="compat.ParameterList",
    cases=[
        Case(
            "nn.ParameterList([nn.Parameter(x), nn.Parameter(y)])[1] * y",
            "ms_compat.ParameterList([ms.Parameter(x.copy()), ms.Parameter(y.copy())])[1] * y",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
rule(
    "torch.nn.ParameterDict",
    to="compat.ParameterDict",
    args="parameters",
    like="compat.ParameterDict",
    cases=[
        Case(
            "nn.ParameterDict({'a': nn.Parameter(x)})['a'] * x",
            "ms_compat.ParameterDict({'a': ms.Parameter(x.copy())})['a'] * x",
            shapes=((2, 3),),
            gradient=False,
        ),
    ],
)
