"""Small data sets in the formats that public scripts read, drawn from fixed seeds: there is nothing to download."""

from __future__ import annotations

import csv
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

WORDS = "the a small large red blue boat house runs stands near under and but then sea hill , . <eos>".split()


def make(kind: str, target: Path) -> None:
    """`kind` is one of KINDS; `target` is the file or folder that the script reads."""
    KINDS[kind](target, np.random.default_rng(7))


def _mnist(folder: Path, draw: np.random.Generator) -> None:
    """torchvision's folder: MNIST/raw with four idx files; a digit is a bar whose place tells which it is."""
    for split, count in (("train", 640), ("t10k", 200)):
        labels = draw.integers(0, 10, count).astype(np.uint8)
        images = draw.integers(0, 60, (count, 28, 28)).astype(np.uint8)
        for image, label in zip(images, labels, strict=True):
            image[2 + 2 * label : 5 + 2 * label, 6:22] = 220
        for name in ("MNIST", "FashionMNIST"):
            raw = folder / name / "raw"
            raw.mkdir(parents=True, exist_ok=True)
            head = struct.pack(">IIII", 2051, count, 28, 28)
            (raw / f"{split}-images-idx3-ubyte").write_bytes(head + images.tobytes())
            (raw / f"{split}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + labels.tobytes())


def _text(file: Path, draw: np.random.Generator) -> None:
    """400 lines of words from a small vocabulary."""
    lines = [" ".join(WORDS[i] for i in draw.integers(0, len(WORDS) - 1, draw.integers(5, 12))) for _ in range(400)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")


def _corpus(folder: Path, draw: np.random.Generator) -> None:
    """train.txt, valid.txt and test.txt."""
    for name in ("train", "valid", "test"):
        _text(folder / f"{name}.txt", draw)


def _cora(folder: Path, draw: np.random.Generator) -> None:
    """A citation graph: cora.content (paper, words, class) and cora.cites (paper, paper)."""
    folder.mkdir(parents=True, exist_ok=True)
    papers, classes = 1640, ["Theory", "Neural_Networks", "Rule_Learning", "Case_Based"]
    kinds = draw.integers(0, len(classes), papers)
    words = draw.random((papers, 40)) < 0.1
    for number, kind in enumerate(kinds):
        words[number, 10 * kind : 10 * kind + 10] |= draw.random(10) < 0.4
    content = [
        f"{1000 + i}\t" + "\t".join(str(int(word)) for word in words[i]) + f"\t{classes[kinds[i]]}"
        for i in range(papers)
    ]
    cites = [f"{1000 + a}\t{1000 + b}" for a, b in draw.integers(0, papers, (3000, 2)) if a != b]
    (folder / "cora.content").write_text("\n".join(content) + "\n")
    (folder / "cora.cites").write_text("\n".join(cites) + "\n")


def _images(folder: Path, draw: np.random.Generator) -> None:
    """Twelve jpg pictures of 96 × 96 in two class folders."""
    from PIL import Image

    for label in ("one", "two"):
        (folder / label).mkdir(parents=True, exist_ok=True)
        for number in range(6):
            small = draw.integers(0, 255, (12, 12, 3)).astype(np.uint8)
            Image.fromarray(small).resize((96, 96)).save(folder / label / f"{number}.jpg", quality=95)


def _pictures(folder: Path, draw: np.random.Generator) -> None:
    """Eight jpg pictures in one folder."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(8):
        small = draw.integers(0, 255, (16, 16, 3)).astype(np.uint8)
        Image.fromarray(small).resize((288, 288)).save(folder / f"{number}.jpg", quality=95)


def _masked(folder: Path, draw: np.random.Generator) -> None:
    """imgs/*.png and masks/*.png of the same names."""
    from PIL import Image

    for part in ("imgs", "masks"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for number in range(8):
        picture = draw.integers(0, 255, (48, 48, 3)).astype(np.uint8)
        mask = (picture[..., 0] > 128).astype(np.uint8) * 255
        Image.fromarray(picture).save(folder / "imgs" / f"{number}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{number}.png")


def _series(file: Path, draw: np.random.Generator) -> None:
    """An hourly table: date, six sines with noise, and OT."""
    file.parent.mkdir(parents=True, exist_ok=True)
    hours = np.arange(24 * 30 * 20)
    start = np.datetime64("2016-07-01T00:00:00")
    columns = [np.sin(2 * np.pi * hours / 24 * (i + 1) / 3) + 0.1 * draw.standard_normal(len(hours)) for i in range(7)]
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["date", "HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"])
        for hour in hours:
            when = str(start + np.timedelta64(int(hour), "h")).replace("T", " ")
            rows.writerow([when, *(f"{column[hour]:.5f}" for column in columns)])


def _ratings(folder: Path, draw: np.random.Generator) -> None:
    """NCF's three files: train.rating, test.rating and test.negative, tab-separated."""
    folder.mkdir(parents=True, exist_ok=True)
    users, items = 30, 120
    train = [(user, item) for user in range(users) for item in sorted(draw.choice(items, 12, replace=False))]
    (folder / "ml-1m.train.rating").write_text("".join(f"{u}\t{i}\t4\t9\n" for u, i in train))
    (folder / "ml-1m.test.rating").write_text("".join(f"{u}\t{u}\t4\t9\n" for u in range(users)))
    rows = [f"({u},{u})\t" + "\t".join(map(str, draw.integers(0, items, 99))) for u in range(users)]
    (folder / "ml-1m.test.negative").write_text("\n".join(rows) + "\n")


def _movielens(file: Path, draw: np.random.Generator) -> None:
    """ratings.csv: user, item, rating, time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{draw.integers(1, 40)},{draw.integers(1, 60)},{draw.integers(1, 6)},9" for _ in range(3000)]
    file.write_text("userId,movieId,rating,timestamp\n" + "\n".join(rows) + "\n")


def _pairs(file: Path, draw: np.random.Generator) -> None:
    """Two sentences a line, with a tab between them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = [" ".join(WORDS[i] for i in draw.integers(0, len(WORDS) - 1, 6)) for _ in range(400)]
    file.write_text("\n".join(f"{a}\t{b}" for a, b in zip(text[::2], text[1::2], strict=True)) + "\n")


def _ratings_dat(file: Path, draw: np.random.Generator) -> None:
    """MovieLens 1M's file: user::item::rating::time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{draw.integers(1, 40)}::{draw.integers(1, 60)}::{draw.integers(1, 6)}::9" for _ in range(2000)]
    file.write_text("\n".join(rows) + "\n")


def _tokens(folder: Path, draw: np.random.Generator) -> None:
    """nanoGPT's folder: train.bin, val.bin, and meta.pkl with the size of the vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        draw.integers(0, 40, 4000).astype(np.uint16).tofile(folder / f"{name}.bin")
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 40}))


def _visdom(file: Path, draw: np.random.Generator) -> None:
    """A module that takes what a script sends to a plotting server, and shows it to nobody."""
    text = "class Visdom:\n    def __getattr__(self, name):\n        return lambda *args, **kwargs: name\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _empty(folder: Path, draw: np.random.Generator) -> None:
    """A folder that the script writes to."""
    folder.mkdir(parents=True, exist_ok=True)


KINDS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "mnist": _mnist,
    "text": _text,
    "corpus": _corpus,
    "cora": _cora,
    "images": _images,
    "pictures": _pictures,
    "masked": _masked,
    "series": _series,
    "ratings": _ratings,
    "movielens": _movielens,
    "pairs": _pairs,
    "ratings_dat": _ratings_dat,
    "tokens": _tokens,
    "visdom": _visdom,
    "empty": _empty,
}
