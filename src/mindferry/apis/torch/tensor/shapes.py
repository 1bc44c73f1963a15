"""Another shape for the same numbers. Forms that mean the same in PyNative and under ms.jit: `x.transpose(0, 1)` doesn't."""

import ast

from ... import Case, Form, rule
from ..._call import Call
from .._selections import may_hold_nothing


@rule(
    "torch.Tensor.view",
    to=".view",
    like=".view",
    cases=[
        Case("x.view(size=(2, -1))", "x.view((2, -1))", shapes=((2, 3, 4),)),
        Case("x.view(2, -1)", "x.view(2, -1)", shapes=((2, 3, 4),)),
        Case("x.view(x.size(0), -1)", "x.view(x.shape[0], -1)", shapes=((2, 3, 4),)),
        Case("x.view(*x.shape[:1], -1)", "x.view(*x.shape[:1], -1)", shapes=((2, 3, 4),)),
        Case("x.transpose(1, 2).contiguous().view(2, -1)", "x.swapaxes(1, 2).view(2, -1)", shapes=((2, 3, 4),)),
    ],
)
def view(call: Call) -> None:
    if call.has("size") and not call.node.args:
        call.replace(f"{call.target}.view({call.text('size')})")


rule(
    "torch.Tensor.reshape",
    to=".reshape",
    like=".reshape",
    cases=[
        Case("x.reshape(2, -1)", "x.reshape(2, -1)", shapes=((2, 3, 4),)),
        Case("x.reshape((2, 12))", "x.reshape((2, 12))", shapes=((2, 3, 4),)),
        Case("x.reshape(*x.shape[:2], 2, 2)", "x.reshape(*x.shape[:2], 2, 2)", shapes=((2, 3, 4),)),
        Case("x.reshape(shape=(2, -1))", "x.reshape(shape=(2, -1))", shapes=((2, 3, 4),)),
    ],
)
rule(
    "torch.Tensor.permute",
    to=".permute",
    like=".permute",
    cases=[
        Case("x.permute(2, 0, 1)", "x.permute(2, 0, 1)", shapes=((2, 3, 4),)),
        Case("x.permute((0, 2, 1))", "x.permute((0, 2, 1))", shapes=((2, 3, 4),)),
        Case("x.permute(dims=[1, 0])", "x.permute(dims=[1, 0])", shapes=((3, 4),)),
    ],
)

AXES = {"dim0": "axis0", "dim1": "axis1"}
rule(
    "torch.Tensor.transpose",
    to=".swapaxes",
    args="dim0 dim1",
    rename=AXES,
    like=".swapaxes",
    cases=[
        Case("x.transpose(0, 1)", "x.swapaxes(0, 1)", shapes=((3, 4),)),
        Case("x.transpose(-2, -1)", "x.swapaxes(-2, -1)", shapes=((2, 3, 4),)),
        Case("x.transpose(dim0=1, dim1=2)", "x.swapaxes(axis0=1, axis1=2)", shapes=((2, 3, 4),)),
    ],
)


@rule(
    "torch.Tensor.transpose",
    form=Form.UNKNOWN,
    args="dim0 dim1",
    to=".swapaxes",
    cases=[
        Case(
            "vars()['x'].transpose(1, 2) * 2",
            "ms_compat.any_transpose(vars()['x'], 1, 2) * 2",
            shapes=((2, 3, 4),),
        ),
    ],
)
def any_transpose(call: Call) -> None:
    """In a network's methods two numbers are a tensor's, or swap an array's only two dimensions; in order they leave an array as it is."""
    dims = [call.literal("dim0"), call.literal("dim1")]
    is_pair = all(isinstance(dim, int) for dim in dims) and not call.extra
    if (
        not is_pair
        or call.reading.type(call.subject).kind != "unknown"
        or not _is_in_network(call)
        or tuple(dims) in ((0, 1), (-2, -1))
    ):
        call.keep()


def _is_in_network(call: Call) -> bool:
    node: ast.AST | None = call.node
    while node is not None and not isinstance(node, ast.ClassDef):
        node = call.edits.source.parents.get(node)
    return node is not None and call.reading.symbols.is_module(call.reading.owners.get(node, ""))


rule(
    "torch.Tensor.swapaxes",
    to=".swapaxes",
    args="axis0 axis1",
    like=".swapaxes",
    cases=[
        Case("x.swapaxes(0, 1)", "x.swapaxes(0, 1)", shapes=((3, 4),)),
    ],
)
rule(
    "torch.Tensor.swapdims",
    to=".swapaxes",
    args="dim0 dim1",
    rename=AXES,
    like=".swapaxes",
    cases=[
        Case("x.swapdims(0, 1)", "x.swapaxes(0, 1)", shapes=((3, 4),)),
    ],
)


@rule("torch.Tensor.t", cases=[Case("x.t() * 2", "x.T * 2", shapes=((3, 4),))])
def t(call: Call) -> None:
    call.replace(f"{call.target}.T")


rule("torch.Tensor.T", form=Form.ATTRIBUTE, to=".T", cases=[Case("x.T * 2", "x.T * 2", shapes=((3, 4),))])
rule("torch.Tensor.mT", form=Form.ATTRIBUTE, to=".mT", cases=[Case("x.mT * 2", "x.mT * 2", shapes=((2, 3, 4),))])
rule("torch.Tensor.H", form=Form.ATTRIBUTE, to=".mH", cases=[Case("x.H * 2", "x.mH * 2", shapes=((3, 4),))])
rule("torch.Tensor.mH", form=Form.ATTRIBUTE, to=".mH", cases=[Case("x.mH * 2", "x.mH * 2", shapes=((2, 3, 4),))])
rule("torch.Tensor.ndim", form=Form.ATTRIBUTE, to=".ndim", cases=[Case("x.ndim * x", "x.ndim * x", shapes=((3, 4),))])
rule(
    "torch.Tensor.shape",
    form=Form.ATTRIBUTE,
    to=".shape",
    cases=[Case("x.shape[1] * x", "x.shape[1] * x", shapes=((3, 4),))],
)

rule(
    "torch.Tensor.unsqueeze",
    to=".unsqueeze",
    args="dim",
    like=".unsqueeze",
    cases=[
        Case("x.unsqueeze(1)", "x.unsqueeze(1)", shapes=((3, 4),)),
        Case("x.unsqueeze(dim=-1)", "x.unsqueeze(dim=-1)", shapes=((3, 4),)),
    ],
)


@rule(
    "torch.Tensor.squeeze",
    to=".squeeze",
    args="dim",
    cases=[
        Case("x.squeeze()", "x.squeeze()", shapes=((1, 3, 1),)),
        Case("x.squeeze(1)", "x.squeeze(1)", shapes=((1, 3, 1),)),
        Case("x.squeeze(dim=-1)", "x.squeeze(-1)", shapes=((1, 3, 1),)),
        Case("x.squeeze((0, 2))", "x.squeeze((0, 2))", shapes=((1, 3, 1),)),
    ],
)
def squeeze(call: Call) -> None:
    """MindSpore's own name is axis; by position both agree."""
    if call.has("dim") and call.node.keywords:
        call.replace(f"{call.target}.squeeze({call.text('dim')})")


rule(
    "torch.Tensor.flatten",
    to=".flatten",
    args="start_dim end_dim",
    like=".flatten",
    cases=[
        Case("x.flatten()", "x.flatten()", shapes=((2, 3, 4),)),
        Case("x.flatten(1)", "x.flatten(1)", shapes=((2, 3, 4),)),
        Case("x.flatten(0, 1)", "x.flatten(0, 1)", shapes=((2, 3, 4),)),
        Case("x.flatten(start_dim=2)", "x.flatten(start_dim=2)", shapes=((2, 3, 4, 2),)),
    ],
)
rule(
    "torch.Tensor.view_as",
    to=".view_as",
    args="other",
    like=".view_as",
    cases=[
        Case("x.view_as(y) + y", "x.view_as(y) + y", shapes=((2, 6), (3, 4))),
    ],
)


@rule(
    "torch.Tensor.reshape_as",
    args="other",
    cases=[Case("x.reshape_as(y) + y", "x.reshape(y.shape) + y", shapes=((2, 6), (3, 4)))],
)
def reshape_as(call: Call) -> None:
    call.replace(f"{call.target}.reshape({call.text('other')}.shape)")


rule(
    "torch.Tensor.expand_as",
    to=".expand_as",
    args="other",
    like=".expand_as",
    cases=[
        Case("x.expand_as(y) * y", "x.expand_as(y) * y", shapes=((2, 1), (2, 4))),
    ],
)


@rule(
    "torch.Tensor.contiguous",
    args="memory_format",
    differs="memory layout is MindSpore's own business",
    cases=[
        Case(
            "x.t().contiguous().as_strided((2, 2), (3, 1))",
            "ms_compat.as_strided(x.T.contiguous(), (2, 2), (3, 1))",
            shapes=((3, 4),),
        ),
        Case("x.permute(1, 0).contiguous()", "x.permute(1, 0)", shapes=((3, 4),)),
        Case("x.contiguous(memory_format=torch.channels_last) * 2", "x * 2", shapes=((1, 2, 3, 4),)),
    ],
)
def contiguous(call: Call) -> None:
    if call.reading.source.mentions("as_strided"):  # the one function for which it matters how numbers lie in memory
        call.replace(f"{call.target}.contiguous()")
    else:
        call.replace(call.target)


def sizes_given(call: Call) -> list[ast.expr]:
    """One by one, as one tuple, or as the one argument that has a name: `x.expand(size=(2, 3))`."""
    named = [each.value for each in call.node.keywords if each.arg in ("size", "repeats", "dims")]
    return named if named and not call.node.args else call.node.args


def sizes_of(call: Call) -> str:
    """Sizes given one by one, as one tuple, or starred, as the text of one tuple; '' if it can't be told."""
    given = sizes_given(call)
    if len(given) == 1:
        only = given[0]
        kind = call.reading.type(only).kind
        if kind in ("tuple", "size"):
            return call.of(only)
        if kind == "list":
            return f"tuple({call.of(only)})"
        if kind not in ("int", "float") and type(only).__name__ != "Starred":
            return ""
    if (call.node.keywords and call.node.args) or not given:
        return ""
    return "(" + ", ".join(call.of(each) for each in given) + (",)" if len(given) == 1 else ")")


@rule(
    "torch.Tensor.expand",
    to=".expand",
    like=".expand",
    cases=[
        Case("x.expand(5, -1, 4)", "x.broadcast_to((5, -1, 4))", shapes=((1, 3, 1),)),
        Case("x.expand(y.shape) * y", "x.broadcast_to(y.shape) * y", shapes=((1, 3), (2, 3))),
        Case("x.expand(*y.size()) * y", "x.broadcast_to((*y.shape,)) * y", shapes=((1, 3), (2, 3))),
        Case("x.expand(size=(5, 3, 4))", "x.broadcast_to((5, 3, 4))", shapes=((1, 3, 1),)),
        Case("x.expand([2, 3, 4])", "x.broadcast_to(tuple([2, 3, 4]))", shapes=((3, 1),)),
        Case("x.expand(vars()['y'].shape)", "ms_compat.expand_to(x, vars()['y'].shape)", shapes=((1, 3), (2, 3))),
    ],
)
def expand(call: Call) -> None:
    sizes = sizes_of(call)
    call.replace(f"{call.target}.broadcast_to({sizes})" if sizes else _helped(call, "expand_to"))


@rule(
    "torch.Tensor.repeat",
    to=".repeat",
    like=".repeat",
    cases=[
        Case("(x + 1).repeat(2, 1, 3)", "(x + 1).tile((2, 1, 3))", shapes=((2, 3),)),
        Case("(x + 1).repeat(repeats=(1, 2))", "(x + 1).tile((1, 2))", shapes=((2, 3),)),
        Case("(x + 1).repeat((1, 2))", "(x + 1).tile((1, 2))", shapes=((2, 3),)),
        Case("(x + 1).repeat([1, 2])", "(x + 1).tile(tuple([1, 2]))", shapes=((2, 3),)),
        Case("(x + 1).repeat(x.size(0), 1)", "(x + 1).tile((x.shape[0], 1))", shapes=((2, 3),)),
        Case("(x + 1).repeat(*[2, 1])", "(x + 1).tile((*[2, 1],))", shapes=((2, 3),)),
        Case("x.repeat(2, 1, 3)", "ms_compat.repeat_by(x, 2, 1, 3)", shapes=((2, 3),)),
        Case("x[x > 0].repeat(2, 1)", "ms_compat.repeat_by(x[x > 0], 2, 1)", shapes=((2, 3),)),
        Case("x.repeat((0, 2))", "ms_compat.repeat_by(x, (0, 2))", shapes=((2, 3),), gradient=False),
    ],
)
def repeat(call: Call) -> None:
    counts = [each for argument in sizes_given(call) for each in getattr(argument, "elts", [argument])]
    is_empty = any(isinstance(each, ast.Constant) and each.value == 0 for each in counts)
    is_empty = is_empty or (call.receiver is not None and may_hold_nothing(call, call.receiver))
    sizes = "" if is_empty else sizes_of(call)  # MindSpore refuses to repeat nothing
    call.replace(f"{call.target}.tile({sizes})" if sizes else _helped(call, "repeat_by"))


@rule(
    "torch.Tensor.repeat",
    form=Form.UNKNOWN,
    to=".repeat",
    cases=[
        Case("vars()['x'].repeat(2, 1, 3) * 2", "vars()['x'].tile((2, 1, 3)) * 2", shapes=((2, 3),)),
        Case("x * len(np.zeros(3).repeat(2, 0))", "x * len(np.zeros(3).repeat(2, 0))", shapes=((2, 3),)),
    ],
)
def any_repeat(call: Call) -> None:
    """A numpy array takes two arguments at most."""
    if len(call.node.args) < 3 or call.node.keywords:
        call.keep()
    else:
        repeat(call)


@rule(
    "torch.Tensor.tile",
    to=".tile",
    like=".tile",
    cases=[
        Case("(x + 1).tile(2, 1, 3)", "(x + 1).tile((2, 1, 3))", shapes=((2, 3),)),
        Case("(x + 1).tile((3,))", "(x + 1).tile((3,))", shapes=((2, 3),)),
        Case("x.tile(2, 1, 3)", "ms_compat.repeat_by(x, 2, 1, 3)", shapes=((2, 3),)),
    ],
)
def tile(call: Call) -> None:
    is_empty = call.receiver is not None and may_hold_nothing(call, call.receiver)
    sizes = "" if is_empty else sizes_of(call)
    call.replace(f"{call.target}.tile({sizes})" if sizes else _helped(call, "repeat_by"))


@rule(
    "torch.Tensor.flip",
    args="dims",
    cases=[
        Case("x.flip(0)", "x.flip((0,))", shapes=((2, 3),)),
        Case("x.flip(0, 1)", "x.flip((0, 1))", shapes=((2, 3),)),
        Case("x.flip([-1])", "x.flip(tuple([-1]))", shapes=((2, 3),)),
        Case("x.flip(dims=(1,))", "x.flip((1,))", shapes=((2, 3),)),
    ],
)
def flip(call: Call) -> None:
    sizes = sizes_of(call)
    if not sizes and call.kind("dims").kind in ("tuple", "list"):
        sizes = call.text("dims") if call.kind("dims").kind == "tuple" else f"tuple({call.text('dims')})"
    if sizes:
        call.replace(f"{call.target}.flip({sizes})")
    else:
        call.ask("whether the dims are one number or several can't be told", "write x.flip((0, 1)) with a tuple")


def _helped(call: Call, name: str) -> str:
    arguments = (
        [call.of(call.receiver), *(call.of(each) for each in sizes_given(call))] if call.receiver is not None else []
    )
    return f"{call.name(f'compat.{name}')}({', '.join(arguments)})"


rule(
    "torch.Tensor.unfold",
    to="compat.unfold_dimension",
    args="self dimension size step",
    cases=[
        Case("x.unfold(1, 3, 2)", "ms_compat.unfold_dimension(x, 1, 3, 2)", shapes=((2, 7, 4),)),
        Case(
            "x.unfold(dimension=-1, size=2, step=1)",
            "ms_compat.unfold_dimension(x, dimension=-1, size=2, step=1)",
            shapes=((2, 4),),
        ),
    ],
)
rule(
    "torch.Tensor.sum_to_size",
    to="compat.sum_to_size",
    args="self",
    cases=[
        Case("x.sum_to_size(3, 1)", "ms_compat.sum_to_size(x, 3, 1)", shapes=((2, 3, 4),)),
        Case("x.sum_to_size([1])", "ms_compat.sum_to_size(x, [1])", shapes=((5,),)),
    ],
)
