"""Networks in files: the classes that they are made of, what these were given, in which order they were called, and the weights.

A class or function of a file is looked up by its name in the project's own modules; nothing else in a file is run.
"""

import json
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .graph import FunctionOperation, Graph, Input, InputOperation, is_symbolic
from .layers_base import Layer
from .tensors import as_dtype, assign, dtype_name, flat


class Description:
    """A network as steps that make it again: layers, inputs and calls. `leaf` says how a value is written."""

    def __init__(self, leaf):
        self.leaf, self.steps, self.numbers = leaf, [], {}

    def of(self, value):
        if isinstance(value, Layer):
            return {"layer": self.number_of(value)}
        if is_symbolic(value):
            return {"symbol": self.place_of(value)}
        if isinstance(value, dict):
            return {"dict": [[key, self.of(each)] for key, each in value.items()]}
        if isinstance(value, (list, tuple)):
            return {"list" if isinstance(value, list) else "tuple": [self.of(each) for each in value]}
        made = self.leaf(value)
        if made is not None:
            return made
        args, kwargs = value._made_with
        return {"made": [*name_of(type(value)), self.of(args), self.of(kwargs)]}

    def number_of(self, layer):
        if id(layer) not in self.numbers:
            step = self.made_again(layer)
            self.numbers[id(layer)] = len(self.steps)
            self.steps.append(step)
        return self.numbers[id(layer)]

    def made_again(self, layer):
        args, kwargs = layer._made_with
        if type(layer).__name__ == "Sequential" and hasattr(layer, "stack"):
            args, kwargs = ([*([] if layer.first is None else [layer.first]), *layer.stack],), {}
        step = {
            "class": name_of(type(layer)),
            "args": self.of(args),
            "kwargs": self.of(kwargs),
            "name": layer.name,
            "trainable": [each._is_trainable for each in layers_within(layer)],
        }
        if hasattr(layer, "set_vocabulary"):
            step["vocabulary"] = [
                each.item() if isinstance(each, np.generic) else each for each in layer.get_vocabulary()
            ]
        return step

    def place_of(self, symbol):
        """The number of the call that it came from, and which of its results it is."""
        if id(symbol.node) not in self.numbers:
            for node in Graph([], symbol).nodes:
                if id(node) not in self.numbers:
                    step = self.called_again(node)
                    self.numbers[id(node)] = len(self.steps)
                    self.steps.append(step)
        found = flat(symbol.node.outputs)
        return [self.numbers[id(symbol.node)], next(place for place, each in enumerate(found) if each is symbol)]

    def called_again(self, node):
        if isinstance(node.operation, InputOperation):
            given = node.outputs
            kind = "string" if isinstance(given.sample, np.ndarray) else dtype_name(given.dtype)
            return {"input": [list(given.shape), kind, node.operation.name]}
        is_function = isinstance(node.operation, FunctionOperation)
        operation = self.leaf(node.operation.function) if is_function else self.of(node.operation)
        return {"call": operation, "args": self.of(node.args), "kwargs": self.of(node.kwargs)}


class Remaking:
    """The steps of a description, taken once more."""

    def __init__(self, steps, custom_objects=None):
        self.known, self.made = custom_objects or {}, []
        for step in steps:
            self.made.append(self.take(step))

    def take(self, step):
        if "input" in step:
            (batch, *shape), kind, name = step["input"]
            return Input(tuple(shape), batch_size=batch, dtype=kind, name=name)
        args, kwargs = self.value(step["args"]), self.value(step["kwargs"])
        if "call" in step:
            return self.value(step["call"])(*args, **kwargs)
        layer = self.named(*step["class"])(*args, **kwargs)
        layer.name = step["name"]
        if "vocabulary" in step:
            layer.set_vocabulary(step["vocabulary"])
        return layer

    def value(self, described):
        ((kind, content),) = described.items()
        if kind in ("list", "tuple"):
            made = [self.value(each) for each in content]
            return made if kind == "list" else tuple(made)
        if kind == "dict":
            return {key: self.value(each) for key, each in content}
        if kind == "layer":
            return self.made[content]
        if kind == "symbol":
            return flat(self.made[content[0]])[content[1]]
        if kind == "array":
            return np.array(content[1], content[0])
        if kind == "dtype":
            return as_dtype(content)
        if kind == "made":
            return self.named(*content[:2])(*self.value(content[2]), **self.value(content[3]))
        return self.named(*content) if kind == "named" else content

    def named(self, module, name):
        if not isinstance(name, str):
            return name
        if name in self.known:
            return self.known[name]
        homes = [sys.modules.get(each) for each in (Layer.__module__, "__main__", module)]
        for home in homes:
            if home is not None and is_own(home) and hasattr(home, name):
                return getattr(home, name)
        for each in subclasses_of(Layer):
            if each.__name__ == name:
                return each
        raise ValueError(f"load_model does not find {name}: import {module} first, or give it in custom_objects")


def is_own(module):
    """Whether it lies beside these helpers: a name in a file reaches no other module."""
    here = os.path.dirname(os.path.abspath(sys.modules[Layer.__module__].__file__))
    file = getattr(module, "__file__", None)
    return module.__name__ == "__main__" or (file is not None and os.path.abspath(file).startswith(here))


def subclasses_of(kind):
    for each in kind.__subclasses__():
        yield each
        yield from subclasses_of(each)


def layers_within(layer):
    return [layer] + [inner for each in layer.sublayers for inner in layers_within(each)]


def name_of(value):
    return [value.__module__, value.__qualname__.rpartition(".")[2]]


def value_as_it_is(value):
    return {"value": value}


def value_for_file(value):
    """None for what is an object of its own."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    if isinstance(value, (np.ndarray, Tensor)):
        array = value.asnumpy() if isinstance(value, Tensor) else value
        return {"array": [array.dtype.str, array.tolist()]}
    if isinstance(value, type(ms.float32)):
        return {"dtype": dtype_name(value)}
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        if "<lambda>" in value.__qualname__ or "<locals>" in value.__qualname__:
            raise TypeError(f"{value.__qualname__} has no name by which a file could call it")
        return {"named": name_of(value)}
    if not hasattr(value, "_made_with"):
        raise TypeError(f"a {type(value).__name__} can't be written to a file")
    return None


def clone_model(model, input_tensors=None, clone_function=None, **_):
    """keras.models.clone_model: the same layers with weights of their own."""
    described = Description(value_as_it_is)
    number = described.number_of(model)
    return built_as(model, Remaking(described.steps).made[number], described.steps[number]["trainable"])


def built_as(model, made, flags):
    """With its weights, where the network has them; a network of somebody's own makes them when it is called."""
    samples = model.__dict__.get("_called_with") if isinstance(model, Layer) else model
    if samples is not None and not (getattr(made, "graph", None) or made.weights):
        made(*zeros_for(samples))
    for each, flag in zip(layers_within(made), flags):
        each.__dict__["_is_trainable"] = flag
    return made


def zeros_for(samples):
    """Tensors like those that a network was called with."""
    if isinstance(samples, dict):
        return {key: zeros_for(each) for key, each in samples.items()}
    if isinstance(samples, (list, tuple)):
        if len(samples) == 2 and isinstance(samples[1], str):
            return Tensor(np.zeros(samples[0], samples[1]))
        return type(samples)(zeros_for(each) for each in samples)
    return samples


def optimizer_values(model):
    """What the optimizer remembers, by names that do not depend on the run."""
    optimizer = model.optimizer
    found = {"iterations": optimizer.iterations.asnumpy()}
    if isinstance(optimizer._rate, Tensor):
        found["learning_rate"] = optimizer._rate.asnumpy()
    for place, weight in enumerate(model.weights):
        for name, value in optimizer.state.get(id(weight), {}).items():
            found[f"{place}/{name}"] = value.asnumpy()
    for name, value in vars(optimizer).items():
        if isinstance(value, (float, int)) and not isinstance(value, bool):
            found[f"own/{name}"] = np.float64(value)
    return found


def set_optimizer_values(model, found):
    optimizer, weights = model.optimizer, model.weights
    for key, value in found.items():
        place, slash, name = key.partition("/")
        if key == "iterations":
            assign(optimizer.iterations, value)
        elif key == "learning_rate":
            optimizer.learning_rate = float(value)
        elif place == "own":
            setattr(optimizer, name, type(getattr(optimizer, name))(value))
        elif slash:
            assign(optimizer.slots(weights[int(place)], name)[0], value)


def save_network(model, filepath):
    described = Description(value_for_file)
    try:
        number = described.number_of(model)
        compiled = model.__dict__.get("_compiled_with")
        network = {
            "steps": described.steps,
            "number": number,
            "called": described.of(model.__dict__.get("_called_with")),
            "compiled": None if compiled is None else described.of(compiled),
        }
        text = json.dumps(network)
    except (TypeError, AttributeError) as error:
        text = json.dumps({"why": str(error)})
    arrays = {f"weight/{place}": each for place, each in enumerate(model.get_weights())}
    if getattr(model, "optimizer", None) is not None and hasattr(model.optimizer, "state"):
        arrays |= {f"optimizer/{name}": each for name, each in optimizer_values(model).items()}
    os.makedirs(os.path.dirname(str(filepath)) or ".", exist_ok=True)
    with open(filepath, "wb") as file:
        np.savez(file, network=text, **arrays)


def read_network(filepath):
    """What `save` wrote, by its names; None for any other file."""
    try:
        with np.load(filepath) as kept:
            return {name: kept[name] for name in kept.files} if "network" in kept.files else None
    except (OSError, ValueError):
        return None


def weights_in(kept):
    return [kept[f"weight/{place}"] for place in range(sum(name.startswith("weight/") for name in kept))]


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """keras.models.load_model of a file that a converted `save` wrote."""
    kept = read_network(filepath)
    if kept is None and not os.path.exists(filepath):
        raise ValueError(f"File not found: filepath={filepath}")
    if kept is None:
        raise ValueError(f"{filepath} was not written by this project's `save`: build the network with its code")
    network = json.loads(str(kept["network"]))
    if "why" in network:
        raise ValueError(f"{filepath} holds the weights, and not the network: {network['why']}")
    remaking = Remaking(network["steps"], custom_objects)
    number = network["number"]
    made = built_as(remaking.value(network["called"]), remaking.made[number], network["steps"][number]["trainable"])
    made.set_weights(weights_in(kept))
    if compile and network["compiled"] is not None:
        made.compile(**remaking.value(network["compiled"]))
        found = {name.removeprefix("optimizer/"): each for name, each in kept.items() if name.startswith("optimizer/")}
        if found and hasattr(made.optimizer, "state"):
            set_optimizer_values(made, found)
    return made
