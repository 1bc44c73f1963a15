"""torchvision's MNIST family, read from the same idx files."""

# ruff: noqa: RUF012  (class attributes as torchvision has them)

import os
import string

import mindspore as ms
import numpy as np
from PIL import Image

from .datasets_base import VisionDataset, check_integrity


class MNIST(VisionDataset):
    """torchvision.datasets.MNIST: unpacked idx files in root/MNIST/raw."""

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    classes = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError(f"Dataset not found: unpack {', '.join(self._files())} into {self.raw_folder}")
        self.data, self.targets = self._load_data()

    @property
    def data(self):
        return ms.Tensor(self.images)

    @data.setter
    def data(self, value):
        self.images = value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)

    @property
    def targets(self):
        return ms.Tensor(self.labels)

    @targets.setter
    def targets(self, value):
        self.labels = value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)

    def _load_data(self):
        prefix = "train" if self.train else "t10k"
        images = read_idx(os.path.join(self.raw_folder, f"{prefix}-images-idx3-ubyte"))
        return images, read_idx(os.path.join(self.raw_folder, f"{prefix}-labels-idx1-ubyte")).astype(np.int64)

    def __getitem__(self, index):
        image, target = Image.fromarray(self.images[index]), int(self.labels[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __len__(self):
        return len(self.images)

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def class_to_idx(self):
        return {name: number for number, name in enumerate(self.classes)}

    def _files(self):
        return [os.path.splitext(os.path.basename(name))[0] for name, _ in self.resources]

    def _check_exists(self):
        return all(check_integrity(os.path.join(self.raw_folder, name)) for name in self._files())

    def download(self):
        if not self._check_exists():
            raise RuntimeError(f"Nothing is downloaded here: unpack {', '.join(self._files())} into {self.raw_folder}")

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class FashionMNIST(MNIST):
    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


class KMNIST(MNIST):
    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """torchvision.datasets.EMNIST: one of six splits, each with files of its own."""

    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")

    def __init__(self, root, split, **kwargs):
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {self.splits}.")
        self.split = split
        super().__init__(root, **kwargs)
        everything = sorted(string.digits + string.ascii_letters)
        merged = [each for each in everything if each not in "cijklmopsuvwxyz"]
        letters, digits = ["N/A", *string.ascii_lowercase], list(string.digits)
        self.classes = {"byclass": everything, "letters": letters, "digits": digits, "mnist": digits}.get(split, merged)

    def _files(self):
        kind = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        return [f"{kind}-images-idx3-ubyte", f"{kind}-labels-idx1-ubyte"]

    def _load_data(self):
        images, labels = (read_idx(os.path.join(self.raw_folder, name)) for name in self._files())
        return images, labels.astype(np.int64)


class QMNIST(MNIST):
    """torchvision.datasets.QMNIST: compat=False gives all eight numbers of a label."""

    subsets = {
        "train": "qmnist-train",
        "test": "qmnist-test",
        "test10k": "qmnist-test",
        "test50k": "qmnist-test",
        "nist": "xnist",
    }

    def __init__(self, root, what=None, compat=True, train=True, **kwargs):
        self.what = what or ("train" if train else "test")
        self.compat = compat
        super().__init__(root, train, **kwargs)

    def _files(self):
        return [f"{self.subsets[self.what]}-images-idx3-ubyte", f"{self.subsets[self.what]}-labels-idx2-int"]

    def _load_data(self):
        images, labels = (read_idx(os.path.join(self.raw_folder, name)) for name in self._files())
        part = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(self.what, slice(None))
        return images[part], labels[part].astype(np.int64)

    def __getitem__(self, index):
        image, target = Image.fromarray(self.images[index]), self.labels[index]
        if self.transform is not None:
            image = self.transform(image)
        if self.compat:
            target = int(target[0])
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


def read_idx(path):
    """An idx file: a type, the sizes, then the numbers, highest byte first."""
    with open(path, "rb") as file:
        content = file.read()
    types = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in types:
        raise RuntimeError(f"{path} is not an idx file. Unpack it again")
    shape = [int.from_bytes(content[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(content[3])]
    values = np.frombuffer(content, dtype=types[content[2]], offset=4 + 4 * content[3])
    if values.size < np.prod(shape):
        raise RuntimeError(f"{path} is truncated: {values.size} of {np.prod(shape)} numbers are there. Unpack it again")
    return values[: np.prod(shape)].reshape(shape).astype(values.dtype.newbyteorder("="))
