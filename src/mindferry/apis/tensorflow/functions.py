"""TensorFlow's functions: each has a helper that takes lists, numbers and arrays as TensorFlow does."""

import ast

from .._call import Call
from .._rule import Form, rule
from ._options import check_options

UNDER_TF = """
abs exp log log1p expm1 sqrt rsqrt square sin cos tan asin acos atan sinh cosh asinh acosh atanh sign floor ceil round erf
negative reciprocal is_nan is_inf is_finite logical_not stop_gradient identity add subtract multiply maximum minimum pow atan2
floordiv floormod squared_difference equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
reduce_sum reduce_max reduce_min reduce_any reduce_all reduce_mean reduce_prod reduce_variance reduce_std
reduce_euclidean_norm reduce_logsumexp divide divide_no_nan matmul einsum tensordot clip_by_value norm argmax argmin cumsum
cumprod add_n top_k sigmoid tanh softplus cast shape size rank zeros ones fill zeros_like ones_like eye range linspace reshape
transpose expand_dims squeeze concat stack unstack split tile repeat pad gather gather_nd where boolean_mask one_hot
broadcast_to reverse roll slice sort argsort meshgrid unique sequence_mask band_part diag diag_part scatter_nd
tensor_scatter_nd_update print map_fn cond while_loop
"""
UNDER_NN = "relu relu6 leaky_relu elu selu gelu silu softmax log_softmax l2_normalize moments l2_loss dropout"
OTHERS = {
    "tensorflow.constant": "constant",
    "tensorflow.convert_to_tensor": "convert_to_tensor",
    "tensorflow.Variable": "Variable",
    "keras.Variable": "Variable",
    "tensorflow.clip_by_norm": "clip_by_norm",
    "tensorflow.clip_by_global_norm": "clip_by_global_norm",
    "tensorflow.global_norm": "global_norm",
    "tensorflow.nest.map_structure": "map_structure",
    "tensorflow.nest.flatten": "flat",
    "tensorflow.nn.softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits",
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": "sparse_softmax_cross_entropy_with_logits",
    "tensorflow.nn.sigmoid_cross_entropy_with_logits": "sigmoid_cross_entropy_with_logits",
    "tensorflow.nn.embedding_lookup": "tf_gather",
    "tensorflow.random.normal": "random_normal",
    "tensorflow.random.uniform": "random_uniform",
    "tensorflow.random.truncated_normal": "random_truncated_normal",
    "tensorflow.random.shuffle": "random_shuffle",
    "tensorflow.random.categorical": "random_categorical",
    "tensorflow.random.set_seed": "set_seed",
    "tensorflow.Module": "Module",
    "tensorflow.image.resize": "image_resize",
    "tensorflow.image.random_crop": "random_crop",
    "tensorflow.function": "plain_function",
    "tensorflow.Module.with_name_scope": "plain_function",
    "tensorflow.autograph.experimental.do_not_convert": "plain_function",
    "keras.saving.register_keras_serializable": "registered",
    "keras.utils.register_keras_serializable": "registered",
}


LISTS = frozenset({"weights", "variables", "trainable_weights", "trainable_variables", "non_trainable_weights"})


def assign_parts(call: Call) -> None:
    """`table[0, 1].assign(5)` is of a variable's part, which MindSpore copies; `weights[0].assign(x)` of a list's variable."""
    match call.receiver:
        case ast.Subscript(value=ast.Attribute(attr=name)) if name in LISTS:
            return
        case ast.Subscript(value=whole, slice=index) if len(call.node.args) == 1 and not call.node.keywords:
            value = call.of(call.node.args[0])
            call.replace(f"{call.name('compat.assign_part')}({call.of(whole)}, {_index_text(call, index)}, {value})")
        case ast.Subscript():
            call.leave("a part of a variable is assigned to with more than a value", "leave the other arguments out")


def _index_text(call: Call, index: ast.expr) -> str:
    """What stands in brackets, as an argument."""
    match index:
        case ast.Slice(lower=lower, upper=upper, step=step):
            return f"slice({', '.join('None' if each is None else call.of(each) for each in (lower, upper, step))})"
        case ast.Tuple(elts=parts):
            return f"({''.join(f'{_index_text(call, each)}, ' for each in parts).rstrip()})"
    return call.of(index)


for name in UNDER_TF.split():
    rule(f"tensorflow.{name}", to=f"compat.tf_{name}", like=f"compat.tf_{name}")(check_options)
for name in UNDER_NN.split():
    rule(f"tensorflow.nn.{name}", to=f"compat.tf_{name}", like=f"compat.tf_{name}")(check_options)
ARGS = {"tensorflow.image.resize": "images size method preserve_aspect_ratio antialias name"}

for api, helper in OTHERS.items():
    rule(api, to=f"compat.{helper}", like=f"compat.{helper}", args=ARGS.get(api, ""))(check_options)
for name in "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 string".split():
    rule(f"tensorflow.{name}", to=f"mindspore.{name}", like=f"mindspore.{name}")
for name, full in (("bool", "bool_"), ("half", "float16"), ("double", "float64")):
    rule(f"tensorflow.{name}", to=f"mindspore.{full}", like=f"mindspore.{full}")
LIMITS = {
    "float16": ("65504.0", "-65504.0"),
    "float32": ("3.4028234663852886e38", "-3.4028234663852886e38"),
    "float64": ("1.7976931348623157e308", "-1.7976931348623157e308"),
    "int32": ("2147483647", "-2147483648"),
    "int64": ("9223372036854775807", "-9223372036854775808"),
    "uint8": ("255", "0"),
}
for name, (most, least) in LIMITS.items():
    rule(f"tensorflow.{name}.max", to=most, like=most)
    rule(f"tensorflow.{name}.min", to=least, like=least)
rule("tensorflow.Tensor", to="mindspore.Tensor", like="mindspore.Tensor")
for form in (Form.CALL, Form.UNKNOWN):
    rule("tensorflow.Tensor.numpy", to="compat.to_numpy", args="self", form=form)
    rule("tensorflow.Tensor.to_tensor", to="compat.filled_up", args="self", form=form)
    rule("tensorflow.Tensor.assign", to="compat.assign", args="self", form=form)(assign_parts)
    for name in ("assign_add", "assign_sub"):  # of a whole variable only
        rule(f"tensorflow.Tensor.{name}", to=f"compat.{name}", args="self", form=form)
rule("tensorflow.data.Dataset", to="compat.Dataset", like="compat.Dataset")
for name in "from_tensor_slices from_tensors from_generator range zip choose_from_datasets".split():
    rule(f"tensorflow.data.Dataset.{name}", to=f"compat.Dataset.{name}", like=f"compat.Dataset.{name}")
rule("tensorflow.data.AUTOTUNE", to="None", like="None")
rule("tensorflow.newaxis", to="None", like="None")
rule("tensorflow.data.experimental.AUTOTUNE", to="None", like="None")
rule("tensorflow.TensorSpec", to="compat.TensorSpec", like="compat.TensorSpec")
IMAGES = "flip_left_right flip_up_down random_flip_left_right random_flip_up_down random_brightness random_contrast adjust_contrast rgb_to_grayscale per_image_standardization"
for name in IMAGES.split():
    rule(f"tensorflow.image.{name}", to=f"compat.{name}", like=f"compat.{name}")
