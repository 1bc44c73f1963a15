"""Tensors made from nothing, with torch's arguments. Sizes are numbers or one tuple; device, layout and memory format have no meaning here."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_shape import as_shape


def created(shape, value, dtype):
    """A filled tensor; empty shapes too."""
    return ms.Tensor(np.full(tuple(int(each) for each in shape), value), dtype)


def dtype_of(value):
    """What torch makes of a Python number."""
    if isinstance(value, ms.Tensor):
        return value.dtype
    if isinstance(value, (bool, np.bool_)):
        return ms.bool_
    if isinstance(value, (int, np.integer)):
        return ms.int64
    return ms.complex64 if isinstance(value, (complex, np.complexfloating)) else ms.float32


def zeros(*size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """torch.zeros, torch.empty."""
    return created(as_shape(size), 0, dtype or ms.float32)


def ones(*size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """torch.ones."""
    return created(as_shape(size), 1, dtype or ms.float32)


def full(size, fill_value, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """torch.full: the type of the value unless told otherwise."""
    if isinstance(fill_value, ms.Tensor):
        return ops.broadcast_to(fill_value.astype(dtype or fill_value.dtype), tuple(size))
    return created(size, fill_value, dtype or dtype_of(fill_value))


def full_like(input, fill_value, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None):
    """torch.full_like."""
    return full(input.shape, fill_value, dtype or input.dtype)


def zeros_like(input, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None, pin_memory=False):
    """torch.zeros_like, torch.empty_like."""
    return created(input.shape, 0, dtype or input.dtype)


def ones_like(input, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None, pin_memory=False):
    """torch.ones_like."""
    return created(input.shape, 1, dtype or input.dtype)


def empty_strided(size, stride, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """torch.empty_strided: strides have no meaning here."""
    return created(size, 0, dtype or ms.float32)


def empty_permuted(size, physical_layout, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """torch.empty_permuted: the order in memory has no meaning here."""
    return created(size, 0, dtype or ms.float32)


def scalar_tensor(s, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """torch.scalar_tensor."""
    return ms.Tensor(s, dtype or ms.float32)


def eye(n, m=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """torch.eye."""
    return ms.Tensor(np.eye(n, m), dtype or ms.float32)


def arange(
    start=0, end=None, step=1, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None
):
    """torch.arange: float32 if one of the numbers is a float."""
    given = [each.asnumpy().item() if isinstance(each, ms.Tensor) else each for each in (start, end, step)]
    first, last, by = (0, given[0], given[2]) if end is None else given
    kind = dtype or (ms.float32 if any(isinstance(each, float) for each in (first, last, by)) else ms.int64)
    return ms.Tensor(
        np.arange(first, last, by, dtype=np.float64 if isinstance(first + last + by, float) else np.int64), kind
    )


def range_inclusive(
    start=0, end=None, step=1, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
):
    """torch.range: float32, with its end."""
    first, last = (0, start) if end is None else (start, end)
    count = int(np.floor((last - first) / step)) + 1
    return ms.Tensor(first + step * np.arange(count, dtype=np.float64), dtype or ms.float32)


def linspace(start, end, steps, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """torch.linspace."""
    kind = dtype or ms.float32
    if isinstance(start, ms.Tensor) or isinstance(end, ms.Tensor):
        weight = ms.Tensor(np.linspace(0, 1, steps), ms.float32)
        return (start + (end - start) * weight).astype(kind) if steps > 1 else (start + 0 * weight).astype(kind)
    return ms.Tensor(np.linspace(start, end, steps), kind)


def logspace(
    start, end, steps, base=10.0, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None
):
    """torch.logspace."""
    given = [float(each.asnumpy()) if isinstance(each, ms.Tensor) else each for each in (start, end)]
    return ms.Tensor(np.power(float(base), np.linspace(*given, steps)), dtype or ms.float32)


def tril_indices(row, col, offset=0, dtype=None, device=None, layout=None):
    """torch.tril_indices."""
    return ms.Tensor(np.stack(np.tril_indices(row, offset, col)), dtype or ms.int64)


def triu_indices(row, col, offset=0, dtype=None, device=None, layout=None):
    """torch.triu_indices."""
    return ms.Tensor(np.stack(np.triu_indices(row, offset, col)), dtype or ms.int64)


def tensor(data, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """torch.tensor: float32 for Python floats, int64 for integers, and a copy."""
    if isinstance(data, ms.Tensor):
        return data.astype(dtype) if dtype is not None else data.copy()
    if isinstance(data, (np.ndarray, np.generic)):
        return ms.Tensor(np.array(data), dtype)
    if isinstance(data, (bool, int, float, complex)):
        return ms.Tensor(data, dtype or dtype_of(data))
    plain = plain_nested(data if isinstance(data, (list, tuple)) else list(data))
    array = np.array(plain)
    if dtype is None and array.size and array.dtype.kind in "fc":
        array = array.astype(common_type(leaf_types(plain)))
    return ms.Tensor(array, dtype or (ms.float32 if not array.size else None))


def plain_nested(data):
    """The same nested lists, with arrays in place of tensors."""
    if isinstance(data, ms.Tensor):
        return data.asnumpy()
    return [plain_nested(each) for each in data] if isinstance(data, (list, tuple)) else data


def leaf_types(data):
    """The types of what nested lists hold: what is numpy's keeps its own, a Python number has torch's."""
    if isinstance(data, list):
        is_plain = bool(data) and all(type(each) is float for each in data)
        return [np.dtype("float32")] if is_plain else [kind for part in data for kind in leaf_types(part)]
    if isinstance(data, (np.ndarray, np.generic)):
        return [data.dtype]
    named = (("bool", bool), ("int64", int), ("float32", float), ("complex64", object))
    return [np.dtype(next(name for name, kind in named if isinstance(data, kind)))]


def common_type(kinds):
    """torch's choice among types: the widest of the highest category (complex, float, integer, bool)."""
    for category in ("c", "f", "iu", "b"):
        chosen = [each for each in kinds if each.kind in category]
        if chosen:
            return np.result_type(*chosen)
    raise TypeError("a tensor holds numbers")


def promote_types(type1, type2):
    """torch.promote_types."""
    halves = (ms.float16, ms.bfloat16)
    if type1 == type2:
        return type1
    if type1 in halves and type2 in halves:
        return ms.float32
    for half, other in ((type1, type2), (type2, type1)):
        if half in halves:
            return other if "Float" in str(other) or "Complex" in str(other) else half
    return ms.Tensor(np.zeros(1, common_type([np.dtype(ms.dtype_to_nptype(each)) for each in (type1, type2)]))).dtype


def as_tensor(data, dtype=None, device=None):
    """torch.as_tensor."""
    if isinstance(data, ms.Tensor) and dtype in (None, data.dtype):
        return data
    return tensor(data, dtype)


def complex_of(real, imag):
    """torch.complex."""
    shape = np.broadcast_shapes(real.shape, imag.shape)
    return ops.Complex()(ops.broadcast_to(real, shape), ops.broadcast_to(imag, shape))


def polar(abs, angle):
    """torch.polar."""
    return complex_of(abs * ops.cos(angle), abs * ops.sin(angle))


def view_as_real(input):
    """torch.view_as_real."""
    return ops.cat((ops.real(input).unsqueeze(-1), ops.imag(input).unsqueeze(-1)), -1)


def view_as_complex(input):
    """torch.view_as_complex."""
    return complex_of(input[..., 0], input[..., 1])


def complex_parts(value):
    """(real, imaginary) of a tensor or a number."""
    if isinstance(value, ms.Tensor):
        return (ops.real(value), ops.imag(value)) if ops.is_complex(value) else (value, ops.zeros_like(value))
    return ms.Tensor(value.real, ms.float32), ms.Tensor(value.imag, ms.float32)


def multiply(x, other):
    """x * other. MindSpore has no gradient of a product of complex numbers."""
    if not any(isinstance(each, ms.Tensor) and ops.is_complex(each) for each in (x, other)):
        return x * other
    (a, b), (c, d) = complex_parts(x), complex_parts(other)
    return complex_of(a * c - b * d, a * d + b * c)


def divide(x, other):
    """x / other. MindSpore has no gradient of a quotient of complex numbers."""
    if not any(isinstance(each, ms.Tensor) and ops.is_complex(each) for each in (x, other)):
        return x / other
    (a, b), (c, d) = complex_parts(x), complex_parts(other)
    size = c * c + d * d
    return complex_of((a * c + b * d) / size, (b * c - a * d) / size)


def window(M, values, dtype):
    """The first M of the values; a single one is 1."""
    return ms.Tensor(np.ones(1) if M == 1 else values[:M], dtype or ms.float32)


def window_points(M, sym):
    """0 to M - 1, or to M if the window is periodic."""
    return np.arange(M if sym else M + 1, dtype=np.float64)


def general_cosine(M, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.general_cosine."""
    n = window_points(M, sym)
    angle = 2 * np.pi * n / max(len(n) - 1, 1)
    return window(M, sum((-1) ** k * each * np.cos(k * angle) for k, each in enumerate(a)), dtype)


def general_hamming(M, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.general_hamming."""
    return general_cosine(M, [alpha, 1 - alpha], sym, dtype)


def hamming(M, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.hamming."""
    return general_cosine(M, [0.54, 0.46], sym, dtype)


def hann(M, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.hann."""
    return general_cosine(M, [0.5, 0.5], sym, dtype)


def blackman(M, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.blackman."""
    return general_cosine(M, [0.42, 0.5, 0.08], sym, dtype)


def nuttall(M, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.nuttall."""
    return general_cosine(M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym, dtype)


def bartlett(M, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.bartlett."""
    n = window_points(M, sym)
    return window(M, 1 - np.abs(2 * n / max(len(n) - 1, 1) - 1), dtype)


def cosine_window(M, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.cosine."""
    n = window_points(M, sym)
    return window(M, np.sin(np.pi / max(len(n), 1) * (n + 0.5)), dtype)


def exponential_window(M, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.exponential."""
    n = window_points(M, sym)
    middle = (len(n) - 1) / 2 if center is None else center
    return window(M, np.exp(-np.abs(n - middle) / tau), dtype)


def gaussian_window(M, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.gaussian."""
    n = window_points(M, sym)
    return window(M, np.exp(-(((n - (len(n) - 1) / 2) / std) ** 2) / 2), dtype)


def kaiser(M, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.signal.windows.kaiser."""
    return window(M, np.kaiser(M if sym else M + 1, beta), dtype)


def hann_window(window_length, periodic=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.hann_window."""
    return hann(window_length, not periodic, dtype)


def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, dtype=None, layout=None, device=None, requires_grad=False
):
    """torch.hamming_window."""
    return general_cosine(window_length, [alpha, beta], not periodic, dtype)


def blackman_window(window_length, periodic=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.blackman_window."""
    return blackman(window_length, not periodic, dtype)


def bartlett_window(window_length, periodic=True, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.bartlett_window."""
    return bartlett(window_length, not periodic, dtype)


def kaiser_window(window_length, periodic=True, beta=12.0, dtype=None, layout=None, device=None, requires_grad=False):
    """torch.kaiser_window."""
    return kaiser(window_length, beta, not periodic, dtype)
