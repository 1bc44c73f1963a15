"""The limits of numeric types."""

import mindspore as ms
import numpy as np


class finfo:
    """torch.finfo: plain numbers, which ms.jit can take."""

    def __init__(self, type=ms.float32):
        is_brain = type == ms.bfloat16  # numpy doesn't know it: float32's exponent, 7 bits of fraction
        known = np.finfo(np.float32 if is_brain else ms.dtype_to_nptype(type))
        self.bits = 16 if is_brain else known.bits
        self.eps = 2.0**-7 if is_brain else float(known.eps)
        self.max = (2.0 - 2.0**-7) * 2.0**127 if is_brain else float(known.max)
        self.min = -self.max
        self.tiny = self.smallest_normal = float(known.tiny)
        self.resolution = 0.01 if is_brain else float(known.resolution)


class iinfo:
    """torch.iinfo: plain numbers, which ms.jit can take."""

    def __init__(self, type):
        known = np.iinfo(ms.dtype_to_nptype(type))
        self.bits, self.min, self.max = known.bits, int(known.min), int(known.max)
