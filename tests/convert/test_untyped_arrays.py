"""Code for arrays in a file that uses torch: nothing tells what its arguments are, and given arrays it does what it did."""

from __future__ import annotations

import numpy as np
import pytest
from two_frameworks import Both

BODIES = {
    "mirrored": "img[:, ::-1].copy(), img[..., ::-1], img[::-1], img[:, ::-2, 0], img[::-1, 1:, ::-1]",
    "every so many": "img[::s, ::s], img[:, ::s], img[1:-1:s, 2::s], img[:, ::-s], img[:, ::back], img[..., ::back]",
    "cut out": "img[s:s + 2, 1:4], img[s:s, :3], img[:, s:s], img[-3:, :-2]",
    "selected": "img[img > 0.5], img[~(img > 0.5)].sum(), img[keep], img[keep, 1], img[keep].mean(0)",
    "reduced": "img.sum(0), img.mean(axis=(0, 1)), img.min(1), img.std(), img.argmax(1), img.max(axis=1, keepdims=True)",
    "shaped": "img.reshape(-1, 2), img.ravel(), img.T, img.transpose(1, 0, 2), img.repeat(2, axis=0), img.size, img.squeeze()",
    "sorted": "row.argsort(), row[row.argsort()[::-1]], np.sort(row)[::-1], row.argsort()[-3:][::-1], row.nonzero()[0]",
    "indexed": "img[at, at], img[at], img[:, at], img[at[:, None], at], row[None], row[:, None], row[..., None]",
    "computed": "img.clip(0, 0.5), img.round(1), abs(img), img ** 2, row.dot(row), row @ row, row.cumsum(), row.conj()",
    "asked": "img.shape[:2], img.ndim, len(img), img.item(3), img.tolist()[0], img.astype('uint8'), img.dtype.name",
}


@pytest.mark.parametrize("name", BODIES)
def test_arrays_stay_arrays(both: Both, name: str) -> None:
    theirs, ours = both(
        f"""
def work(img, row, keep, at, s, back):
    return {BODIES[name]}


def run():
    rng = np.random.default_rng(0)
    img, row = rng.random((6, 8, 3)), rng.standard_normal(9).astype("float32")
    return work(img, row, img[:, 0, 0] > 0.4, np.array([0, 2]), 2, -1)
"""
    )
    for mine, other in zip(ours, theirs, strict=True):
        assert type(mine) is type(other)
        np.testing.assert_array_equal(mine, other)


def test_a_step_that_a_tensor_is_given_by_name_is_taken_from_its_first_row(both: Both) -> None:
    theirs, ours = both(
        """
def work(x, s):
    return x[:, ::s], x[..., 1::s], x[:, ::s, None]


def run():
    return [each.tolist() for each in work(torch.from_numpy(X), 2)]
"""
    )
    assert ours == theirs
