"""sentence_transformers.util.misc: the classes that a checkpoint names are those that came along."""

import importlib


def import_from_string(dotted_path):
    home, _, name = dotted_path.rpartition(".")
    package, _, rest = home.partition(".")
    ours = __name__.rpartition(".util.")[0]
    if package != "sentence_transformers":
        return getattr(importlib.import_module(home), name)
    module = importlib.import_module(f"{ours}.sentence_transformer.modules")
    if hasattr(module, name):  # "sentence_transformers.models.Pooling", as older checkpoints have it
        return getattr(module, name)
    return getattr(importlib.import_module(f"{ours}.{rest}"), name)
