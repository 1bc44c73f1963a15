"""Keras' Layer as a MindSpore Cell: built when it is first called, with weights in Keras' order and the mode handed down."""

import inspect

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from .activations import get_activation, get_regularizer
from .graph import call_on_symbols, is_symbolic
from .initializers import get_initializer, initial_value, snake_case
from .masks import mask_of, masks_beside, set_masks
from .nested_gradients import Nesting, graph_gradients, is_taken_again, rehearse, take_gradients
from .own_gradients import Jacobians
from .passing import Passing
from .random_values import Chance
from .row_gradients import gradients_by_rows, penalised
from .tensors import (
    Calls,
    Made,
    Names,
    as_dtype,
    as_tensor,
    assign,
    dtype_name,
    flat,
    is_float,
    make_variable,
    map_structure,
)


def shape_of(value):
    return map_structure(lambda each: tuple(each.shape) if hasattr(each, "shape") else None, value)


class Layer(Made, nn.Cell):
    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        super().__init__(auto_prefix=False)
        self.__dict__["_attributes"] = {}
        self.__dict__["_weights"] = []
        self.__dict__["_penalties"] = []
        self.__dict__["_added_losses"] = []
        self.__dict__["_is_trainable"] = trainable
        self.__dict__["_nodes"] = []
        self.name = name or Names.unique(snake_case(type(self).__name__))
        self.built, self.autocast = False, autocast
        self.dtype = dtype_name(getattr(dtype, "name", dtype) or "float32") if "mixed" not in str(dtype) else "float32"
        self.compute_dtype = self.variable_dtype = self.dtype
        self.activity_regularizer = get_regularizer(activity_regularizer)
        self.supports_masking = False
        given = kwargs.pop("input_shape", None)
        size = kwargs.pop("input_dim", None)
        whole = kwargs.pop("batch_input_shape", None) or kwargs.pop("batch_shape", None)
        self.__dict__["_given_shape"] = (
            tuple(whole[1:]) if whole else tuple(given) if given else (size,) if size else None
        )
        if kwargs:
            raise ValueError(f"{type(self).__name__} does not take {', '.join(sorted(kwargs))}")

    def __setattr__(self, name, value):
        if "_attributes" not in self.__dict__:
            if isinstance(value, (nn.Cell, ms.Parameter)):
                raise RuntimeError(f"call super().__init__() in {type(self).__name__} before layers are set")
            object.__setattr__(self, name, value)
            return
        if name == "activation" and value is None and type(self).__module__ == Layer.__module__:
            value = get_activation(None)  # taken away from a layer that has one, as Grad-CAM does
        is_weight = isinstance(value, ms.Parameter) and getattr(value, "is_of_keras", False)
        if is_weight and not any(each is value for each in self._weights):
            self._weights.append(value)
        self._attributes[name] = None
        if isinstance(value, nn.Cell):
            super().__setattr__(name, value)
        else:
            object.__setattr__(self, name, value)

    def build(self, input_shape=None):
        self.built = True

    def call(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no call")

    def construct(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def add_weight(
        self,
        shape=None,
        initializer=None,
        dtype=None,
        trainable=True,
        regularizer=None,
        constraint=None,
        name=None,
        **_,
    ):
        if isinstance(shape, str):
            shape, name = (), shape
        shape = tuple(shape) if isinstance(shape, (list, tuple)) else () if shape is None else (int(shape),)
        kind = as_dtype(dtype or self.dtype)
        if initializer is None and kind not in (ms.float16, ms.float32, ms.float64):
            initializer = "zeros"
        value = initial_value(get_initializer(initializer), shape, kind)
        weight = make_variable(value, trainable, f"{self.name}/{name or 'variable'}")
        weight.is_of_keras, weight.constraint, weight.short_name = True, constraint, name or "variable"
        weight.path = f"{self.name}/{weight.short_name}"
        weight.regularizer = get_regularizer(regularizer)
        self._weights.append(weight)
        if regularizer is not None:
            self._penalties.append((weight, weight.regularizer))
        return weight

    def __call__(self, *args, **kwargs):
        if any(map(is_symbolic, flat([args, kwargs]))):
            return call_on_symbols(self, args, kwargs)
        args, kwargs = map_structure(self._taken, args), map_structure(self._taken, kwargs)
        args, kwargs, Calls.mode = self._with_mode(args, kwargs)
        if not Calls.depth:
            self._forget_losses()
            if "_called_with" not in self.__dict__:
                self.__dict__["_called_with"] = map_structure(sample_of, args)
        Calls.depth += 1
        try:
            self._ensure_built(args, kwargs)
            self._hand_masks(args, kwargs)
            out = super().__call__(*args, **kwargs)
        finally:
            Calls.depth -= 1
            Calls.mode = Calls.mode if Calls.depth else None
        out = Passing.noted(out) if Passing.is_on else out
        if self.activity_regularizer is not None:
            for each in flat(out):
                self._added_losses.append(self.activity_regularizer(each) / each.shape[0])
        self._pass_mask_on(args, kwargs, out)
        return out

    def _taken(self, value):
        """Arrays become tensors; float64 arrays are computed with in the layer's own type."""
        is_text = isinstance(value, np.ndarray) and value.dtype.kind in "USO"
        if is_text or (not isinstance(value, Tensor) and not hasattr(value, "__array__")):
            return value
        value = as_tensor(value)
        wanted = as_dtype(self.compute_dtype)
        return ops.cast(value, wanted) if self.autocast and is_float(value) and value.dtype != wanted else value

    def _parameters_of_call(self):
        if "_signature" not in self.__dict__:
            self.__dict__["_signature"] = inspect.signature(self.call).parameters
        return self.__dict__["_signature"]

    def _with_mode(self, args, kwargs):
        """The mode that is given; else that of the layer that was called last, within what is being called; else the default."""
        names = list(self._parameters_of_call())
        takes = "training" in names
        if takes and names.index("training") < len(args):
            return args, kwargs, args[names.index("training")]
        if "training" in kwargs:
            mode = kwargs.pop("training")
        elif Calls.mode is not None:
            mode = Calls.mode
        else:
            default = self._parameters_of_call()["training"].default if takes else None
            mode = None if default is inspect.Parameter.empty else default
        return args, {**kwargs, "training": mode} if takes and mode is not None else kwargs, mode

    def _ensure_built(self, args, kwargs):
        if self.built:
            return
        names = list(inspect.signature(self.build).parameters)
        if len(names) > 1:
            given = dict(zip(self._parameters_of_call(), args, strict=False)) | kwargs
            shapes = {f"{name}_shape": shape_of(value) for name, value in given.items()}
            self.build(**{name: shapes.get(name) for name in names if name in shapes})
        else:
            first = args[0] if args else next(iter(kwargs.values()), None)
            self.build(shape_of(first))
        self.built = True

    def _arguments(self, args, kwargs):
        """What `call` is given, by name."""
        return dict(zip(self._parameters_of_call(), args, strict=False)) | kwargs

    def _hand_masks(self, args, kwargs):
        """A mask goes with its tensor: as `mask` with the only one that is given, else as `query_mask` with `query`."""
        kwargs.update(masks_beside(self._parameters_of_call(), self._arguments(args, kwargs)))

    def compute_mask(self, inputs, previous_mask=None):
        return previous_mask if self.supports_masking else None

    def _pass_mask_on(self, args, kwargs, out):
        """To each tensor that comes out, where the layer says which."""
        given = self._arguments(args, kwargs)
        if not given or (type(self).compute_mask is Layer.compute_mask and not self.supports_masking):
            return
        first = next(iter(given.values()))
        previous = given.get("mask")
        masks = self.compute_mask(first, map_structure(mask_of, first) if previous is None else previous)
        set_masks(out, masks)

    @property
    def sublayers(self):
        """Layers among the attributes, in the order in which these were first set; lists and dictionaries are looked into."""
        found = []
        for name in self._attributes:
            for each in layers_in(getattr(self, name, None)):
                if not any(each is other for other in found) and each is not self:
                    found.append(each)
        return found

    @property
    def trainable(self):
        return self._is_trainable

    @trainable.setter
    def trainable(self, value):
        if value is self._is_trainable:  # TensorFlow sets no attribute to what it is, so the layers within keep theirs
            return
        self.__dict__["_is_trainable"] = bool(value)
        for each in self.sublayers:
            each.trainable = value

    @property
    def own_weights(self):
        return [each for each in self._weights if each.requires_grad] + [
            each for each in self._weights if not each.requires_grad
        ]

    @property
    def weights(self):
        return distinct(self.own_weights + [weight for layer in self.sublayers for weight in layer.weights])

    variables = weights

    @property
    def trainable_weights(self):
        if not self._is_trainable:
            return []
        own = [each for each in self._weights if each.requires_grad]
        return distinct(own + [weight for layer in self.sublayers for weight in layer.trainable_weights])

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self):
        trained = self.trainable_weights
        return [each for each in self.weights if not any(each is other for other in trained)]

    non_trainable_variables = non_trainable_weights

    def get_weights(self):
        return [each.asnumpy().copy() for each in self.weights]  # what asnumpy gives changes with the weight

    def set_weights(self, weights):
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(f"{self.name} has {len(own)} weights, and {len(weights)} were given")
        for weight, value in zip(own, weights, strict=True):
            if tuple(weight.shape) != tuple(value.shape):
                raise ValueError(f"{weight.name} is {tuple(weight.shape)}, and {tuple(value.shape)} was given")
            assign(weight, value)

    def count_params(self):
        return sum(each.size for each in self.weights)

    def parameters_and_names(self, name_prefix="", expand=True):
        return [(each.name, each) for each in self.weights]

    def get_parameters(self, expand=True):
        return list(self.weights)

    def trainable_params(self, recurse=True):
        return list(self.trainable_weights)

    def add_loss(self, loss):
        self._added_losses.extend(flat(loss))

    def add_metric(self, *args, **kwargs):
        raise NotImplementedError("keep the metric as an attribute and update it in train_step")

    def _forget_losses(self):
        self._added_losses.clear()
        for each in self.sublayers:
            each._forget_losses()

    @property
    def losses(self):
        own = [
            as_tensor(each() if callable(each) and not isinstance(each, Tensor) else each)
            for each in self._added_losses
        ]
        own += [penalty(penalised(weight)) for weight, penalty in self._penalties if self._is_trainable]
        return own + [loss for layer in self.sublayers for loss in layer.losses]

    def compute_output_shape(self, input_shape):
        sample = map_shapes(lambda shape: ops.zeros((2, *shape[1:]), ms.float32), input_shape)
        return map_structure(lambda each: (None, *each.shape[1:]), self(sample))

    @property
    def input(self):
        return self._nodes[0].inputs[0] if len(self._nodes[0].inputs) == 1 else self._nodes[0].inputs

    @property
    def output(self):
        return self._nodes[0].outputs

    @property
    def input_shape(self):
        return map_structure(lambda each: each.shape, self.input)

    @property
    def output_shape(self):
        return map_structure(lambda each: each.shape, self.output)

    def get_config(self):
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        if type(self).__module__ == Layer.__module__:  # somebody's own class says for itself what it was given
            args, kwargs = self._made_with
            given = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
            given.apply_defaults()
            own = dict(list(given.arguments.items())[1:])
            more = own.pop("kwargs", {})
            config |= {key: value for key, value in {**own, **more}.items() if key not in config}
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def sample_of(value):
    """What stands for a tensor that a layer was called with: its shape and type."""
    return (tuple(value.shape), dtype_name(value.dtype)) if isinstance(value, Tensor) else value


def map_shapes(function, shape):
    if isinstance(shape, dict):
        return {key: map_shapes(function, each) for key, each in shape.items()}
    if isinstance(shape, (list, tuple)) and shape and isinstance(shape[0], (list, tuple)):
        return [map_shapes(function, each) for each in shape]
    return function(shape)


def layers_in(value):
    if isinstance(value, Layer):
        return [value]
    if isinstance(value, (list, tuple)):
        return [layer for each in value for layer in layers_in(each)]
    if isinstance(value, dict):
        return [layer for each in value.values() for layer in layers_in(each)]
    return []


def distinct(weights):
    found = {}
    for each in weights:
        found.setdefault(id(each), each)
    return list(found.values())


def value_and_gradients(forward, sources):
    """(what `forward` returns, the gradients of its first value); `forward` runs once.

    `sources` gives the variables, and is asked when `forward` has run: layers that are called for the first time make theirs
    there. Tensors instead of a function are given to `forward`, and what the gradient is taken by.
    """
    by_inputs = not callable(sources) or isinstance(sources, Tensor)
    out, gradients = _by_inputs(forward, sources) if by_inputs else _by_weights(forward, sources)
    return out if Nesting.depth else map_structure(_cut_off, out), gradients


def _cut_off(value):
    """A tape's values are plain ones for the next tape; MindSpore would go back through them, and fail."""
    if not isinstance(value, Tensor) or isinstance(value, ms.Parameter):
        return value
    made = ops.stop_gradient(value)
    if hasattr(value, "_keras_mask"):
        made._keras_mask = value._keras_mask
    return made


def _first_and_all(out):
    first = out[0] if isinstance(out, tuple) else out
    return ops.sum(first) if first.ndim else first, out


def _by_inputs(forward, sources):
    given = tuple(flat(sources))
    taken = graph_gradients(forward, given) if is_taken_again() else None
    if taken is None:
        places = tuple(range(len(given)))
        function = ms.value_and_grad(lambda *each: _first_and_all(forward(*each)), places, None, has_aux=True)
        (_, out), gradients = take_gradients(function, *given)
    else:
        out, gradients = taken
    found = list(gradients) if isinstance(gradients, (list, tuple)) else [gradients]
    return out, found[0] if isinstance(sources, Tensor) else found


def _by_weights(forward, sources):
    def variables():
        weights = distinct(flat(sources()))
        if not all(isinstance(each, ms.Parameter) for each in weights):
            raise ValueError("gradients are taken by variables, or by tensors that the tape watches")
        return weights

    taken = graph_gradients(forward, (), variables) if is_taken_again() else None
    weights = []  # MindSpore looks into it behind `forward`

    def whole():
        made = _first_and_all(forward())
        weights.extend(variables())
        return made

    if taken is None:
        take = ms.value_and_grad(whole, None, weights, has_aux=True)
        (_, out), gradients = take_gradients(gradients_by_rows, take, weights)
    else:
        weights, (out, gradients) = variables(), taken
    found = {id(weight): gradient for weight, gradient in zip(weights, gradients)}
    return out, map_structure(lambda weight: found[id(weight)], sources())


class RecordedTape(Jacobians):
    """What a tape recorded, as a function that is run again for each gradient, with the same random numbers."""

    def __init__(self, forward, *inputs):
        self.forward, self.inputs = forward, inputs
        self.numbers = Chance.generator.bit_generator.state
        with Passing.watched({}) as self.passed:
            self.outputs = forward(*inputs)

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=None):
        outputs = self.outputs if isinstance(self.outputs, tuple) else (self.outputs,)
        place = next(index for index, each in enumerate(outputs) if each is target)
        after = Chance.generator.bit_generator.state
        by_input = [each for each in flat(sources) if any(each is other for other in self.inputs)]

        def again(*given):
            Chance.generator.bit_generator.state = self.numbers
            out = rehearse(lambda: self.forward(*given))
            out = out[place] if isinstance(out, tuple) else out
            return out if output_gradients is None else out * output_gradients

        if by_input:
            _, found = _by_inputs(again, list(self.inputs))
            pairs = {id(each): gradient for each, gradient in zip(self.inputs, found)}
            beside = [each for each in flat(sources) if id(each) not in pairs]
            weights = [each for each in beside if getattr(each, "requires_grad", False)]
            found = _by_weights(lambda: again(*self.inputs), lambda: weights)[1] if weights else ()
            pairs |= dict.fromkeys(map(id, beside)) | dict(zip(map(id, weights), found))
            made = map_structure(lambda each: pairs[id(each)], sources)
        elif any(isinstance(each, ms.Parameter) for each in flat(sources)):
            _, made = _by_weights(lambda: again(*self.inputs), lambda: sources)
        else:
            made = self._by_passed(again, sources)
        Chance.generator.bit_generator.state = after
        return made

    def _by_passed(self, again, sources):
        """By what a layer gave within the block, as Grad-CAM asks: by zeros that are added to it there."""
        places = [next((at for at, each in enumerate(self.passed) if each is one), None) for one in flat(sources)]
        if None in places:
            raise ValueError(
                "gradients are taken by variables, by tensors that the tape watches, or by what layers give"
            )

        def with_zeros(*zeros):
            with Passing.watched(dict(zip(places, zeros))):
                return again(*self.inputs)

        _, found = _by_inputs(with_zeros, [ops.zeros_like(each) for each in flat(sources)])
        pairs = {id(each): gradient for each, gradient in zip(flat(sources), found)}
        return map_structure(lambda each: pairs[id(each)], sources)
