"""The tensor class, and what a tensor says about itself."""

from ... import Case, rule
from ..._call import Call
from .._lazy_lists import is_lazy
from .._sizes import is_size


@rule(
    "torch.Tensor",
    to="mindspore.Tensor",
    like="mindspore.Tensor",
    args="data",
    cases=[
        Case("torch.Tensor", "ms.Tensor", runs=False, why="the class itself, as in annotations"),
        Case("torch.Tensor([[1, 2.5], [3, 4]]) * x", "ms.Tensor([[1, 2.5], [3, 4]], ms.float32) * x", shapes=((2, 2),)),
        Case("torch.Tensor(2, 3)", "ops.zeros((2, 3))", random=True),
        Case("torch.Tensor(x.shape)", "ops.zeros(x.shape)", shapes=((2, 3),), random=True),
    ],
)
def tensor(call: Call) -> None:
    """torch.Tensor(2, 3) is uninitialised memory of that shape; torch.Tensor(data) is float32."""
    kinds = [call.kind("data").kind, *(call.reading.type(each).kind for each in call.extra)]
    if call.has("data") and all(kind == "int" for kind in kinds):
        sizes = ", ".join([call.text("data"), *(call.of(each) for each in call.extra)])
        call.replace(f"{call.name('mindspore.ops.zeros')}(({sizes}{',' if not call.extra else ''}))")
    elif call.has("data") and not call.extra and is_size(call, call.given["data"]):
        call.replace(f"{call.name('mindspore.ops.zeros')}({call.text('data')})")
    elif (
        call.has("data")
        and not call.extra
        and kinds[0] in ("list", "tuple", "ndarray", "tensor")
        and not is_lazy(call, call.given["data"])
    ):
        call.replace(f"{call.name('mindspore.Tensor')}({call.text('data')}, {call.name('mindspore.float32')})")
    else:
        call.use("compat.FloatTensor")


@rule(
    "torch.Tensor.size",
    args="dim",
    cases=[
        Case("x.size(0) * x", "x.shape[0] * x", shapes=((2, 3),)),
        Case("x * x.size()[-1]", "x * x.shape[-1]", shapes=((2, 3),)),
        Case("x * x.size(dim=1)", "x * x.shape[1]", shapes=((2, 3),)),
    ],
)
def size(call: Call) -> None:
    call.replace(f"{call.target}.shape[{call.text('dim')}]" if call.has("dim") else f"{call.target}.shape")


def _reads(api: str, template: str, before: str, after: str) -> None:
    """A method without arguments that becomes an attribute."""

    @rule(api, cases=[Case(before, after, shapes=((2, 3),))])
    def read(call: Call) -> None:
        call.replace(template.replace("{x}", call.target))


_reads("torch.Tensor.dim", "{x}.ndim", "x * x.dim()", "x * x.ndim")
_reads("torch.Tensor.ndimension", "{x}.ndim", "x * x.ndimension()", "x * x.ndim")
_reads("torch.Tensor.numel", "{x}.size", "x * x.numel()", "x * x.size")
_reads("torch.Tensor.nelement", "{x}.size", "x * x.nelement()", "x * x.size")
_reads("torch.Tensor.element_size", "{x}.itemsize", "x * x.element_size()", "x * x.itemsize")

rule(
    "torch.Tensor.stride",
    to=".stride",
    args="dim",
    like=".stride",
    cases=[Case("x * x.stride(0)", "x * x.stride(0)", shapes=((2, 3),))],
)
rule(
    "torch.Tensor.is_contiguous",
    to=".is_contiguous",
    args="memory_format",
    drop="memory_format",
    cases=[
        Case("x * x.is_contiguous()", "x * x.is_contiguous()", shapes=((2, 3),)),
    ],
)
rule(
    "torch.Tensor.item",
    to=".item",
    like=".item",
    cases=[Case("x.item() * x", "x.item() * x", shapes=((1, 1),), gradient=False)],
)
rule(
    "torch.Tensor.tolist",
    to=".tolist",
    like=".tolist",
    cases=[Case("x.tolist()", "x.tolist()", shapes=((2, 3),), gradient=False)],
)
rule(
    "torch.Tensor.data_ptr",
    to=".data_ptr",
    cases=[
        Case("x.data_ptr()", "x.data_ptr()", shapes=((2, 3),), runs=False, why="an address differs between runs"),
    ],
)


@rule(
    "torch.Tensor.numpy",
    args="force",
    cases=[
        Case("x.numpy() * 2", "x.asnumpy() * 2", inputs=("int64[2,3]",)),
        Case("x.detach().cpu().numpy()", "x.asnumpy()", shapes=((2, 3),), gradient=False),
        Case("x.numpy(force=True)", "x.asnumpy()", shapes=((2, 3),), gradient=False),
    ],
)
def numpy(call: Call) -> None:
    call.replace(f"{_without_detach(call.target)}.asnumpy()")


@rule("torch.Tensor.__array__", cases=[Case("x.__array__()", "x.asnumpy()", inputs=("int64[2,3]",))])
def array(call: Call) -> None:
    call.replace(f"{call.target}.asnumpy()")


def _without_detach(text: str) -> str:
    """A numpy array carries no gradient: cutting it first says nothing."""
    for opening in ("ops.stop_gradient(", "ms_ops.stop_gradient("):
        inner = text[len(opening) : -1]
        if text.startswith(opening) and text.endswith(")") and inner.isidentifier():
            return inner
    return text
