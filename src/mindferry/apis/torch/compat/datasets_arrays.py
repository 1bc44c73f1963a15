"""torchvision's datasets of small images in one file of numbers: SVHN, STL10, USPS."""

# ruff: noqa: RUF012  (class attributes as torchvision has them)

import bz2
import os

import numpy as np
from PIL import Image

from .datasets_base import VisionDataset


class ArrayDataset(VisionDataset):
    """Images in `data`, classes in `labels`, both read when the dataset is made."""

    def __getitem__(self, index):
        image, target = self.image(index), int(self.labels[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def image(self, index):
        return Image.fromarray(np.ascontiguousarray(self.data[index].transpose(1, 2, 0)))

    def __len__(self):
        return len(self.data)

    def file(self, *names):
        """The path of a file that must be there."""
        path = os.path.join(self.root, *names)
        if not os.path.isfile(path):
            raise RuntimeError(
                f"Dataset not found: put {names[-1]} into {os.path.dirname(path)}. Nothing is downloaded here"
            )
        return path


class SVHN(ArrayDataset):
    """torchvision.datasets.SVHN: <split>_32x32.mat, read with scipy, as torchvision does."""

    split_list = {
        split: [f"http://ufldl.stanford.edu/housenumbers/{split}_32x32.mat", f"{split}_32x32.mat"]
        for split in ("train", "test", "extra")
    }

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        import scipy.io

        self.split, self.filename = split, self.split_list[split][1]
        content = scipy.io.loadmat(self.file(self.filename))
        self.data = content["X"].transpose(3, 2, 0, 1)
        self.labels = content["y"].astype(np.int64).squeeze()
        self.labels[self.labels == 10] = 0

    def extra_repr(self):
        return f"Split: {self.split}"


class STL10(ArrayDataset):
    """torchvision.datasets.STL10: stl10_binary/<split>_X.bin, columns first."""

    base_folder = "stl10_binary"
    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {self.splits}.")
        self.split, self.folds = split, folds
        parts = [self.read(each) for each in split.split("+")]
        if folds is not None and split.startswith("train"):
            with open(self.file(self.base_folder, "fold_indices.txt")) as file:
                chosen = np.fromstring(file.read().splitlines()[folds], dtype=np.int64, sep=" ")
            parts[0] = tuple(each[chosen] for each in parts[0])
        self.data, self.labels = (np.concatenate(each) for each in zip(*parts))
        names = os.path.join(self.root, self.base_folder, "class_names.txt")
        if os.path.isfile(names):
            with open(names) as file:
                self.classes = file.read().splitlines()

    def read(self, split):
        numbers = np.fromfile(self.file(self.base_folder, f"{split}_X.bin"), dtype=np.uint8)
        if numbers.size % (3 * 96 * 96):
            raise RuntimeError(
                f"{split}_X.bin is truncated: {numbers.size} bytes are no whole number of images. Unpack it again"
            )
        images = numbers.reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)
        if split == "unlabeled":
            return images, np.full(len(images), -1)
        return images, np.fromfile(self.file(self.base_folder, f"{split}_y.bin"), dtype=np.uint8) - 1

    def extra_repr(self):
        return f"Split: {self.split}"


class USPS(ArrayDataset):
    """torchvision.datasets.USPS: usps.bz2 and usps.t.bz2, one line of text for each digit."""

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        with bz2.open(self.file("usps.bz2" if train else "usps.t.bz2")) as file:
            rows = [line.decode().split() for line in file]
        pixels = np.asarray([[each.split(":")[-1] for each in row[1:]] for row in rows], dtype=np.float32).reshape(
            -1, 16, 16
        )
        self.data = ((pixels + 1) / 2 * 255).astype(np.uint8)
        self.targets = self.labels = [int(row[0]) - 1 for row in rows]

    def image(self, index):
        return Image.fromarray(self.data[index])
