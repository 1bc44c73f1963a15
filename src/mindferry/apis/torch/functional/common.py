"""The everyday functions of torch.nn.functional, as mindspore.ops spells them."""

import ast

from ... import Case, rule
from ..._call import Call
from .._selections import EMPTY_SUMS, may_be_empty, may_hold_nothing
from .._void_rows import VOID_ROWS, may_be_single, may_be_void

F = "torch.nn.functional."


def _plain(
    name: str, to: str, args: str = "input inplace", after: str = "", shapes: tuple[tuple[int, ...], ...] = ((3, 4),)
) -> None:
    """An activation that only loses `inplace`."""
    rule(
        F + name,
        to=f"mindspore.ops.{to}",
        args=args,
        drop="inplace",
        like=f"compat.{name}",
        cases=[
            Case(f"F.{name}(x)", f"ops.{to}(x)", shapes=shapes),
            *(
                [Case(f"F.{name}(x, inplace=True)", f"ops.{to}(x)", shapes=shapes, gradient=False)]
                if "inplace" in args
                else []
            ),
        ],
    )


_plain("relu", "relu")
_plain("silu", "silu")
_plain("hardsigmoid", "hardsigmoid")
rule(
    F + "mish",
    to="compat.mish",
    args="input inplace",
    drop="inplace",
    like="compat.mish",
    differs="MindSpore's is NaN from 44 on, on CPU",
    cases=[
        Case("F.mish(x)", "ms_compat.mish(x)", inputs=("float32[3,40](-120,120)",)),
        Case("F.mish(x, inplace=True)", "ms_compat.mish(x)", shapes=((3, 4),), gradient=False),
    ],
)
for _name in ("relu6", "hardswish"):
    rule(
        F + _name,
        to=f"compat.{_name}",
        args="input inplace",
        drop="inplace",
        like=f"compat.{_name}",
        differs="MindSpore's has another gradient exactly at the bounds",
        cases=[
            Case(f"F.{_name}(x)", f"ms_compat.{_name}(x)", inputs=("float32[3,40](-7,7)",)),
            Case(f"F.{_name}(x, inplace=True)", f"ms_compat.{_name}(x)", shapes=((3, 4),), gradient=False),
        ],
    )
rule(
    "torch.relu",
    to="mindspore.ops.relu",
    args="input",
    like="mindspore.ops.relu",
    cases=[
        Case("torch.relu(x)", "ops.relu(x)", shapes=((3, 4),)),
    ],
)
rule(
    F + "sigmoid",
    to="mindspore.ops.sigmoid",
    args="input",
    like="mindspore.ops.sigmoid",
    cases=[
        Case("F.sigmoid(x)", "ops.sigmoid(x)", shapes=((3, 4),)),
    ],
)
for _api, _call in ((F + "tanh", "F.tanh"), ("torch.tanh", "torch.tanh")):
    rule(
        _api,
        to="compat.tanh",
        args="input",
        like="compat.tanh",
        differs="ops.tanh is off by 1e-4 in float32 on CPU, its gradient by 2e-4, and the gradient vanishes beyond 5",
        cases=[
            Case(f"{_call}(x)", "ms_compat.tanh(x)", inputs=("float32[40,50](-20,20)",)),
            Case(f"{_call}(x)", "ms_compat.tanh(x)", inputs=("float32[40,50](-1,1)",)),
            Case("x.tanh()", "ms_compat.tanh(x)", inputs=("float64[4,5](-9,9)",)),
        ],
    )

rule(
    F + "leaky_relu",
    to="compat.leaky_relu",
    args="input negative_slope inplace",
    drop="inplace",
    like="compat.leaky_relu",
    differs="ops.leaky_relu has a slope of 0.2 unless told, and at 0 a gradient of (1 + slope) / 2, torch's is the slope",
    cases=[
        Case("F.leaky_relu(x)", "ms_compat.leaky_relu(x)", shapes=((3, 4),)),
        Case("F.leaky_relu(x, 0.2, inplace=True)", "ms_compat.leaky_relu(x, 0.2)", shapes=((3, 4),), gradient=False),
        Case(
            "F.leaky_relu(x - x.detach() * (x > 0), 0.2)",
            "ms_compat.leaky_relu(x - ops.stop_gradient(x) * (x > 0), 0.2)",
            shapes=((3, 4),),
        ),
    ],
)
rule(
    F + "gelu",
    to="mindspore.ops.gelu",
    args="input approximate",
    like="mindspore.ops.gelu",
    cases=[
        Case("F.gelu(x)", "ops.gelu(x)", shapes=((3, 4),)),
        Case("F.gelu(x, approximate='tanh')", "ops.gelu(x, approximate='tanh')", shapes=((3, 4),)),
    ],
)


def _softmax(name: str) -> None:
    native = "ms_compat.plain_softmax" if name == "softmax" else f"ops.{name}"

    @rule(
        F + name,
        to=f"mindspore.ops.{name}",
        args="input dim _stacklevel dtype",
        rename={"dim": "axis"},
        drop="_stacklevel",
        only={"dtype": "None"},
        like=f"compat.{name}",
        differs=VOID_ROWS if name == "softmax" else "",
        cases=[
            Case(f"F.{name}(x, dim=1)", f"{native}(x, axis=1)", shapes=((3, 4),)),
            Case(f"F.{name}(x, -1)", f"{native}(x, -1)", shapes=((3, 4),)),
            Case(
                f"F.{name}(x, dim=-1, dtype=torch.float64)",
                f"ms_compat.{name}(x, dim=-1, dtype=ms.float64)",
                shapes=((3, 4),),
            ),
            Case(f"F.{name}(x, dim=0)", f"ms_compat.{name}(x, dim=0)", shapes=((3, 4),)),
            *(
                [
                    Case(
                        "F.softmax(x.masked_fill(x < 0, -torch.inf), dim=1)",
                        "ms_compat.softmax(ms_compat.masked_fill(x, x < 0, -math.inf), dim=1)",
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
        if call.literal("dim") in (None, 0) or (
            name == "softmax" and may_be_void(call)
        ):  # 0: of a tensor without axes, perhaps
            call.use_like()
        elif name == "softmax" and may_be_single(call):
            call.use("compat.plain_softmax")


_softmax("softmax")
_softmax("log_softmax")


@rule(
    F + "dropout",
    to="mindspore.ops.dropout",
    args="input p training inplace",
    drop="inplace",
    like="compat.dropout",
    cases=[
        Case("F.dropout(x, 0.3, training=False)", "ops.dropout(x, 0.3, training=False)", shapes=((3, 4),)),
        Case("F.dropout(x, p=0.3)", "ops.dropout(x, p=0.3)", shapes=((30, 40),), random=True),
        Case("F.dropout(x, 1.0)", "ms_compat.dropout(x, 1.0)", shapes=((30, 40),), random=True),
    ],
)
def dropout(call: Call) -> None:
    share = call.literal("p", 0.5)
    if share is not ... and not 0 <= share < 1:
        call.use_like()


@rule(
    F + "pad",
    to="mindspore.ops.pad",
    args="input pad mode value",
    rename={"pad": "padding"},
    like="compat.pad",
    cases=[
        Case("F.pad(x + 1, (1, 2, 3, 0))", "ops.pad(x + 1, (1, 2, 3, 0))", shapes=((2, 3, 4, 5),)),
        Case("F.pad(x + 1, [1, 2], value=1.5)", "ops.pad(x + 1, [1, 2], value=1.5)", shapes=((2, 3, 4),)),
        Case(
            "F.pad(x + 1, pad=(1, 1), mode='constant', value=0)",
            "ops.pad(x + 1, padding=(1, 1), mode='constant', value=0)",
            shapes=((2, 3, 4),),
        ),
        Case("F.pad(x, (1, 2, 3, 0))", "ms_compat.pad(x, (1, 2, 3, 0))", shapes=((2, 3, 4, 5),)),
        Case("F.pad(x[x > 0], (0, 9))", "ms_compat.pad(x[x > 0], (0, 9))", shapes=((2, 3),)),
        Case(
            "F.pad(x, (1, 1, 1, 1), mode='reflect')",
            "ms_compat.pad(x, (1, 1, 1, 1), mode='reflect')",
            shapes=((2, 3, 4, 5),),
        ),
        Case("F.pad(x, (-1, 1))", "ms_compat.pad(x, (-1, 1))", shapes=((2, 3, 4),)),
    ],
)
def pad(call: Call) -> None:
    sides = call.literal("pad")
    known = isinstance(sides, tuple | list) and all(isinstance(each, int) and each >= 0 for each in sides)
    is_native = known and call.literal("mode", "constant") == "constant"
    if not is_native or ("input" in call.given and may_hold_nothing(call, call.given["input"])):
        call.use_like()


def _interpolation(name: str, args: str) -> None:
    @rule(
        F + name,
        to="mindspore.ops.interpolate",
        args=args,
        like=f"compat.{name}",
        cases=[
            Case(
                f"F.{name}(x, size=(8, 10), mode='bilinear', align_corners=False)",
                "ops.interpolate(x, size=(8, 10), mode='bilinear', align_corners=False)",
                shapes=((2, 3, 4, 5),),
            ),
            Case(
                f"F.{name}(x, scale_factor=2, mode='nearest')",
                "ops.interpolate(x, scale_factor=2.0, mode='nearest', recompute_scale_factor=True)",
                shapes=((2, 3, 4, 5),),
            ),
            Case(
                f"F.{name}(x, (8, 10), mode='bicubic')",
                f"ms_compat.{name}(x, (8, 10), mode='bicubic')",
                shapes=((2, 3, 4, 5),),
            ),
            Case(
                f"F.{name}(x, scale_factor=1.5, mode='bilinear')",
                f"ms_compat.{name}(x, scale_factor=1.5, mode='bilinear')",
                shapes=((2, 3, 4, 5),),
            ),
        ],
    )
    def interpolation(call: Call) -> None:
        mode, factor = call.literal("mode", "nearest"), call.literal("scale_factor")
        is_whole = isinstance(factor, int | float) and float(factor).is_integer() and factor > 0
        size_known = (
            call.has("size") and call.literal("size", None) is not None and call.kind("size").kind in ("tuple", "size")
        )
        if (
            call.literal("antialias", False)
            or mode not in ("nearest", "bilinear")
            or call.has("recompute_scale_factor")
        ):
            call.use_like()
        elif is_whole and not call.has("size"):
            call.set(scale_factor=repr(float(factor)), recompute_scale_factor="True")
        elif not (size_known and factor is None):
            call.use_like()


_interpolation("interpolate", "input size scale_factor mode align_corners recompute_scale_factor antialias")
_interpolation("upsample", "input size scale_factor mode align_corners")


def _is_in_class(call: Call) -> bool:
    node: ast.AST | None = call.node
    while node is not None and not isinstance(node, ast.ClassDef):
        node = call.reading.source.parents.get(node)
    return node is not None


@rule(
    F + "conv2d",
    to="mindspore.ops.conv2d",
    args="input weight bias stride padding dilation groups",
    positional=4,
    like="compat.conv2d",
    differs="a network's own methods get batches and MindSpore's own function; elsewhere a single image may come, which that one refuses",
    cases=[
        Case("F.conv2d(x, y)", "ms_compat.conv2d(x, y)", shapes=((3, 7, 7), (4, 3, 3, 3))),
        Case(
            "F.conv2d(x, y, z, stride=2, padding=1)",
            "ms_compat.conv2d(x, y, z, stride=2, padding=1)",
            shapes=((2, 3, 7, 7), (4, 3, 3, 3), (4,)),
        ),
        Case(
            "F.conv2d(x, y, None, 1, (1, 2), 1, 3)",
            "ms_compat.conv2d(x, y, None, 1, (1, 2), 1, 3)",
            shapes=((2, 3, 7, 7), (6, 1, 3, 3)),
        ),
        Case(
            "F.conv2d(x, y, padding='same')",
            "ms_compat.conv2d(x, y, padding='same')",
            shapes=((2, 3, 7, 7), (4, 3, 3, 3)),
        ),
        Case(
            "F.conv2d(x, y, padding=x.shape[0] - 1)",
            "ms_compat.conv2d(x, y, padding=x.shape[0] - 1)",
            shapes=((2, 3, 7, 7), (4, 3, 3, 3)),
        ),
    ],
)
def conv2d(call: Call) -> None:
    padding = call.literal("padding", 0)
    if not _is_in_class(call):
        call.use_like()
    elif isinstance(padding, int | tuple) and call.has("padding"):
        call.set(pad_mode="'pad'")
    elif padding != 0:
        call.use_like()


@rule(
    F + "max_pool2d",
    to="compat.max_pool2d_values",
    args="input kernel_size stride padding dilation ceil_mode return_indices",
    positional=5,
    like="compat.max_pool2d",
    cases=[
        Case("F.max_pool2d(x, 2)", "ms_compat.max_pool2d_values(x, 2)", shapes=((2, 3, 8, 8),)),
        Case(
            "F.max_pool2d(x, 3, stride=2, padding=1)",
            "ms_compat.max_pool2d_values(x, 3, stride=2, padding=1)",
            shapes=((2, 3, 8, 8),),
        ),
        Case(
            "F.max_pool2d(x, kernel_size=3, stride=2, ceil_mode=True)",
            "ms_compat.max_pool2d_values(x, kernel_size=3, stride=2, ceil_mode=True)",
            shapes=((2, 3, 8, 8),),
        ),
        Case(
            "F.max_pool2d(x, 2, return_indices=True)",
            "ms_compat.max_pool2d(x, 2, return_indices=True)",
            shapes=((2, 3, 8, 8),),
        ),
    ],
)
def max_pool2d(call: Call) -> None:
    if call.has("return_indices"):
        call.use_like()


@rule(
    F + "avg_pool2d",
    to="mindspore.ops.avg_pool2d",
    args="input kernel_size stride padding ceil_mode count_include_pad divisor_override",
    like="compat.avg_pool2d",
    differs="ops.avg_pool2d has a stride of 1",
    cases=[
        Case("F.avg_pool2d(x, 2)", "ops.avg_pool2d(x, 2, stride=2)", shapes=((2, 3, 8, 8),)),
        Case("F.avg_pool2d(x, 3, stride=2)", "ops.avg_pool2d(x, 3, stride=2)", shapes=((2, 3, 9, 9),)),
        Case("F.avg_pool2d(x, x.size(2))", "ops.avg_pool2d(x, x.shape[2], stride=x.shape[2])", shapes=((2, 3, 8, 8),)),
        Case("F.avg_pool2d(x, x.shape[2:])", "ms_compat.avg_pool2d(x, x.shape[2:])", shapes=((2, 3, 8, 8),)),
        Case(
            "F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)",
            "ms_compat.avg_pool2d(x, 3, 2, 1, count_include_pad=False)",
            shapes=((2, 3, 8, 8),),
        ),
    ],
)
def avg_pool2d(call: Call) -> None:
    kernel = call.literal("kernel_size")
    special = ("padding", "ceil_mode", "count_include_pad", "divisor_override")
    is_number = isinstance(kernel, int) or call.kind("kernel_size").kind == "int"
    if not is_number or any(call.has(name) for name in special):
        call.use_like()
    elif call.literal("stride") is None:
        call.set(stride=call.text("kernel_size"))


rule(
    F + "adaptive_avg_pool2d",
    to="mindspore.ops.adaptive_avg_pool2d",
    args="input output_size",
    like="mindspore.ops.adaptive_avg_pool2d",
    cases=[
        Case("F.adaptive_avg_pool2d(x, (1, 1))", "ops.adaptive_avg_pool2d(x, (1, 1))", shapes=((2, 3, 8, 8),)),
        Case("F.adaptive_avg_pool2d(x, (3, 5))", "ops.adaptive_avg_pool2d(x, (3, 5))", shapes=((2, 3, 8, 8),)),
    ],
)


@rule(
    F + "grid_sample",
    to="mindspore.ops.grid_sample",
    args="input grid mode padding_mode align_corners",
    like="compat.grid_sample",
    cases=[
        Case(
            "F.grid_sample(x, y.tanh(), align_corners=False)",
            "ops.grid_sample(x, ms_compat.tanh(y), align_corners=False)",
            shapes=((2, 3, 8, 8), (2, 4, 4, 2)),
        ),
        Case(
            "F.grid_sample(x, y.tanh(), mode='nearest', padding_mode='border')",
            "ops.grid_sample(x, ms_compat.tanh(y), mode='nearest', padding_mode='border')",
            shapes=((2, 3, 8, 8), (2, 4, 4, 2)),
        ),
        Case(
            "F.grid_sample(x, y, mode='bicubic')",
            "ms_compat.grid_sample(x, y, mode='bicubic')",
            inputs=("float32[2,3,8,8]", "float32[2,4,4,2](-1,1)"),
        ),
    ],
)
def grid_sample(call: Call) -> None:
    if call.literal("mode", "bilinear") not in ("bilinear", "nearest"):
        call.use_like()


def _loss(
    name: str, args: str, before: str, after: str, helper_before: str, helper_after: str, shapes: tuple[str, ...]
) -> None:
    """A loss that MindSpore has too, but for the two arguments that torch has given up."""

    @rule(
        F + name,
        to=f"mindspore.ops.{name}",
        args=args,
        only={"size_average": "None", "reduce": "None"},
        like=f"compat.{name}",
        positional=2,
        differs=EMPTY_SUMS,
        cases=[Case(before, after, inputs=shapes), Case(helper_before, helper_after, inputs=shapes)],
    )
    def loss(call: Call) -> None:
        if may_be_empty(call, "input", "target") or (name in PICKING and call.reading.source.writes_negative_infinity):
            call.use_like()


PICKING = ("cross_entropy", "nll_loss")  # MindSpore's multiply what is not picked by zero: NaN for a masked -inf
_PAIR = ("float32[3,4]", "float32[3,4]")
for _name in ("mse_loss", "l1_loss"):
    _loss(
        _name,
        "input target size_average reduce reduction",
        f"F.{_name}(x, y, reduction='sum')",
        f"ops.{_name}(x, y, reduction='sum')",
        f"F.{_name}(x, y, reduce=False)",
        f"ms_compat.{_name}(x, y, reduce=False)",
        _PAIR,
    )


@rule(
    F + "smooth_l1_loss",
    to="mindspore.ops.smooth_l1_loss",
    args="input target size_average reduce reduction beta",
    positional=2,
    only={"size_average": "None", "reduce": "None"},
    defaults={"reduction": "'mean'"},
    like="compat.smooth_l1_loss",
    differs="ops.smooth_l1_loss doesn't reduce unless told to",
    cases=[
        Case("F.smooth_l1_loss(x, y, beta=0.5)", "ops.smooth_l1_loss(x, y, beta=0.5, reduction='mean')", inputs=_PAIR),
        Case(
            "F.smooth_l1_loss(x, y, size_average=False)",
            "ms_compat.smooth_l1_loss(x, y, size_average=False)",
            inputs=_PAIR,
        ),
        Case("F.smooth_l1_loss(x, y, beta=0)", "ms_compat.smooth_l1_loss(x, y, beta=0)", inputs=_PAIR),
    ],
)
def smooth_l1_loss(call: Call) -> None:
    if call.literal("beta", 1.0) == 0 or may_be_empty(call, "input", "target"):
        call.use_like()


_LABELLED = ("float32[6,5]", "int64[6](0,5)")
_loss(
    "cross_entropy",
    "input target weight size_average ignore_index reduce reduction label_smoothing",
    "F.cross_entropy(x, y, ignore_index=2, label_smoothing=0.1)",
    "ops.cross_entropy(x, y, ignore_index=2, label_smoothing=0.1)",
    "F.cross_entropy(x, y, reduce=False)",
    "ms_compat.cross_entropy(x, y, reduce=False)",
    _LABELLED,
)
_loss(
    "nll_loss",
    "input target weight size_average ignore_index reduce reduction",
    "F.nll_loss(x, y, reduction='sum')",
    "ops.nll_loss(x, y, reduction='sum')",
    "F.nll_loss(x, y, size_average=False)",
    "ms_compat.nll_loss(x, y, size_average=False)",
    _LABELLED,
)
