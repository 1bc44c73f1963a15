"""Layers that even histograms out. Brightness is looked up in tables, so no gradient goes through them."""

import numpy as np
from mindspore import Tensor, ops

from .images_base import ImageLayer, rescaled


class Equalization(ImageLayer):
    """Each channel of a batch by the share of its pixels that are darker."""

    def __init__(self, value_range=(0, 255), bins=256, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.value_range, self.bins = tuple(sorted(value_range)), bins

    def change(self, images, made):
        bright = rescaled(ops.stop_gradient(images), self.value_range, (0, 255)).asnumpy()
        channels = [self.even(bright[..., place]) for place in range(bright.shape[-1])]
        return rescaled(Tensor(np.stack(channels, -1).astype(np.float32)), (0, 255), self.value_range)

    def even(self, channel):
        last = self.bins - 1
        counts = np.bincount(np.clip((channel * last / 255).astype(np.int64), 0, last).ravel(), minlength=self.bins)
        if (counts > 0).sum() <= 1:
            return channel
        sums = counts.cumsum()
        least = sums[sums > 0][0]
        table = np.clip(np.round((sums - least) * 255 / max(sums[-1] - least, 1)), 0, 255)
        return table[np.clip(channel / 255 * last, 0, last).astype(np.int64)]


class ContrastLimitedAdaptiveHistogramEqualization(ImageLayer):
    """Each tile by its own table, and pixels between tiles by a mean of the nearest four."""

    is_for_training = False

    def __init__(self, value_range=(0, 255), clip_limit=4.0, tile_grid_size=(8, 8), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.value_range, self.clip_limit, self.tile_grid_size = value_range, clip_limit, tuple(tile_grid_size)

    def change(self, images, made):
        bright = rescaled(ops.stop_gradient(images), self.value_range, (0, 255)).asnumpy()
        return rescaled(Tensor(self.even(bright).astype(np.float32)), (0, 255), self.value_range)

    def even(self, images):
        batch, height, width, channels = images.shape
        tile = [-(-size // count) for size, count in zip((height, width), self.tile_grid_size)]
        whole = [size * count for size, count in zip(tile, self.tile_grid_size)]
        sides = ((0, 0), (0, whole[0] - height), (0, whole[1] - width), (0, 0))
        pixels = np.clip(np.pad(images, sides, "symmetric"), 0, 255).astype(np.int64)
        tables = self.tables(pixels, tile)
        down, top, bottom = self.neighbours(whole[0], tile[0], self.tile_grid_size[0])
        across, left, right = self.neighbours(whole[1], tile[1], self.tile_grid_size[1])
        sample, channel = np.arange(batch).reshape(-1, 1, 1, 1), np.arange(channels)

        def looked_up(rows, columns):
            return tables[sample, rows.reshape(-1, 1, 1), columns.reshape(-1, 1), channel, pixels]

        across, down = across.reshape(-1, 1), down.reshape(-1, 1, 1)
        upper = looked_up(top, left) * (1 - across) + looked_up(top, right) * across
        lower = looked_up(bottom, left) * (1 - across) + looked_up(bottom, right) * across
        return (upper * (1 - down) + lower * down)[:, :height, :width]

    def tables(self, pixels, tile):
        """(batch, rows of tiles, columns of tiles, channels, 256), with the outer tiles twice."""
        batch, _, _, channels = pixels.shape
        rows, columns = self.tile_grid_size
        tiles = pixels.reshape(batch, rows, tile[0], columns, tile[1], channels).transpose(0, 1, 3, 5, 2, 4)
        tiles = tiles.reshape(-1, tile[0] * tile[1])
        counts = np.stack([np.bincount(each, minlength=256) for each in tiles]).astype(np.float32)
        if self.clip_limit > 0:
            limited = np.minimum(counts, self.clip_limit * tiles.shape[1] / 256)
            counts = limited + (counts - limited).sum(-1, keepdims=True) / 256
        sums = counts.cumsum(-1, dtype=np.float32)
        least = sums.min(-1, keepdims=True)
        below = tiles.shape[1] - least
        made = np.clip((sums - least) * 255 / np.where(below == 0, 1, below), 0, 255)
        made = made.reshape(batch, rows, columns, channels, 256)
        return np.pad(made, ((0, 0), (1, 1), (1, 1), (0, 0), (0, 0)), "edge")

    def neighbours(self, size, tile, count):
        """How far each pixel is from one tile's middle to the next, and both tiles."""
        at = (np.arange(size, dtype=np.float32) - tile / 2) / tile + 1
        first = np.floor(at)
        places = (np.clip(first + step, 0, count + 1).astype(np.int64) for step in (0, 1))
        return (at - first, *places)
