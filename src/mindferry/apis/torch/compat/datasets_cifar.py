"""torchvision's CIFAR-10 and CIFAR-100, read from the same files."""

# ruff: noqa: RUF012  (class attributes as torchvision has them)

import os
import pickle

import numpy as np
from PIL import Image

from .datasets_base import VisionDataset, check_integrity


class CIFAR10(VisionDataset):
    """torchvision.datasets.CIFAR10: the Python version of the files, in root/cifar-10-batches-py."""

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(f"{self.base_folder} not found or corrupted in {self.root}. Unpack {self.url} there")
        files = [self._load(name) for name, _ in (self.train_list if train else self.test_list)]
        self.data = np.vstack([each["data"] for each in files]).reshape(-1, 3, 32, 32).transpose((0, 2, 3, 1))
        self.targets = [label for each in files for label in each.get("labels", each.get("fine_labels"))]
        self._load_meta()

    def _load(self, name):
        path = os.path.join(self.root, self.base_folder, name)
        try:
            with open(path, "rb") as file:
                return pickle.load(file, encoding="latin1")
        except (EOFError, pickle.UnpicklingError) as error:
            raise RuntimeError(f"{path} is truncated or not a CIFAR file ({error}). Unpack {self.url} again") from error

    def _load_meta(self):
        path = os.path.join(self.root, self.base_folder, self.meta["filename"])
        if not check_integrity(path, self.meta["md5"]):
            raise RuntimeError(f"Dataset metadata file {path} not found or corrupted. Unpack {self.url} again")
        self.classes = self._load(self.meta["filename"])[self.meta["key"]]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    def __getitem__(self, index):
        image, target = Image.fromarray(self.data[index]), self.targets[index]
        image = image if self.transform is None else self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        folder = os.path.join(self.root, self.base_folder)
        return all(check_integrity(os.path.join(folder, name), md5) for name, md5 in self.train_list + self.test_list)

    def download(self):
        if not self._check_integrity():
            raise RuntimeError(
                f"Nothing is downloaded here: unpack {self.url}, so that {self.base_folder} is in {self.root}"
            )

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class CIFAR100(CIFAR10):
    """torchvision.datasets.CIFAR100: in root/cifar-100-python, with the fine labels."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}
