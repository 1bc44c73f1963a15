"""Images, sequences and datasets from files and folders; what keras.utils and keras.preprocessing have for them."""

import glob
import os

import numpy as np
from mindspore import Tensor

from .data import Dataset
from .functions_numpy import ops_normalize
from .tensors import as_tensor

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")


def text_of(path):
    """A file's name, given as text, bytes, an array or a path."""
    path = path.asnumpy() if isinstance(path, Tensor) else path
    path = path.item() if isinstance(path, np.ndarray) else path
    return path.decode("utf-8") if isinstance(path, bytes) else str(path)


def load_img(path, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """keras.utils.load_img: an image of Pillow's."""
    from PIL import Image

    kinds = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}
    with Image.open(path) as opened:
        image = opened.convert({"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}[color_mode])
    return image if target_size is None else image.resize((target_size[1], target_size[0]), kinds[interpolation])


def img_to_array(img, data_format=None, dtype="float32"):
    made = np.asarray(img, dtype)
    made = made[..., None] if made.ndim == 2 else made
    return made.transpose(2, 0, 1) if data_format == "channels_first" else made


def array_to_img(x, data_format=None, scale=True, dtype="float32"):
    from PIL import Image

    x = np.asarray(x.asnumpy() if isinstance(x, Tensor) else x, "float32")
    x = x.transpose(1, 2, 0) if data_format == "channels_first" else x
    if scale:
        x = x - np.min(x)
        x = x / (np.max(x) or 1) * 255
    return Image.fromarray((x[..., 0] if x.shape[-1] == 1 else x).astype("uint8"))


def save_img(path, x, data_format=None, file_format=None, scale=True, **settings):
    array_to_img(x, data_format, scale).save(path, format=file_format, **settings)


def read_file(filename, name=None):
    """tf.io.read_file: bytes."""
    with open(text_of(filename), "rb") as file:
        return file.read()


def decode_image(contents, channels=0, dtype="uint8", name=None, expand_animations=True, **_):
    """tf.io.decode_image, decode_png, decode_jpeg."""
    import io

    from PIL import Image

    with Image.open(io.BytesIO(contents)) as opened:
        names = {0: opened.mode if opened.mode in ("L", "RGB", "RGBA") else "RGB", 1: "L", 3: "RGB", 4: "RGBA"}
        made = np.asarray(opened.convert(names[int(channels or 0)]))
    made = as_tensor(np.array(made[..., None] if made.ndim == 2 else made))
    return made if str(dtype).lower().endswith("uint8") else as_tensor(made.asnumpy().astype(np.float32) / 255)


def labelled_files(directory, labels, class_names, endings):
    """(files, numbers of their classes, classes), in the order of their names."""
    classes = [
        str(each) for each in class_names or sorted(each.name for each in os.scandir(directory) if each.is_dir())
    ]
    if labels != "inferred":
        classes = classes if class_names else []
    files, numbers = [], []
    for number, folder in enumerate(classes or [""]):
        for root, folders, names in os.walk(os.path.join(directory, folder)):
            folders.sort()
            found = [os.path.join(root, name) for name in sorted(names) if name.lower().endswith(endings)]
            files += found
            numbers += [number] * len(found)
    if not files:
        raise ValueError(f"No files found in directory {directory}. Allowed formats: {endings}")
    if labels not in ("inferred", None):
        numbers = list(labels)
    return files, numbers, classes


def chosen_part(files, numbers, validation_split, subset):
    """keras' own: the last share is for validation."""
    if not validation_split:
        return files, numbers
    held = int(validation_split * len(files))
    part = slice(None, -held) if subset == "training" else slice(-held, None)
    return files[part], numbers[part]


def image_dataset_from_directory(
    directory,
    labels="inferred",
    label_mode="int",
    class_names=None,
    color_mode="rgb",
    batch_size=32,
    image_size=(256, 256),
    shuffle=True,
    seed=None,
    validation_split=None,
    subset=None,
    interpolation="bilinear",
    **_,
):
    """keras.utils.image_dataset_from_directory: files are read and resized when their turn comes."""

    def image_of(path):
        image = load_img(path, color_mode)
        return as_tensor(resized_pixels(img_to_array(image), image_size, interpolation))

    found = labelled_files(directory, labels, class_names, IMAGES)
    return dataset_of_files(
        found, image_of, label_mode if labels else None, batch_size, shuffle, seed, validation_split, subset
    )


def text_dataset_from_directory(
    directory,
    labels="inferred",
    label_mode="int",
    class_names=None,
    batch_size=32,
    max_length=None,
    shuffle=True,
    seed=None,
    validation_split=None,
    subset=None,
    **_,
):
    """keras.utils.text_dataset_from_directory."""

    def text_in(path):
        with open(path, encoding="utf-8") as file:
            return np.array(file.read()[:max_length])

    found = labelled_files(directory, labels, class_names, (".txt",))
    return dataset_of_files(
        found, text_in, label_mode if labels else None, batch_size, shuffle, seed, validation_split, subset
    )


def dataset_of_files(found, read, label_mode, batch_size, shuffle, seed, validation_split, subset):
    files, numbers, classes = found
    if shuffle:
        seed = np.random.randint(1_000_000) if seed is None else seed
        for each in (files, numbers):
            np.random.RandomState(seed).shuffle(each)
    if subset == "both":
        parts = [chosen_part(files, numbers, validation_split, each) for each in ("training", "validation")]
    else:
        parts = [chosen_part(files, numbers, validation_split, subset)]
    made = []
    for paths, targets in parts:
        dataset = labelled_dataset(paths, targets, read, label_mode, len(classes))
        dataset = dataset.shuffle(8 * (batch_size or 32), seed) if shuffle else dataset
        dataset = dataset.batch(batch_size) if batch_size is not None else dataset
        dataset.class_names, dataset.file_paths = classes, paths
        made.append(dataset)
    return made[0] if len(made) == 1 else made


def labelled_dataset(paths, targets, read, label_mode, count):
    def make():
        for path, target in zip(paths, targets):
            if label_mode is None:
                yield read(path)
            elif label_mode == "binary":
                yield read(path), as_tensor(np.array([target], np.float32))
            elif label_mode == "categorical":
                yield read(path), as_tensor(np.eye(count, dtype=np.float32)[target])
            else:
                yield read(path), as_tensor(np.int32(target))

    return Dataset(make, len(paths))


def resized_pixels(pixels, size, interpolation):
    """As tf.image.resize does, without smoothing."""
    height, width = size
    if interpolation == "nearest":
        rows = np.floor((np.arange(height) + 0.5) * pixels.shape[0] / height).astype(int)
        columns = np.floor((np.arange(width) + 0.5) * pixels.shape[1] / width).astype(int)
        return pixels[rows][:, columns]
    if interpolation != "bilinear":
        raise NotImplementedError(f"images are resized by nearest or bilinear here, not by {interpolation}")
    for axis, wanted in ((0, height), (1, width)):
        own = pixels.shape[axis]
        at = np.clip((np.arange(wanted) + 0.5) * own / wanted - 0.5, 0, own - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, own - 1)
        share = (at - low).astype(np.float32).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        pixels = np.take(pixels, low, axis) * (1 - share) + np.take(pixels, high, axis) * share
    return pixels.astype(np.float32)


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """keras.utils.pad_sequences."""
    longest = max((len(each) for each in sequences), default=0) if maxlen is None else maxlen
    sample = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    made = np.full((len(sequences), longest, *sample), value, dtype)
    for row, each in zip(made, sequences, strict=True):
        if len(each):
            part = np.asarray(each, dtype)
            part = part[-longest:] if truncating == "pre" else part[:longest]
            if padding == "pre":
                row[longest - len(part) :] = part
            else:
                row[: len(part)] = part
    return made


def normalize(x, axis=-1, order=2):
    """keras.utils.normalize."""
    if isinstance(x, Tensor):
        return ops_normalize(x, axis, order)
    array = np.atleast_1d(np.asarray(x))
    norms = np.atleast_1d(np.linalg.norm(array, order, axis))
    norms[norms == 0] = 1
    return array / np.expand_dims(norms, axis)


def timeseries_dataset_from_array(
    data,
    targets,
    sequence_length,
    sequence_stride=1,
    sampling_rate=1,
    batch_size=128,
    shuffle=False,
    seed=None,
    start_index=None,
    end_index=None,
):
    """keras.utils.timeseries_dataset_from_array: windows over rows that follow each other."""
    first = start_index or 0
    last = len(data) if end_index is None else end_index
    rows = np.asarray(data.asnumpy() if isinstance(data, Tensor) else data)[first:last]
    count = len(rows) - (sequence_length - 1) * sampling_rate
    if targets is not None:
        wanted = np.asarray(targets.asnumpy() if isinstance(targets, Tensor) else targets)[first:last]
        count = min(count, len(wanted))
    starts = np.arange(0, count, sequence_stride)
    if shuffle:
        np.random.RandomState(np.random.randint(1_000_000) if seed is None else seed).shuffle(starts)

    def make():
        for start in starts:
            window = as_tensor(rows[start : start + sequence_length * sampling_rate : sampling_rate])
            yield window if targets is None else (window, as_tensor(wanted[start]))

    dataset = Dataset(make, len(starts))
    return dataset.batch(batch_size) if batch_size is not None else dataset


class PyDataset:
    """keras.utils.Sequence: batches by number."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self.workers, self.use_multiprocessing, self.max_queue_size = workers, use_multiprocessing, max_queue_size

    def __getitem__(self, index):
        raise NotImplementedError

    def on_epoch_begin(self):
        pass

    def on_epoch_end(self):
        pass


class Progbar:
    """keras.utils.Progbar: a line when the target is reached."""

    def __init__(self, target, width=20, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.target, self.verbose, self.values, self.counts = target, verbose, {}, {}
        self.stateful, self.seen = set(stateful_metrics or []), 0

    def update(self, current, values=None, finalize=None):
        for name, value in values or []:
            value = float(value.asnumpy()) if isinstance(value, Tensor) else float(value)
            steps = max(current - self.seen, 1)
            if name in self.stateful:
                self.values[name], self.counts[name] = value, 1
            else:
                self.values[name] = self.values.get(name, 0.0) + value * steps
                self.counts[name] = self.counts.get(name, 0) + steps
        self.seen = current
        if self.verbose and (finalize or (finalize is None and self.target is not None and current >= self.target)):
            shown = " - ".join(f"{name}: {value / self.counts[name]:.4f}" for name, value in self.values.items())
            print(f"{current}/{self.target} - {shown}")

    def add(self, n, values=None):
        self.update(self.seen + n, values)


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None, **_):
    """keras.utils.split_dataset."""
    rows = list(Dataset.from_tensor_slices(dataset)) if not isinstance(dataset, Dataset) else list(dataset)
    if shuffle:
        np.random.RandomState(seed).shuffle(rows)
    if left_size is None:
        left = len(rows) - (int(right_size) if right_size >= 1 else round(right_size * len(rows)))
    else:
        left = int(left_size) if left_size >= 1 and not isinstance(left_size, float) else round(left_size * len(rows))
    return Dataset(lambda: iter(rows[:left]), left), Dataset(lambda: iter(rows[left:]), len(rows) - left)


def text_lines(filenames, *_, **__):
    """tf.data.TextLineDataset."""
    names = [filenames] if isinstance(filenames, (str, bytes)) or np.ndim(filenames) == 0 else list(filenames)

    def make():
        for name in names:
            with open(text_of(name), encoding="utf-8") as file:
                yield from (np.array(line.rstrip("\r\n")) for line in file)

    return Dataset(make)


def list_files(file_pattern, shuffle=True, seed=None, name=None):
    """tf.data.Dataset.list_files."""
    patterns = [file_pattern] if isinstance(file_pattern, (str, bytes)) else list(file_pattern)
    found = sorted(path for each in patterns for path in glob.glob(text_of(each)))
    if not found:
        raise ValueError(f"no file matches {file_pattern}")
    dataset = Dataset(lambda: (np.array(each) for each in found), len(found))
    return dataset.shuffle(len(found), seed) if shuffle else dataset


def cardinality_of(dataset):
    return dataset.cardinality()


class DataOptions:
    """tf.data.Options: what it is told about threads and determinism means nothing here."""

    def __getattr__(self, name):
        made = self.__dict__[name] = DataOptions()
        return made
