"""keras.datasets, converted: the same arrays from the files that Keras keeps, and no file is fetched that is there."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from two_processes import REASON, has_tensorflow

from mindferry.convert import convert_project

SCRIPT = """import tensorflow as tf
from tensorflow.keras.datasets import boston_housing, cifar10, imdb, reuters

mnist = tf.keras.datasets.mnist


def show(*parts):
    for part in parts:
        shown = [[int(each) for each in row] for row in part] if part.dtype == object else [part.shape, float(part.sum())]
        print(part.dtype, shown)


for (a, b), (c, d) in (
    mnist.load_data(),
    tf.keras.datasets.fashion_mnist.load_data(),
    cifar10.load_data(),
    boston_housing.load_data(test_split=0.3),
    imdb.load_data(num_words=20, maxlen=6),
    imdb.load_data(skip_top=3, oov_char=None, start_char=None),
    reuters.load_data(num_words=15, test_split=0.5),
):
    show(a, b, c, d)
"""
FOUND = """import runpy, sys
import keras.src.datasets as home
from keras.src.datasets import boston_housing, cifar10, fashion_mnist, imdb, mnist, reuters

def get_file(fname=None, origin=None, cache_subdir="datasets", **_):
    return f"{sys.argv[1]}/{cache_subdir}/{fname}"

for each in (boston_housing, cifar10, fashion_mnist, imdb, mnist, reuters):
    each.get_file = get_file
runpy.run_path(sys.argv[2])
"""


def write_files(folder: Path) -> None:
    """A few rows in the form of each file."""
    rng = np.random.default_rng(0)
    (folder / "fashion-mnist").mkdir(parents=True)
    images, labels = rng.integers(0, 255, (6, 28, 28)).astype("u1"), np.arange(6).astype("u1")
    np.savez(folder / "mnist.npz", x_train=images, y_train=labels, x_test=images[:2], y_test=labels[:2])
    for part in ("train", "t10k"):
        for kind, value, skipped in (("images-idx3", images, 16), ("labels-idx1", labels, 8)):
            with gzip.open(folder / "fashion-mnist" / f"{part}-{kind}-ubyte.gz", "wb") as file:
                file.write(b"\0" * skipped + value.tobytes())
    cifar = folder / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    cifar.mkdir(parents=True)
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        rows = rng.integers(0, 255, (10_000, 3072)).astype("u1")
        (cifar / name).write_bytes(pickle.dumps({b"data": rows, b"labels": rng.integers(0, 10, 10_000).tolist()}))
    texts = np.array([rng.integers(1, 30, size).tolist() for size in (3, 7, 4, 6, 5, 2)], object)
    sides = {"x_train": texts, "y_train": np.arange(6), "x_test": texts[:3], "y_test": np.arange(3)}
    np.savez(folder / "imdb.npz", **sides)
    np.savez(folder / "reuters.npz", x=texts, y=np.arange(6))
    np.savez(folder / "boston_housing.npz", x=rng.normal(size=(9, 4)), y=rng.normal(size=9))


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
def test_data_sets_are_read_from_the_files_of_keras(tmp_path: Path) -> None:
    project, out = tmp_path / "project", tmp_path / "out"
    project.mkdir()
    (project / "show.py").write_text(SCRIPT)
    write_files(tmp_path / "datasets")
    assert convert_project(project, out).files[0].findings == ()
    environment = {**os.environ, "KERAS_HOME": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_v": "4"}
    commands = ["-c", FOUND, str(tmp_path), str(project / "show.py")], [str(out / "show.py")]
    printed = [
        subprocess.run([sys.executable, *each], env=environment, capture_output=True, text=True, cwd=out, timeout=600)
        for each in commands
    ]
    assert printed[0].stdout.count("\n") == 28, printed[0].stderr[-2000:]
    assert printed[1].stdout == printed[0].stdout, printed[1].stderr[-2000:]
