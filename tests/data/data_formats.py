"""Small data sets in the formats of the real ones."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
from data_pictures import picture


def write_cifar(root: Path, kind: int = 10) -> None:
    rng = np.random.default_rng(0)
    folder = root / ("cifar-10-batches-py" if kind == 10 else "cifar-100-python")
    folder.mkdir(parents=True)
    names = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"] if kind == 10 else ["train", "test"]
    key = "labels" if kind == 10 else "fine_labels"
    for name in names:
        entry = {"data": rng.integers(0, 256, (6, 3072), dtype=np.uint8), key: rng.integers(0, kind, 6).tolist()}
        (folder / name).write_bytes(pickle.dumps(entry, protocol=2))
    classes = [f"class {i}" for i in range(kind)]
    meta = ("batches.meta", "label_names") if kind == 10 else ("meta", "fine_label_names")
    (folder / meta[0]).write_bytes(pickle.dumps({meta[1]: classes}, protocol=2))


def write_idx(path: Path, array: np.ndarray) -> None:
    code = {"uint8": 8, "int32": 12}[array.dtype.name]
    header = bytes([0, 0, code, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + array.astype(array.dtype.newbyteorder(">")).tobytes())


def write_mnist(root: Path, name: str = "MNIST") -> None:
    rng = np.random.default_rng(1)
    for prefix, size in (("train", 9), ("t10k", 5)):
        write_idx(
            root / name / "raw" / f"{prefix}-images-idx3-ubyte", rng.integers(0, 256, (size, 28, 28), dtype=np.uint8)
        )
        write_idx(root / name / "raw" / f"{prefix}-labels-idx1-ubyte", rng.integers(0, 10, size, dtype=np.uint8))


def write_emnist(root: Path, split: str) -> None:
    rng = np.random.default_rng(2)
    for part in ("train", "test"):
        stem = root / "EMNIST" / "raw" / f"emnist-{split}-{part}"
        write_idx(Path(f"{stem}-images-idx3-ubyte"), rng.integers(0, 256, (4, 28, 28), dtype=np.uint8))
        write_idx(Path(f"{stem}-labels-idx1-ubyte"), rng.integers(1, 27, 4, dtype=np.uint8))


def write_qmnist(root: Path) -> None:
    rng = np.random.default_rng(3)
    stem = root / "QMNIST" / "raw" / "qmnist-train"
    write_idx(Path(f"{stem}-images-idx3-ubyte"), rng.integers(0, 256, (4, 28, 28), dtype=np.uint8))
    write_idx(Path(f"{stem}-labels-idx2-int"), rng.integers(0, 10, (4, 8)).astype(np.int32))


def write_folder(root: Path) -> None:
    for number, (name, mode, extension) in enumerate(
        [
            ("cat/b.png", "RGB", ""),
            ("cat/a.JPG", "RGB", ""),
            ("dog/deep/c.png", "L", ""),
            ("dog/d.bmp", "RGB", ""),
            ("bird/e.png", "RGBA", ""),
        ]
    ):
        path = root / f"{name}{extension}"
        path.parent.mkdir(parents=True, exist_ok=True)
        picture(20 + number, 30, mode, seed=number).save(path, format="JPEG" if path.suffix == ".JPG" else None)
    (root / "dog" / "notes.txt").write_text("not an image")


def write_voc(root: Path) -> None:
    base = root / "VOCdevkit" / "VOC2012"
    for folder in ("JPEGImages", "SegmentationClass", "Annotations", "ImageSets/Main", "ImageSets/Segmentation"):
        (base / folder).mkdir(parents=True, exist_ok=True)
    objects = "<object><name>dog</name><bndbox><xmin>1</xmin><xmax>9</xmax></bndbox></object>"
    for number, name in enumerate(("2007_000027", "2007_000032")):
        picture(seed=number).save(base / "JPEGImages" / f"{name}.jpg")
        picture(mode="L", seed=number).point(lambda level: level // 12).convert("P").save(
            base / "SegmentationClass" / f"{name}.png"
        )
        text = f"<annotation>\n<filename>{name}.jpg</filename><size><width>52</width></size>{objects * (number + 1)}</annotation>"
        (base / "Annotations" / f"{name}.xml").write_text(text)
    for kind in ("Main", "Segmentation"):
        (base / "ImageSets" / kind / "train.txt").write_text("2007_000027\n2007_000032\n")


def write_coco(root: Path) -> Path:
    root.mkdir(exist_ok=True)
    images = [{"id": number, "file_name": f"{number:05}.jpg"} for number in (42, 7)]
    for number, image in enumerate(images):
        picture(seed=number).save(root / str(image["file_name"]))
    annotations = [
        {"id": number, "image_id": image, "category_id": 3, "bbox": [1, 2, 3, number], "caption": f"caption {number}"}
        for number, image in enumerate((42, 7, 42))
    ]
    path = root / "annotations.json"
    path.write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 3, "name": "cat"}]})
    )
    return path


def write_svhn(root: Path) -> None:
    import scipy.io

    rng = np.random.default_rng(4)
    for split in ("train", "test"):
        labels = rng.permutation(np.arange(1, 11))[:, None].astype(np.uint8)
        scipy.io.savemat(
            root / f"{split}_32x32.mat", {"X": rng.integers(0, 256, (32, 32, 3, 10), dtype=np.uint8), "y": labels}
        )


def write_stl10(root: Path) -> None:
    folder, rng = root / "stl10_binary", np.random.default_rng(5)
    folder.mkdir()
    for split, count in (("train", 6), ("test", 3), ("unlabeled", 4)):
        rng.integers(0, 256, (count, 3, 96, 96), dtype=np.uint8).tofile(folder / f"{split}_X.bin")
        rng.integers(1, 11, count, dtype=np.uint8).tofile(folder / f"{split}_y.bin")
    (folder / "class_names.txt").write_text("airplane\nbird\n")
    (folder / "fold_indices.txt").write_text("0 2 5 \n1 3 4 \n")


def write_usps(root: Path) -> None:
    import bz2

    rng = np.random.default_rng(6)
    for name in ("usps.bz2", "usps.t.bz2"):
        rows = [
            f"{label} " + " ".join(f"{i + 1}:{value:.4f}" for i, value in enumerate(rng.uniform(-1, 1, 256)))
            for label in (1, 10, 7)
        ]
        (root / name).write_bytes(bz2.compress("\n".join(rows).encode()))
