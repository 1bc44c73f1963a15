"""torch.nn.utils: clipping, weights computed from others, parameters as a vector, fusing."""

from ... import Case, rule

UTILS = "torch.nn.utils"
ALONE = "needs a network around it; tests/apis/test_module_methods.py runs it"
RULES = (
    (
        "clip_grad_norm_",
        "clip_grad_norm",
        "parameters max_norm norm_type error_if_nonfinite foreach",
        "nn.Sigmoid().parameters(), 1.0",
        "nn.Sigmoid().trainable_params(), 1.0",
    ),
    (
        "clip_grad_value_",
        "clip_grad_value",
        "parameters clip_value foreach",
        "nn.Sigmoid().parameters(), 1.0",
        "nn.Sigmoid().trainable_params(), 1.0",
    ),
    (
        "vector_to_parameters",
        "vector_to_parameters",
        "vec parameters",
        "x, nn.Sigmoid().parameters()",
        "x, ms_compat.parameters(nn.Sigmoid())",
    ),
)
for name, helper, args, before, after in RULES:
    rule(
        f"{UTILS}.{name}",
        to=f"compat.{helper}",
        args=args,
        like=f"compat.{helper}",
        cases=[
            Case(f"{UTILS}.{name}({before})", f"ms_compat.{helper}({after})", shapes=((3,),), runs=False, why=ALONE),
        ],
    )
rule(
    f"{UTILS}.clip_grad_norm",
    to="compat.clip_grad_norm",
    args="parameters max_norm norm_type",
    like="compat.clip_grad_norm",
    cases=[
        Case(
            f"{UTILS}.clip_grad_norm([x], 1.0)",
            "ms_compat.clip_grad_norm([x], 1.0)",
            shapes=((3,),),
            runs=False,
            why=ALONE,
        ),
    ],
)
rule(
    f"{UTILS}.get_total_norm",
    to="compat.total_norm",
    args="tensors norm_type error_if_nonfinite foreach",
    drop="error_if_nonfinite foreach",
    like="compat.total_norm",
    cases=[
        Case(
            f"{UTILS}.get_total_norm([x, y]) * x",
            "ms_compat.total_norm([x, y]) * x",
            shapes=((2, 3), (4,)),
            gradient=False,
        ),
        Case(
            f"{UTILS}.get_total_norm([x, y], float('inf')) * x",
            "ms_compat.total_norm([x, y], float('inf')) * x",
            shapes=((2, 3), (4,)),
            gradient=False,
        ),
    ],
)
rule(
    f"{UTILS}.parameters_to_vector",
    to="compat.parameters_to_vector",
    args="parameters",
    like="compat.parameters_to_vector",
    cases=[
        Case(f"{UTILS}.parameters_to_vector([x, y])", "ms_compat.parameters_to_vector([x, y])", shapes=((2, 3), (4,))),
    ],
)
rule(
    "torch._utils._flatten_dense_tensors",
    to="compat.parameters_to_vector",
    args="tensors",
    like="compat.parameters_to_vector",
    cases=[
        Case(
            "torch._utils._flatten_dense_tensors([x, y])",
            "ms_compat.parameters_to_vector([x, y])",
            shapes=((2, 3), (4,)),
        ),
    ],
)
rule(
    "torch._utils._unflatten_dense_tensors",
    to="compat.unflatten_dense_tensors",
    args="flat tensors",
    like="compat.unflatten_dense_tensors",
    cases=[
        Case(
            "torch._utils._unflatten_dense_tensors(x, (y, z))",
            "ms_compat.unflatten_dense_tensors(x, (y, z))",
            shapes=((10,), (2, 3), (4,)),
        ),
    ],
)

DIFFERS = "the factors keep torch's names: weight_g, weight_v, weight_orig, weight_u"
for home in (UTILS, f"{UTILS}.parametrizations"):
    spectral = "spectral_norm" if home == UTILS else "parametrized_spectral_norm"
    rule(
        f"{home}.weight_norm",
        to="compat.weight_norm",
        args="module name dim",
        like="compat.weight_norm",
        differs=DIFFERS,
        cases=[
            Case(
                f"{home}.weight_norm(nn.Linear(3, 4))",
                "ms_compat.weight_norm(nn.Dense(3, 4))",
                shapes=((2, 3),),
                gradient=False,
            ),
            Case(
                f"{home}.weight_norm(nn.Conv1d(3, 4, 3))",
                "ms_compat.weight_norm(ms_compat.Conv1d(3, 4, 3))",
                shapes=((2, 3, 6),),
                gradient=False,
            ),
            Case(
                f"{home}.weight_norm(nn.Conv2d(3, 4, 3), name='weight', dim=1)",
                "ms_compat.weight_norm(nn.Conv2d(3, 4, 3, has_bias=True, pad_mode='pad'), name='weight', dim=1)",
                shapes=((2, 3, 6, 6),),
                gradient=False,
            ),
        ],
    )
    rule(
        f"{home}.spectral_norm",
        to=f"compat.{spectral}",
        args="module name n_power_iterations eps dim",
        like=f"compat.{spectral}",
        differs=DIFFERS,
        cases=[
            Case(
                f"{home}.spectral_norm(nn.Linear(3, 4))",
                f"ms_compat.{spectral}(nn.Dense(3, 4))",
                shapes=((2, 3),),
                gradient=False,
            ),
            Case(
                f"{home}.spectral_norm(nn.ConvTranspose2d(3, 4, 3), n_power_iterations=2)",
                f"ms_compat.{spectral}(nn.Conv2dTranspose(3, 4, 3, has_bias=True, pad_mode='pad'), n_power_iterations=2)",
                shapes=((2, 3, 6, 6),),
                gradient=False,
            ),
        ],
    )
for kind in ("weight_norm", "spectral_norm"):
    rule(
        f"{UTILS}.remove_{kind}",
        to=f"compat.remove_{kind}",
        args="module name",
        like=f"compat.remove_{kind}",
        cases=[
            Case(
                f"{UTILS}.remove_{kind}({UTILS}.{kind}(nn.Linear(3, 4)))",
                f"ms_compat.remove_{kind}(ms_compat.{kind}(nn.Dense(3, 4)))",
                shapes=((2, 3),),
            ),
        ],
    )
for home in (UTILS, f"{UTILS}.fusion"):
    rule(
        f"{home}.fuse_conv_bn_eval",
        to="compat.fuse_conv_bn_eval",
        args="conv bn transpose",
        only={"transpose": "False"},
        like="compat.fuse_conv_bn_eval",
        differs="two-dimensional convolutions",
        cases=[
            Case(
                f"{home}.fuse_conv_bn_eval(nn.Conv2d(3, 4, 3, bias=False).eval(), nn.BatchNorm2d(4).eval())",
                "ms_compat.fuse_conv_bn_eval(nn.Conv2d(3, 4, 3, has_bias=False, pad_mode='pad').set_train(False), nn.BatchNorm2d(4).set_train(False))",
                shapes=((2, 3, 6, 6),),
                gradient=False,
            ),
        ],
    )
    rule(
        f"{home}.fuse_linear_bn_eval",
        to="compat.fuse_linear_bn_eval",
        args="linear bn",
        like="compat.fuse_linear_bn_eval",
        cases=[
            Case(
                f"{home}.fuse_linear_bn_eval(nn.Linear(3, 4).eval(), nn.BatchNorm1d(4).eval())",
                "ms_compat.fuse_linear_bn_eval(nn.Dense(3, 4).set_train(False), nn.BatchNorm1d(4).set_train(False))",
                shapes=((2, 3),),
            ),
        ],
    )
rule(
    "torch.nn.quantized.FloatFunctional",
    to="compat.FloatFunctional",
    like="compat.FloatFunctional",
    cases=[
        Case(
            "torch.nn.quantized.FloatFunctional().add_relu(x, y)",
            "ms_compat.FloatFunctional().add_relu(x, y)",
            shapes=((2, 3), (2, 3)),
        ),
    ],
)

PRUNE = "MindSpore has no pruning by masks"
for name in (
    "l1_unstructured",
    "random_unstructured",
    "ln_structured",
    "random_structured",
    "global_unstructured",
    "remove",
    "custom_from_mask",
    "is_pruned",
):
    rule(
        f"{UTILS}.prune.{name}",
        missing=PRUNE,
        strategy="wrapper",
        advice="set the small weights to zero and multiply the gradients by the mask",
    )
for name in ("register_parametrization", "remove_parametrizations", "is_parametrized"):
    rule(
        f"{UTILS}.parametrize.{name}",
        missing="a Cell's parameter can't be computed by another cell",
        strategy="wrapper",
        advice="write a Cell that computes the weight in construct",
    )
rule(
    f"{UTILS}.parametrizations.orthogonal",
    missing="MindSpore has no parametrizations",
    strategy="wrapper",
    advice="orthogonalize the weight after each step",
)
rule(
    f"{UTILS}.stateless.functional_call",
    missing="a Cell can't be called with other parameters than its own",
    strategy="equivalent",
    advice="load the parameters into a copy of the network, or use mindspore.value_and_grad with weights",
)
rule(
    "torch.nn.intrinsic.qat.freeze_bn_stats",
    missing="MindSpore has no quantization-aware training here",
    strategy="not needed",
    advice="remove it",
)
rule(
    "torch.nn.__dict__.items",
    missing="the names of mindspore.nn differ from torch.nn's",
    strategy="equivalent",
    advice="name the layers that are meant",
)
