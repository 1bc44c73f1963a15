"""What torchvision.transforms.v2 adds to the transforms that it shares with v1."""

import numpy as np

from .vision_images import convert_image_dtype, is_pil, numpy_dtype, on_array, pil_to_tensor
from .vision_transforms import Transform


class ImageIdentity(Transform):
    def __call__(self, *inputs):
        return inputs if len(inputs) > 1 else inputs[0]


class ToImage(Transform):
    """torchvision.transforms.v2.ToImage: an array (channels, height, width) with the image's own numbers."""

    def __call__(self, inpt):
        if is_pil(inpt):
            return pil_to_tensor(inpt)
        if isinstance(inpt, np.ndarray):
            return np.ascontiguousarray((inpt[:, :, None] if inpt.ndim == 2 else inpt).transpose(2, 0, 1))
        return inpt


class ToDtype(Transform):
    """torchvision.transforms.v2.ToDtype: scale=True brings the range of numbers along."""

    def __init__(self, dtype, scale=False):
        self.dtype, self.scale = dtype, scale

    def __call__(self, inpt):
        if self.scale:
            return convert_image_dtype(inpt, self.dtype)
        return on_array(lambda array: array.astype(numpy_dtype(self.dtype)), inpt)
