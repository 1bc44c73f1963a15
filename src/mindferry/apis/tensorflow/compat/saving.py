"""Weights in files: MindSpore's checkpoints, and those of Keras that the conversion of weights has made."""

import os

import mindspore as ms


def checkpoint_path(filepath):
    """Where the weights stand, whatever Keras would have called the file."""
    path = str(filepath)
    for suffix in (".weights.h5", ".h5", ".keras", ".hdf5", ".tf"):
        path = path.removesuffix(suffix)
    return path if path.endswith(".ckpt") else f"{path}.ckpt"


def save_weights(model, filepath):
    path = checkpoint_path(filepath)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    named = [
        {"name": f"{place}:{each.name}", "data": ms.Tensor(each.asnumpy())} for place, each in enumerate(model.weights)
    ]
    ms.save_checkpoint(named, path)


def load_weights(model, filepath):
    """By position: a network built a second time has other names."""
    found = ms.load_checkpoint(checkpoint_path(filepath))
    values = [found[name] for name in sorted(found, key=lambda name: int(name.partition(":")[0]))]
    model.set_weights([each.asnumpy() for each in values])
