"""torchvision's VOC and COCO datasets, read from the same files, and FakeData."""

import json
import os
import xml.etree.ElementTree

import numpy as np
from PIL import Image

from .datasets_base import VisionDataset, read_file


class VOCDataset(VisionDataset):
    """What VOCSegmentation and VOCDetection share: root/VOCdevkit/VOC<year>."""

    splits_folder, target_folder, target_extension = "", "", ""

    def __init__(
        self,
        root,
        year="2012",
        image_set="train",
        download=False,
        transform=None,
        target_transform=None,
        transforms=None,
    ):
        super().__init__(root, transforms, transform, target_transform)
        if year not in [str(each) for each in range(2007, 2013)]:
            raise ValueError(f"Unknown value '{year}' for argument year. Valid values are 2007 to 2012.")
        self.year, self.image_set = year, image_set
        base = (
            os.path.join("TrainVal", "VOCdevkit", "VOC2011")
            if year == "2011"
            else os.path.join("VOCdevkit", f"VOC{year}")
        )
        folder = os.path.join(self.root, base)
        if not os.path.isdir(folder):
            raise RuntimeError(
                f"Dataset not found: unpack VOC {year} so that {folder} is there. Nothing is downloaded here"
            )
        with open(os.path.join(folder, "ImageSets", self.splits_folder, f"{image_set}.txt")) as file:
            names = [line.strip() for line in file]
        self.images = [os.path.join(folder, "JPEGImages", f"{name}.jpg") for name in names]
        self.targets = [os.path.join(folder, self.target_folder, name + self.target_extension) for name in names]

    def __getitem__(self, index):
        image = read_file(open_image, self.images[index], index).convert("RGB")
        target = read_file(self.read_target, self.targets[index], index)
        return (image, target) if self.transforms is None else self.transforms(image, target)

    def __len__(self):
        return len(self.images)


class VOCSegmentation(VOCDataset):
    """torchvision.datasets.VOCSegmentation: the target is a PIL image of class numbers."""

    splits_folder, target_folder, target_extension = "Segmentation", "SegmentationClass", ".png"

    @property
    def masks(self):
        return self.targets

    def read_target(self, path):
        return open_image(path)


class VOCDetection(VOCDataset):
    """torchvision.datasets.VOCDetection: the target is the annotation as a dict."""

    splits_folder, target_folder, target_extension = "Main", "Annotations", ".xml"

    @property
    def annotations(self):
        return self.targets

    def read_target(self, path):
        return self.parse_voc_xml(xml.etree.ElementTree.parse(path).getroot())

    @staticmethod
    def parse_voc_xml(node):
        children = list(node)
        if not children:
            return {node.tag: node.text.strip()} if node.text else {}
        parts = {}
        for child in children:
            for tag, value in VOCDetection.parse_voc_xml(child).items():
                parts.setdefault(tag, []).append(value)
        if node.tag == "annotation":
            parts["object"] = [parts.get("object", [])]
        return {node.tag: {tag: values[0] if len(values) == 1 else values for tag, values in parts.items()}}


class CocoDetection(VisionDataset):
    """torchvision.datasets.CocoDetection: `coco` is pycocotools' index, or a small one where that is not installed."""

    def __init__(self, root, annFile, transform=None, target_transform=None, transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        try:
            from pycocotools.coco import COCO
        except ImportError:
            COCO = CocoIndex
        self.coco = COCO(annFile)
        self.ids = sorted(self.coco.imgs)

    def _load_image(self, id):
        path = os.path.join(self.root, self.coco.loadImgs(id)[0]["file_name"])
        return read_file(open_image, path, f"with the id {id}").convert("RGB")

    def _load_target(self, id):
        return self.coco.loadAnns(self.coco.getAnnIds(id))

    def __getitem__(self, index):
        id = self.ids[index]
        image, target = self._load_image(id), self._load_target(id)
        return (image, target) if self.transforms is None else self.transforms(image, target)

    def __len__(self):
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """torchvision.datasets.CocoCaptions: the target is the list of captions."""

    def _load_target(self, id):
        return [each["caption"] for each in super()._load_target(id)]


class CocoIndex:
    """The part of pycocotools.coco.COCO that reads a file and looks things up."""

    def __init__(self, annotation_file):
        with open(annotation_file) as file:
            self.dataset = json.load(file)
        self.imgs = {each["id"]: each for each in self.dataset.get("images", [])}
        self.anns = {each["id"]: each for each in self.dataset.get("annotations", [])}
        self.cats = {each["id"]: each for each in self.dataset.get("categories", [])}
        self.imgToAnns = {}
        for each in self.dataset.get("annotations", []):
            self.imgToAnns.setdefault(each["image_id"], []).append(each)

    def getAnnIds(self, imgIds=()):
        ids = imgIds if isinstance(imgIds, (list, tuple)) else [imgIds]
        return [each["id"] for image in ids for each in self.imgToAnns.get(image, [])] if ids else list(self.anns)

    def getImgIds(self):
        return list(self.imgs)

    def getCatIds(self):
        return list(self.cats)

    def loadAnns(self, ids=()):
        return [self.anns[each] for each in (ids if isinstance(ids, (list, tuple)) else [ids])]

    def loadCats(self, ids=()):
        return [self.cats[each] for each in (ids if isinstance(ids, (list, tuple)) else [ids])]

    def loadImgs(self, ids=()):
        return [self.imgs[each] for each in (ids if isinstance(ids, (list, tuple)) else [ids])]


def open_image(path):
    """A PIL image, read to its end."""
    with Image.open(path) as image:
        image.load()
        return image


class FakeData(VisionDataset):
    """torchvision.datasets.FakeData: random images that depend on their index only. (The numbers are numpy's, not torch's.)"""

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.image_size, self.num_classes, self.random_offset = size, image_size, num_classes, random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        numbers = np.random.RandomState(index + self.random_offset)
        pixels = (numbers.standard_normal(self.image_size) * 255).astype(np.int64).astype(np.uint8).transpose(1, 2, 0)
        target = int(numbers.randint(self.num_classes))
        image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else np.ascontiguousarray(pixels))
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __len__(self):
        return self.size
