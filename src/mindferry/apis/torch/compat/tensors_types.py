"""What torch's types say of themselves, and results that keep the type of what they are written into."""

import mindspore as ms


def is_floating_type(dtype):
    """torch.dtype.is_floating_point."""
    return dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64)


def is_complex_type(dtype):
    """torch.dtype.is_complex."""
    return dtype in (ms.complex64, ms.complex128)


def dtype_text(dtype):
    """str(dtype), as torch writes it: torch.float32. Of a type of NumPy's, NumPy's."""
    return f"torch.{dtype}".lower() if isinstance(dtype, ms.Type) else str(dtype)


def has_name(value, name, kinds):
    """hasattr(value, name) of what is asked once: torch's tensors or networks have the name."""
    return isinstance(value, kinds) or hasattr(value, name)


def write_out(result, out):
    """torch's out=: it gets the result's shape and values, in its own dtype, and is what the call returns."""
    if isinstance(out, (tuple, list)):
        return tuple(write_out(each, own) for each, own in zip(result, out))
    out.assign_value(result.astype(out.dtype))
    return out
