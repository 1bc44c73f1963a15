"""Layers that turn sounds into frequencies."""

import math

import numpy as np
from mindspore import Tensor, ops

from .initializers import STFT, named_window
from .layers_base import Layer
from .layers_conv import convolve
from .products import product
from .tensors import as_tensor


class STFTSpectrogram(Layer):
    """A Fourier transform of windows, as a convolution whose kernels can be trained."""

    def __init__(
        self,
        mode="log",
        frame_length=256,
        frame_step=None,
        fft_length=None,
        window="hann",
        periodic=False,
        scaling="density",
        padding="valid",
        expand_dims=False,
        data_format=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.mode, self.frame_length, self.frame_step = mode, frame_length, frame_step or frame_length // 2
        self.fft_length = fft_length or 2 ** math.ceil(math.log2(frame_length))
        self.window, self.periodic, self.scaling = window, periodic, scaling
        self.padding, self.expand_dims, self.data_format = padding, expand_dims, data_format or "channels_last"

    def build(self, input_shape):
        shape = (self.frame_length, 1, self.fft_length // 2 + 1)
        if self.mode != "imag":
            kernel = STFT("real", self.window, self.scaling, self.periodic)
            self.real_kernel = self.add_weight(shape, kernel, name="real_kernel")
        if self.mode != "real":
            kernel = STFT("imag", self.window, self.scaling, self.periodic)
            self.imag_kernel = self.add_weight(shape, kernel, name="imag_kernel")
        self.built = True

    def side(self, inputs, kernel):
        """(batch, channels, frequencies, times)."""
        x = inputs if self.data_format == "channels_first" else ops.swapaxes(inputs, 1, 2)
        batch, channels, times = x.shape
        weight = ops.transpose(kernel, (2, 1, 0))
        out = convolve(ops.reshape(x, (batch * channels, 1, times)), weight, (self.frame_step,), self.padding, (1,), 1)
        return ops.reshape(out, (batch, channels, out.shape[1], out.shape[2]))

    def shaped(self, x):
        if self.expand_dims:
            return ops.transpose(x, (0, 1, 3, 2) if self.data_format == "channels_first" else (0, 3, 2, 1))
        x = ops.reshape(x, (x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))
        return x if self.data_format == "channels_first" else ops.swapaxes(x, 1, 2)

    def call(self, inputs, training=None):
        if self.mode == "real":
            return self.shaped(self.side(inputs, self.real_kernel))
        if self.mode == "imag":
            return self.shaped(self.side(inputs, self.imag_kernel))
        real, imaginary = self.side(inputs, self.real_kernel), self.side(inputs, self.imag_kernel)
        if self.mode == "angle":
            return self.shaped(ops.atan2(imaginary, real))
        if self.mode == "stft":
            return self.shaped(ops.cat([real, imaginary], 2))
        power = real * real + imaginary * imaginary
        if self.mode == "psd":
            edge = ops.zeros_like(power[:, :, :1])
            return self.shaped(power + ops.cat([edge, power[:, :, 1:-1], edge], 2))
        size = self.shaped(ops.sqrt(ops.maximum(power, as_tensor(1e-7))))
        return size if self.mode == "magnitude" else ops.log(ops.maximum(size, as_tensor(1e-7)))


def mel_matrix(bins, count, rate, low, high):
    """What each frequency adds to each of the bands that ears tell apart: triangles of even widths in mels."""

    def mels(hertz):
        return 1127.0 * np.log(1.0 + hertz / 700.0)

    frequencies = mels(np.linspace(0.0, rate / 2.0, count)[1:])[:, None]
    edges = np.linspace(mels(low), mels(high), bins + 2)
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    return np.pad(np.maximum(0, np.minimum(rising, falling)), ((1, 0), (0, 0))).astype(np.float32)


class MelSpectrogram(Layer):
    def __init__(
        self,
        fft_length=2048,
        sequence_stride=512,
        sequence_length=None,
        window="hann",
        sampling_rate=16000,
        num_mel_bins=128,
        min_freq=20.0,
        max_freq=None,
        power_to_db=True,
        top_db=80.0,
        mag_exp=2.0,
        min_power=1e-10,
        ref_power=1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.fft_length, self.sequence_stride, self.sequence_length = fft_length, sequence_stride, sequence_length
        self.window, self.power_to_db, self.top_db, self.mag_exp = window, power_to_db, top_db, mag_exp
        self.min_power, self.ref_power = min_power, ref_power
        count = fft_length // 2 + 1
        self.bands = mel_matrix(num_mel_bins, count, sampling_rate, min_freq, max_freq or int(sampling_rate / 2))

    def window_values(self):
        """As long as the transform: a shorter window is in the middle."""
        length = self.sequence_length or self.fft_length
        if self.window is None:
            values = np.ones(length)
        else:
            is_name = isinstance(self.window, str)
            values = named_window(self.window, length, True) if is_name else np.asarray(self.window)
        before = (self.fft_length - length) // 2
        return np.pad(values, (before, self.fft_length - length - before))

    def call(self, inputs, training=None):
        x = as_tensor(inputs)
        half, size = self.fft_length // 2, x.shape[-1]
        places = np.arange(-half, size + half)
        places = np.abs(places)
        places = np.where(places >= size, 2 * (size - 1) - places, places)
        starts = np.arange(0, len(places) - self.fft_length + 1, self.sequence_stride)
        frames = places[starts[:, None] + np.arange(self.fft_length)]
        angle = 2 * np.pi * np.outer(np.arange(self.fft_length), np.arange(half + 1)) / self.fft_length
        window = self.window_values()[:, None]
        pieces = ops.gather(x, Tensor(frames.astype(np.int32)), x.ndim - 1)
        real = product(pieces, Tensor((window * np.cos(angle)).astype(np.float32)))
        imaginary = product(pieces, Tensor((window * np.sin(angle)).astype(np.float32)))
        spectrum = ops.pow(ops.sqrt(real * real + imaginary * imaginary), self.mag_exp)
        spectrum = product(spectrum, Tensor(self.bands))
        return ops.swapaxes(self.decibels(spectrum) if self.power_to_db else spectrum, -1, -2)

    def decibels(self, x):
        least = as_tensor(self.min_power)
        level = 10.0 / math.log(10.0) * ops.log(ops.maximum(x, least))
        level = level - 10.0 * math.log10(max(abs(self.ref_power), self.min_power))
        return ops.maximum(level, ops.amax(level, tuple(range(level.ndim))) - self.top_db)
