"""Images that are known to be square are resized by MindSpore's own transform; all others keep the helper."""

from __future__ import annotations

import pytest

from mindferry import convert_source

SCRIPT = """from torchvision import datasets, transforms


def sets(size):
    change = transforms.Compose([{steps}transforms.Resize(size), transforms.ToTensor()])
    return {made}


if __name__ == "__main__":
    print(len(sets(8)))
"""
SQUARES = "datasets.CIFAR10('d', transform=change)"


def resized(steps: str = "", made: str = SQUARES) -> str:
    return convert_source(SCRIPT.format(steps=steps, made=made)).main


@pytest.mark.parametrize(
    ("steps", "made"),
    [
        ("", SQUARES),
        ("transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(), ", SQUARES),
        ("", "[datasets.MNIST('d', transform=change), datasets.SVHN('d', transform=change)]"),
    ],
)
def test_square_images_are_resized_by_mindspore(steps: str, made: str) -> None:
    assert "vision.Resize(size, interpolation=vision.Inter.BILINEAR)" in resized(steps, made)


@pytest.mark.parametrize(
    ("steps", "made"),
    [
        ("", "datasets.ImageFolder('d', transform=change)"),
        ("", "[datasets.MNIST('d', transform=change), datasets.ImageFolder('e', transform=change)]"),
        ("transforms.RandomCrop((32, 20)), ", SQUARES),
        ("transforms.Pad(size), ", SQUARES),
        ("", "[datasets.MNIST('d', transform=change), change]"),
    ],
)
def test_others_keep_the_helper(steps: str, made: str) -> None:
    assert "ms_compat.PILResize(size)" in resized(steps, made)
