"""TensorFlow's functions beyond the everyday ones: tf.nn, segments, loops, checks."""

from .._rule import rule
from ._options import check_options

NN = """
conv1d conv2d conv3d convolution depthwise_conv2d separable_conv2d conv2d_transpose bias_add batch_normalization
local_response_normalization crelu softsign space_to_depth depth_to_space in_top_k zero_fraction
"""
RENAMED = {
    "tensorflow.nn.lrn": "tf_local_response_normalization",
    "tensorflow.nn.weighted_cross_entropy_with_logits": "weighted_cross_entropy_with_logits",
    "tensorflow.nn.compute_average_loss": "compute_average_loss",
    "tensorflow.nn.scale_regularization_loss": "scale_regularization_loss",
    "tensorflow.confusion_matrix": "confusion_matrix",
    "tensorflow.log_sigmoid": "tf_log_sigmoid",
    "tensorflow.nn.log_sigmoid": "tf_log_sigmoid",
    "tensorflow.softsign": "tf_softsign",
    "tensorflow.zero_fraction": "tf_zero_fraction",
    "tensorflow.in_top_k": "tf_in_top_k",
    "tensorflow.realdiv": "tf_divide",
    "tensorflow.scalar_mul": "tf_multiply",
    "tensorflow.rint": "tf_round",
    "tensorflow.vectorized_map": "tf_map_fn",
    "tensorflow.set_diag": "tf_set_diag",
    "tensorflow.tensor_diag": "tf_diag",
    "tensorflow.tensor_diag_part": "tf_diag_part",
    "tensorflow.TensorArray": "TensorArray",
    "tensorflow.executing_eagerly": "executing_eagerly",
    "tensorflow.device": "no_context",
    "tensorflow.control_dependencies": "no_context",
    "tensorflow.init_scope": "no_context",
    "tensorflow.group": "tf_group",
    "tensorflow.no_op": "tf_group",
    "tensorflow.numpy_function": "numpy_function",
    "tensorflow.py_function": "py_function",
    "tensorflow.Assert": "tf_assert",
    "tensorflow.debugging.Assert": "tf_assert",
    "tensorflow.debugging.check_numerics": "check_numerics",
    "tensorflow.debugging.assert_all_finite": "check_numerics",
    "tensorflow.debugging.assert_shapes": "assert_shapes",
    "tensorflow.normalize": "tf_unit_and_norm",
    "tensorflow.accumulate_n": "tf_add_n",
    "tensorflow.recompute_grad": "plain_function",
    "tensorflow.custom_gradient": "custom_gradient",
    "tensorflow.nest.is_nested": "is_nested",
    "tensorflow.nest.pack_sequence_as": "pack_sequence_as",
    "tensorflow.nest.assert_same_structure": "no_setting",
}
VALUES = """
bincount count_nonzero xlogy xdivy multiply_no_nan reciprocal_no_nan polyval searchsorted invert_permutation
histogram_fixed_width unique_with_counts tensor_scatter_nd_add tensor_scatter_nd_sub reverse_sequence dynamic_partition scan
foldl foldr case switch_case ensure_shape is_tensor unravel_index matvec trace matrix_transpose adjoint cross inv det logdet cholesky
solve triangular_solve erfc lgamma digamma strided_slice saturate_cast
"""
ASSERTIONS = "equal none_equal less less_equal greater greater_equal positive non_negative near rank"
SETTINGS = """
tensorflow.debugging.enable_check_numerics tensorflow.debugging.disable_check_numerics
tensorflow.debugging.set_log_device_placement tensorflow.debugging.disable_traceback_filtering
tensorflow.debugging.enable_traceback_filtering tensorflow.config.optimizer.set_jit tensorflow.config.threading.set_inter_op_parallelism_threads
tensorflow.config.threading.set_intra_op_parallelism_threads tensorflow.config.set_soft_device_placement
tensorflow.config.experimental.enable_tensor_float_32_execution tensorflow.data.experimental.enable_debug_mode
keras.config.disable_traceback_filtering keras.config.enable_traceback_filtering keras.config.disable_interactive_logging
keras.config.enable_interactive_logging keras.utils.disable_interactive_logging keras.utils.enable_interactive_logging
keras.config.disable_flash_attention keras.config.enable_flash_attention keras.config.enable_unsafe_deserialization
"""


def _to(api: str, helper: str, **more: str) -> None:
    rule(api, to=f"compat.{helper}", like=f"compat.{helper}", args=more.get("args", ""))(check_options)


for name in NN.split():
    _to(f"tensorflow.nn.{name}", f"tf_{name}")
for kind in ("max", "avg"):
    for suffix in ("1d", "2d", "3d"):  # tf.nn.max_pool is the same as max_pool2d here: it asks the tensor
        _to(f"tensorflow.nn.{kind}_pool{suffix}", f"tf_{kind}_pool")
for name in VALUES.split():
    _to(f"tensorflow.{name}", f"tf_{name}")
for api, helper in RENAMED.items():
    _to(api, helper)
for kind in ("", "unsorted_"):
    for name in ("sum", "mean", "max", "min"):
        _to(f"tensorflow.{kind}segment_{name}", f"segment_{name}")
for name in ASSERTIONS.split():
    _to(f"tensorflow.debugging.assert_{name}", f"assert_{name}")
    if name in ("equal", "less", "greater", "rank"):
        _to(f"tensorflow.assert_{name}", f"assert_{name}")
for api in SETTINGS.split():
    _to(api, "no_setting")
for name, helper in (
    ("zeros", "Zeros"),
    ("ones", "Ones"),
    ("constant", "Constant"),
    ("random_normal", "RandomNormal"),
    ("random_uniform", "RandomUniform"),
):
    _to(f"tensorflow.{name}_initializer", helper)
