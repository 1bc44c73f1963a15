"""keras.ops and keras.random: NumPy's names for what TensorFlow's functions do."""

from .._rule import rule

SAME = """
abs exp log log1p expm1 sqrt rsqrt square sin cos tan sinh cosh asinh acosh atanh sign floor ceil round erf negative reciprocal
logical_not stop_gradient add subtract multiply maximum minimum divide divide_no_nan equal not_equal less less_equal greater
greater_equal logical_and logical_or logical_xor matmul einsum tensordot cast shape size zeros ones zeros_like ones_like eye
reshape expand_dims squeeze stack tile repeat broadcast_to roll sort argsort cumsum cumprod where norm sigmoid tanh softplus
"""
RENAMED = {
    "arcsin": "tf_asin",
    "arccos": "tf_acos",
    "arctan": "tf_atan",
    "arctan2": "tf_atan2",
    "isnan": "tf_is_nan",
    "isinf": "tf_is_inf",
    "isfinite": "tf_is_finite",
    "power": "tf_pow",
    "mod": "tf_floormod",
    "floor_divide": "tf_floordiv",
    "true_divide": "tf_divide",
    "mean": "ops_mean",
    "sum": "ops_sum",
    "max": "tf_reduce_max",
    "min": "tf_reduce_min",
    "prod": "ops_prod",
    "any": "tf_reduce_any",
    "all": "tf_reduce_all",
    "std": "ops_std",
    "var": "ops_var",
    "logsumexp": "tf_reduce_logsumexp",
    "transpose": "tf_transpose",
    "arange": "tf_range",
    "convert_to_tensor": "convert_to_tensor",
    "array": "convert_to_tensor",
    "convert_to_numpy": "to_numpy",
    "relu": "relu",
    "relu6": "relu6",
    "leaky_relu": "leaky_relu",
    "elu": "elu",
    "selu": "selu",
    "silu": "silu",
    "swish": "silu",
    "softmax": "softmax",
    "log_softmax": "log_softmax",
    "softsign": "softsign",
    "hard_sigmoid": "hard_sigmoid",
    "log_sigmoid": "log_sigmoid",
    "concatenate": "ops_concatenate",
    "clip": "tf_clip_by_value",
    "one_hot": "ops_one_hot",
    "argmax": "ops_argmax",
    "argmin": "ops_argmin",
    "take": "ops_take",
    "gelu": "ops_gelu",
    "flip": "ops_flip",
    "swapaxes": "ops_swapaxes",
    "top_k": "tf_top_k",
    "normalize": "ops_normalize",
    "full": "tf_fill",
    "dot": "tf_matmul",
}
NUMPY = """
exp2 cbrt hypot deg2rad rad2deg fabs trunc isposinf isneginf isin fliplr flipud append kron vdot layer_normalization
rms_normalization dot_product_attention nansum nanmean nanmax nanmin fori_loop scan switch select dtype
"""
ACTIVATIONS = "hard_tanh hard_shrink soft_shrink tanh_shrink threshold squareplus sparse_plus sparse_sigmoid sparsemax"
LOSSES = "categorical_crossentropy sparse_categorical_crossentropy"
KEYWORDS = {  # Keras' parameter names -> the helper's, where they differ
    "reshape": "x=tensor newshape=shape",
    "transpose": "x=a axes=perm",
    "expand_dims": "x=input",
    "squeeze": "x=input",
    "stack": "x=values",
    "tile": "x=input repeats=multiples",
    "repeat": "x=input",
    "broadcast_to": "x=input",
    "roll": "x=input",
    "sort": "x=values",
    "argsort": "x=values",
    "where": "x1=x x2=y",
    "divide_no_nan": "x1=x x2=y",
    "norm": "x=tensor",
    "softplus": "x=features",
    "clip": "x=t x_min=clip_value_min x_max=clip_value_max",
    "matmul": "x1=a x2=b",
    "dot": "x1=a x2=b",
    "tensordot": "x1=a x2=b",
    "einsum": "subscripts=equation",
    "shape": "x=input",
    "size": "x=input",
    "zeros_like": "x=input",
    "ones_like": "x=input",
    "convert_to_tensor": "x=value",
    "array": "x=value",
    "top_k": "x=input",
    "full": "shape=dims fill_value=value",
    "arange": "stop=limit step=delta",
}
RANDOM = {
    "normal": "random_normal",
    "uniform": "random_uniform",
    "truncated_normal": "random_truncated_normal",
    "shuffle": "random_shuffle",
    "SeedGenerator": "SeedGenerator",
    "dropout": "tf_dropout",
    "randint": "random_integers",
    "categorical": "random_choices",
}


def _renamed(name: str) -> dict[str, str]:
    return dict(each.split("=") for each in KEYWORDS.get(name, "").split())


for name in SAME.split():
    rule(f"keras.ops.{name}", to=f"compat.tf_{name}", like=f"compat.tf_{name}", rename=_renamed(name))
for name, helper in RENAMED.items():
    rule(f"keras.ops.{name}", to=f"compat.{helper}", like=f"compat.{helper}", rename=_renamed(name))
for name in NUMPY.split():
    rule(f"keras.ops.{name}", to=f"compat.ops_{name}", like=f"compat.ops_{name}")
for name in ACTIVATIONS.split():
    rule(f"keras.ops.{name}", to=f"compat.{name}", like=f"compat.{name}")
for name in LOSSES.split():
    rule(
        f"keras.ops.{name}",
        to=f"compat.{name}",
        args="target output from_logits axis",
        rename={"target": "y_true", "output": "y_pred"},
        positional=2,  # the losses of the same name have more options in between
    )
rule(
    "keras.ops.moments",
    to="compat.tf_moments",
    args="x axes keepdims synchronized",
    drop="synchronized",
    positional=2,  # TensorFlow's third one is another
)
for name, helper in RANDOM.items():
    rule(f"keras.random.{name}", to=f"compat.{helper}", like=f"compat.{helper}")
