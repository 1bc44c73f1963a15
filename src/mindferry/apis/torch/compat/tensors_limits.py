"""The limits of numeric types."""

import mindspore as ms
import numpy as np

NARROW_FLOATS = {  # which numpy doesn't know: bits, eps, max, smallest normal, resolution
    ms.bfloat16: (16, 2.0**-7, (2.0 - 2.0**-7) * 2.0**127, 2.0**-126, 0.01),
    ms.float8_e4m3fn: (8, 2.0**-3, 448.0, 2.0**-6, 1.0),
    ms.float8_e5m2: (8, 2.0**-2, 57344.0, 2.0**-14, 1.0),
}


class finfo:
    """torch.finfo: plain numbers, which ms.jit can take."""

    def __init__(self, type=ms.float32):
        if type in NARROW_FLOATS:
            self.bits, self.eps, self.max, self.tiny, self.resolution = NARROW_FLOATS[type]
        else:
            known = np.finfo(ms.dtype_to_nptype(type))
            self.bits, self.eps, self.max = known.bits, float(known.eps), float(known.max)
            self.tiny, self.resolution = float(known.tiny), float(known.resolution)
        self.min = -self.max
        self.smallest_normal = self.tiny


class iinfo:
    """torch.iinfo: plain numbers, which ms.jit can take."""

    def __init__(self, type):
        known = np.iinfo(ms.dtype_to_nptype(type))
        self.bits, self.min, self.max = known.bits, int(known.min), int(known.max)
