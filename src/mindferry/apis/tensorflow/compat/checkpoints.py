"""tf.train.Checkpoint and tf.summary: variables in files of NumPy's, scalars in a table."""

import contextlib
import glob
import os
import re

import mindspore as ms
import numpy as np

from .tensors import as_tensor, assign


def variables_in(part, place, found, seen):
    """Every variable that something holds, by where it is held."""
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, ms.Parameter):
        found[place] = part
    elif isinstance(part, (list, tuple)):
        for number, each in enumerate(part):
            variables_in(each, f"{place}/{number}", found, seen)
    elif isinstance(part, dict):
        for name, each in part.items():
            variables_in(each, f"{place}/{name}", found, seen)
    elif hasattr(part, "weights") and hasattr(part, "call"):
        variables_in(list(part.weights), place, found, seen)
    elif hasattr(part, "__dict__"):
        variables_in(vars(part), place, found, seen)


class Checkpoint:
    """tf.train.Checkpoint: what it was given by name, and all variables that these hold."""

    def __init__(self, root=None, **parts):
        self.__dict__.update(root=root, parts=parts, saves=0)

    def __getattr__(self, name):
        if name in self.__dict__.get("parts", {}):
            return self.__dict__["parts"][name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self.__dict__["parts"][name] = value

    def found(self):
        made = {}
        parts = dict(self.parts) if self.root is None else {**self.parts, "root": self.root}
        variables_in(parts, "", made, set())
        return made

    def write(self, file_prefix, options=None):
        os.makedirs(os.path.dirname(str(file_prefix)) or ".", exist_ok=True)
        np.savez(f"{file_prefix}.npz", **{name: each.asnumpy() for name, each in self.found().items()})
        return str(file_prefix)

    def save(self, file_prefix, options=None):
        self.__dict__["saves"] += 1
        return self.write(f"{file_prefix}-{self.saves}", options)

    def read(self, save_path, options=None):
        with np.load(f"{save_path}.npz") as kept:
            for name, each in self.found().items():
                if name in kept:
                    assign(each, kept[name])
        numbered = re.fullmatch(r".*-(\d+)", str(save_path))
        self.__dict__["saves"] = int(numbered[1]) if numbered else self.saves
        return Restored()

    def restore(self, save_path, options=None):
        return self.read(save_path, options) if save_path is not None else Restored()


class Restored:
    """What restoring gives: all of it was there, or reading raised an error."""

    def expect_partial(self):
        return self

    def assert_consumed(self):
        return self

    assert_existing_objects_matched = assert_consumed


class CheckpointManager:
    """tf.train.CheckpointManager: the newest few."""

    def __init__(self, checkpoint, directory, max_to_keep=5, checkpoint_name="ckpt", **_):
        self.checkpoint, self.directory, self.max_to_keep = checkpoint, str(directory), max_to_keep
        self.prefix = os.path.join(self.directory, checkpoint_name)

    @property
    def checkpoints(self):
        return checkpoints_of(self.prefix)

    @property
    def latest_checkpoint(self):
        return self.checkpoints[-1] if self.checkpoints else None

    def save(self, checkpoint_number=None, **_):
        newest = self.latest_checkpoint
        number = int(newest.rpartition("-")[2]) + 1 if newest else 1
        number = number if checkpoint_number is None else int(as_tensor(checkpoint_number).asnumpy())
        path = self.checkpoint.write(f"{self.prefix}-{number}")
        for old in self.checkpoints[: -self.max_to_keep] if self.max_to_keep else []:
            os.remove(f"{old}.npz")
        return path

    def restore_or_initialize(self):
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
        return self.latest_checkpoint


def checkpoints_of(prefix):
    found = [each[: -len(".npz")] for each in glob.glob(f"{glob.escape(prefix)}-*.npz")]
    return sorted(found, key=lambda each: int(each.rpartition("-")[2]))


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """tf.train.latest_checkpoint: the one with the highest number."""
    found = [each[: -len(".npz")] for each in glob.glob(os.path.join(str(checkpoint_dir), "*-*.npz"))]
    numbered = [each for each in found if each.rpartition("-")[2].isdigit()]
    return max(numbered, key=lambda each: int(each.rpartition("-")[2]), default=None)


class SummaryWriter:
    """tf.summary's writer: a table `scalars.csv` in its folder."""

    current = None

    def __init__(self, logdir, **_):
        self.path = os.path.join(str(logdir), "scalars.csv")
        os.makedirs(str(logdir), exist_ok=True)

    @contextlib.contextmanager
    def as_default(self, step=None):
        before, SummaryWriter.current = SummaryWriter.current, self
        try:
            yield self
        finally:
            SummaryWriter.current = before

    def set_as_default(self, step=None):
        SummaryWriter.current = self

    def flush(self):
        pass

    close = flush


def write_scalar(name, data, step=None, description=None):
    """tf.summary.scalar."""
    if SummaryWriter.current is not None:
        number = "" if step is None else int(as_tensor(step).asnumpy())
        with open(SummaryWriter.current.path, "a") as file:
            file.write(f"{number},{name},{float(as_tensor(data).asnumpy())}\n")
