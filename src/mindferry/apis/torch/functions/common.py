"""The everyday functions, as mindspore.ops spells them: dim is axis, keepdim is keep_dims or keepdims."""

import ast

from ... import Case, rule
from ..._call import Call
from .._element_types import may_differ_in_type, mixes_parameters
from .._selections import EMPTY_SUMS, joins_open_slices, makes_empty_tensors, may_be_empty, may_hold_nothing
from .._void_rows import VOID_ROWS, may_be_single, may_be_void

AXIS = {"dim": "axis"}


def _cat(call: Call) -> None:
    given = call.given.get("tensors")
    if makes_empty_tensors(call) or may_differ_in_type(call.reading, given) or joins_open_slices(call.reading, given):
        call.use_like()


def _stack(call: Call) -> None:
    given = call.given.get("tensors")
    if may_differ_in_type(call.reading, given) or mixes_parameters(call.reading, given):
        call.use_like()


rule(
    "torch.cat",
    to="mindspore.ops.cat",
    args="tensors dim",
    rename=AXIS,
    like="compat.cat",
    cases=[
        Case(
            "torch.cat([torch.tensor([], dtype=x.dtype), x], dim=-2)",
            "ms_compat.cat([ms.Tensor([], dtype=x.dtype), x], dim=-2)",
            shapes=((2, 3),),
        ),
        Case(
            "torch.cat((torch.zeros(0), x, y), 1)", "ms_compat.cat((ops.zeros((0,)), x, y), 1)", shapes=((2, 3), (2, 4))
        ),
        Case(
            "torch.cat((torch.zeros(0), x.long(), y.long()), 1)",
            "ms_compat.cat((ops.zeros((0,)), x.long(), y.long()), 1)",
            shapes=((2, 3), (2, 4)),
        ),
        Case(
            "x.sum() + torch.cat((torch.zeros(0), x[:0], y[:0]), 1).shape[1]",
            "ops.sum(x) + ms_compat.cat((ops.zeros((0,)), ms_compat.take_slices(x, (None, 0)), ms_compat.take_slices(y, (None, 0))), 1).shape[1]",
            shapes=((2, 3), (2, 4)),
        ),
        Case(
            "(lambda n: torch.cat((x[:, :n], y, x[:, n:]), 1))(0)",
            "(lambda n: ms_compat.cat((ms_compat.take_slices(x, (None, None), (None, n)), y,"
            " ms_compat.take_slices(x, (None, None), (n, None))), 1))(0)",
            shapes=((2, 3), (2, 4)),
        ),
        Case("torch.cat((x, y > 0), 1)", "ms_compat.cat((x, y > 0), 1)", shapes=((2, 3), (2, 4))),
        Case("torch.cat([x.double(), y])", "ms_compat.cat([x.double(), y])", shapes=((2, 3), (4, 3))),
        Case("torch.cat((x, y), dim=1)", "ops.cat((x, y), axis=1)", shapes=((2, 3), (2, 4))),
        Case("torch.cat([x, y])", "ops.cat([x, y])", shapes=((2, 3), (4, 3))),
        Case("torch.cat([x, y], 1)", "ops.cat([x, y], 1)", shapes=((2, 3), (2, 4))),
    ],
)(_cat)
for _name in ("concat", "concatenate"):
    rule(
        f"torch.{_name}",
        to="mindspore.ops.cat",
        args="tensors dim",
        rename=AXIS,
        like="compat.cat",
        cases=[
            Case(f"torch.{_name}((x, y), dim=1)", "ops.cat((x, y), axis=1)", shapes=((2, 3), (2, 4))),
        ],
    )(_cat)
rule(
    "torch.stack",
    to="mindspore.ops.stack",
    args="tensors dim",
    rename=AXIS,
    like="compat.stack",
    cases=[
        Case("torch.stack((x, y > 0))", "ms_compat.stack((x, y > 0))", shapes=((2, 3), (2, 3))),
        Case("torch.stack([torch.tensor(1), x])", "ms_compat.stack([ms.Tensor(1), x])", inputs=("float32[]",)),
        Case("torch.stack((x, y), dim=1)", "ops.stack((x, y), axis=1)", shapes=((2, 3), (2, 3))),
        Case("torch.stack([x, y])", "ops.stack([x, y])", shapes=((2, 3), (2, 3))),
    ],
)(_stack)
rule(
    "torch.chunk",
    to="mindspore.ops.chunk",
    args="input chunks dim",
    rename=AXIS,
    like="compat.chunk",
    cases=[
        Case("torch.chunk(x, 2, dim=1)", "ops.chunk(x, 2, axis=1)", shapes=((2, 5),)),
        Case("x.chunk(2, dim=-1)[0]", "ops.chunk(x, 2, axis=-1)[0]", shapes=((2, 4),)),
    ],
)
rule(
    "torch.split",
    to="mindspore.ops.split",
    args="input split_size_or_sections dim",
    rename=AXIS,
    like="compat.split",
    cases=[
        Case("torch.split(x, 2, dim=1)", "ops.split(x, 2, axis=1)", shapes=((2, 5),)),
        Case("torch.split(x, [1, 4], dim=1)", "ops.split(x, [1, 4], axis=1)", shapes=((2, 5),)),
    ],
)


@rule(
    "torch.squeeze",
    to="mindspore.ops.squeeze",
    args="input dim",
    rename=AXIS,
    like="compat.squeeze",
    cases=[
        Case("torch.squeeze(x, dim=1)", "ops.squeeze(x, axis=1)", shapes=((2, 1, 3),)),
        Case("torch.squeeze(x)", "ops.squeeze(x)", shapes=((2, 1, 3),)),
        Case("torch.squeeze(x, (0, 1))", "ms_compat.squeeze(x, (0, 1))", shapes=((2, 1, 3),)),
    ],
)
def squeeze(call: Call) -> None:
    if call.has("dim") and call.kind("dim").kind != "int":
        call.use_like()


for _name in ("transpose", "swapaxes", "swapdims"):
    _args = "input dim0 dim1" if _name != "swapaxes" else "input axis0 axis1"

    @rule(
        f"torch.{_name}",
        to="mindspore.ops.swapaxes",
        args=_args,
        rename={"dim0": "axis0", "dim1": "axis1"},
        like="compat.transpose",
        cases=[
            Case(f"torch.{_name}(x, 0, 1)", "ops.swapaxes(x, 0, 1)", shapes=((2, 3, 4),)),
            Case(f"torch.{_name}(x, 0, 0)", "ms_compat.transpose(x, 0, 0)", shapes=((2, 3),)),
        ],
    )
    def transpose(call: Call) -> None:
        first, second = (call.literal(name) for name in call.rule.args[1:])
        if first == second == 0:  # of a tensor without axes, perhaps
            call.use_like()


rule(
    "torch.permute",
    to="mindspore.ops.permute",
    args="input dims",
    rename={"dims": "axis"},
    like="compat.permute",
    cases=[
        Case("torch.permute(x, (2, 0, 1))", "ops.permute(x, (2, 0, 1))", shapes=((2, 3, 4),)),
        Case("torch.permute(x, dims=(2, 0, 1))", "ops.permute(x, axis=(2, 0, 1))", shapes=((2, 3, 4),)),
    ],
)
rule(
    "torch.broadcast_to",
    to="mindspore.ops.broadcast_to",
    args="input size",
    rename={"size": "shape"},
    like="compat.expand_copy",
    cases=[
        Case("torch.broadcast_to(x, (2, 3, 4))", "ops.broadcast_to(x, (2, 3, 4))", shapes=((3, 4),)),
    ],
)


@rule(
    "torch.flatten",
    to="mindspore.ops.flatten",
    args="input start_dim end_dim",
    like="compat.flatten",
    positional=1,
    defaults={"start_dim": "0"},
    differs="ops.flatten starts at dimension 1",
    cases=[
        Case("torch.flatten(x, 1)", "ops.flatten(x, start_dim=1)", shapes=((2, 3, 4),)),
        Case("torch.flatten(x)", "ops.flatten(x, start_dim=0)", shapes=((2, 3, 4),)),
        Case(
            "torch.flatten(x, start_dim=1, end_dim=2)", "ops.flatten(x, start_dim=1, end_dim=2)", shapes=((2, 3, 4, 2),)
        ),
    ],
)
def flatten(call: Call) -> None:
    pass


@rule(
    "torch.sum",
    to="mindspore.ops.sum",
    args="input dim keepdim",
    like="compat.sum_over",
    differs=EMPTY_SUMS,
    cases=[
        Case("torch.sum(x, dim=1, keepdim=True)", "ops.sum(x, dim=1, keepdim=True)", shapes=((3, 4),)),
        Case("x[x > 9].sum()", "ms_compat.sum_over(x[x > 9])", shapes=((3, 4),)),
        Case("x[x[:, 0] > 0].sum(dim=0)", "ms_compat.sum_over(x[x[:, 0] > 0], dim=0)", shapes=((9, 4),)),
        Case("(x[x > 0] * 2).abs().sum()", "ms_compat.sum_over(ops.abs((x[x > 0] * 2)))", shapes=((3, 4),)),
        Case(
            "torch.sum(torch.masked_select(x, x > 9))",
            "ms_compat.sum_over(ms_compat.masked_select(x, x > 9))",
            shapes=((3, 4),),
        ),
    ],
)
def total(call: Call) -> None:
    if may_be_empty(call, "input"):
        call.use_like()


@rule(
    "torch.mean",
    to="mindspore.ops.mean",
    args="input dim keepdim",
    rename={"dim": "axis", "keepdim": "keep_dims"},
    only={"dtype": "None"},
    like="compat.mean_over",
    differs=EMPTY_SUMS,
    cases=[
        Case("torch.mean(x[x > 9])", "ms_compat.mean_over(x[x > 9])", shapes=((2, 3),), gradient=False),
        Case("torch.mean(x, dim=1, keepdim=True)", "ops.mean(x, axis=1, keep_dims=True)", shapes=((2, 3, 4),)),
        Case("torch.mean(x)", "ops.mean(x)", shapes=((2, 3),)),
        Case("torch.mean(x, [1, 2])", "ops.mean(x, (1, 2))", shapes=((2, 3, 4),)),
        Case("torch.mean(x, 1, dtype=torch.float64)", "ms_compat.mean_over(x, 1, dtype=ms.float64)", shapes=((2, 3),)),
    ],
)
def mean(call: Call) -> None:
    dims = call.literal("dim")
    if may_be_empty(call, "input"):
        call.use_like()
    elif isinstance(dims, list):
        call.set(dim=repr(tuple(dims)))
    elif dims is ... and call.kind("dim").kind not in ("int", "tuple"):
        call.use_like()


def _extreme(name: str, pairwise: str, whole: str, helper: str) -> None:
    @rule(
        f"torch.{name}",
        to=f"compat.{helper}",
        args="input dim keepdim",
        like=f"compat.{helper}",
        differs="a plain tuple (values, indices): no names",
        cases=[
            Case(f"torch.{name}(x, y)", f"ms_compat.{pairwise}(x, y)", shapes=((2, 3), (2, 3))),
            Case(f"torch.{name}(x)", f"ops.{whole}(x)", shapes=((2, 3),)),
            Case(f"torch.{name}(x, 1)", f"ms_compat.{helper}(x, 1)", shapes=((2, 3),)),
            Case(
                f"torch.{name}(x, dim=1, keepdim=True)[0]",
                f"ms_compat.{helper}(x, dim=1, keepdim=True)[0]",
                shapes=((2, 3),),
            ),
        ],
    )
    def extreme(call: Call) -> None:
        if call.kind("dim").is_tensor or call.kind("other").is_tensor:
            call.use(f"compat.{pairwise}")  # ops refuses empty tensors: an image without boxes
        elif not call.has("dim") and not call.has("other"):
            call.use(f"mindspore.ops.{whole}")


_extreme("max", "maximum", "amax", "max_of")
_extreme("min", "minimum", "amin", "min_of")


def _scaled(name: str) -> None:
    @rule(
        f"torch.{name}",
        to=f"mindspore.ops.{name}",
        args="input other",
        like=f"compat.{name}",
        cases=[
            Case(f"torch.{name}(x, y)", f"ops.{name}(x, y)", shapes=((2, 3), (2, 3))),
            Case(f"torch.{name}(x, y, alpha=2)", f"ms_compat.{name}(x, y, alpha=2)", shapes=((2, 3), (2, 3))),
        ],
    )
    def scaled(call: Call) -> None:
        if call.has("alpha"):
            call.use_like()


_scaled("add")
_scaled("sub")
rule(
    "torch.subtract",
    to="compat.sub",
    args="input other",
    like="compat.sub",
    cases=[
        Case("torch.subtract(x, y)", "ms_compat.sub(x, y)", shapes=((2, 3), (2, 3))),
    ],
)


@rule(
    "torch.where",
    to="mindspore.ops.where",
    args="condition input other",
    like="mindspore.ops.where",
    cases=[
        Case("torch.where(x > 0, x, y)", "ops.where(x > 0, x, y)", shapes=((2, 3), (2, 3))),
        Case("torch.where(x > 0, x, 0.5)", "ops.where(x > 0, x, 0.5)", shapes=((2, 3),)),
        Case("torch.where(x > 0)", "ms_compat.nonzero(x > 0, as_tuple=True)", shapes=((2, 3),), gradient=False),
        Case(
            "torch.where((x > 0).to(torch.uint8), x, y)",
            "ops.where((x > 0).to(ms.uint8).bool(), x, y)",
            shapes=((2, 3), (2, 3)),
        ),
    ],
)
def where(call: Call) -> None:
    if not call.has("input"):
        call.replace(f"{call.name('compat.nonzero')}({call.text('condition')}, as_tuple=True)")
    elif not isinstance(call.given["condition"], ast.Compare) and _has_byte_masks(call):
        is_simple = isinstance(call.given["condition"], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        mask = call.text("condition") if is_simple else f"({call.text('condition')})"
        call.set(condition=f"{mask}.bool()")


def _has_byte_masks(call: Call) -> bool:
    """Older code keeps masks as uint8, which torch.where takes and ops.where doesn't."""
    return any(call.reading.source.mentions(word) for word in ("uint8", "ByteTensor", "byte"))


@rule(
    "torch.meshgrid",
    to="mindspore.ops.meshgrid",
    like="compat.meshgrid",
    defaults={"indexing": "'ij'"},
    differs="ops.meshgrid takes columns first unless told otherwise",
    cases=[
        Case("torch.meshgrid(x, y, indexing='xy')", "ops.meshgrid(x, y, indexing='xy')", shapes=((3,), (4,))),
        Case("torch.meshgrid(x, y)", "ops.meshgrid(x, y, indexing='ij')", shapes=((3,), (4,))),
        Case("torch.meshgrid([x, y])", "ms_compat.meshgrid([x, y])", shapes=((3,), (4,))),
    ],
)
def meshgrid(call: Call) -> None:
    if len(call.node.args) < 2 or not all(call.reading.type(each).is_tensor for each in call.node.args):
        call.use_like()


@rule(
    "torch.tile",
    to="mindspore.ops.tile",
    args="input dims",
    like="compat.tile",
    cases=[
        Case("torch.tile(x.abs(), (2, 3))", "ops.tile(ops.abs(x), (2, 3))", shapes=((2, 3),)),
        Case("torch.tile(x.abs(), (2,))", "ms_compat.tile(ops.abs(x), (2,))", shapes=((2, 3),)),
        Case("torch.tile(x, (2, 3))", "ms_compat.tile(x, (2, 3))", shapes=((2, 3),)),
        Case("torch.tile(x[x > 0] + 1, (2, 3))", "ms_compat.tile(x[x > 0] + 1, (2, 3))", shapes=((2, 3),)),
    ],
)
def tile(call: Call) -> None:
    dims = call.literal("dims")
    is_plain = isinstance(dims, tuple | list) and len(dims) > 1 and 0 not in dims
    if not is_plain or may_hold_nothing(call, call.given["input"]):
        call.use_like()


def _softmax(name: str) -> None:
    native = "ms_compat.plain_softmax" if name == "softmax" else f"ops.{name}"

    @rule(
        f"torch.{name}",
        to=f"mindspore.ops.{name}",
        args="input dim dtype",
        rename=AXIS,
        only={"dtype": "None"},
        like=f"compat.{name}",
        differs=VOID_ROWS if name == "softmax" else "",
        cases=[
            Case(f"torch.{name}(x, dim=1)", f"{native}(x, axis=1)", shapes=((2, 3),)),
            Case(f"torch.{name}(x, -1)", f"{native}(x, -1)", shapes=((2, 3),)),
            Case(
                f"torch.{name}(x, 1, dtype=torch.float64)",
                f"ms_compat.{name}(x, 1, dtype=ms.float64)",
                shapes=((2, 3),),
            ),
            Case(f"torch.{name}(x, dim=0)", f"ms_compat.{name}(x, dim=0)", shapes=((3, 4),)),
            Case(f"x.{name}(-1, torch.float64)", f"ms_compat.{name}(x, -1, ms.float64)", shapes=((3, 4),)),
            *(
                [
                    Case(
                        "x.masked_fill(x < 0, float('-inf')).softmax(-1)",
                        "ms_compat.softmax(x.masked_fill(x < 0, float('-inf')), -1)",
                        shapes=((9, 2),),
                        gradient=False,
                    )
                ]
                if name == "softmax"
                else []
            ),
        ],
    )
    def softmax(call: Call) -> None:
        if (
            call.extra or call.literal("dim") in (None, 0) or (name == "softmax" and may_be_void(call))
        ):  # 0: of a tensor without axes, perhaps
            call.use_like()
        elif name == "softmax" and may_be_single(call):
            call.use("compat.plain_softmax")


_softmax("softmax")
_softmax("log_softmax")

rule(
    "torch.numel",
    to="mindspore.ops.numel",
    args="input",
    like="mindspore.ops.numel",
    cases=[
        Case("torch.numel(x) * x", "ops.numel(x) * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.is_tensor",
    to="mindspore.ops.is_tensor",
    args="obj",
    like="mindspore.ops.is_tensor",
    cases=[
        Case("torch.is_tensor(x) * x", "ops.is_tensor(x) * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.is_floating_point",
    to="mindspore.ops.is_floating_point",
    args="input",
    like="mindspore.ops.is_floating_point",
    cases=[
        Case("torch.is_floating_point(x) * x", "ops.is_floating_point(x) * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.is_complex",
    to="mindspore.ops.is_complex",
    args="input",
    like="mindspore.ops.is_complex",
    cases=[
        Case("(not torch.is_complex(x)) * x", "(not ops.is_complex(x)) * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.true_divide",
    to="mindspore.ops.true_divide",
    args="input other",
    rename={"other": "divisor"},
    like="mindspore.ops.true_divide",
    cases=[
        Case("torch.true_divide(x, y)", "ops.true_divide(x, y)", shapes=((2, 3), (2, 3))),
        Case("x.true_divide(other=y)", "ops.true_divide(x, divisor=y)", shapes=((2, 3), (2, 3))),
    ],
)
rule(
    "torch.vdot",
    to="compat.dot",
    args="input other",
    rename={"other": "tensor"},
    like="compat.dot",
    cases=[
        Case("torch.vdot(x, y)", "ms_compat.dot(x, y)", shapes=((3,), (3,))),
        Case("x.vdot(other=y)", "ms_compat.dot(x, tensor=y)", shapes=((3,), (3,))),
    ],
)
rule(
    "torch.split_with_sizes",
    to="compat.split",
    args="input split_sizes dim",
    rename={"split_sizes": "split_size_or_sections"},
    like="compat.split",
    cases=[
        Case("torch.split_with_sizes(x, [1, 3], 1)", "ms_compat.split(x, [1, 3], 1)", shapes=((3, 4),)),
        Case(
            "x.split_with_sizes(split_sizes=[1, 3], dim=1)",
            "ms_compat.split(x, split_size_or_sections=[1, 3], dim=1)",
            shapes=((3, 4),),
        ),
    ],
)
