"""Random transforms draw their parameters from torchvision's distributions: 2,000 draws of each, compared by quantiles."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from data_pairs import Both
from data_pictures import picture, values

DRAWS = 2000
SOURCE = "from torchvision import transforms as T\n\n\ndef make():\n    return {0}\n"


def assert_same_distribution(theirs: np.ndarray, ours: np.ndarray) -> None:
    """Two samples of 2,000: the largest distance between their distribution functions stays under the 0.1 % point."""
    for one, other in zip(np.atleast_2d(theirs.T), np.atleast_2d(ours.T), strict=True):
        grid = np.unique(np.concatenate([one, other]))
        distance = np.abs(
            np.searchsorted(np.sort(one), grid, "right") - np.searchsorted(np.sort(other), grid, "right")
        ).max() / len(one)
        assert distance < 1.95 * np.sqrt(2 / len(one)), distance


def seed() -> None:
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)


PARAMETERS = [
    ("T.RandomCrop(20)", "get_params(image, (20, 20))"),
    ("T.RandomResizedCrop(20)", "get_params(image, (0.08, 1.0), (0.75, 1.3333))"),
    ("T.RandomRotation(15)", "get_params([-15.0, 15.0])"),
    ("T.RandomAffine(10)", "get_params([-10.0, 10.0], (0.1, 0.2), (0.8, 1.2), [-5.0, 5.0, -3.0, 3.0], [52, 37])"),
    ("T.RandomPerspective()", "get_params(52, 37, 0.5)"),
    ("T.ColorJitter()", "get_params((0.6, 1.4), (0.6, 1.4), (0.5, 1.5), (-0.1, 0.1))"),
    ("T.GaussianBlur(5)", "get_params(0.1, 2.0)"),
    ("T.RandomErasing()", "get_params(array, (0.02, 0.33), (0.3, 3.3), [0.0])"),
]


def flat(drawn: Any) -> list[float]:
    if isinstance(drawn, list | tuple):
        return [number for each in drawn for number in flat(each)]
    return np.asarray(drawn, dtype=np.float64).reshape(-1).tolist()


@pytest.mark.parametrize(("expression", "call"), PARAMETERS)
def test_parameters_are_drawn_from_torchvisions_distribution(both: Both, expression: str, call: str) -> None:
    theirs, ours = both(SOURCE.format(expression))
    array, image, code = np.zeros((3, 37, 52), np.float32), picture(), compile(f"transform.{call}", "call", "eval")
    seed()
    drawn = []
    for module, given in ((theirs, torch.from_numpy(array)), (ours, array)):
        names = {"transform": module.make(), "image": image, "array": given}
        drawn.append(np.array([flat(eval(code, names)) for _ in range(DRAWS)]))
    assert_same_distribution(*drawn)


CALLED = [
    "T.Compose([T.RandomCrop(30, padding=4), T.ToTensor()])",
    "T.Compose([T.RandomHorizontalFlip(0.3), T.ToTensor()])",
    "T.Compose([T.RandomVerticalFlip(p=0.7), T.ToTensor()])",
    "T.Compose([T.RandomResizedCrop((12, 14), scale=(0.2, 0.9)), T.ToTensor()])",
    "T.Compose([T.ToTensor(), T.RandomErasing(p=0.4)])",
    "T.Compose([T.RandomApply([T.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8), T.RandomGrayscale(0.2), T.ToTensor()])",
    "T.Compose([T.RandomChoice([T.RandomInvert(1.0), T.Pad(0)]), T.ToTensor()])",
    "T.Compose([T.RandomOrder([T.RandomPosterize(2, 0.5), T.RandomSolarize(100, 0.5)]), T.ToTensor()])",
    "T.Compose([T.AutoAugment(), T.ToTensor()])",
    "T.Compose([T.AutoAugment(T.AutoAugmentPolicy.CIFAR10), T.ToTensor()])",
    "T.Compose([T.RandAugment(), T.ToTensor()])",
    "T.Compose([T.TrivialAugmentWide(), T.ToTensor()])",
    "T.Compose([T.AugMix(), T.ToTensor()])",
    "T.Compose([T.AugMix(severity=8, mixture_width=2, chain_depth=2, alpha=0.7, all_ops=False), T.ToTensor()])",
    "T.Compose([T.ElasticTransform(), T.ToTensor()])",
]


@pytest.mark.parametrize("expression", CALLED)
def test_results_are_distributed_as_torchvisions(both: Both, expression: str) -> None:
    """Two numbers of each result stand for it: its mean, and its contrast from left to right."""
    theirs, ours = both(SOURCE.format(expression))
    image = picture()
    seed()

    def numbers(module: Any) -> np.ndarray:
        transform = module.make()
        results = [values(transform(image)) for _ in range(DRAWS if "Elastic" not in expression else 60)]
        ramp = np.linspace(-1, 1, results[0].shape[2])
        return np.array([[each.mean(), (each * ramp).mean()] for each in results], dtype=np.float64).round(5)

    assert_same_distribution(numbers(theirs), numbers(ours))
