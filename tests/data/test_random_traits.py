"""Augmentations that are drawn otherwise are told apart, also where mean and spread are the same; those drawn alike are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mindferry.verify.data_random import compare_random

Array = np.ndarray
Draw = Callable[[np.random.Generator, Array], Array]
PICTURE = np.linspace(0, 1, 16)[None, None] * np.linspace(0.5, 1, 16)[None, :, None] + np.zeros((3, 1, 1))


def flips(share: float) -> Draw:
    return lambda draw, image: image[..., ::-1] if draw.random() < share else image


def crops(least: int, most: int) -> Draw:
    def cut(draw: np.random.Generator, image: Array) -> Array:
        y, x = draw.integers(least, most + 1, 2)
        return np.pad(image, ((0, 0), (4, 4), (4, 4)))[:, y : y + 16, x : x + 16]

    return cut


def erased(share: float) -> Draw:
    def erase(draw: np.random.Generator, image: Array) -> Array:
        image = image + 0.1
        if draw.random() < share:
            y, x = draw.integers(0, 10, 2)
            image[:, y : y + 6, x : x + 6] = 0
        return image

    return erase


def noise(kind: str) -> Draw:
    def add(draw: np.random.Generator, image: Array) -> Array:
        drawn = draw.normal(size=image.shape) if kind == "normal" else draw.uniform(-(3**0.5), 3**0.5, image.shape)
        return image * 0.1 + drawn

    return add


def blurred(share: float) -> Draw:
    def blur(draw: np.random.Generator, image: Array) -> Array:
        image = image + draw.normal(size=image.shape) * 0.3
        return (image + np.roll(image, 1, -1)) / 2 if draw.random() < share else image

    return blur


def batches(draw: Draw, seed: int, count: int = 160) -> list[Array]:
    generator = np.random.default_rng(seed)
    shades = np.random.default_rng(0).uniform(0.5, 1.5, count)  # the samples are the same on both sides
    rows = [draw(generator, PICTURE * shade).astype(np.float32) for shade in shades]
    return [np.stack(rows[start : start + 16]) for start in range(0, count, 16)]


CASES = {
    "flips": (flips(0.5), flips(0.9)),
    "crops on one side": (crops(0, 8), crops(4, 8)),
    "crops that move less": (crops(0, 8), crops(3, 5)),
    "erased patches": (erased(0.5), erased(0.1)),
    "the kind of noise": (noise("normal"), noise("uniform")),
    "blurs": (blurred(0.5), blurred(0.05)),
}


@pytest.mark.parametrize("name", CASES)
def test_another_way_to_draw_is_found(name: str) -> None:
    right, wrong = CASES[name]
    found = compare_random(batches(right, 1), batches(wrong, 2), batches(right, 3), repeats=False)
    assert found.what == "distribution", found


@pytest.mark.parametrize("name", CASES)
def test_the_same_way_to_draw_is_never_called_another(name: str) -> None:
    right = CASES[name][0]
    for seed in range(25):
        found = compare_random(
            batches(right, 3 * seed), batches(right, 3 * seed + 1), batches(right, 3 * seed + 2), repeats=False
        )
        assert not found.what, (seed, found)
