"""torch, as far as reading code needs to know it: where its names are, what they return (types.tsv), what they are for (roles.tsv)."""

from __future__ import annotations

import ast
import functools
import re
from importlib.resources import files

from ...read.framework import Framework, ListedCall, Members, Role
from ...read.types import SIMPLE, TENSOR, UNKNOWN, Type, instance, tuple_of
from ...read.uses import read_uses
from ._aliases import canonical
from ._members import is_lost_when_sparse, members
from ._objects import DISTRIBUTIONS, PACKED, PACKERS, SPARSE, object_attribute, object_method
from ._typed_tensors import TYPED_NAMES

TYPED_TENSORS = frozenset(
    f"torch.{place}{kind}Tensor"
    for kind in "Float Double Half BFloat16 Long Int Short Char Byte Bool".split()
    for place in ("", "cuda.")
)
TENSOR_CLASSES = frozenset(
    {
        "torch.Tensor",
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
        "torch.nn.Buffer",
        "torch.nn.parameter.Buffer",
        "torch.autograd.Variable",
    }
)
FUNCTION_HOMES = frozenset({"torch", "torch.linalg", "torch.fft", "torch.special", "torch._C._nn", "torch.functional"})
IN_PLACE = frozenset(
    "add_ sub_ mul_ div_ pow_ neg_ abs_ exp_ log_ sqrt_ rsqrt_ square_ floor_ ceil_ round_ trunc_ sign_ clamp_ clamp_min_ clamp_max_ clip_ "
    "zero_ fill_ copy_ normal_ uniform_ random_ bernoulli_ exponential_ addcmul_ addcdiv_ addmm_ lerp_ masked_fill_ masked_scatter_ "
    "scatter_ scatter_add_ index_add_ index_fill_ index_copy_ index_put_ unsqueeze_ squeeze_ transpose_ t_ relu_ sigmoid_ tanh_ "
    "requires_grad_ detach_ resize_ resize_as_ remainder_ fmod_ eq_ gt_ ge_ lt_ le_ logical_not_ logical_and_ triu_ tril_ cumsum_ "
    "erfinv_ bitwise_left_shift_ fill_diagonal_".split()
)
DISTINCTIVE = frozenset(
    "unsqueeze permute contiguous detach masked_fill expand_as view_as index_select masked_select "
    "unfold type_as clamp matmul bmm softmax log_softmax sigmoid tanh index_fill scatter_add "
    "new_zeros new_ones new_tensor new_full new_empty addmm logsumexp narrow rsqrt unbind numel".split()
) | (IN_PLACE - {"requires_grad_"})
SHARED_WITH_OTHERS = frozenset("unbind narrow clamp unfold matmul tanh sigmoid numel requires_grad_".split())
DTYPES = frozenset(
    "float32 float float64 double float16 half bfloat16 complex64 cfloat complex128 cdouble uint8 int8 int16 short int32 int int64 long "
    "bool uint16 uint32 uint64 float8_e4m3fn float8_e5m2".split()
)
OF_NETWORKS = frozenset(
    "named_parameters named_modules named_buffers named_children register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook".split()
)
SHARED = frozenset(
    "train eval parameters buffers modules children state_dict load_state_dict requires_grad_ zero_grad".split()
)
EINOPS = frozenset({"einops.rearrange", "einops.reduce", "einops.repeat", "einops.einsum"})
PAIR = tuple_of(TENSOR, TENSOR)
OF_TABLES = frozenset(
    "keys values items get pop update clear to cuda cpu apply forward training half float add_module".split()
)
COUNTERPARTS = {
    "torch": "mindspore",
    "torch.nn": "mindspore.nn",
    "torch.nn.functional": "mindspore.ops",
    "torch.optim": "mindspore.experimental.optim",
    "torch.optim.lr_scheduler": "mindspore.experimental.optim.lr_scheduler",
    "torch.utils.data": "mindspore.dataset",
    "torchvision.transforms": "mindspore.dataset.vision",
    "torchvision.datasets": "compat",
    "torch.distributed": "mindspore.communication",
    "torch.nn.init": "mindspore.common.initializer",
}

LIGHTNING = ("pytorch_lightning", "lightning", "torchmetrics")
LIGHTNING_HOMES = ("pytorch_lightning.", "torchmetrics.")  # after canonical()

Types = dict[tuple[str, str, str], Type]  # (what has it, name, arguments) -> the type


@functools.cache
def describe() -> Framework:
    return Framework(
        name="torch",
        roots=(
            "torch",
            "torchvision",
            "einops",
            "accelerate",
            "ema_pytorch",
            "safetensors",
            "tensorboardX",
            *LIGHTNING,
        ),
        homes=("torch.", "torchvision.", "einops.", *LIGHTNING_HOMES),
        packages=re.compile(
            r"(?:torch|torchvision)(?:\.[a-z]+)?|torch\.nn\.(?:functional|init|utils)|torch\.utils\.data"
        ),
        functional=("functional", "F"),
        tensor="torch.Tensor",
        typed_tensors=TYPED_NAMES,
        tensor_maker="compat.FloatTensor",
        tensor_classes=TENSOR_CLASSES,
        annotations=TENSOR_CLASSES | TYPED_TENSORS,
        network="torch.nn.Module",
        optimizer="torch.optim.Optimizer",
        loader="torch.utils.data.DataLoader",
        dtype="torch.dtype",
        device="torch.device",
        dtypes=DTYPES,
        lists_of_networks=frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"}),
        table_of_networks="torch.nn.ModuleDict",
        size="torch.Size",
        functions=("torch", "torch.nn.functional"),
        answering=(
            ("torch.optim.swa_utils.SWALR", "torch.optim.lr_scheduler.LRScheduler"),
            ("torch.optim.swa_utils.AveragedModel", "torch.nn.Module"),
            ("torch.optim.lr_scheduler.", "torch.optim.lr_scheduler.LRScheduler"),
            ("torch.optim.", "torch.optim.Optimizer"),
            *(
                (home, "")
                for home in (
                    "torch.utils.data.",
                    "torch.multiprocessing.",
                    "torchvision.",
                    DISTRIBUTIONS,
                    "torch.sparse.",
                    *LIGHTNING_HOMES,
                )
            ),
        ),
        is_lost=_is_lost,
        pairs=frozenset({"torch.max", "torch.min", "torch.median"}),
        takes_parameters=("torch.optim.", "torch.nn.utils."),
        forward=frozenset({"forward", "construct"}),
        gradient_methods=frozenset({"forward", "backward"}),
        saved_tensors="saved_tensors",
        gradient="grad",
        members=Members(
            attributes=_results("attribute"),
            in_place=IN_PLACE,
            distinctive=DISTINCTIVE,
            parts=_results("part"),
            unmistakable=(DISTINCTIVE | IN_PLACE) - SHARED_WITH_OTHERS,
            of_networks=OF_NETWORKS,
            shared=SHARED,
            parameters=frozenset({"weight", "bias", "running_mean", "running_var", "in_proj_weight"}),
            of_network_tables=SHARED | OF_NETWORKS | OF_TABLES,
            returning_self=frozenset("to cuda cpu train eval half float double requires_grad_ apply".split()),
            network_results={
                **_results("network"),
                "state_dict": Type("dict", "torch.state_dict", (TENSOR,)),
            },
            of_all_tensors=frozenset(members()["Tensor"]),
            of_all_networks=frozenset(members()["Module"]),
            parameter_names=frozenset({"register_buffer", "register_parameter"}),
        ),
        uses=read_uses((use, names) for use, names in _rows("uses.tsv")),
        counterparts=COUNTERPARTS,
        families=(
            ("torch.nn.functional.", "functional"),
            ("torch.nn.", "nn"),
            ("torch.Tensor.", "tensor"),
            ("torch.optim.", "optim"),
            ("torch.utils.data.", "data"),
            ("torchvision.", "vision"),
            ("torch.", "functions"),
        ),
        short=(("torchvision.", "tv."), ("torch.nn.functional.", "F.")),
        page="https://docs.pytorch.org/docs/stable/generated/{api}.html",
        checklist=_checklist(),
        roles=_roles(),
        role_homes=tuple(prefix for prefix, _ in _roles()),
        canonical=canonical,
        call_result=call_result,
        method_result=method_result,
        network_call_result=network_call_result,
        object_method=object_method,
        object_attribute=object_attribute,
    )


def method_result(name: str, arguments: int) -> Type:
    """`x.max(1)` is a pair, `x.max()` a tensor; `x.size(0)` a number, `x.size()` a size."""
    special = _types().get(("method", name, "some" if arguments else "none"))
    return special or _results("method").get(name, TENSOR)


def call_result(qual: str, arguments: int) -> Type:
    root, _, name = qual.rpartition(".")
    if qual in TENSOR_CLASSES:
        return TENSOR
    if root == "torch.sparse":
        return TENSOR if name in ("mm", "addmm") else instance(SPARSE)
    if name[:1].isupper() and not name.endswith("Tensor"):
        return instance(qual)
    if qual.startswith("torch.nn.functional."):
        pair = name.endswith("_with_indices") or name == "multi_head_attention_forward"
        return PAIR if pair else TENSOR
    if qual in PACKERS:
        return instance(PACKED)
    if root in FUNCTION_HOMES:
        special = _results("function").get(qual) or _results("function").get(name)
        if special is not None:
            return special
        if name in ("max", "min", "median"):
            return TENSOR if arguments < 2 else UNKNOWN
        return _results("method").get(name, TENSOR)
    elsewhere = TENSOR if qual.startswith("torch.nn.init.") or qual in EINOPS else UNKNOWN
    return _results("function").get(qual, elsewhere)


def network_call_result(qual: str, given: Type = TENSOR) -> Type:
    """What calling a layer with such a first argument returns: a recurrent one gives packed sequences for packed sequences."""
    result = _results("layer").get(qual, TENSOR)
    is_packed = given.qual == PACKED and result.kind == "tuple"
    return tuple_of(given, *result.items[1:]) if is_packed else result


@functools.cache
def _results(of: str) -> dict[str, Type]:
    """By name, whatever the arguments."""
    return {name: kind for (what, name, given), kind in _types().items() if (what, given) == (of, "any")}


def _rows(name: str) -> list[list[str]]:
    lines = files(__package__).joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


@functools.cache
def _types() -> Types:
    return {
        (of, name, given): _type(ast.parse(text, mode="eval").body)
        for text, of, given, names in _rows("types.tsv")
        for name in names.split()
    }


def _type(node: ast.expr) -> Type:
    """`list[tensor]` as it is written in types.tsv; a dotted name is an instance of that class."""
    match node:
        case ast.Name(id=name):
            return SIMPLE[name]
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
            return Type(name, "", tuple(_type(each) for each in parts))
        case ast.Subscript(value=ast.Name(id=name), slice=part):
            return Type(name, "", (_type(part),))
    return instance(ast.unparse(node))


def _checklist() -> dict[str, ListedCall]:
    return {
        api: ListedCall(title, int(position or -1), argument) for api, title, position, argument in _rows("tricks.tsv")
    }


def _roles() -> tuple[tuple[str, Role], ...]:
    rows = ((prefix, Role(role)) for prefix, role in _rows("roles.tsv"))
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


def _is_lost(base: str, name: str) -> bool:  # no lambda: the description travels to other processes
    return base == SPARSE and is_lost_when_sparse(name)
