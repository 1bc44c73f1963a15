"""keras.ops beyond TensorFlow's names, and keras.backend, whose functions older programs call `K.mean` and the like."""

from .._rule import rule
from ._options import check_options

OPS = """
diagonal diff full_like hstack vstack inner outer isclose log10 log2 logaddexp median quantile moveaxis nan_to_num nonzero pad
ravel rot90 scatter slice slice_update split take_along_axis tril triu tri unstack conv depthwise_conv max_pool average_pool
binary_crossentropy multi_hot ndim average ptp
"""
OPS_RENAMED = {
    "linspace": "tf_linspace",
    "absolute": "tf_abs",
    "amax": "tf_reduce_max",
    "amin": "tf_reduce_min",
    "arccosh": "tf_acosh",
    "arcsinh": "tf_asinh",
    "arctanh": "tf_atanh",
    "celu": "celu",
    "glu": "glu",
    "hard_silu": "hard_silu",
    "hard_swish": "hard_silu",
    "cond": "tf_cond",
    "copy": "tf_identity",
    "count_nonzero": "tf_count_nonzero",
    "cross": "tf_cross",
    "diag": "tf_diag",
    "empty": "tf_zeros",
    "empty_like": "tf_zeros_like",
    "erfc": "tf_erfc",
    "identity": "tf_eye",
    "inv": "tf_inv",
    "det": "tf_det",
    "cholesky": "tf_cholesky",
    "solve": "tf_solve",
    "trace": "tf_trace",
    "is_tensor": "tf_is_tensor",
    "map": "tf_map_fn",
    "vectorized_map": "tf_map_fn",
    "meshgrid": "tf_meshgrid",
    "segment_sum": "segment_sum",
    "segment_max": "segment_max",
    "segment_min": "segment_min",
    "scatter_update": "tf_tensor_scatter_nd_update",
    "while_loop": "tf_while_loop",
    "bincount": "tf_bincount",
    "searchsorted": "tf_searchsorted",
    "in_top_k": "tf_in_top_k",
    "unravel_index": "tf_unravel_index",
    "logdet": "tf_logdet",
}
BACKEND = {
    "tf_": "abs cast cos cumprod cumsum equal exp eye greater greater_equal less less_equal log "
    "maximum minimum not_equal one_hot ones ones_like pow reshape round shape sigmoid sign sin softmax softplus softsign sqrt "
    "square squeeze stack stop_gradient tanh tile transpose zeros zeros_like gather map_fn bias_add l2_normalize foldl foldr reverse",
    "tf_reduce_": "all any max min prod sum",
    "": "epsilon cast_to_floatx hard_sigmoid relu elu",
    "backend_": "mean std var argmax argmin expand_dims concatenate flatten batch_flatten int_shape get_value switch random_bernoulli dtype",
}
BACKEND_RENAMED = {
    "arange": "tf_range",
    "clip": "tf_clip_by_value",
    "constant": "constant",
    "variable": "Variable",
    "dot": "tf_matmul",
    "eval": "backend_get_value",
    "permute_dimensions": "backend_permute",
    "random_normal": "random_normal",
    "random_uniform": "random_uniform",
    "truncated_normal": "random_truncated_normal",
    "repeat_elements": "tf_repeat",
    "set_value": "assign",
    "update": "assign",
    "update_add": "assign_add",
    "update_sub": "assign_sub",
    "ndim": "ops_ndim",
    "binary_crossentropy": "ops_binary_crossentropy",
    "categorical_crossentropy": "categorical_crossentropy",
    "sparse_categorical_crossentropy": "sparse_categorical_crossentropy",
    "dropout": "tf_dropout",
}
KEYWORDS = {
    "keras.backend.clip": {"x": "t", "min_value": "clip_value_min", "max_value": "clip_value_max"},
    "keras.backend.reshape": {"x": "tensor"},
    "keras.backend.transpose": {"x": "a"},
    "keras.backend.repeat_elements": {"x": "input", "rep": "repeats"},
    "keras.backend.tile": {"x": "input", "n": "multiples"},
    "keras.backend.squeeze": {"x": "input"},
    "keras.backend.stack": {"x": "values"},
    "keras.backend.dot": {"x": "a", "y": "b"},
    "keras.backend.relu": {"alpha": "negative_slope"},
    "keras.backend.pow": {"a": "y"},
    "keras.backend.one_hot": {"num_classes": "depth"},
    "keras.backend.dropout": {"level": "rate"},
    "keras.backend.softmax": {"x": "logits"},
    "keras.backend.set_value": {"x": "variable"},
    "keras.backend.update": {"x": "variable", "new_x": "value"},
    "keras.backend.update_add": {"x": "variable", "increment": "delta"},
    "keras.backend.update_sub": {"x": "variable", "decrement": "delta"},
    "keras.ops.map": {"f": "fn", "xs": "elems"},
    "keras.ops.vectorized_map": {"function": "fn", "elements": "elems"},
    "keras.ops.scatter_update": {"inputs": "tensor"},
}
for kind in ("all", "any", "max", "mean", "min", "prod", "std", "sum", "var"):
    KEYWORDS[f"keras.backend.{kind}"] = {"x": "input_tensor"}


def _add(api: str, helper: str) -> None:
    rule(api, to=f"compat.{helper}", like=f"compat.{helper}", rename=KEYWORDS.get(api, {}))


for name in OPS.split():
    _add(f"keras.ops.{name}", f"ops_{name}")
for name, helper in OPS_RENAMED.items():
    _add(f"keras.ops.{name}", helper)
for prefix, names in BACKEND.items():
    for name in names.split():
        _add(f"keras.backend.{name}", f"{prefix}{name}")
for name, helper in BACKEND_RENAMED.items():
    _add(f"keras.backend.{name}", helper)
_add("keras.config.epsilon", "epsilon")
_add("keras.activations.serialize", "activation_name")
_add("keras.activations.deserialize", "get_activation")
for home in ("losses", "optimizers", "regularizers", "initializers"):
    _add(f"keras.{home}.deserialize", f"get_{home.removesuffix('es') if home == 'losses' else home.removesuffix('s')}")
rule("keras.backend.set_image_data_format", to="compat.no_setting", args="data_format")(check_options)
