"""New tensors of an old one's type."""

import ast

from ... import Case, rule
from ..._call import Call
from .._lazy_lists import is_lazy
from .shapes import sizes_of


def _filled(name: str, random: bool = False) -> None:
    target = "zeros" if name == "empty" else name

    @rule(
        f"torch.Tensor.new_{name}",
        to=f".new_{name}",
        like=f".new_{name}",
        differs="the memory is zeroed" if name == "empty" else "",
        cases=[
            Case(
                f"x.new_{name}(2, 3)",
                f"ops.{target}((2, 3), x.dtype)",
                inputs=("int64[2]",),
                gradient=False,
                random=True,
            ),
            Case(f"x.new_{name}(*x.shape)", f"ops.{target}((*x.shape,), x.dtype)", shapes=((2, 3),), random=True),
            Case(f"x.new_{name}(x.shape)", f"ops.{target}(x.shape, x.dtype)", shapes=((2, 3),), random=True),
            Case(
                f"x.new_{name}((4,), dtype=torch.int64, device=x.device)",
                f"ops.{target}((4,), ms.int64)",
                shapes=((2, 3),),
                random=True,
            ),
        ],
    )
    def new(call: Call) -> None:
        named = {keyword.arg: keyword.value for keyword in call.node.keywords}
        dtype = call.of(named["dtype"]) if "dtype" in named else f"{call.target}.dtype"
        sizes = call.of(named["size"]) if "size" in named else _sizes(call)
        if sizes:
            call.replace(f"{call.name(f'mindspore.ops.{target}')}({sizes}, {dtype})")
        else:
            call.ask("the sizes can't be told", "write them as one tuple")


def _sizes(call: Call) -> str:
    """As sizes_of, though keywords may follow; a single unknown argument may be a tuple or a number: ops takes both."""
    keywords, call.node.keywords = call.node.keywords, []
    try:
        return sizes_of(call) or (call.of(call.node.args[0]) if len(call.node.args) == 1 else "")
    finally:
        call.node.keywords = keywords


for _name in ("zeros", "ones", "empty"):
    _filled(_name)


@rule(
    "torch.Tensor.new_full",
    args="size fill_value dtype device requires_grad",
    cases=[
        Case("x.new_full((2, 3), 2.5) * x", "ops.full((2, 3), 2.5, dtype=x.dtype) * x", shapes=((2, 3),)),
        Case("x * x.new_full((2,), 7, dtype=torch.int64)", "x * ops.full((2,), 7, dtype=ms.int64)", shapes=((3, 2),)),
    ],
)
def new_full(call: Call) -> None:
    dtype = call.text("dtype") or f"{call.target}.dtype"
    call.replace(f"{call.name('mindspore.ops.full')}({call.text('size')}, {call.text('fill_value')}, dtype={dtype})")


@rule(
    "torch.Tensor.new_empty_strided",
    args="size stride dtype device requires_grad",
    differs="the memory is zeroed, without strides",
    cases=[
        Case("x.new_empty_strided((2, 3), (3, 1))", "ops.zeros((2, 3), x.dtype)", shapes=((2, 3),), random=True),
    ],
)
def new_empty_strided(call: Call) -> None:
    dtype = call.text("dtype") or f"{call.target}.dtype"
    call.replace(f"{call.name('mindspore.ops.zeros')}({call.text('size')}, {dtype})")


@rule(
    "torch.Tensor.new_tensor",
    args="data dtype device requires_grad",
    like="compat.new_tensor",
    cases=[
        Case("x.new_tensor([1, 2, 3]) * x", "ms.Tensor([1, 2, 3], x.dtype) * x", shapes=((2, 3),)),
        Case("x.new_tensor(y)", "ms_compat.new_tensor(x, y)", inputs=("float32[2]", "int64[3]"), gradient=False),
    ],
)
def new_tensor(call: Call) -> None:
    if call.kind("data").kind in ("list", "tuple", "int", "float", "ndarray") and not is_lazy(call, call.given["data"]):
        dtype = call.text("dtype") or f"{call.target}.dtype"
        call.replace(f"{call.name('mindspore.Tensor')}({call.text('data')}, {dtype})")
    else:
        dtype = f", {call.text('dtype')}" if call.has("dtype") else ""
        call.replace(f"{call.name('compat.new_tensor')}({call.target}, {call.text('data')}{dtype})")


@rule(
    "torch.Tensor.new",
    is_variadic=True,
    cases=[
        Case("x.new(*x.size())", "ms_compat.new_of(x, *x.shape)", shapes=((2, 3),), random=True),
        Case("x.new(2, 3)", "ops.zeros((2, 3), x.dtype)", shapes=((2, 3),), random=True),
        Case("x.new([1, 2, 3]) * x", "ms.Tensor([1, 2, 3], x.dtype) * x", shapes=((2, 3),)),
    ],
)
def new(call: Call) -> None:
    kinds = [call.reading.type(each).kind for each in call.node.args]
    if call.node.keywords:
        call.leave("is not called as torch has it", "write ops.zeros(shape, x.dtype) or ms.Tensor(data, x.dtype)")
    elif any(isinstance(each, ast.Starred) for each in call.node.args):
        _ask_values(call)
    elif kinds and (all(kind == "int" for kind in kinds) or kinds == ["size"]):
        call.replace(f"{call.name('mindspore.ops.zeros')}({sizes_of(call)}, {call.target}.dtype)")
    elif kinds in (["list"], ["tuple"], ["ndarray"]) and not is_lazy(call, call.node.args[0]):
        call.replace(f"{call.name('mindspore.Tensor')}({call.of(call.node.args[0])}, {call.target}.dtype)")
    elif kinds == ["tensor"]:
        call.replace(f"{call.of(call.node.args[0])}.to({call.target}.dtype)")
    else:
        _ask_values(call)


def _ask_values(call: Call) -> None:
    """Sizes or data: the values tell."""
    arguments = ", ".join([call.target, *map(call.of, call.node.args)])
    call.replace(f"{call.name('compat.new_of')}({arguments})")
