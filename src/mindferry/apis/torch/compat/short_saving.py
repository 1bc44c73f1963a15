"""Checkpoints for projects that save and load a network's state and nothing else. saving.py and layers_state.py have all of it."""

import os
import tempfile

import mindspore as ms
from mindspore import Tensor

NORM_ENTRIES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
RENAMED_ENTRIES = {**NORM_ENTRIES, "embedding_table": "weight", "w": "weight"}


def Shortsave(obj, f):
    """Write a network's state to exactly this path: save_checkpoint would append .ckpt."""
    if not obj or any(each.size == 0 or each.dtype in (ms.complex64, ms.complex128) for each in obj.values()):
        raise ValueError(f"{f}: a checkpoint holds tensors that are neither empty nor complex")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(f)), prefix=".saving-") as scratch:
        path = os.path.join(scratch, "data.ckpt")
        ms.save_checkpoint([{"name": name, "data": Tensor(value)} for name, value in obj.items()], path)
        os.chmod(path, 0o644)
        os.replace(path, f)


def Shortload(f):
    """Read what save() wrote: to this path, with .ckpt after it, or with .ckpt in place of .pth."""
    name = os.path.abspath(f)
    names = (name, name + ".ckpt", os.path.splitext(name.removesuffix(".tar"))[0] + ".ckpt")
    name = next((each for each in names if os.path.exists(each)), name)
    with open(name, "rb") as file:
        if file.read(2) in (b"PK", b"\x80\x02"):
            raise ValueError(f"{name} was written by PyTorch: load what `mindferry weights convert` makes of it")
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "data.ckpt")  # load_checkpoint() takes no other ending
        os.symlink(name, path)
        return ms.load_checkpoint(path)


def Shortload_state_dict(cell, state_dict):
    """torch.nn.Module.load_state_dict, of entries that bear torch's names or MindSpore's."""
    given = {name: value for name, value in state_dict.items() if not name.endswith("num_batches_tracked")}
    for key in cell.state_dict():
        path, dot, name = key.rpartition(".")
        other = path + dot + RENAMED_ENTRIES.get(name, name)
        if key not in given and other in given:
            given[key] = given.pop(other)
    return cell.load_state_dict(given)
