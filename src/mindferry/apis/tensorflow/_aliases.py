"""The one name of what TensorFlow and Keras export in several places: `tf.keras.layers.Dense` is `keras.layers.Dense`."""

from __future__ import annotations

import functools

STARTS = (
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("keras.api.", "keras."),
    ("keras.src.", "keras."),
    ("tensorflow.losses.", "keras.losses."),
    ("tensorflow.metrics.", "keras.metrics."),
    ("tensorflow.optimizers.", "keras.optimizers."),
    ("tensorflow.initializers.", "keras.initializers."),
    ("tensorflow.math.", "tensorflow."),
    ("tensorflow.linalg.", "tensorflow."),
    ("tensorflow.dtypes.", "tensorflow."),
    ("keras.layers.experimental.preprocessing.", "keras.layers."),
    ("keras.layers.experimental.", "keras.layers."),
    ("keras.optimizers.legacy.", "keras.optimizers."),
    ("keras.optimizers.experimental.", "keras.optimizers."),
    ("keras.mixed_precision.experimental.", "keras.mixed_precision."),
    ("keras.dtype_policies.", "keras.mixed_precision."),
    ("keras.ops.nn.", "keras.ops."),
    ("keras.ops.numpy.", "keras.ops."),
    ("keras.ops.core.", "keras.ops."),
    ("keras.ops.math.", "keras.ops."),
    ("keras.ops.linalg.", "keras.ops."),
    ("keras.tree.", "tensorflow.nest."),
    ("tensorflow.io.gfile.FastGFile", "tensorflow.io.gfile.GFile"),
    ("tensorflow.gfile.", "tensorflow.io.gfile."),
)
WHOLE = {
    "tensorflow.keras": "keras",
    "tf_keras": "keras",
    "keras.models.Functional": "keras.Model",
    "keras.utils.file_utils.get_file": "keras.utils.get_file",
    "keras.utils.get_source_inputs": "keras.ops.operation_utils.get_source_inputs",
    "keras.config.floatx": "keras.backend.floatx",
    "keras.config.set_floatx": "keras.backend.set_floatx",
    "keras.config.set_image_data_format": "keras.backend.set_image_data_format",
    "keras.config.set_dtype_policy": "keras.mixed_precision.set_global_policy",
    "keras.mixed_precision.set_dtype_policy": "keras.mixed_precision.set_global_policy",
    "keras.config.dtype_policy": "keras.mixed_precision.global_policy",
    "keras.DTypePolicy": "keras.mixed_precision.Policy",
    "keras.version": "keras.__version__",
    "keras.config.backend": "keras.backend.backend",
    "keras.name_scope": "keras.backend.name_scope",
    "tensorflow.name_scope": "keras.backend.name_scope",
    "keras.config.image_data_format": "keras.backend.image_data_format",
    "keras.utils.is_keras_tensor": "keras.backend.is_keras_tensor",
    "keras.models.Sequential": "keras.Sequential",
    "keras.models.Model": "keras.Model",
    "keras.engine.training.Model": "keras.Model",
    "keras.Layer": "keras.layers.Layer",
    "keras.Loss": "keras.losses.Loss",
    "keras.Metric": "keras.metrics.Metric",
    "keras.Optimizer": "keras.optimizers.Optimizer",
    "keras.Initializer": "keras.initializers.Initializer",
    "keras.Regularizer": "keras.regularizers.Regularizer",
    "keras.activations.hard_swish": "keras.activations.hard_silu",
    "keras.initializers.identity": "keras.initializers.Identity",
    "keras.initializers.IdentityInitializer": "keras.initializers.Identity",
    "keras.initializers.OrthogonalInitializer": "keras.initializers.Orthogonal",
    "keras.regularizers.orthogonal_regularizer": "keras.regularizers.OrthogonalRegularizer",
    "keras.saving.load_model": "keras.models.load_model",
    "keras.saving.save_model": "keras.models.save_model",
    "keras.layers.Input": "keras.Input",
    "keras.layers.Convolution1D": "keras.layers.Conv1D",
    "keras.layers.Convolution2D": "keras.layers.Conv2D",
    "keras.layers.Convolution3D": "keras.layers.Conv3D",
    "keras.layers.Convolution2DTranspose": "keras.layers.Conv2DTranspose",
    "keras.layers.Convolution1DTranspose": "keras.layers.Conv1DTranspose",
    "keras.layers.Convolution3DTranspose": "keras.layers.Conv3DTranspose",
    "keras.layers.SeparableConvolution1D": "keras.layers.SeparableConv1D",
    "keras.layers.SeparableConvolution2D": "keras.layers.SeparableConv2D",
    "keras.layers.MaxPool1D": "keras.layers.MaxPooling1D",
    "keras.layers.MaxPool2D": "keras.layers.MaxPooling2D",
    "keras.layers.MaxPool3D": "keras.layers.MaxPooling3D",
    "keras.layers.AvgPool1D": "keras.layers.AveragePooling1D",
    "keras.layers.AvgPool2D": "keras.layers.AveragePooling2D",
    "keras.layers.AvgPool3D": "keras.layers.AveragePooling3D",
    "keras.layers.GlobalAvgPool1D": "keras.layers.GlobalAveragePooling1D",
    "keras.layers.GlobalAvgPool2D": "keras.layers.GlobalAveragePooling2D",
    "keras.layers.GlobalAvgPool3D": "keras.layers.GlobalAveragePooling3D",
    "keras.layers.GlobalMaxPool1D": "keras.layers.GlobalMaxPooling1D",
    "keras.layers.GlobalMaxPool2D": "keras.layers.GlobalMaxPooling2D",
    "keras.layers.GlobalMaxPool3D": "keras.layers.GlobalMaxPooling3D",
    "keras.mixed_precision.set_policy": "keras.mixed_precision.set_global_policy",
    "keras.optimizers.Optimizer": "keras.optimizers.Optimizer",
    "keras.utils.unpack_x_y_sample_weight": "keras.utils.unpack_x_y_sample_weight",
    "tensorflow.initializers": "keras.initializers",
    "tensorflow.mod": "tensorflow.floormod",
    "tensorflow.to_float": "tensorflow.to_float",
    "tensorflow.truediv": "tensorflow.divide",
    "tensorflow.arg_max": "tensorflow.argmax",
    "tensorflow.nn.swish": "tensorflow.nn.silu",
    "tensorflow.nn.tanh": "tensorflow.tanh",
    "tensorflow.nn.sigmoid": "tensorflow.sigmoid",
    "tensorflow.nn.softplus": "tensorflow.softplus",
    "tensorflow.softmax": "tensorflow.nn.softmax",
    "tensorflow.log_softmax": "tensorflow.nn.log_softmax",
    "tensorflow.l2_normalize": "tensorflow.nn.l2_normalize",
    "tensorflow.nn.top_k": "tensorflow.top_k",
    "tensorflow.nn.max_pool": "tensorflow.nn.max_pool2d",
    "tensorflow.nn.avg_pool": "tensorflow.nn.avg_pool2d",
}
SUBMODULES = tuple(f"keras.{name}." for name in "layers optimizers callbacks losses metrics applications".split())
KEPT = ("schedules", "deserialize", "serialize", "get", "add", "concatenate", "multiply", "subtract", "average", "dot")


@functools.cache
def canonical(name: str) -> str:
    for _ in range(4):
        before = name
        name = WHOLE.get(name, name)
        for start, instead in STARTS:
            if name.startswith(start):
                name = instead + name[len(start) :]
        name = _without_submodule(name)
        if name == before:
            break
    return name


def _without_submodule(name: str) -> str:
    """`keras.layers.core.Dense` of older versions is `keras.layers.Dense`."""
    for home in SUBMODULES:
        inner, dot, rest = name.removeprefix(home).partition(".")
        if name.startswith(home) and dot and inner.islower() and inner not in KEPT and rest[:1].isupper():
            return home + rest
    return name
