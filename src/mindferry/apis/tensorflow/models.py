"""Networks and what goes into them: models, losses, metrics, optimizers, callbacks, initializers."""

import ast
import re

from .._call import Call
from .._rule import rule
from ._options import check_options


def same(home: str, names: str, prefix: str = "", suffix: str = "") -> None:
    """Each becomes the helper of its name."""
    for name in names.split():
        helper = f"compat.{prefix}{name}{suffix}"
        rule(f"{home}.{name}", to=helper, like=helper)(check_options)


same("keras", "Model Sequential Input")
for name in ("Model", "Sequential"):
    rule(f"keras.{name}.from_config", to=f"compat.{name}.from_config", like=f"compat.{name}.from_config")
rule(
    "keras.models.model_from_json",
    missing="a network's configuration can't be read without Keras",
    strategy="equivalent",
    advice="build the network with its code, then `model.load_weights(path)` with the same path: a converted `save` writes the "
    "weights there; a file of Keras' own is brought by `mindferry weights convert model.keras -o model.ckpt`",
)
rule("keras.models.save_model", to="compat.save_network", like="compat.save_network")


@rule("keras.models.clone_model", to="compat.clone_model", like="compat.clone_model")
def clone_model(call: Call) -> None:
    for name in ("input_tensors", "clone_function"):
        if call.literal(name) is not None:
            call.leave(
                f"a network is cloned without {name} only", "call the function that builds the network once more"
            )
            return


@rule("keras.models.load_model", to="compat.load_model", like="compat.load_model")
def load_model(call: Call) -> None:
    """Of a file that the script itself saves. Any other may have been written by Keras, which can't be read without it."""
    if not saves_networks(call.reading.source.tree):
        call.leave(
            "the file that it reads is not written by this script, and one of Keras' own can't be read without Keras",
            "build the network with its code, then `model.load_weights(path)` with the same path: a converted `save` writes the "
            "weights there; a file of Keras' own is brought by `mindferry weights convert model.keras -o model.ckpt`",
        )


def saves_networks(tree: ast.Module) -> bool:
    """Whether the text saves a network: `model.save(path)`, `save_model`, or a ModelCheckpoint."""
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name)
    }
    return bool(names & {"save", "save_model", "ModelCheckpoint"})


same(
    "keras.losses",
    "Loss MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError LogCosh Hinge SquaredHinge "
    "CategoricalHinge KLDivergence Poisson Dice Tversky Huber CosineSimilarity BinaryCrossentropy BinaryFocalCrossentropy "
    "CategoricalCrossentropy CategoricalFocalCrossentropy SparseCategoricalCrossentropy mean_squared_error mean_absolute_error "
    "mean_absolute_percentage_error mean_squared_logarithmic_error huber log_cosh hinge squared_hinge categorical_hinge "
    "binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy "
    "sparse_categorical_crossentropy kl_divergence poisson dice tversky CTC Circle CategoricalGeneralizedCrossEntropy ctc circle "
    "categorical_generalized_cross_entropy",
)
rule("keras.losses.cosine_similarity", to="compat.negative_cosine", like="compat.negative_cosine")
rule("keras.losses.get", to="compat.loss_of_name", like="compat.loss_of_name")
for short, full in (
    ("MSE", "mean_squared_error"),
    ("mse", "mean_squared_error"),
    ("MAE", "mean_absolute_error"),
    ("mae", "mean_absolute_error"),
    ("KLD", "kl_divergence"),
    ("kld", "kl_divergence"),
    ("kullback_leibler_divergence", "kl_divergence"),
    ("logcosh", "log_cosh"),
    ("MAPE", "mean_absolute_percentage_error"),
    ("mape", "mean_absolute_percentage_error"),
    ("MSLE", "mean_squared_logarithmic_error"),
    ("msle", "mean_squared_logarithmic_error"),
):
    rule(f"keras.losses.{short}", to=f"compat.{full}", like=f"compat.{full}")
same(
    "keras.metrics",
    "Metric Mean Sum MeanMetricWrapper Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy "
    "TopKCategoricalAccuracy SparseTopKCategoricalAccuracy RootMeanSquaredError Precision Recall TruePositives FalsePositives "
    "TrueNegatives FalseNegatives AUC IoU BinaryIoU MeanIoU OneHotIoU OneHotMeanIoU F1Score FBetaScore R2Score PrecisionAtRecall "
    "RecallAtPrecision SensitivityAtSpecificity SpecificityAtSensitivity PearsonCorrelation ConcordanceCorrelation "
    "pearson_correlation concordance_correlation binary_accuracy categorical_accuracy sparse_categorical_accuracy "
    "top_k_categorical_accuracy sparse_top_k_categorical_accuracy mean_squared_error mean_absolute_error binary_crossentropy "
    "categorical_crossentropy sparse_categorical_crossentropy binary_focal_crossentropy categorical_focal_crossentropy "
    "categorical_hinge hinge squared_hinge huber kl_divergence log_cosh mean_absolute_percentage_error "
    "mean_squared_logarithmic_error poisson",
)
same(
    "keras.metrics",
    "MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError LogCoshError Hinge SquaredHinge "
    "CategoricalHinge KLDivergence Poisson CosineSimilarity BinaryCrossentropy CategoricalCrossentropy "
    "SparseCategoricalCrossentropy",
    suffix="Metric",
)
same(
    "keras.optimizers",
    "Optimizer SGD RMSprop Adam AdamW Nadam Adamax Adagrad Adadelta Lion Lamb Ftrl Adafactor Muon ScheduleFreeAdamW "
    "LossScaleOptimizer MultiOptimizer OptimizerMap",
)
same("keras.mixed_precision", "LossScaleOptimizer")
rule("keras.optimizers.get", to="compat.get_optimizer", like="compat.get_optimizer")
same(
    "keras.optimizers.schedules",
    "LearningRateSchedule ExponentialDecay InverseTimeDecay PiecewiseConstantDecay PolynomialDecay CosineDecay CosineDecayRestarts",
)
same(
    "keras.callbacks",
    "Callback History LambdaCallback EarlyStopping ReduceLROnPlateau LearningRateScheduler ModelCheckpoint CSVLogger TerminateOnNaN TensorBoard "
    "BackupAndRestore",
)
same(
    "keras.activations",
    "relu relu6 leaky_relu sigmoid tanh softmax log_softmax softplus softsign elu selu gelu silu mish exponential hard_sigmoid "
    "hard_silu celu log_sigmoid glu linear hard_tanh tanh_shrink hard_shrink soft_shrink threshold squareplus sparse_plus "
    "sparse_sigmoid sparsemax",
)
rule("keras.activations.swish", to="compat.silu", like="compat.silu")
rule("keras.activations.get", to="compat.get_activation", like="compat.get_activation")
same("keras.regularizers", "Regularizer L1 L2 L1L2")
same("keras.regularizers", "OrthogonalRegularizer")
for short, full in (("l1", "L1"), ("l2", "L2"), ("l1_l2", "L1L2"), ("get", "get_regularizer")):
    rule(f"keras.regularizers.{short}", to=f"compat.{full}", like=f"compat.{full}")
same("keras.constraints", "Constraint MaxNorm NonNeg UnitNorm MinMaxNorm")
for short, full in (
    ("max_norm", "MaxNorm"),
    ("maxnorm", "MaxNorm"),
    ("non_neg", "NonNeg"),
    ("unit_norm", "UnitNorm"),
    ("min_max_norm", "MinMaxNorm"),
):
    rule(f"keras.constraints.{short}", to=f"compat.{full}", like=f"compat.{full}")
INITIALIZERS = (
    "Initializer Zeros Ones Constant RandomNormal TruncatedNormal RandomUniform Orthogonal VarianceScaling GlorotUniform "
    "GlorotNormal HeUniform HeNormal LecunUniform LecunNormal STFT"
)
same("keras.initializers", INITIALIZERS)
rule("keras.initializers.Identity", to="compat.IdentityInitializer", like="compat.IdentityInitializer")
rule("keras.initializers.get", to="compat.get_initializer", like="compat.get_initializer")
for full in INITIALIZERS.split()[1:]:
    short = "stft" if full == "STFT" else re.sub("(?<!^)(?=[A-Z])", "_", full).lower()
    rule(f"keras.initializers.{short}", to=f"compat.{full}", like=f"compat.{full}")
APPLICATIONS = (
    "VGG16 VGG19 ResNet50 ResNet101 ResNet152 ResNet50V2 ResNet101V2 ResNet152V2 MobileNet MobileNetV2 MobileNetV3Small "
    "MobileNetV3Large DenseNet121 DenseNet169 DenseNet201 Xception InceptionV3 InceptionResNetV2 NASNetMobile NASNetLarge "
    "ConvNeXtTiny ConvNeXtSmall ConvNeXtBase ConvNeXtLarge ConvNeXtXLarge EfficientNetV2S EfficientNetV2M EfficientNetV2L "
    "EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3"
).split() + [f"EfficientNetB{size}" for size in range(8)]
for name in APPLICATIONS:
    rule(
        f"keras.applications.{name}",
        missing="it is a network in Keras' own folder, which is converted along where that is asked for",
        strategy="equivalent",
        advice="convert again with `mindferry convert PROJECT -o OUT --with keras`, which brings it into the project; its weights come by `mindferry weights convert`",
    )
same("keras.utils", "set_random_seed to_categorical unpack_x_y_sample_weight pack_x_y_sample_weight")
same("keras.backend", "clear_session image_data_format floatx name_scope get_uid")
rule("keras.backend.backend", to="compat.backend_name", like="compat.backend_name")
rule("keras.utils.file_utils.exists", to="compat.file_exists", like="compat.file_exists")
rule("keras.backend.is_keras_tensor", to="compat.is_symbolic", like="compat.is_symbolic")
rule("keras.ops.operation_utils.get_source_inputs", to="compat.source_inputs", like="compat.source_inputs")
rule("keras.api_export.keras_export", to="compat.registered", like="compat.registered")
MISSING_METHODS = (
    "to_json export quantize get_compile_config make_train_function make_test_function stateless_call enable_lora"
)
for name in MISSING_METHODS.split():
    rule(
        f"keras.Model.{name}",
        missing="a converted network does not have it",
        strategy="equivalent",
        advice="save the weights with save_weights and keep the code; `mindferry export` writes MindIR or ONNX",
    )
for name in ("fit_generator", "evaluate_generator", "predict_generator"):
    rule(
        f"keras.Model.{name}",
        missing="Keras 3 does not have it either",
        strategy="equivalent",
        advice=f"call {name.removesuffix('_generator')} with the generator, and convert again",
    )
for name in ("memory_growth", "visible_devices", "logical_device_configuration"):
    rule(f"tensorflow.config.experimental.set_{name}", to="compat.no_setting", like="compat.no_setting")
    rule(f"tensorflow.config.set_{name}", to="compat.no_setting", like="compat.no_setting")
rule(
    "tensorflow.config.experimental.list_physical_devices", to="compat.physical_devices", like="compat.physical_devices"
)
rule("tensorflow.config.list_physical_devices", to="compat.physical_devices", like="compat.physical_devices")
rule("tensorflow.config.run_functions_eagerly", to="compat.no_setting", like="compat.no_setting")
rule("tensorflow.config.experimental.enable_op_determinism", to="compat.no_setting", like="compat.no_setting")
rule("tensorflow.get_logger", missing="there is no such logger", strategy="not needed", advice="leave it out")
