"""torch.fft: several dimensions as one transform after another, each with MindSpore's own kernel."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .functional_conv import fold, pad
from .functions_create import view_as_real
from .functions_math import real_part
from .functions_shape import windows


def fft_dims(x, s, dim):
    """[(dimension, length)], as torch chooses them."""
    if dim is None:
        dims = list(range(x.ndim)) if s is None else list(range(x.ndim - len(s), x.ndim))
    else:
        dims = [dim] if isinstance(dim, int) else list(dim)
    lengths = [None] * len(dims) if s is None else [None if each == -1 else each for each in s]
    return list(zip((each % x.ndim for each in dims), lengths))


def sized(x, axis, n):
    """x cut or padded with zeros to n along an axis."""
    have = x.shape[axis]
    if n is None or n == have:
        return x
    if n < have:
        return ops.narrow(x, axis, 0, n)
    return ops.cat((x, ops.zeros(x.shape[:axis] + (n - have,) + x.shape[axis + 1 :], x.dtype)), axis)


def as_complex(x):
    if x.is_complex():
        return x
    x = x if x.is_floating_point() else x.astype(ms.float32)
    return ops.Complex()(x, ops.zeros_like(x))


def scaled(x, count, norm, inverse):
    """The scale that `norm` asks for: a forward transform divides under "forward", an inverse one under "backward"."""
    if norm == "ortho":
        return x / np.sqrt(count).item()
    return x / count if (norm == "forward") != inverse else x


def fft_along(x, axis, n, inverse=False):
    """One unscaled complex transform."""
    x = as_complex(x)
    return ops.ifft(x, n=n, dim=axis, norm="forward") if inverse else ops.fft(x, n=n, dim=axis)


def fftn(input, s=None, dim=None, norm=None):
    """torch.fft.fftn."""
    x, count = input, 1
    for axis, length in fft_dims(input, s, dim):
        x = fft_along(x, axis, length)
        count *= x.shape[axis]
    return scaled(as_complex(x), count, norm, False)


def ifftn(input, s=None, dim=None, norm=None):
    """torch.fft.ifftn."""
    x, count = input, 1
    for axis, length in fft_dims(input, s, dim):
        x = fft_along(x, axis, length, True)
        count *= x.shape[axis]
    return scaled(as_complex(x), count, norm, True)


def rfftn(input, s=None, dim=None, norm=None):
    """torch.fft.rfftn: the last dimension holds the half that real input needs."""
    axes = fft_dims(input, s, dim)
    last, length = axes[-1]
    whole = sized(input, last, length)
    x, count = ops.rfft(whole, dim=last), whole.shape[last]
    for axis, length in axes[:-1]:
        x = fft_along(x, axis, length)
        count *= x.shape[axis]
    return scaled(x, count, norm, False)


def irfftn(input, s=None, dim=None, norm=None):
    """torch.fft.irfftn."""
    x, count, axes = as_complex(input), 1, fft_dims(input, s, dim)
    for axis, length in axes[:-1]:
        x = fft_along(x, axis, length, True)
        count *= x.shape[axis]
    last, length = axes[-1]
    size = length or 2 * (x.shape[last] - 1)
    x = real_from_half(x, last, size)
    return scaled(x, count * size, norm, True)


def real_from_half(x, axis, n):
    """The unscaled real transform of a half spectrum."""
    return ops.irfft(x, n=n, dim=axis, norm="forward")


def hfftn(input, s=None, dim=None, norm=None):
    """torch.fft.hfftn: the transform of a signal with Hermitian symmetry."""
    x, count, axes = as_complex(input), 1, fft_dims(input, s, dim)
    for axis, length in axes[:-1]:
        x = fft_along(x, axis, length)
        count *= x.shape[axis]
    last, length = axes[-1]
    size = length or 2 * (x.shape[last] - 1)
    x = real_from_half(ops.conj(x), last, size)
    return scaled(x, count * size, norm, False)


def ihfftn(input, s=None, dim=None, norm=None):
    """torch.fft.ihfftn."""
    axes = fft_dims(input, s, dim)
    last, length = axes[-1]
    whole = sized(input, last, length)
    x, count = ops.conj(ops.rfft(whole, dim=last)), whole.shape[last]
    for axis, length in axes[:-1]:
        x = fft_along(x, axis, length, True)
        count *= x.shape[axis]
    return scaled(x, count, norm, True)


def fft2(input, s=None, dim=(-2, -1), norm=None):
    """torch.fft.fft2."""
    return fftn(input, s, dim, norm)


def ifft2(input, s=None, dim=(-2, -1), norm=None):
    """torch.fft.ifft2."""
    return ifftn(input, s, dim, norm)


def rfft2(input, s=None, dim=(-2, -1), norm=None):
    """torch.fft.rfft2."""
    return rfftn(input, s, dim, norm)


def irfft2(input, s=None, dim=(-2, -1), norm=None):
    """torch.fft.irfft2."""
    return irfftn(input, s, dim, norm)


def hfft2(input, s=None, dim=(-2, -1), norm=None):
    """torch.fft.hfft2."""
    return hfftn(input, s, dim, norm)


def ihfft2(input, s=None, dim=(-2, -1), norm=None):
    """torch.fft.ihfft2."""
    return ihfftn(input, s, dim, norm)


def ihfft(input, n=None, dim=-1, norm=None):
    """torch.fft.ihfft."""
    return ihfftn(input, None if n is None else (n,), (dim,), norm)


def fftfreq(n, d=1.0, dtype=None, device=None, layout=None, requires_grad=False):
    """torch.fft.fftfreq."""
    return ms.Tensor(np.fft.fftfreq(n, d), dtype or ms.float32)


def rfftfreq(n, d=1.0, dtype=None, device=None, layout=None, requires_grad=False):
    """torch.fft.rfftfreq."""
    return ms.Tensor(np.fft.rfftfreq(n, d), dtype or ms.float32)


def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """torch.stft."""
    x = input.reshape(1, -1) if input.ndim == 1 else input
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    if center:
        x = pad(x.unsqueeze(0), (n_fft // 2, n_fft // 2), pad_mode).squeeze(0)
    frames = windows(x, 1, n_fft, hop)
    taper = ops.ones((width,), x.dtype) if window is None else window
    left = (n_fft - width) // 2
    taper = pad(taper, (left, n_fft - width - left))
    half = (not x.is_complex()) if onesided is None else onesided
    spectrum = ops.rfft(frames * taper, dim=2) if half else ops.fft(as_complex(frames * taper), dim=2)
    spectrum = ops.swapaxes(spectrum, 1, 2)
    spectrum = spectrum / float(np.sqrt(n_fft)) if normalized else spectrum
    spectrum = spectrum.squeeze(0) if input.ndim == 1 else spectrum
    return spectrum if return_complex else view_as_real(spectrum)


def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """torch.istft."""
    x = input.unsqueeze(0) if input.ndim == 2 else input
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    taper = ops.ones((width,), ms.float32) if window is None else window
    left = (n_fft - width) // 2
    taper = pad(taper, (left, n_fft - width - left))
    x = ops.swapaxes(x, 1, 2) * (float(np.sqrt(n_fft)) if normalized else 1)
    frames = ops.irfft(x, n=n_fft, dim=2) if onesided is None or onesided else real_part(ops.ifft(x, dim=2))
    count = frames.shape[1]
    total = n_fft + hop * (count - 1)
    columns = ops.swapaxes(frames * taper, 1, 2)
    weights = ops.broadcast_to(ops.square(taper).reshape(1, -1, 1), (1, n_fft, count))
    signal = fold(columns, (1, total), (1, n_fft), stride=(1, hop)).reshape(x.shape[0], total)
    envelope = fold(weights, (1, total), (1, n_fft), stride=(1, hop)).reshape(1, total)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - start
    signal = (signal / ops.where(envelope > 1e-11, envelope, ops.ones_like(envelope)))[:, start:end]
    return signal.squeeze(0) if input.ndim == 2 else signal
