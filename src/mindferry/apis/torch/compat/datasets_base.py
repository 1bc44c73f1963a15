"""What torchvision's datasets share."""

import hashlib
import os

from .parts import JOINS_TRANSFORMS, PRINTS_DATASETS


class VisionDataset:
    """torchvision.datasets.VisionDataset: a root folder and the transforms."""

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        if JOINS_TRANSFORMS and transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        self.transform = transform
        self.target_transform = target_transform
        if JOINS_TRANSFORMS:
            has_both = transform is not None or target_transform is not None
            self.transforms = StandardTransform(transform, target_transform) if has_both else transforms

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    if PRINTS_DATASETS:

        def __repr__(self):
            lines = [
                f"Number of datapoints: {len(self)}",
                *([f"Root location: {self.root}"] if self.root is not None else []),
            ]
            lines += self.extra_repr().splitlines()
            lines += [repr(self.transforms)] if self.transforms is not None else []
            return "\n".join([f"Dataset {type(self).__name__}", *(f"    {line}" for line in lines)])

        def extra_repr(self):
            return ""


class StandardTransform:
    """A transform for the input and one for the target, called with both."""

    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input, target):
        input = input if self.transform is None else self.transform(input)
        return input, target if self.target_transform is None else self.target_transform(target)


def check_integrity(path, md5=None):
    """Whether the file is there and has this checksum."""
    if md5 is None or not os.path.isfile(path):
        return os.path.isfile(path)
    with open(path, "rb") as file:
        return hashlib.md5(file.read(), usedforsecurity=False).hexdigest() == md5


def read_file(read, path, index):
    """read(path); an error names the sample and the file."""
    try:
        return read(path)
    except (OSError, SyntaxError, ValueError) as error:  # what PIL raises for a broken picture
        raise OSError(f"sample {index}, {path}: {error}") from error
