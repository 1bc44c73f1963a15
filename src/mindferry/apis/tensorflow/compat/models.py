"""Keras' Model and Sequential: networks that train themselves."""

import numpy as np
from mindspore import Tensor

from .fitting import Fitting
from .graph import Graph, Input, InputOperation, KerasTensor, fitting_input
from .layers_base import Layer
from .layers_shaping import InputLayer
from .network_files import clone_model, save_network
from .saving import load_weights, save_weights
from .tensors import Names, flat


class Model(Fitting, Layer):
    """Subclassed, or made of symbolic inputs and outputs."""

    def __init__(self, *args, inputs=None, outputs=None, **kwargs):
        if args and len(args) > 1:
            inputs, outputs, args = args[0], args[1], args[2:]
        elif args and outputs is not None:
            inputs, args = args[0], args[1:]
        name = kwargs.pop("name", None) or (args[0] if args else None)
        super().__init__(name=name or (Names.unique("functional") if outputs is not None else None), **kwargs)
        self.prepare_fitting()
        self.__dict__["graph"] = None
        if outputs is not None:
            self.__dict__["graph"] = Graph(inputs, outputs)
            self.built = True

    @property
    def inputs(self):
        return flat(self.graph.inputs) if self.graph else None

    @property
    def outputs(self):
        return flat(self.graph.outputs) if self.graph else None

    @property
    def input(self):
        return self.graph.inputs

    @property
    def output(self):
        return self.graph.outputs

    @property
    def input_shape(self):
        return single(super().input_shape)

    @property
    def output_shape(self):
        return single(super().output_shape)

    @property
    def sublayers(self):
        found = [each for each in self.graph.operations if isinstance(each, Layer)] if self.graph else []
        return found + [each for each in super().sublayers if not any(each is other for other in found)]

    @property
    def layers(self):
        if self.graph is None:
            return self.sublayers
        return [each for each in self.graph.operations if isinstance(each, (Layer, InputOperation))]

    def get_layer(self, name=None, index=None):
        if index is not None:
            return self.layers[index]
        return next(each for each in self.layers if each.name == name)

    def call(self, inputs, training=None, mask=None):
        if self.graph is None:
            raise NotImplementedError(f"{type(self).__name__} has no call")
        return self.graph.run(self._in_order(inputs), training)

    def _in_order(self, inputs):
        """Inputs that are given by name, in the order in which the network has them."""
        symbols = self.graph.inputs
        if isinstance(inputs, dict) and not isinstance(symbols, dict):
            return [inputs[each.node.operation.name] for each in flat(symbols)]
        if isinstance(symbols, dict) and isinstance(inputs, dict):
            return {key: inputs[key] for key in symbols}
        return inputs

    def build(self, input_shape=None):
        if self.built or input_shape is None or self.graph is not None:
            self.built = True
            return
        if not callable_with_zeros(self, input_shape):
            self.built = True

    def _ensure_built(self, args, kwargs):
        """A network that is called builds its layers on the way."""
        if type(self).build in (Model.build, Sequential.build) and type(self) is not Sequential:
            self.built = True
        else:
            super()._ensure_built(args, kwargs)

    def summary(self, line_length=None, positions=None, print_fn=None, **_):
        lines = [f'Model: "{self.name}"']
        for layer in self.layers:
            count = layer.count_params() if isinstance(layer, Layer) else 0
            lines.append(f"  {layer.name or 'input':<32} {type(layer).__name__:<28} {count:>12,}")
        trained = sum(each.size for each in self.trainable_weights)
        lines += [f"Total params: {self.count_params():,}", f"Trainable params: {trained:,}"]
        for line in lines:
            (print_fn or print)(line)

    def get_config(self):
        """Of a network that is put together from layers: `from_config` makes it once more."""
        if self.graph is None:
            return super().get_config()
        layers = [
            {"class_name": type(each).__name__.replace("InputOperation", "InputLayer"), "config": config_of(each)}
            for each in ([self.first.node.operation] if hasattr(self, "stack") else []) + self.layers
        ]
        return NetworkConfig(self, {"name": self.name, "trainable": self.trainable, "layers": layers})

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return clone_model(config.model) if isinstance(config, NetworkConfig) else super().from_config(config)

    def save_weights(self, filepath, overwrite=True, **_):
        save_weights(self, filepath)

    def load_weights(self, filepath, **_):
        load_weights(self, filepath)

    def save(self, filepath, overwrite=True, **_):
        """The network for load_model, and the weights alone beside it."""
        save_weights(self, filepath)
        save_network(self, filepath)


def single(shapes):
    """The one shape of a list."""
    return shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else shapes


class NetworkConfig(dict):
    """What get_config gives, with the network that it is of."""

    def __init__(self, model, values):
        super().__init__(values)
        self.model = model


def config_of(layer):
    return layer.get_config() if isinstance(layer, Layer) else {"name": layer.name}


def callable_with_zeros(model, input_shape):
    """Layers make their weights when they are called once."""
    shapes = input_shape if input_shape and isinstance(input_shape[0], (list, tuple)) else [input_shape]
    samples = [Tensor(np.zeros([2 if each is None else each for each in shape], np.float32)) for shape in shapes]
    model.built = True
    model(samples if len(samples) > 1 else samples[0])
    return True


class Sequential(Model):
    def __init__(self, layers=None, trainable=True, name=None):
        super().__init__(name=name, trainable=trainable)
        self.__dict__["stack"] = []
        self.__dict__["first"] = None
        for each in layers or ():
            self.add(each)

    @property
    def sublayers(self):
        return list(self.stack)

    @property
    def layers(self):
        return list(self.stack)

    def add(self, layer):
        if isinstance(layer, KerasTensor):
            self.__dict__["first"] = layer
        elif isinstance(layer, InputLayer):
            self.__dict__["first"] = Input(layer._given_shape, dtype=layer.dtype, name=layer.name)
        else:
            if not isinstance(layer, Layer):
                layer = layer if isinstance(layer, Layer) else FunctionLayer(layer)
            if self.first is None and not self.stack and layer._given_shape is not None:
                self.__dict__["first"] = Input(layer._given_shape)
            elif self.first is None and not self.stack and getattr(layer, "graph", None):
                self.__dict__["first"] = Input(layer.inputs[0].shape[1:], dtype=layer.inputs[0].dtype)
            self.stack.append(layer)
        self._put_together()

    def pop(self, rebuild=True):
        layer = self.stack.pop()
        self._put_together()
        return layer

    def _put_together(self):
        """As soon as the input's shape is known, every layer has its weights."""
        if self.first is None or not self.stack:
            return
        outputs = self.graph.outputs if self.graph and self.graph.count == len(self.stack) - 1 else None
        if outputs is None:
            outputs = self.first
            for layer in self.stack:
                outputs = layer(outputs)
        else:
            outputs = self.stack[-1](outputs)
        self.__dict__["graph"] = Graph(self.first, outputs)
        self.graph.count = len(self.stack)
        self.built = True

    def _ensure_built(self, args, kwargs):
        """Of text no sample is made: the layers have their weights, or make them when they are called."""
        if args and isinstance(args[0], np.ndarray) and args[0].dtype.kind in "USO":
            self.built = True
        super()._ensure_built(args, kwargs)

    def call(self, inputs, training=None, mask=None):
        mode = {} if training is None else {"training": training}
        inputs = inputs if self.first is None else fitting_input(self.first, inputs)
        for layer in self.stack:
            inputs = layer(inputs, **(mode if "training" in layer._parameters_of_call() else {}))
        return inputs

    def build(self, input_shape=None):
        if (
            self.first is None
            and input_shape is not None
            and self.stack
            and all(each is not None for each in input_shape[1:])
        ):
            self.__dict__["first"] = Input(tuple(input_shape[1:]))
            self._put_together()
        self.built = True


class FunctionLayer(Layer):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def call(self, inputs):
        return self.function(inputs)
