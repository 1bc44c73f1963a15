"""Data types: the same names, one spelling each."""

from ... import Case, rule
from ..._call import Call
from .._lazy_lists import is_lazy
from .._sizes import is_size
from .._typed_tensors import TYPED

NAMES = {
    "float32": "float32",
    "float": "float32",
    "float64": "float64",
    "double": "float64",
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int8": "int8",
    "int16": "int16",
    "short": "int16",
    "int32": "int32",
    "int": "int32",
    "int64": "int64",
    "long": "int64",
    "uint8": "uint8",
    "bool": "bool_",
    "complex64": "complex64",
    "cfloat": "complex64",
    "complex128": "complex128",
    "cdouble": "complex128",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
}
WHOLE = frozenset("int8 int16 short int32 int int64 long uint8 bool".split())  # a cast to these passes no gradient
for _name, _target in NAMES.items():
    _cast = "ops.stop_gradient(x)" if _name in WHOLE else "x"
    rule(
        f"torch.{_name}",
        to=f"mindspore.{_target}",
        like=f"mindspore.{_target}",
        cases=[
            Case(
                f"x.to(torch.{_name}).to(torch.float64)",
                f"{_cast}.to(ms.{_target}).to(ms.float64)",
                inputs=("int64[2,3]",),
                gradient=False,
            ),
        ],
    )
for _name in ("float8_e4m3fn", "float8_e5m2"):
    rule(
        f"torch.{_name}",
        to=f"mindspore.{_name}",
        like=f"mindspore.{_name}",
        platforms="Ascend",
        cases=[
            Case(f"torch.{_name}", f"ms.{_name}", runs=False, why="no CPU kernel takes it"),
        ],
    )
for _name in ("qint8", "quint8", "qint32", "complex32", "float8_e4m3fnuz", "float8_e5m2fnuz"):
    rule(
        f"torch.{_name}",
        missing="MindSpore has no such type",
        strategy="upstream request",
        advice="use a type of MindSpore's",
    )

rule(
    "torch.dtype",
    to="mindspore.Type",
    like="mindspore.Type",
    cases=[
        Case("isinstance(x.dtype, torch.dtype) * x", "isinstance(x.dtype, ms.Type) * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.Size",
    to="tuple",
    like="tuple",
    args="sizes",
    differs="shapes are plain tuples",
    cases=[
        Case("x.view(torch.Size([3, 2]))", "x.view(tuple([3, 2]))", shapes=((2, 3),)),
    ],
)


@rule("torch.Size.numel", cases=[Case("x * x.shape.numel()", "x * math.prod(x.shape)", shapes=((2, 3),))])
def size_numel(call: Call) -> None:
    call.replace(f"{call.name('math.prod')}({call.target})")


for _kind, _dtype in TYPED.items():
    for _place in ("", "cuda."):
        _api, _helper = f"torch.{_place}{_kind}Tensor", f"compat.{_kind}Tensor"
        _runs = not _place and _kind != "BFloat16"
        _why = "" if _runs else "needs a GPU in torch, or numpy lacks the type"

        @rule(
            _api,
            to="mindspore.Tensor",
            like=_helper,
            args="data",
            differs="sizes give zeros, not whatever was in memory",
            cases=[
                Case(f"{_api}([1, 2, 0])", f"ms.Tensor([1, 2, 0], ms.{_dtype})", runs=_runs, why=_why),
                Case(f"{_api}(range(3))", f"ms_compat.{_kind}Tensor(range(3))", runs=_runs, why=_why),
                Case(f"{_api}(2, 3)", f"ops.zeros((2, 3), ms.{_dtype})", random=True, runs=_runs, why=_why),
                Case(f"{_api}(*[[1, 2]])", f"ms_compat.{_kind}Tensor(*[[1, 2]])", runs=_runs, why=_why),
            ],
        )
        def typed(call: Call, dtype: str = _dtype) -> None:
            kinds = [call.reading.type(each).kind for each in call.node.args]
            name = call.name(f"mindspore.{dtype}")
            if kinds and all(kind == "int" for kind in kinds):
                sizes = ", ".join(call.of(each) for each in call.node.args) + ("," if len(kinds) == 1 else "")
                call.replace(f"{call.name('mindspore.ops.zeros')}(({sizes}), {name})")
            elif kinds in (["list"], ["tuple"], ["ndarray"]) and not is_lazy(call, call.node.args[0]):
                call.replace(f"{call.name('mindspore.Tensor')}({call.of(call.node.args[0])}, {name})")
            elif len(kinds) == 1 and is_size(call, call.node.args[0]):
                call.replace(f"{call.name('mindspore.ops.zeros')}({call.of(call.node.args[0])}, {name})")
            else:
                call.use_like()


rule(
    "torch.finfo",
    to="compat.finfo",
    like="compat.finfo",
    args="type",
    cases=[
        Case("torch.finfo(x.dtype).eps * x", "ms_compat.finfo(x.dtype).eps * x", shapes=((2, 3),)),
        Case("torch.finfo(torch.float16).max * x", "ms_compat.finfo(ms.float16).max * x", shapes=((2, 3),)),
        Case("torch.finfo(torch.bfloat16).eps * x", "ms_compat.finfo(ms.bfloat16).eps * x", shapes=((2, 3),)),
        Case("torch.finfo().tiny * x", "ms_compat.finfo().tiny * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.iinfo",
    to="compat.iinfo",
    like="compat.iinfo",
    args="type",
    cases=[
        Case("torch.iinfo(torch.uint8).max * x", "ms_compat.iinfo(ms.uint8).max * x", shapes=((2, 3),)),
        Case("torch.iinfo(torch.int32).min * x", "ms_compat.iinfo(ms.int32).min * x", shapes=((2, 3),)),
    ],
)


@rule(
    "torch.get_default_dtype",
    cases=[Case("x.to(torch.get_default_dtype())", "x.to(ms.float32)", inputs=("float64[2]",), gradient=False)],
)
def get_default_dtype(call: Call) -> None:
    call.replace(call.name("mindspore.float32"))


def _only_float32(api: str, args: str, before: str) -> None:
    @rule(
        api,
        args=args,
        differs="float32 is the default and can't be changed",
        cases=[
            Case(before, "None", runs=False, why="a setting without effect"),
        ],
    )
    def set_default(call: Call) -> None:
        kind = call.kind(args).qual if call.kind(args).kind in ("ref", "value") else call.literal(args)
        if kind in ("torch.float32", "torch.float", "torch.FloatTensor", "torch.cuda.FloatTensor"):
            call.replace("None")
        else:
            call.leave(
                "MindSpore's default type is float32 and can't be changed", "give the dtype where tensors are made"
            )


_only_float32("torch.set_default_dtype", "d", "torch.set_default_dtype(torch.float32)")
_only_float32("torch.set_default_tensor_type", "t", "torch.set_default_tensor_type('torch.FloatTensor')")


for _name in (
    "strided",
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
    "memory_format",
    "layout",
):
    rule(
        f"torch.{_name}",
        to="None",
        like="None",
        differs="memory layout is MindSpore's own business",
        cases=[
            Case(f"torch.{_name}", "None", runs=False, why="has no meaning in MindSpore"),
        ],
    )

rule(
    "torch.promote_types",
    to="compat.promote_types",
    args="type1 type2",
    like="compat.promote_types",
    cases=[
        Case(
            "x.to(torch.promote_types(x.dtype, torch.float64))",
            "ms_compat.tensor_to(x, ms_compat.promote_types(x.dtype, ms.float64))",
            shapes=((2, 3),),
        ),
        Case(
            "x * torch.ones(3, dtype=torch.promote_types(torch.int32, torch.float16)).to(x.dtype)",
            "x * ops.ones((3,), dtype=ms_compat.promote_types(ms.int32, ms.float16)).to(x.dtype)",
            shapes=((2, 3),),
        ),
    ],
)
