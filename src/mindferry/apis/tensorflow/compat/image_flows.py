"""What ImageDataGenerator's flows give: batches of images from arrays, folders and tables of file names."""

import os

import numpy as np

from .files import PyDataset, array_to_img, img_to_array, load_img

ENDINGS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")
CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


class ImageFlow(PyDataset):
    """Batches by number for `fit`, and one after another without end for a loop."""

    def __init__(self, generator, count, batch_size, shuffle, seed, saving=None):
        super().__init__()
        self.image_data_generator, self.n, self.samples = generator, count, count
        self.batch_size, self.shuffle, self.seed, self.saving = batch_size, shuffle, seed, saving or {}
        self.batch_index, self.total_batches_seen, self.index_array = 0, 0, None
        self.dtype = generator.dtype

    def __len__(self):
        return -(-self.n // self.batch_size)

    def _draw_order(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _seed_batch(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1

    def __getitem__(self, index):
        if index >= len(self):
            raise ValueError(f"Asked to retrieve element {index}, but the Sequence has length {len(self)}")
        self._seed_batch()
        if self.index_array is None:
            self._draw_order()
        return self._batch(self.index_array[self.batch_size * index : self.batch_size * (index + 1)])

    def on_epoch_end(self):
        self._draw_order()

    def reset(self):
        self.batch_index = 0

    def __iter__(self):
        return self

    def __next__(self):
        self._seed_batch()
        if self.batch_index == 0:
            self._draw_order()
        start = self.batch_index * self.batch_size % max(self.n, 1)
        self.batch_index = self.batch_index + 1 if self.n > start + self.batch_size else 0
        return self._batch(self.index_array[start : start + self.batch_size])

    next = __next__

    def _batch(self, chosen):
        images = [self._changed(self._image(each)) for each in chosen]
        x = np.stack(images).astype(self.dtype) if images else np.zeros((0, *self.image_shape), self.dtype)
        self._save(x, chosen)
        return self._with_labels(x, chosen)

    def _changed(self, image):
        drawn = self.image_data_generator.get_random_transform(image.shape)
        return self.image_data_generator.standardize(self.image_data_generator.apply_transform(image, drawn))

    def _save(self, x, chosen):
        folder = self.saving.get("save_to_dir")
        if folder:
            kind, prefix = self.saving.get("save_format", "png"), self.saving.get("save_prefix", "")
            for image, number in zip(x, chosen):
                name = f"{prefix}_{number}_{np.random.randint(10_000)}.{kind}"
                array_to_img(image).save(os.path.join(folder, name))


class ArrayFlow(ImageFlow):
    def __init__(self, generator, x, y, sample_weight, subset, batch_size, shuffle, seed, saving):
        more = []
        if isinstance(x, (tuple, list)):
            x, given = x
            more = [np.asarray(each) for each in (given if isinstance(given, list) else [given])]
        held = int(len(x) * generator._validation_split)
        part = {None: slice(None), "validation": slice(held), "training": slice(held, None)}[subset]
        self.x, self.more = np.asarray(x, generator.dtype)[part], [each[part] for each in more]
        if self.x.ndim != 4:
            raise ValueError(f"images have four axes; these have the shape {self.x.shape}")
        self.y = None if y is None else np.asarray(y)[part]
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_shape = self.x.shape[1:]
        super().__init__(generator, len(self.x), batch_size, shuffle, seed, saving)

    def _image(self, number):
        return self.x[number]

    def _with_labels(self, x, chosen):
        x = [x, *(each[chosen] for each in self.more)] if self.more else x
        if self.y is None:
            return x
        weights = () if self.sample_weight is None else (self.sample_weight[chosen],)
        return (x, self.y[chosen], *weights)


class FileFlow(ImageFlow):
    """Of images that are read when they are needed."""

    sample_weight = None

    def _prepare(self, target_size, color_mode, class_mode, interpolation, keep_aspect_ratio=False):
        if keep_aspect_ratio:
            raise NotImplementedError("keep_aspect_ratio: crop the images before")
        self.target_size, self.color_mode, self.class_mode = tuple(target_size), color_mode, class_mode
        self.interpolation, self.image_shape = interpolation, (*self.target_size, CHANNELS[color_mode])

    def _image(self, number):
        path = self.filepaths[number]
        return img_to_array(load_img(path, self.color_mode, self.target_size, self.interpolation), dtype=self.dtype)

    @property
    def labels(self):
        return self.targets if self.class_mode in ("raw", "multi_output") else self.classes

    def _with_labels(self, x, chosen):
        if self.class_mode is None:
            return x
        y = self._labels(x, chosen)
        return (x, y) if self.sample_weight is None else (x, y, self.sample_weight[chosen])

    def _labels(self, x, chosen):
        if self.class_mode == "input":
            return x.copy()
        if self.class_mode == "multi_output":
            return [each[chosen] for each in self.targets]
        if self.class_mode == "raw":
            return self.targets[chosen]
        if self.class_mode != "categorical":
            return np.array([self.classes[each] for each in chosen], self.dtype)
        y = np.zeros((len(chosen), len(self.class_indices)), self.dtype)
        for row, each in enumerate(chosen):
            y[row, self.classes[each]] = 1  # one class, or a list of them
        return y


def share_of(generator, subset, count):
    """Which of `count` files are meant; those for validation come first."""
    held = generator._validation_split
    first, last = {None: (0, 1), "validation": (0, held), "training": (held, 1)}[subset]
    return slice(int(first * count), int(last * count))


class DirectoryFlow(FileFlow):
    def __init__(
        self,
        generator,
        directory,
        target_size,
        color_mode,
        classes,
        class_mode="categorical",
        batch_size=32,
        shuffle=True,
        seed=None,
        save_to_dir=None,
        save_prefix="",
        save_format="png",
        follow_links=False,
        subset=None,
        interpolation="nearest",
        keep_aspect_ratio=False,
    ):
        self._prepare(target_size, color_mode, class_mode, interpolation, keep_aspect_ratio)
        names = list(classes or sorted(each.name for each in os.scandir(directory) if each.is_dir()))
        self.directory, self.num_classes = directory, len(names)
        self.class_indices = {name: number for number, name in enumerate(names)}
        self.filenames, numbers = [], []
        for name in names:
            found = [
                os.path.relpath(each, directory) for each in images_in(os.path.join(directory, name), follow_links)
            ]
            found = found[share_of(generator, subset, len(found))]
            self.filenames += found
            numbers += [self.class_indices[name]] * len(found)
        self.classes = np.array(numbers, "int32")
        self.filepaths = [os.path.join(directory, each) for each in self.filenames]
        print(f"Found {len(numbers)} images belonging to {self.num_classes} classes.")
        saving = {"save_to_dir": save_to_dir, "save_prefix": save_prefix, "save_format": save_format}
        super().__init__(generator, len(numbers), batch_size, shuffle, seed, saving)


def images_in(folder, follow_links):
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links)):
        yield from (os.path.join(root, name) for name in sorted(names) if name.lower().endswith(ENDINGS))


class FrameFlow(FileFlow):
    """Of files that a table names."""

    def __init__(
        self,
        generator,
        dataframe,
        directory,
        x_col,
        y_col,
        weight_col=None,
        target_size=(256, 256),
        color_mode="rgb",
        classes=None,
        class_mode="categorical",
        batch_size=32,
        shuffle=True,
        seed=None,
        save_to_dir=None,
        save_prefix="",
        save_format="png",
        subset=None,
        interpolation="nearest",
        validate_filenames=True,
        **_,
    ):
        class_mode = "raw" if class_mode == "other" else class_mode
        self._prepare(target_size, color_mode, class_mode, interpolation)
        self.directory = directory or ""
        table = dataframe.copy()
        if validate_filenames:
            paths = [os.path.join(self.directory, each) for each in table[x_col]]
            table = table[[each.lower().endswith(ENDINGS) and os.path.isfile(each) for each in paths]]
        told = f"Found {{}} {'' if validate_filenames else 'non-'}validated image filenames"
        if class_mode in ("categorical", "binary", "sparse"):
            table = self._find_classes(table, y_col, classes)
            told += f" belonging to {len(self.class_indices)} classes"
        table = table.iloc[share_of(generator, subset, len(table))]
        if class_mode in ("categorical", "binary", "sparse"):
            self.classes = [
                [self.class_indices[part] for part in each] if isinstance(each, list) else self.class_indices[each]
                for each in table[y_col]
            ]
        elif class_mode == "raw":
            self.targets = table[y_col].values
        elif class_mode == "multi_output":
            self.targets = [np.array(table[each].tolist()) for each in y_col]
        self.sample_weight = table[weight_col].values if weight_col else None
        self.filenames = table[x_col].tolist()
        self.filepaths = [os.path.join(self.directory, each) for each in self.filenames]
        print(told.format(len(table)) + ".")
        saving = {"save_to_dir": save_to_dir, "save_prefix": save_prefix, "save_format": save_format}
        super().__init__(generator, len(table), batch_size, shuffle, seed, saving)

    def _find_classes(self, table, y_col, classes):
        """The rows whose classes are among those that are wanted."""
        listed = [list(each) if isinstance(each, (list, tuple)) else [each] for each in table[y_col]]
        names = list(dict.fromkeys(classes)) if classes else sorted({part for each in listed for part in each})
        self.class_indices = {name: number for number, name in enumerate(names)}
        kept = [[part for part in each if part in self.class_indices] for each in listed]
        table[y_col] = [
            (each if isinstance(one, (list, tuple)) else each[0]) if each else None
            for each, one in zip(kept, table[y_col])
        ]
        return table[[bool(each) for each in kept]]
