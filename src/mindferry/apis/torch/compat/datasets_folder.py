"""torchvision's datasets of folders: one folder for each class."""

import os

from PIL import Image

from .datasets_base import VisionDataset, read_file

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class DatasetFolder(VisionDataset):
    """torchvision.datasets.DatasetFolder: root/class/file, classes in alphabetical order."""

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(self.root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.loader = loader
        self.extensions = extensions
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        if (extensions is None) == (is_valid_file is None):
            raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
        accepts = is_valid_file or (
            lambda name: name.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))
        )
        samples = []
        for name in sorted(class_to_idx):
            found = [
                (os.path.join(folder, file), class_to_idx[name])
                for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True))
                for file in sorted(files)
                if accepts(os.path.join(folder, file))
            ]
            if not found and not allow_empty:
                raise FileNotFoundError(
                    f"Found no valid file for the class {name} in {directory}. Supported extensions are: {extensions}"
                )
            samples += found
        return samples

    def find_classes(self, directory):
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
        return classes, {name: number for number, name in enumerate(classes)}

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = read_file(self.loader, path, index)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """torchvision.datasets.ImageFolder: root/class/image."""

    def __init__(self, root, transform=None, target_transform=None, loader=None, is_valid_file=None, allow_empty=False):
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(
            root, loader or pil_loader, extensions, transform, target_transform, is_valid_file, allow_empty
        )
        self.imgs = self.samples


def pil_loader(path):
    """torchvision's default_loader."""
    with open(path, "rb") as file:
        return Image.open(file).convert("RGB")
