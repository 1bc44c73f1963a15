"""Seeded images that tell transforms apart: gradients under noise, odd sizes."""

from __future__ import annotations

import numpy as np
from PIL import Image


def picture(height: int = 37, width: int = 52, mode: str = "RGB", seed: int = 0) -> Image.Image:
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:height, 0:width]
    channels = [np.sin(rows / (3 + band)) * 60 + np.cos(columns / (5 + band)) * 60 + 128 for band in range(4)]
    pixels = np.clip(np.stack(channels, -1) + rng.normal(0, 20, (height, width, 4)), 0, 255).astype(np.uint8)
    if mode == "L":
        return Image.fromarray(pixels[:, :, 0])
    return Image.fromarray(np.ascontiguousarray(pixels[:, :, :4] if mode == "RGBA" else pixels[:, :, :3]))


def values(image: object) -> np.ndarray:
    """A PIL image, array or tensor of either framework as an array."""
    if hasattr(image, "asnumpy"):
        return image.asnumpy()
    return np.asarray(image)
