"""Normalization layers. MindSpore calls weight and bias gamma and beta, and its momentum is one minus torch's."""

from ... import Case, rule
from ..._call import Call

AFFINE = {"weight": "gamma", "bias": "beta"}
NAMES = {**AFFINE, "running_mean": "moving_mean", "running_var": "moving_variance"}
ARGS = "num_features eps momentum affine track_running_stats device dtype"


def _batch_norm(call: Call) -> None:
    momentum = call.literal("momentum", 0.1)
    if not isinstance(momentum, int | float):
        call.use_like()
        return
    if call.has("momentum"):
        kept = f"{1 - momentum:.12g}"
        call.set(momentum=kept if "." in kept or "e" in kept else f"{kept}.0")
    eps = call.literal("eps", 1e-5)
    is_unclear = eps is ... and call.kind("eps").kind != "float" and call.given["eps"] in call.node.args
    if is_unclear or (
        isinstance(eps, int | float) and eps > 1
    ):  # BatchNorm2d(64, 64) happens, and MindSpore refuses it
        call.use_like()
    else:
        _as_float(call, "eps")


def _as_float(call: Call, name: str) -> None:
    """MindSpore's operators refuse a whole number where torch takes one."""
    if isinstance(call.literal(name, 0.0), int):
        call.set(**{name: repr(float(call.literal(name)))})


for rank, shape in ((1, (4, 8, 5)), (2, (4, 8, 5, 5)), (3, (4, 8, 3, 4, 5))):
    name = f"BatchNorm{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"mindspore.nn.{name}",
        args=ARGS,
        drop="device",
        only={"affine": "True", "track_running_stats": "True", "bias": "True", "dtype": "None"},
        like=f"compat.{name}",
        params=NAMES if rank < 3 else {key: f"bn2d.{value}" for key, value in NAMES.items()},
        differs="momentum is the share of the old value: 0.9 for torch's 0.1",
        cases=[
            Case(f"nn.{name}(8)", f"nn.{name}(8)", shapes=(shape,)),
            Case(f"nn.{name}(8)", f"nn.{name}(8)", shapes=(shape[:2] if rank == 1 else shape,)),
            Case(f"nn.{name}(8, eps=1e-3, momentum=0.01)", f"nn.{name}(8, eps=1e-3, momentum=0.99)", shapes=(shape,)),
            Case(f"nn.{name}(8, affine=False)", f"ms_compat.{name}(8, affine=False)", shapes=(shape,)),
            Case(f"nn.{name}(8, 1, 1)", f"nn.{name}(8, 1.0, 0.0)", shapes=(shape,)),
            Case(
                f"nn.{name}(8, x.ndim).eval()(x)",
                f"ms_compat.{name}(8, x.ndim).set_train(False)(x)",
                shapes=(shape,),
                gradient=False,
            ),
            Case(f"nn.{name}(8, 8)", f"ms_compat.{name}(8, 8)", shapes=(shape,)),
            Case(
                f"nn.{name}(8, 1e-5, None, False, True)",
                f"ms_compat.{name}(8, 1e-5, None, False, True)",
                shapes=(shape,),
            ),
            Case(
                f"nn.{name}(8, track_running_stats=False).eval()",
                f"ms_compat.{name}(8, track_running_stats=False).set_train(False)",
                shapes=(shape,),
            ),
            Case(f"nn.{name}(8, momentum=None)", f"ms_compat.{name}(8, momentum=None)", shapes=(shape,)),
            Case(f"nn.{name}(8, bias=False)", f"ms_compat.{name}(8, bias=False)", shapes=(shape,)),
            Case(f"nn.{name}(*[8])", f"ms_compat.{name}(*[8])", shapes=(shape,)),
        ],
    )(_batch_norm)

rule(
    "torch.nn.SyncBatchNorm",
    to="compat.SyncBatchNorm",
    args="num_features eps momentum affine track_running_stats process_group device dtype",
    like="compat.SyncBatchNorm",
    differs="on one device; use mindspore.nn.SyncBatchNorm on several Ascend devices",
    cases=[
        Case(
            "nn.SyncBatchNorm(3)",
            "ms_compat.SyncBatchNorm(3)",
            shapes=((4, 3, 5, 5),),
            runs=False,
            why="torch's runs on GPUs only",
        ),
    ],
)


@rule(
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    args="module process_group",
    differs="batch norms stay as they are: right on one device",
    cases=[
        Case("nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sigmoid())(x)", "nn.Sigmoid()(x)", shapes=((2, 3),)),
    ],
)
def convert_sync_batchnorm(call: Call) -> None:
    call.replace(call.text("module"))


@rule(
    "torch.nn.LayerNorm",
    to="mindspore.nn.LayerNorm",
    args="normalized_shape eps elementwise_affine bias device dtype",
    rename={"eps": "epsilon"},
    defaults={"epsilon": "1e-5"},
    positional=1,
    drop="device",
    only={"elementwise_affine": "True", "bias": "True", "dtype": "None"},
    like="compat.LayerNorm",
    params={**AFFINE, "eps": "epsilon"},
    differs="epsilon defaults to 1e-7, and the shape must be a tuple",
    cases=[
        Case("nn.LayerNorm(6)", "nn.LayerNorm((6,), epsilon=1e-5)", shapes=((2, 3, 6),)),
        Case("nn.LayerNorm(6, eps=1e-6)", "nn.LayerNorm((6,), epsilon=1e-6)", shapes=((2, 3, 6),)),
        Case("nn.LayerNorm(6, 1)", "nn.LayerNorm((6,), epsilon=1.0)", shapes=((2, 3, 6),)),
        Case("nn.LayerNorm((6,), 1e-6)", "nn.LayerNorm((6,), epsilon=1e-6)", shapes=((4, 6),)),
        Case("nn.LayerNorm(x.shape[-1])(x)", "nn.LayerNorm((x.shape[-1],), epsilon=1e-5)(x)", shapes=((4, 6),)),
        Case("nn.LayerNorm([3, 6])", "ms_compat.LayerNorm([3, 6])", shapes=((2, 3, 6),)),
        Case(
            "nn.LayerNorm(6, elementwise_affine=False)",
            "ms_compat.LayerNorm(6, elementwise_affine=False)",
            shapes=((2, 3, 6),),
        ),
        Case("nn.LayerNorm(6, bias=False)", "ms_compat.LayerNorm(6, bias=False)", shapes=((2, 3, 6),)),
    ],
)
def layer_norm(call: Call) -> None:
    _as_float(call, "eps")
    shape = call.literal("normalized_shape")
    if isinstance(shape, int) or (shape is ... and call.kind("normalized_shape").kind == "int"):
        call.set(normalized_shape=f"({call.text('normalized_shape')},)")
    elif not (isinstance(shape, tuple) and len(shape) == 1):
        call.use_like()


@rule(
    "torch.nn.GroupNorm",
    to="mindspore.nn.GroupNorm",
    args="num_groups num_channels eps affine device dtype",
    drop="device",
    only={"dtype": "None", "bias": "True"},
    like="compat.GroupNorm",
    params=AFFINE,
    cases=[
        Case("nn.GroupNorm(2, 6)", "nn.GroupNorm(2, 6)", shapes=((2, 6, 4, 5),)),
        Case(
            "nn.GroupNorm(num_groups=3, num_channels=6, eps=1e-3)",
            "nn.GroupNorm(num_groups=3, num_channels=6, eps=1e-3)",
            shapes=((2, 6, 5),),
        ),
        Case("nn.GroupNorm(2, 6, affine=False)", "nn.GroupNorm(2, 6, affine=False)", shapes=((2, 6, 2, 3, 4),)),
        Case("nn.GroupNorm(2, 6, bias=False)", "ms_compat.GroupNorm(2, 6, bias=False)", shapes=((3, 6),)),
        Case("nn.GroupNorm(*[2, 6])", "ms_compat.GroupNorm(*[2, 6])", shapes=((3, 6),)),
        Case("nn.GroupNorm(2, 6, 1)", "nn.GroupNorm(2, 6, 1.0)", shapes=((2, 6, 4),)),
    ],
)
def group_norm(call: Call) -> None:
    _as_float(call, "eps")


for rank, shape in ((1, (2, 3, 5)), (2, (2, 3, 5, 6)), (3, (2, 3, 4, 5, 6))):
    name = f"InstanceNorm{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args=ARGS,
        like=f"compat.{name}",
        differs="MindSpore's own has no CPU kernel",
        cases=[
            Case(f"nn.{name}(3)", f"ms_compat.{name}(3)", shapes=(shape,)),
            Case(
                f"nn.{name}(3, affine=True, eps=1e-3)",
                f"ms_compat.{name}(3, affine=True, eps=1e-3)",
                shapes=(shape[1:],),
            ),
            Case(
                f"nn.{name}(3, affine=True, track_running_stats=True)",
                f"ms_compat.{name}(3, affine=True, track_running_stats=True)",
                shapes=(shape,),
            ),
            Case(
                f"nn.{name}(3, track_running_stats=True)",
                f"ms_compat.{name}(3, track_running_stats=True)",
                shapes=(shape,),
            ),
        ],
    )

rule(
    "torch.nn.RMSNorm",
    to="compat.RMSNorm",
    args="normalized_shape eps elementwise_affine device dtype",
    like="compat.RMSNorm",
    cases=[
        Case("nn.RMSNorm(6)", "ms_compat.RMSNorm(6)", shapes=((2, 3, 6),)),
        Case("nn.RMSNorm((3, 6), eps=1e-2)", "ms_compat.RMSNorm((3, 6), eps=1e-2)", shapes=((2, 3, 6),)),
        Case(
            "nn.RMSNorm(6, elementwise_affine=False)",
            "ms_compat.RMSNorm(6, elementwise_affine=False)",
            shapes=((2, 3, 6),),
        ),
    ],
)
rule(
    "torch.nn.LocalResponseNorm",
    to="compat.LocalResponseNorm",
    args="size alpha beta k",
    like="compat.LocalResponseNorm",
    cases=[
        Case("nn.LocalResponseNorm(3)", "ms_compat.LocalResponseNorm(3)", shapes=((2, 7, 4, 5),)),
        Case(
            "nn.LocalResponseNorm(2, alpha=0.5, beta=0.6, k=2.0)",
            "ms_compat.LocalResponseNorm(2, alpha=0.5, beta=0.6, k=2.0)",
            shapes=((2, 7, 5),),
        ),
    ],
)
rule(
    "torch.nn.CrossMapLRN2d",
    missing="a legacy layer that cuts its window at the edge otherwise than LocalResponseNorm",
    strategy="equivalent",
    advice="use LocalResponseNorm",
)

CLASSES = {
    "batchnorm._BatchNorm": "compat.BATCH_NORMS",
    "batchnorm._NormBase": "compat.BATCH_NORMS",
    "instancenorm._InstanceNorm": "compat.InstanceNorm",
    "conv._ConvNd": "compat.CONVOLUTIONS",
    "conv._ConvTransposeNd": "compat.TRANSPOSED_CONVOLUTIONS",
    "dropout._DropoutNd": "compat.DROPOUTS",
}
BASES = {"batchnorm._BatchNorm": "compat.SyncBatchNorm", "batchnorm._NormBase": "compat.SyncBatchNorm"}
for name, target in CLASSES.items():
    rule(
        f"torch.nn.modules.{name}",
        to=target,
        like=target,
        base=BASES.get(name, ""),
        is_group=target[7:].isupper(),
        advice="derive from the layer itself, such as nn.Conv2d",
        differs="for isinstance",
        params=NAMES if name.startswith("batchnorm") else {},
        cases=[
            Case(
                f"isinstance(x, torch.nn.modules.{name})",
                f"isinstance(x, ms_compat.{target[7:]})",
                shapes=((2, 3),),
                runs=False,
                why="a private class",
            ),
        ],
    )
