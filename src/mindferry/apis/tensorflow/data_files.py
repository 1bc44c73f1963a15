"""Data sets, files and text: keras.datasets, tf.io.gfile, tf.strings; settings, versions and strategies for one device."""

from .._call import Call
from .._rule import Form, rule
from ._options import told_values

IN_FLOAT32 = "layers compute in float32 whatever is set here, so losses differ by what the other type rounds"


def _add(api: str, helper: str, rename: dict[str, str] | None = None) -> None:
    rule(api, to=f"compat.{helper}", like=f"compat.{helper}", rename=rename or {})


for name in "mnist fashion_mnist cifar10 cifar100 imdb reuters boston_housing".split():
    _add(f"keras.datasets.{name}", name)
    _add(f"keras.datasets.{name}.load_data", f"{name}.load_data")
for name in ("imdb", "reuters"):
    _add(f"keras.datasets.{name}.get_word_index", f"{name}.get_word_index")
_add("keras.utils.get_file", "get_file")
for name in (
    "lower upper strip length substr regex_replace regex_full_match to_number as_string join reduce_join split".split()
):
    _add(f"tensorflow.strings.{name}", f"strings_{name}")
_add("tensorflow.strings.unicode_split", "strings_characters")
_add("tensorflow.strings.bytes_split", "strings_characters")
_add("tensorflow.as_string", "strings_as_string")
for name in "glob makedirs isdir listdir remove rmtree copy".split():
    _add(f"tensorflow.io.gfile.{name}", f"gfile_{name}")
_add("tensorflow.io.gfile.mkdir", "gfile_makedirs")
_add("tensorflow.io.gfile.exists", "file_exists")
_add("tensorflow.io.gfile.GFile", "gfile_open")
for api, text in {
    "tensorflow.__version__": '"2.21.0"',
    "tensorflow.version.VERSION": '"2.21.0"',
    "keras.__version__": '"3.12.0"',
    "tensorflow.distribute.ReduceOp.SUM": '"SUM"',
    "tensorflow.distribute.ReduceOp.MEAN": '"MEAN"',
    "keras.losses.Reduction.SUM": '"sum"',
    "keras.losses.Reduction.NONE": '"none"',
    "keras.losses.Reduction.AUTO": '"sum_over_batch_size"',
    "keras.losses.Reduction.SUM_OVER_BATCH_SIZE": '"sum_over_batch_size"',
    "tensorflow.UnconnectedGradients.ZERO": '"zero"',
    "tensorflow.UnconnectedGradients.NONE": '"none"',
    "tensorflow.image.ResizeMethod.NEAREST_NEIGHBOR": '"nearest"',
    "tensorflow.image.ResizeMethod.BILINEAR": '"bilinear"',
    "tensorflow.image.ResizeMethod.BICUBIC": '"bicubic"',
    "tensorflow.image.ResizeMethod.LANCZOS3": '"lanczos3"',
    "tensorflow.image.ResizeMethod.LANCZOS5": '"lanczos5"',
    "tensorflow.image.ResizeMethod.GAUSSIAN": '"gaussian"',
    "tensorflow.image.ResizeMethod.MITCHELLCUBIC": '"mitchellcubic"',
}.items():
    rule(api, to=text, like=text)
for api, helper in {
    "tensorflow.TensorShape": "TensorShape",
    "keras.layers.InputSpec": "InputSpec",
    "keras.InputSpec": "InputSpec",
    "keras.engine.InputSpec": "InputSpec",
    "keras.layers.Wrapper": "Wrapper",
    "keras.constraints.get": "get_constraint",
    "keras.constraints.serialize": "as_given",
    "keras.initializers.serialize": "as_given",
    "keras.regularizers.serialize": "as_given",
    "keras.losses.serialize": "as_given",
    "keras.utils.plot_model": "plot_model",
    "keras.mixed_precision.Policy": "Policy",
    "keras.mixed_precision.DTypePolicy": "Policy",
    "keras.mixed_precision.global_policy": "global_policy",
    "keras.mixed_precision.dtype_policy": "global_policy",
    "tensorflow.distribute.get_strategy": "default_strategy",
    "tensorflow.config.list_logical_devices": "physical_devices",
    "tensorflow.config.experimental.list_logical_devices": "physical_devices",
    "tensorflow.test.is_built_with_cuda": "built_with_cuda",
    "tensorflow.test.is_gpu_available": "built_with_cuda",
    "tensorflow.test.gpu_device_name": "gpu_device_name",
}.items():
    _add(api, helper)
for form in (Form.CALL, Form.UNKNOWN):
    rule("tensorflow.Tensor.set_shape", to="compat.no_setting", args="self", form=form)


CAFFE = "vgg16 vgg19 resnet resnet50 imagenet_utils"
TF = "inception_v3 xception mobilenet mobilenet_v2 resnet_v2 inception_resnet_v2 nasnet"
NONE = "efficientnet efficientnet_v2 convnext mobilenet_v3"
for helper, names in (("caffe", CAFFE), ("tf", TF), ("torch", "densenet"), ("none", NONE)):
    for name in names.split():
        _add(f"keras.applications.{name}.preprocess_input", f"preprocess_{helper}")
_add("tensorflow.image.non_max_suppression", "non_max_suppression")
_add("keras.ops.image.extract_patches", "ops_extract_patches")
_add("keras.ops.image.resize", "image_resize", {"interpolation": "method"})
_add("keras.utils.text_dataset_from_directory", "text_dataset_from_directory")
_add("keras.preprocessing.text_dataset_from_directory", "text_dataset_from_directory")
_add("tensorflow.data.TextLineDataset", "text_lines")
_add("tensorflow.data.Dataset.list_files", "list_files")
_add("tensorflow.data.experimental.cardinality", "cardinality_of")
_add("tensorflow.data.Options", "DataOptions")


def _warn_of_type(call: Call) -> None:
    """Everything but "float32" itself, which is what the helpers compute in; an object of the program's may be any type."""
    name = "policy" if "policy" in call.rule.args else "value"
    told = told_values(call, name, "float32")
    if not told or any(value != "float32" for value in told):
        call.warning = IN_FLOAT32


def _note_devices(call: Call) -> None:
    call.note = "it runs on one device; start the script with `mindferry launch` for several"


rule("keras.mixed_precision.set_global_policy", to="compat.set_policy", args="policy")(_warn_of_type)
rule("keras.backend.set_floatx", to="compat.no_setting", args="value")(_warn_of_type)
for name in ("MirroredStrategy", "OneDeviceStrategy", "experimental.CentralStorageStrategy"):
    helper = "compat.OneDevice"
    rule(f"tensorflow.distribute.{name}", to=helper, like=helper, is_variadic=True)(_note_devices)
RAGGED = "use dense tensors, padded: keras.utils.pad_sequences, Dataset.padded_batch"
for api in "ragged.constant ragged.stack RaggedTensor SparseTensor sparse.from_dense sparse.to_dense sparse.SparseTensor".split():
    rule(
        f"tensorflow.{api}",
        missing="ragged and sparse tensors have no counterpart",
        strategy="equivalent",
        advice=RAGGED,
    )
