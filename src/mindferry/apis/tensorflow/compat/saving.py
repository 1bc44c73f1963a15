"""Weights in files, under the names that Keras gives them: `layers/dense/vars/0`."""

import os
import shutil
import tempfile

import mindspore as ms

from .initializers import snake_case
from .layers_base import Layer
from .network_files import read_network, weights_in
from .tensors import assign


def checkpoint_path(filepath):
    """Where the weights stand, whatever Keras would have called the file."""
    path = str(filepath)
    for suffix in (".weights.h5", ".h5", ".keras", ".hdf5", ".tf"):
        path = path.removesuffix(suffix)
    return path if path.endswith(".ckpt") else f"{path}.ckpt"


def weight_places(model):
    """Every weight by its place: attributes by name, layers in a list by their class and a number."""
    found = {}
    visit_layer(model, "", found, set())
    return found


def visit_layer(layer, place, found, seen):
    if id(layer) in seen:
        return
    seen.add(id(layer))
    for number, weight in enumerate(sorted(layer._weights, key=lambda each: not each.requires_grad)):
        found[f"{place}vars/{number}"] = weight
    if getattr(layer, "graph", None) is not None or hasattr(layer, "stack"):
        visit_list(layer.layers, f"{place}layers/", found, seen)
    for name in sorted(layer._attributes, key=lambda each: f"~{each}" if each.startswith("_") else each):
        visit_part(getattr(layer, name, None), f"{place}{name}/", found, seen)


def visit_part(part, place, found, seen):
    if isinstance(part, Layer):
        visit_layer(part, place, found, seen)
    elif isinstance(part, (list, tuple, dict)):
        visit_list(part, place, found, seen)


def visit_list(parts, place, found, seen):
    used = {}
    for part in parts.values() if isinstance(parts, dict) else parts:
        if isinstance(part, Layer):
            is_plain_graph = getattr(part, "graph", None) is not None and type(part).__name__ == "Model"
            name = "functional" if is_plain_graph else snake_case(type(part).__name__)
        elif isinstance(part, (list, tuple, dict)):
            name = "container"
        else:
            continue
        number = used[name] = used.get(name, -1) + 1
        visit_part(part, f"{place}{name}_{number}/" if number else f"{place}{name}/", found, seen)


def save_weights(model, filepath):
    path = checkpoint_path(filepath)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    named = [{"name": place, "data": ms.Tensor(each.asnumpy())} for place, each in weight_places(model).items()]
    ms.save_checkpoint(named, path)
    if path != str(filepath):  # the project may look for the file, copy or remove it
        shutil.copyfile(path, filepath)


def is_copied_checkpoint(filepath):
    """Whether `save_weights` wrote it under the name that the project gave: it is neither HDF5 nor a zip, as Keras' own are."""
    if not os.path.isfile(filepath) or str(filepath).endswith(".ckpt"):
        return False
    with open(filepath, "rb") as file:
        return file.read(4) not in (b"\x89HDF", b"PK\x03\x04")


def load_weights(model, filepath):
    """Files that keep only an order call the weights `3:dense/kernel`."""
    kept = read_network(filepath)
    if kept is not None:
        model.set_weights(weights_in(kept))
        return
    path = checkpoint_path(filepath)
    if is_copied_checkpoint(filepath):
        with tempfile.TemporaryDirectory() as folder:
            copied = shutil.copyfile(filepath, os.path.join(folder, "weights.ckpt"))
            found = {name: each.asnumpy() for name, each in ms.load_checkpoint(copied).items()}
    else:
        found = {name: each.asnumpy() for name, each in ms.load_checkpoint(path).items()}
    if all(name.partition(":")[0].isdigit() for name in found):
        model.set_weights([found[name] for name in sorted(found, key=lambda name: int(name.partition(":")[0]))])
        return
    places = weight_places(model)
    missing = [place for place in places if place not in found]
    if missing or not places:
        raise ValueError(
            f"{path} lacks {', '.join(missing[:3]) or 'everything: build the network before it is loaded'}"
        )
    for place, weight in places.items():
        assign(weight, found[place])
