"""What torch's types say of themselves."""

import mindspore as ms


def is_floating_type(dtype):
    """torch.dtype.is_floating_point."""
    return dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64)


def is_complex_type(dtype):
    """torch.dtype.is_complex."""
    return dtype in (ms.complex64, ms.complex128)
