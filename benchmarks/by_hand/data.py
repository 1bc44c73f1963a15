"""CIFAR-10's pipeline carried over by hand: a source, a GeneratorDataset, a map for the transforms, batches."""

import os
import pickle

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision

MEAN = (0.4914, 0.4822, 0.4465)
STD = (0.2470, 0.2435, 0.2616)


class CIFAR10:
    def __init__(self, root, train):
        names = [f"data_batch_{i}" for i in range(1, 6)] if train else ["test_batch"]
        images, self.labels = [], []
        for name in names:
            with open(os.path.join(root, "cifar-10-batches-py", name), "rb") as f:
                batch = pickle.load(f, encoding="latin1")
            images.append(batch["data"])
            self.labels += batch["labels"]
        self.images = np.concatenate(images).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def create_dataset(root, train, batch_size=32, image_size=224, workers=1):
    dataset = ds.GeneratorDataset(CIFAR10(root, train), ["image", "label"], shuffle=train)
    augmentation = [vision.RandomCrop(32, padding=4), vision.RandomHorizontalFlip()] if train else []
    dataset = dataset.map(
        [
            *augmentation,
            vision.Resize((image_size, image_size)),
            vision.Rescale(1.0 / 255.0, 0.0),
            vision.Normalize(MEAN, STD),
            vision.HWC2CHW(),
        ],
        "image",
        num_parallel_workers=workers,
    )
    dataset = dataset.map(transforms.TypeCast(ms.int32), "label", num_parallel_workers=workers)
    return dataset.batch(batch_size, drop_remainder=True)
