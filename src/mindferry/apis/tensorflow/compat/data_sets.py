"""keras.datasets: the files that Keras keeps in ~/.keras/datasets, fetched where they are not there yet."""

import gzip
import json
import os
import pickle
import shutil
import tarfile
import urllib.request

import numpy as np

STORE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
TORONTO = "https://www.cs.toronto.edu/~kriz/"


def get_file(
    fname=None,
    origin=None,
    untar=False,
    cache_subdir="datasets",
    extract=False,
    cache_dir=None,
    archive_format="auto",
    **_,
):
    """keras.utils.get_file: the path of a file, or of the folder that it was unpacked into."""
    name = fname or os.path.basename(origin.partition("?")[0])
    home = cache_dir or os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    folder = os.path.join(home, cache_subdir)
    path = os.path.join(folder, name)
    is_packed = untar or extract
    archive = f"{path}.archive" if is_packed else path
    if os.path.exists(path) and (os.path.isdir(path) or not is_packed):
        return path
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(archive):
        urllib.request.urlretrieve(origin, f"{archive}.part")
        os.replace(f"{archive}.part", archive)
    if is_packed:
        unpack(archive, path)
    return path


def unpack(archive, folder):
    """Into a folder of its own; nothing is written outside of it."""
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    else:
        shutil.unpack_archive(archive, folder, "zip")


def found_folder(*names):
    """What Keras, or a version before it, unpacked."""
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    places = [os.path.join(home, "datasets", name) for name in names]
    return next((each for each in places if os.path.isdir(each)), None)


class mnist:
    @staticmethod
    def load_data(path="mnist.npz"):
        with np.load(get_file(path, f"{STORE}mnist.npz")) as file:
            return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])


class fashion_mnist:
    @staticmethod
    def load_data():
        def read(kind, skipped):
            name = f"{kind}-ubyte.gz"
            path = get_file(name, STORE + name, cache_subdir=os.path.join("datasets", "fashion-mnist"))
            with gzip.open(path) as file:
                return np.frombuffer(file.read(), np.uint8, offset=skipped)

        parts = [
            (read(f"{part}-images-idx3", 16).reshape(-1, 28, 28), read(f"{part}-labels-idx1", 8))
            for part in ("train", "t10k")
        ]
        return tuple(parts)


def read_cifar(path, key):
    with open(path, "rb") as file:
        read = pickle.load(file, encoding="bytes")
    return read[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), np.reshape(read[key], (-1, 1)).astype(np.uint8)


class cifar10:
    @staticmethod
    def load_data():
        name = "cifar-10-batches-py"
        folder = found_folder(f"{name}-target/{name}", f"{name}/{name}", name)
        folder = folder or os.path.join(get_file(name, f"{TORONTO}cifar-10-python.tar.gz", untar=True), name)
        parts = [read_cifar(os.path.join(folder, f"data_batch_{number}"), b"labels") for number in range(1, 6)]
        images, labels = (np.concatenate(each) for each in zip(*parts))
        return (images, labels), read_cifar(os.path.join(folder, "test_batch"), b"labels")


class cifar100:
    @staticmethod
    def load_data(label_mode="fine"):
        name = "cifar-100-python"
        folder = found_folder(f"{name}-target/{name}", f"{name}/{name}", name)
        folder = folder or os.path.join(get_file(name, f"{TORONTO}cifar-100-python.tar.gz", untar=True), name)
        key = f"{label_mode}_labels".encode()
        return tuple(read_cifar(os.path.join(folder, part), key) for part in ("train", "test"))


def shuffled_words(texts, labels, generator):
    order = np.arange(len(texts))
    generator.shuffle(order)
    return texts[order], labels[order]


def limited_words(texts, num_words, skip_top, maxlen, start_char, oov_char, index_from, labels):
    """Words beyond the most frequent ones become `oov_char`, and long texts go."""
    start = [start_char] if start_char is not None else []
    texts = [start + [each + (index_from or 0) for each in text] for text in texts]
    if maxlen:
        kept = [place for place, text in enumerate(texts) if len(text) < maxlen]
        texts, labels = [texts[place] for place in kept], labels[kept]
    most = num_words or max(max(text) for text in texts)
    inside = lambda each: skip_top <= each < most  # noqa: E731
    if oov_char is not None:
        made = [[each if inside(each) else oov_char for each in text] for text in texts]
    else:
        made = [[each for each in text if inside(each)] for text in texts]
    return made, labels


class imdb:
    @staticmethod
    def load_data(
        path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2, index_from=3, **_
    ):
        with np.load(get_file(path, f"{STORE}imdb.npz"), allow_pickle=True) as file:
            sides = [(file[f"x_{side}"], file[f"y_{side}"]) for side in ("train", "test")]
        generator = np.random.RandomState(seed)
        sides = [shuffled_words(*each, generator) for each in sides]
        labels = np.concatenate([each for _, each in sides])
        texts, labels = limited_words(
            [*sides[0][0], *sides[1][0]], num_words, skip_top, maxlen, start_char, oov_char, index_from, labels
        )
        count = len(sides[0][0]) if not maxlen else sum(len(each) + 1 < maxlen for each in sides[0][0])
        rows = [np.array(each, object) for each in (texts[:count], texts[count:])]
        return (rows[0], labels[:count]), (rows[1], labels[count:])

    @staticmethod
    def get_word_index(path="imdb_word_index.json"):
        with open(get_file(path, f"{STORE}imdb_word_index.json")) as file:
            return json.load(file)


class reuters:
    @staticmethod
    def load_data(
        path="reuters.npz",
        num_words=None,
        skip_top=0,
        maxlen=None,
        test_split=0.2,
        seed=113,
        start_char=1,
        oov_char=2,
        index_from=3,
        **_,
    ):
        with np.load(get_file(path, f"{STORE}reuters.npz"), allow_pickle=True) as file:
            texts, labels = shuffled_words(file["x"], file["y"], np.random.RandomState(seed))
        texts, labels = limited_words(texts, num_words, skip_top, maxlen, start_char, oov_char, index_from, labels)
        count = int(len(texts) * (1 - test_split))
        rows = [np.array(each, object) for each in (texts[:count], texts[count:])]
        return (rows[0], labels[:count]), (rows[1], labels[count:])

    @staticmethod
    def get_word_index(path="reuters_word_index.json"):
        with open(get_file(path, f"{STORE}reuters_word_index.json")) as file:
            return json.load(file)


class boston_housing:
    @staticmethod
    def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
        with np.load(get_file(path, f"{STORE}boston_housing.npz"), allow_pickle=True) as file:
            x, y = shuffled_words(file["x"], file["y"], np.random.RandomState(seed))
        count = int(len(x) * (1 - test_split))
        return (x[:count], y[:count]), (x[count:], y[count:])
