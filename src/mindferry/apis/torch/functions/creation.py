"""Tensors made from sizes. torch takes numbers or a tuple and infers the type from the value; mindspore.ops takes a tuple."""

import ast

from ....read.array_numbers import is_of_arrays
from ... import Case, rule
from ..._call import Call

OPTIONS = "out dtype layout device requires_grad pin_memory memory_format"
SIZED = ("tuple", "list", "size")
SCALAR = ("()", "[]")  # a size that ops.zeros refuses


def _sizes(call: Call) -> str:
    """The shape as one tuple, or '' if it can't be told."""
    given = call.node.args
    if not given:
        return call.text("size") if call.has("size") and call.kind("size").kind in SIZED else ""
    kinds = [call.reading.type(each).kind for each in given]
    if len(given) == 1 and kinds[0] in SIZED:
        return call.of(given[0])
    if _are_numbers(call):
        return f"({', '.join(call.of(each) for each in given)}{',' if len(given) == 1 else ''})"
    return ""


def _are_numbers(call: Call) -> bool:
    """Whether each argument is one of the sizes: several can't be anything else, one may be a tuple of them."""
    given = call.node.args
    is_known = [call.reading.type(each).kind == "int" for each in given]
    return (len(given) > 1 and not any(isinstance(each, ast.Starred) for each in given)) or (
        bool(given) and all(is_known)
    )


def _replace(call: Call, target: str, *arguments: str) -> None:
    dtype = call.text("dtype") if call.has("dtype") and call.literal("dtype") is not None else ""
    parts = [*arguments, *([f"dtype={dtype}"] if dtype else [])]
    call.replace(f"{call.name(target)}({', '.join(parts)})")


def _filled(api: str, target: str, helper: str, number: str) -> None:
    text = target.rpartition(".")[2]

    @rule(
        api,
        to=target,
        like=helper,
        cases=[
            Case(f"x + {api}(3, 4)", f"x + ops.{text}((3, 4))", shapes=((3, 4),)),
            Case(
                f"x + {api}((3, 4), dtype=torch.float64)", f"x + ops.{text}((3, 4), dtype=ms.float64)", shapes=((3, 4),)
            ),
            Case(f"x + {api}(x.shape, device='cpu')", f"x + ops.{text}(x.shape)", shapes=((3, 4),)),
            Case(f"x + {api}(x.size(0), 4)", f"x + ops.{text}((x.shape[0], 4))", shapes=((3, 4),)),
            Case(f"x + {api}(())", f"x + ms.Tensor({number}, ms.float32)", shapes=((3, 4),)),
            Case(f"x + {api}((), dtype=torch.int64)", f"x + ms.Tensor({number}, ms.int64)", shapes=((3, 4),)),
            Case(f"x + {api}(*x.shape)", f"x + ms_compat.{helper[7:]}(*x.shape)", shapes=((3, 4),)),
        ],
    )
    def filled(call: Call) -> None:
        shape = _sizes(call)
        if shape and shape not in SCALAR and not call.has("out"):
            _replace(call, target, shape)
        elif shape and not call.has("out"):
            dtype = call.text("dtype") if call.has("dtype") and call.literal("dtype") is not None else ""
            call.replace(f"{call.name('mindspore.Tensor')}({number}, {dtype or call.name('mindspore.float32')})")
        else:
            call.use_like()


_filled("torch.zeros", "mindspore.ops.zeros", "compat.zeros", "0.0")
_filled("torch.ones", "mindspore.ops.ones", "compat.ones", "1.0")


@rule(
    "torch.empty",
    to="mindspore.ops.zeros",
    like="compat.zeros",
    differs="zeros, not whatever was in memory",
    cases=[
        Case("torch.empty(3, 4)", "ops.zeros((3, 4))", random=True),
        Case("torch.empty((3, 4), dtype=torch.int64)", "ops.zeros((3, 4), dtype=ms.int64)", random=True),
    ],
)
def empty(call: Call) -> None:
    shape = _sizes(call)
    if shape and shape not in SCALAR and not call.has("out"):
        _replace(call, "mindspore.ops.zeros", shape)
    else:
        call.use_like()


def _random(api: str, target: str, helper: str) -> None:
    text = target.rpartition(".")[2]

    @rule(
        api,
        to=target,
        like=helper,
        differs="other numbers than torch's for the same seed",
        cases=[
            Case(f"{api}(3, 4)", f"ops.{text}(3, 4)", random=True),
            Case(f"{api}(3, 4, dtype=torch.float64, device='cpu')", f"ops.{text}(3, 4, dtype=ms.float64)", random=True),
            Case(f"{api}((3, 4))", f"ms_compat.{helper[7:]}((3, 4))", random=True),
            Case(f"{api}(x.shape)", f"ms_compat.{helper[7:]}(x.shape)", shapes=((3, 4),), random=True),
            Case(
                f"{api}(3, 4, dtype=torch.cfloat)",
                f"ms_compat.{helper[7:]}_complex(3, 4, dtype=ms.complex64)",
                random=True,
            ),
        ],
    )
    def random(call: Call) -> None:
        is_complex = any(word in call.text("dtype") for word in ("complex", "cfloat", "cdouble"))
        if _are_numbers(call) and not call.has("generator"):
            _replace(
                call, f"{helper}_complex" if is_complex else target, *(_size(call, each) for each in call.node.args)
            )
        else:
            call.use_like()


def _size(call: Call, given: ast.expr) -> str:
    """MindSpore's random functions take no integers of numpy's."""
    return f"int({call.of(given)})" if is_of_arrays(call.reading.type(given)) else call.of(given)


_random("torch.randn", "mindspore.ops.randn", "compat.randn")
_random("torch.rand", "mindspore.ops.rand", "compat.rand")


@rule(
    "torch.full",
    to="mindspore.ops.full",
    args="size fill_value",
    like="compat.full",
    cases=[
        Case("x + torch.full((3, 4), 2.5)", "x + ops.full((3, 4), 2.5, dtype=ms.float32)", shapes=((3, 4),)),
        Case("x + torch.full((3, 4), 2)", "x + ops.full((3, 4), 2, dtype=ms.int64)", shapes=((3, 4),)),
        Case(
            "x + torch.full((3, 4), 2, dtype=torch.float64, device='cpu')",
            "x + ops.full((3, 4), 2, dtype=ms.float64)",
            shapes=((3, 4),),
        ),
        Case(
            "x + torch.full(x.shape, x.shape[0])", "x + ops.full(x.shape, x.shape[0], dtype=ms.int64)", shapes=((3, 4),)
        ),
        Case(
            "torch.triu(torch.full((4, 4), float('-inf')), 1) + x",
            "ops.triu(ops.full((4, 4), float('-inf'), dtype=ms.float32), 1) + x",
            shapes=((4, 4),),
            gradient=False,
        ),
    ],
    differs="ops.full makes integers unless told the type",
)
def full(call: Call) -> None:
    types = {"bool": "mindspore.bool_", "int": "mindspore.int64", "float": "mindspore.float32"}
    kind = types.get(call.kind("fill_value").kind)
    if call.has("dtype"):
        _replace(call, "mindspore.ops.full", call.text("size"), call.text("fill_value"))
    elif kind and call.kind("size").kind in SIZED:
        call.replace(
            f"{call.name('mindspore.ops.full')}({call.text('size')}, {call.text('fill_value')}, dtype={call.name(kind)})"
        )
    else:
        call.use_like()


def _like(api: str, target: str, helper: str) -> None:
    text = target.rpartition(".")[2]

    @rule(
        api,
        to=target,
        args="input",
        like=helper,
        drop="device layout requires_grad memory_format pin_memory",
        cases=[
            Case(f"x + {api}(x)", f"x + ops.{text}(x)", shapes=((3, 4),)),
            Case(
                f"x + {api}(x, dtype=torch.float64, device='cpu')",
                f"x + ops.{text}(x, dtype=ms.float64)",
                shapes=((3, 4),),
            ),
        ],
    )
    def same(call: Call) -> None:
        pass


_like("torch.zeros_like", "mindspore.ops.zeros_like", "compat.zeros_like")
_like("torch.ones_like", "mindspore.ops.ones_like", "compat.ones_like")
rule(
    "torch.empty_like",
    to="mindspore.ops.zeros_like",
    args="input",
    like="compat.zeros_like",
    drop="device layout requires_grad memory_format pin_memory",
    differs="zeros, not whatever was in memory",
    cases=[Case("torch.empty_like(x)", "ops.zeros_like(x)", shapes=((3, 4),), random=True)],
)
rule(
    "torch.full_like",
    to="compat.full_like",
    args="input fill_value",
    like="compat.full_like",
    cases=[Case("x + torch.full_like(x, 2)", "x + ms_compat.full_like(x, 2)", shapes=((3, 4),))],
)
for _name in ("randn_like", "rand_like"):
    rule(
        f"torch.{_name}",
        to=f"mindspore.ops.{_name}",
        args="input",
        like=f"compat.{_name}",
        drop="device layout requires_grad memory_format pin_memory",
        cases=[
            Case(f"torch.{_name}(x)", f"ops.{_name}(x)", shapes=((3, 4),), random=True),
            Case(
                f"torch.{_name}(x, dtype=torch.float64)",
                f"ops.{_name}(x, dtype=ms.float64)",
                shapes=((3, 4),),
                random=True,
            ),
        ],
    )


@rule(
    "torch.arange",
    to="mindspore.ops.arange",
    args="start end step",
    like="compat.arange",
    drop="device layout requires_grad pin_memory",
    cases=[
        Case("x + torch.arange(4)", "x + ops.arange(4)", shapes=((3, 4),)),
        Case("x + torch.arange(1, 5)", "x + ops.arange(1, 5)", shapes=((3, 4),)),
        Case(
            "x + torch.arange(0, 8, 2, dtype=torch.float32, device='cpu')",
            "x + ops.arange(0, 8, 2, dtype=ms.float32)",
            shapes=((3, 4),),
        ),
        Case("x + torch.arange(x.shape[1])", "x + ops.arange(x.shape[1])", shapes=((3, 4),)),
        Case("x + torch.arange(0, 1, 0.25)", "x + ms_compat.arange(0, 1, 0.25)", shapes=((3, 4),)),
    ],
)
def arange(call: Call) -> None:
    if any(call.kind(name).kind != "int" for name in ("start", "end", "step") if call.has(name)):
        call.use_like()


@rule(
    "torch.tensor",
    to="mindspore.Tensor",
    args="data dtype",
    like="compat.tensor",
    drop="device requires_grad pin_memory",
    cases=[
        Case("x + torch.tensor([1.0, 2.0, 3.0, 4.0])", "x + ms.Tensor([1.0, 2.0, 3.0, 4.0])", shapes=((3, 4),)),
        Case("x[torch.tensor([2, 0])]", "x[ms.Tensor([2, 0])]", shapes=((3, 4),)),
        Case(
            "x + torch.tensor(2, dtype=torch.float32, device='cpu')",
            "x + ms.Tensor(2, dtype=ms.float32)",
            shapes=((3, 4),),
        ),
        Case(
            "torch.tensor([x.sum(), x.mean()]) * x[:, :2]",
            "ms_compat.tensor([ops.sum(x), ops.mean(x)]) * x[:, :2]",
            shapes=((3, 4),),
            gradient=False,
        ),
        Case(
            "x + torch.tensor([[np.float64(1.5), 2, 3, 4.5]])",
            "x + ms_compat.tensor([[np.float64(1.5), 2, 3, 4.5]])",
            shapes=((3, 4),),
        ),
        Case(
            "x + torch.tensor([[x[0, 0], 1.5, np.float32(2), 3], [x[0, 0], x[1, 1], 2.5, 1]])[0]",
            "x + ms_compat.tensor([[x[0, 0], 1.5, np.float32(2), 3], [x[0, 0], x[1, 1], 2.5, 1]])[0]",
            shapes=((3, 4),),
            gradient=False,
        ),
        Case(
            "x + torch.tensor([np.arange(4.0), np.ones(4)]).sum(0)",
            "x + ops.sum(ms_compat.tensor([np.arange(4.0), np.ones(4)]), 0)",
            shapes=((3, 4),),
        ),
        Case("x + torch.tensor(np.arange(4.0))", "ms_compat.plus(x, ms.Tensor(np.arange(4.0)))", shapes=((3, 4),)),
    ],
)
def tensor(call: Call) -> None:
    is_plain = call.kind("data").kind in ("int", "float", "bool", "ndarray")
    is_unclear = call.literal("data") is ... and not is_plain  # a list may hold numpy's numbers, and tensors
    if is_unclear or "j" in repr(call.literal("data")):  # complex numbers would be complex128
        call.use_like()


rule(
    "torch.as_tensor",
    to="compat.as_tensor",
    args="data dtype device",
    like="compat.as_tensor",
    cases=[Case("x + torch.as_tensor([1, 2, 3, 4])", "x + ms_compat.as_tensor([1, 2, 3, 4])", shapes=((3, 4),))],
)
rule(
    "torch.asarray",
    to="compat.as_tensor",
    args="obj",
    rename={"obj": "data"},
    like="compat.as_tensor",
    cases=[Case("x + torch.asarray([1, 2, 3, 4])", "x + ms_compat.as_tensor([1, 2, 3, 4])", shapes=((3, 4),))],
)
rule(
    "torch.from_numpy",
    to="mindspore.Tensor.from_numpy",
    args="ndarray",
    like="mindspore.Tensor.from_numpy",
    cases=[
        Case(
            "x + torch.from_numpy(np.arange(4))",
            "ms_compat.plus(x, ms.Tensor.from_numpy(np.arange(4)))",
            shapes=((3, 4),),
        )
    ],
)


@rule(
    "torch.linspace",
    to="compat.linspace",
    args="start end steps",
    like="compat.linspace",
    cases=[
        Case("x + torch.linspace(0, 1, 4)", "x + ms_compat.linspace(0, 1, 4)", shapes=((3, 4),)),
        Case(
            "x + torch.linspace(0, 1, steps=4, device='cpu')", "x + ms_compat.linspace(0, 1, steps=4)", shapes=((3, 4),)
        ),
    ],
)
def linspace(call: Call) -> None:
    pass


HELPERS = {
    "eye": ("n m", "x @ torch.eye(4)", "x @ ms_compat.eye(4)", "eye"),
    "logspace": ("start end steps base", "x + torch.logspace(0, 1, 4)", "x + ms_compat.logspace(0, 1, 4)", "logspace"),
    "range": ("start end step", "x + torch.range(0, 3)", "x + ms_compat.range_inclusive(0, 3)", "range_inclusive"),
    "tril_indices": (
        "row col offset",
        "x[0, 0] * torch.tril_indices(3, 4)",
        "x[0, 0] * ms_compat.tril_indices(3, 4)",
        "tril_indices",
    ),
    "triu_indices": (
        "row col offset",
        "x[0, 0] * torch.triu_indices(3, 4)",
        "x[0, 0] * ms_compat.triu_indices(3, 4)",
        "triu_indices",
    ),
    "scalar_tensor": ("s", "x + torch.scalar_tensor(3)", "x + ms_compat.scalar_tensor(3)", "scalar_tensor"),
    "empty_strided": (
        "size stride",
        "x + 0 * torch.empty_strided((3, 4), (4, 1))",
        "x + 0 * ms_compat.empty_strided((3, 4), (4, 1))",
        "empty_strided",
    ),
    "empty_permuted": (
        "size physical_layout",
        "x + 0 * torch.empty_permuted((3, 4), (0, 1))",
        "x + 0 * ms_compat.empty_permuted((3, 4), (0, 1))",
        "empty_permuted",
    ),
}
for _name, (_args, _before, _after, _helper) in HELPERS.items():
    rule(
        f"torch.{_name}",
        to=f"compat.{_helper}",
        args=_args,
        like=f"compat.{_helper}",
        cases=[Case(_before, _after, shapes=((3, 4),), random="empty" in _name)],
    )

RANDOM = {
    "randint": ("low high size", "torch.randint(0, 9, (3, 4))", "ms_compat.randint(0, 9, (3, 4))"),
    "randperm": ("n", "torch.randperm(9)", "ms_compat.randperm(9)"),
    "randint_like": ("input low high", "torch.randint_like(x, 9)", "ms_compat.randint_like(x, 9)"),
    "normal": ("mean std size", "torch.normal(0.0, 1.0, (3, 4))", "ms_compat.normal(0.0, 1.0, (3, 4))"),
    "bernoulli": ("input", "torch.bernoulli(x.sigmoid())", "ms_compat.bernoulli(ops.sigmoid(x))"),
    "multinomial": (
        "input num_samples replacement",
        "torch.multinomial(x.sigmoid(), 2)",
        "ms_compat.multinomial(ops.sigmoid(x), 2)",
    ),
    "poisson": ("input", "torch.poisson(x.exp())", "ms_compat.poisson(ops.exp(x))"),
}
for _name, (_args, _before, _after) in RANDOM.items():
    rule(
        f"torch.{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        differs="other numbers than torch's for the same seed",
        cases=[Case(_before, _after, shapes=((3, 4),), random=True)],
    )
