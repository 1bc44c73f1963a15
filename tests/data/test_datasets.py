"""torchvision's datasets and their conversions read the same samples from the same files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data_formats as formats
import numpy as np
import pytest
from data_pairs import Both
from data_pictures import values

SOURCE = "from torchvision import datasets\n\n\n{0}\n"


def assert_same_samples(theirs: Any, ours: Any) -> None:
    assert len(theirs) == len(ours) > 0
    for index in range(len(theirs)):
        (image, target), (our_image, our_target) = theirs[index], ours[index]
        assert np.array_equal(values(image), values(our_image))
        assert np.array_equal(values(target), values(our_target)) if hasattr(target, "size") else target == our_target


@pytest.mark.parametrize("kind", [10, 100])
@pytest.mark.parametrize("train", [True, False])
def test_cifar(both: Both, tmp_path: Path, kind: int, train: bool) -> None:
    formats.write_cifar(tmp_path, kind)
    text = f"class Own(datasets.CIFAR{kind}):\n    meta = dict(datasets.CIFAR{kind}.meta, md5=None)\n\n    def _check_integrity(self):\n        return True\n"
    theirs, ours = (module.Own(str(tmp_path), train=train) for module in both(SOURCE.format(text)))
    assert_same_samples(theirs, ours)
    assert (
        ours.classes == theirs.classes and ours.class_to_idx == theirs.class_to_idx and ours.targets == theirs.targets
    )
    assert np.array_equal(ours.data, theirs.data) and repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_mnist_and_its_family(both: Both, tmp_path: Path, name: str) -> None:
    formats.write_mnist(tmp_path, name)
    modules = both(
        SOURCE.format(f"def make(root, train):\n    return datasets.{name}(root, train=train, download=True)")
    )
    for train in (True, False):
        theirs, ours = (module.make(str(tmp_path), train) for module in modules)
        assert_same_samples(theirs, ours)
        assert ours.classes == theirs.classes
        assert np.array_equal(ours.data.asnumpy(), theirs.data.numpy()) and np.array_equal(
            ours.targets.asnumpy(), theirs.targets.numpy()
        )


@pytest.mark.parametrize("split", ["letters", "byclass", "balanced", "digits"])
def test_emnist(both: Both, tmp_path: Path, split: str) -> None:
    formats.write_emnist(tmp_path, split)
    theirs, ours = (
        m.make(str(tmp_path))
        for m in both(SOURCE.format(f"def make(root):\n    return datasets.EMNIST(root, '{split}', train=False)"))
    )
    assert_same_samples(theirs, ours)
    assert ours.classes == theirs.classes


@pytest.mark.parametrize("compat", [True, False])
def test_qmnist(both: Both, tmp_path: Path, compat: bool) -> None:
    formats.write_qmnist(tmp_path)
    theirs, ours = (
        m.make(str(tmp_path))
        for m in both(SOURCE.format(f"def make(root):\n    return datasets.QMNIST(root, compat={compat})"))
    )
    assert_same_samples(theirs, ours)


def test_image_folder(both: Both, tmp_path: Path) -> None:
    formats.write_folder(tmp_path / "images")
    theirs, ours = (
        m.make(str(tmp_path / "images"))
        for m in both(SOURCE.format("def make(root):\n    return datasets.ImageFolder(root)"))
    )
    assert_same_samples(theirs, ours)
    assert ours.classes == theirs.classes and ours.imgs == theirs.imgs and ours.targets == theirs.targets


def test_dataset_folder_with_a_loader_of_its_own(both: Both, tmp_path: Path) -> None:
    formats.write_folder(tmp_path / "images")
    text = "def make(root):\n    return datasets.DatasetFolder(root, lambda path: path[-5:], extensions=('.png', '.jpg', '.bmp'), target_transform=str)"
    theirs, ours = (m.make(str(tmp_path / "images")) for m in both(SOURCE.format(text)))
    assert [theirs[i] for i in range(len(theirs))] == [ours[i] for i in range(len(ours))]


def test_voc(both: Both, tmp_path: Path) -> None:
    formats.write_voc(tmp_path)
    for name in ("VOCSegmentation", "VOCDetection"):
        theirs, ours = (
            m.make(str(tmp_path))
            for m in both(SOURCE.format(f"def make(root):\n    return datasets.{name}(root, image_set='train')"))
        )
        assert_same_samples(theirs, ours)


def test_coco(both: Both, tmp_path: Path) -> None:
    pytest.importorskip("pycocotools", reason="torchvision reads COCO with it; without it the next test still runs")
    path = formats.write_coco(tmp_path / "coco")
    for name in ("CocoDetection", "CocoCaptions"):
        text = f"def make(root, file):\n    return datasets.{name}(root, file)"
        theirs, ours = (module.make(str(tmp_path / "coco"), str(path)) for module in both(SOURCE.format(text)))
        assert ours.ids == theirs.ids
        assert_same_samples(theirs, ours)


LOOSE = "class Own(datasets.{0}):\n    def _check_integrity(self):\n        return True\n"


@pytest.mark.parametrize("split", ["train", "test"])
def test_svhn(both: Both, tmp_path: Path, split: str) -> None:
    pytest.importorskip("scipy")
    formats.write_svhn(tmp_path)
    theirs, ours = (module.Own(str(tmp_path), split=split) for module in both(SOURCE.format(LOOSE.format("SVHN"))))
    assert_same_samples(theirs, ours)
    assert np.array_equal(ours.labels, theirs.labels) and 0 in ours.labels and repr(ours) == repr(theirs)


@pytest.mark.parametrize(
    ("split", "folds"), [("train", None), ("train", 1), ("test", None), ("unlabeled", None), ("train+unlabeled", 0)]
)
def test_stl10(both: Both, tmp_path: Path, split: str, folds: int | None) -> None:
    formats.write_stl10(tmp_path)
    theirs, ours = (module.Own(str(tmp_path), split, folds) for module in both(SOURCE.format(LOOSE.format("STL10"))))
    assert_same_samples(theirs, ours)
    assert ours.classes == theirs.classes and np.array_equal(ours.labels, theirs.labels)


@pytest.mark.parametrize("train", [True, False])
def test_usps(both: Both, tmp_path: Path, train: bool) -> None:
    formats.write_usps(tmp_path)
    theirs, ours = (
        m.make(str(tmp_path), train)
        for m in both(SOURCE.format("def make(root, train):\n    return datasets.USPS(root, train)"))
    )
    assert_same_samples(theirs, ours)
    assert list(ours.targets) == list(theirs.targets)


def test_coco_without_pycocotools(both: Both, tmp_path: Path) -> None:
    path = formats.write_coco(tmp_path / "coco")
    ours = both(
        SOURCE.format(
            "def make(root, file):\n    return datasets.CocoDetection(root, file), datasets.CocoCaptions(root, file)"
        )
    )[1]
    detection, captions = ours.make(str(tmp_path / "coco"), str(path))
    assert detection.ids == [7, 42]
    assert [each["id"] for each in detection[1][1]] == [0, 2]
    assert captions[0][1] == ["caption 1"] and captions[0][0].size == (52, 37)


def test_fake_data_has_the_same_shapes_and_spread(both: Both) -> None:
    text = "def make():\n    return datasets.FakeData(size=60, image_size=(3, 16, 16), num_classes=4)"
    theirs, ours = (module.make() for module in both(SOURCE.format(text)))
    pixels = [np.stack([np.asarray(each[i][0]) for i in range(60)]) for each in (theirs, ours)]
    assert pixels[0].shape == pixels[1].shape and abs(pixels[0].mean() - pixels[1].mean()) < 3
    assert {ours[i][1] for i in range(60)} == {0, 1, 2, 3}
    assert np.array_equal(np.asarray(ours[5][0]), np.asarray(ours[5][0]))


def test_a_missing_folder_says_what_to_put_there(both: Both, tmp_path: Path) -> None:
    text = "def make(root, name):\n    return getattr(__import__('sys').modules[__name__], name)(root, download=True)\n\nMNIST = datasets.MNIST\nCIFAR10 = datasets.CIFAR10"
    ours = both(SOURCE.format(text))[1]
    with pytest.raises(RuntimeError, match=r"unpack train-images-idx3-ubyte.*MNIST/raw"):
        ours.make(str(tmp_path), "MNIST")
    with pytest.raises(RuntimeError, match=r"cifar-10-python\.tar\.gz"):
        ours.make(str(tmp_path), "CIFAR10")


def test_a_truncated_file_is_named(both: Both, tmp_path: Path) -> None:
    formats.write_mnist(tmp_path)
    path = tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-100])
    ours = both(SOURCE.format("def make(root):\n    return datasets.MNIST(root)"))[1]
    with pytest.raises(RuntimeError, match=r"train-images-idx3-ubyte is truncated: 6956 of 7056"):
        ours.make(str(tmp_path))


def test_a_broken_picture_is_named(both: Both, tmp_path: Path) -> None:
    formats.write_folder(tmp_path / "images")
    broken = tmp_path / "images" / "cat" / "b.png"
    broken.write_bytes(broken.read_bytes()[:200])
    ours = both(SOURCE.format("def make(root):\n    return datasets.ImageFolder(root)"))[1]
    data = ours.make(str(tmp_path / "images"))
    with pytest.raises(OSError, match=r"b\.png"):
        [data[i] for i in range(len(data))]
