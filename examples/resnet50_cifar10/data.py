"""CIFAR-10: the real files if they are there, otherwise a small set of the same layout."""

import os
import pickle

import numpy as np
from torch.utils.data import DataLoader

import torchvision_ops  # noqa: F401  (before torchvision: see there)
from torchvision import datasets, transforms

MEAN = (0.4914, 0.4822, 0.4465)
STD = (0.2470, 0.2435, 0.2616)
CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


class CIFAR10(datasets.CIFAR10):
    """torchvision's CIFAR-10 without the md5 check, so that files other than the official ones load."""

    meta = {"filename": "batches.meta", "key": "label_names", "md5": None}

    def _check_integrity(self):
        folder = os.path.join(self.root, self.base_folder)
        return all(os.path.isfile(os.path.join(folder, name)) for name, _ in self.train_list + self.test_list)


def synthetic_images(labels, rng):
    """Stripes whose direction and colour depend on the class, in random phase, under noise."""
    rows, columns = np.mgrid[0:32, 0:32]
    images = np.empty((len(labels), 3, 32, 32), dtype=np.uint8)
    for i, label in enumerate(labels):
        angle = np.pi / 2 * (label % 5) / 4  # 0 to 90 degrees, so a horizontal flip keeps classes apart
        period = 6 if label < 5 else 12
        wave = np.sin(2 * np.pi * (np.cos(angle) * rows + np.sin(angle) * columns) / period + rng.uniform(0, 2 * np.pi))
        colour = np.array([np.cos(label), np.sin(label), np.cos(2 * label)])
        clean = 128 + 20 * colour[:, None, None] + 40 * wave[None]
        images[i] = np.clip(clean + rng.normal(0, 30, size=clean.shape), 0, 255)
    return images.reshape(len(labels), -1)


def write_synthetic(root, train_size=1000, test_size=200, seed=0):
    """Write a small learnable set in CIFAR-10's own layout: five training batches, a test batch, the names."""
    folder = os.path.join(root, datasets.CIFAR10.base_folder)
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(seed)
    sizes = {f"data_batch_{i}": train_size // 5 for i in range(1, 6)}
    sizes["test_batch"] = test_size
    for name, size in sizes.items():
        labels = rng.permutation(np.arange(size) % len(CLASSES)).tolist()
        batch = {
            "batch_label": name,
            "labels": labels,
            "data": synthetic_images(labels, rng),
            "filenames": [f"{name}_{i}.png" for i in range(size)],
        }
        with open(os.path.join(folder, name), "wb") as f:
            pickle.dump(batch, f, protocol=2)
    with open(os.path.join(folder, "batches.meta"), "wb") as f:
        pickle.dump({"label_names": CLASSES, "num_cases_per_batch": train_size // 5, "num_vis": 3072}, f, protocol=2)


def prepare(root):
    """Make sure that there is something to train on. Existing files are never touched."""
    folder = os.path.join(root, datasets.CIFAR10.base_folder)
    if not os.path.isdir(folder):
        print(f"No CIFAR-10 in {folder}: writing a small synthetic set there")
        write_synthetic(root)


def train_loader(root="data", batch_size=32, image_size=224, num_workers=0):
    prepare(root)
    transform = transforms.Compose([
        transforms.RandomCrop(32, padding=4),
        transforms.RandomHorizontalFlip(),
        transforms.Resize(image_size),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ])
    dataset = CIFAR10(root, train=True, transform=transform)
    return DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=num_workers)


def test_loader(root="data", batch_size=32, image_size=224, num_workers=0):
    prepare(root)
    transform = transforms.Compose([
        transforms.Resize(image_size),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ])
    dataset = CIFAR10(root, train=False, transform=transform)
    return DataLoader(dataset, batch_size=batch_size, shuffle=False, num_workers=num_workers)
