"""tf.io.gfile: the files of this machine."""

import glob
import os
import shutil


def gfile_glob(pattern):
    patterns = [pattern] if isinstance(pattern, str) else pattern
    return [path for each in patterns for path in sorted(glob.glob(each))]


def gfile_open(name, mode="r"):
    return open(name, mode)


def gfile_makedirs(path):
    os.makedirs(path, exist_ok=True)


def gfile_isdir(path):
    return os.path.isdir(path)


def gfile_listdir(path):
    return sorted(os.listdir(path))


def gfile_remove(path):
    os.remove(path)


def gfile_rmtree(path):
    shutil.rmtree(path)


def gfile_copy(src, dst, overwrite=False):
    if os.path.exists(dst) and not overwrite:
        raise FileExistsError(dst)
    shutil.copyfile(src, dst)
