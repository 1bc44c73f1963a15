"""tf.image.convert_image_dtype, and functions of colours: images of whole numbers are changed as shares of their largest."""

import functools

import numpy as np
from mindspore import ops

from .tensors import as_dtype, as_tensor, dtype_name, is_float, is_float_type


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Whole numbers are shares of their largest, and the other way round."""
    x, wanted = as_tensor(image), as_dtype(dtype)
    if x.dtype == wanted:
        return x
    if is_float(x):
        if is_float_type(wanted):
            return ops.cast(x, wanted)
        most = np.iinfo(dtype_name(wanted)).max
        return ops.cast(ops.clamp(x * (most + 0.5), 0.0, float(most)) if saturate else x * (most + 0.5), wanted)
    most = np.iinfo(dtype_name(x.dtype)).max
    return ops.cast(x, wanted) * (1.0 / most) if is_float_type(wanted) else ops.cast(x, wanted)


def in_shares(function):
    """The image's own type comes out again, within its bounds."""

    @functools.wraps(function)
    def changed(image, *args, **kwargs):
        image = as_tensor(image)
        if is_float(image):
            return function(image, *args, **kwargs)
        made = function(convert_image_dtype(image, "float32"), *args, **kwargs)
        return convert_image_dtype(made, image.dtype, saturate=True)

    return changed
