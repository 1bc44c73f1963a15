"""TensorFlow and Keras, as far as reading code needs to know them: where their names are and what they return."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

from ...read.framework import Framework, ListedArgument, ListedCall, Members, Role
from ...read.types import TENSOR, UNKNOWN, Type, instance
from ...read.uses import read_uses
from ._aliases import canonical
from ._helper_classes import has_method

DTYPES = frozenset(
    "float16 float32 float64 bfloat16 half double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 string".split()
)
METHODS = frozenset("numpy assign assign_add assign_sub get_shape set_shape as_list read_value eval".split())
PLAIN = frozenset("shape size rank range function print py_function numpy_function while_loop cond case group".split())
MODULES = (
    "keras",
    *(
        f"keras.{name}"
        for name in "activations applications backend callbacks constraints datasets initializers layers losses metrics "
        "mixed_precision models ops optimizers preprocessing random regularizers utils".split()
    ),
    *(f"tensorflow.{name}" for name in "config data image io linalg math nn random strings train".split()),
)
DATA_SETS = ("tensorflow.data.Dataset", "tensorflow.data.TextLineDataset", "tensorflow.data.TFRecordDataset")
NO_DATA_SETS = (
    "as_numpy_iterator cardinality element_spec get_single_element reduce".split()
)  # what gives something else
LAID_OUT = "Conv DepthwiseConv SeparableConv MaxPool AveragePool AvgPool GlobalMaxPool GlobalAveragePool GlobalAvgPool UpSampling"
VARIABLE = frozenset({"tensorflow.Variable", "keras.Variable"})


@functools.cache
def describe() -> Framework:
    return Framework(
        name="tensorflow",
        roots=("tensorflow", "keras", "tf_keras"),
        homes=("tensorflow.", "keras."),
        packages=re.compile(r"tensorflow(?:\.keras)?(?:\.[a-z_]+)?|keras(?:\.[a-z_]+)?"),
        functional=("nn", "tf.nn"),
        tensor="tensorflow.Tensor",
        tensor_classes=frozenset({"tensorflow.Tensor", "tensorflow.Variable"}),
        annotations=frozenset({"tensorflow.Tensor", "tensorflow.Variable"}),
        network="keras.Model",
        optimizer="keras.optimizers.Optimizer",
        loader="tensorflow.data.Dataset",
        dtype="tensorflow.DType",
        device="tensorflow.device",
        dtypes=DTYPES,
        lists_of_networks=frozenset(),
        table_of_networks="",
        size="tensorflow.TensorShape",
        functions=(),
        answering=(("tensorflow.", ""), ("keras.", "")),
        is_lost=_is_lost,
        pairs=frozenset(),
        takes_parameters=("keras.optimizers.",),
        forward=frozenset({"call"}),
        gradient_methods=frozenset(),
        saved_tensors="",
        gradient="",
        members=Members(
            attributes={"shape": Type("size")},
            parts={},
            in_place=frozenset(),
            distinctive=frozenset(),
            unmistakable=frozenset(),
            of_networks=frozenset(),
            shared=frozenset(),
            parameters=frozenset(),
            of_network_tables=frozenset(),
            returning_self=frozenset(),
            network_results={},
            of_all_tensors=METHODS,
            of_all_networks=frozenset(),
            parameter_names=frozenset(),
        ),
        uses=read_uses((use, names) for use, names in _rows("uses.tsv")),
        counterparts={"tensorflow": "mindspore", **dict.fromkeys(MODULES, "compat")},
        families=(("keras.layers.", "layers"), ("keras.", "keras"), ("tensorflow.", "functions")),
        short=(("tensorflow.", "tf."),),
        page="https://www.tensorflow.org/api_docs/python/tf",
        checklist={
            api: ListedCall(title, int(position or -1), argument)
            for api, title, position, argument in _rows("tricks.tsv")
        },
        listed_arguments={
            name: ListedArgument(topic, title, tuple(functions.split()))
            for name, topic, title, functions in _rows("argument_tricks.tsv")
        },
        leading=0,
        roles=_roles(),
        role_homes=tuple(prefix for prefix, _ in _roles()),
        canonical=canonical,
        call_result=call_result,
        method_result=method_result,
        network_call_result=network_call_result,
        object_method=object_method,
        object_attribute=object_attribute,
        helpers="ms_keras",
        laid_out=("tensorflow.nn.conv", *(f"keras.layers.{name}" for name in LAID_OUT.split())),
        layout="channels last (NHWC) as in Keras; each convolution and pool turns to MindSpore's NCHW kernels inside",
    )


def call_result(qual: str, arguments: int) -> Type:
    """Functions give tensors, classes their instances; what a layer gives may be symbolic."""
    home, _, name = qual.rpartition(".")
    if qual in VARIABLE:
        return TENSOR
    if name[:1].isupper() and qual != "keras.Input":
        return instance(qual)
    if home in DATA_SETS and name not in NO_DATA_SETS:
        return instance(home)
    is_function = home in ("tensorflow", "tensorflow.nn", "tensorflow.random", "tensorflow.image")
    return TENSOR if is_function and name not in PLAIN else UNKNOWN


def method_result(name: str, arguments: int) -> Type:
    return UNKNOWN if name in ("numpy", "get_shape", "as_list") else TENSOR


def network_call_result(qual: str, given: Type = UNKNOWN) -> Type:
    return UNKNOWN


def object_method(qual: str, name: str, arguments: int) -> Type:
    return instance(qual) if qual.startswith("tensorflow.data.") and name not in NO_DATA_SETS else UNKNOWN


def object_attribute(qual: str, name: str) -> Type:
    return UNKNOWN


def _is_lost(base: str, name: str) -> bool:
    """Whether the helper that stands for the class has no such method."""
    return not has_method(base, name)


def _rows(name: str) -> list[list[str]]:
    lines = files(__package__).joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def _roles() -> tuple[tuple[str, Role], ...]:
    rows = ((prefix, Role(role)) for prefix, role in _rows("roles.tsv"))
    return tuple(sorted(rows, key=lambda row: -len(row[0])))
