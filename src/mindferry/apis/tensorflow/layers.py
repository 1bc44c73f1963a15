"""Keras' layers: each has a helper of its name, a MindSpore Cell that is built when it is first called."""

from .._rule import rule
from ._options import check_options

NAMES = """
Layer Dense EinsumDense Embedding Masking BatchNormalization LayerNormalization RMSNormalization GroupNormalization
UnitNormalization Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D AlphaDropout GaussianNoise GaussianDropout
ActivityRegularization Activation ReLU LeakyReLU PReLU ELU Softmax Identity Lambda InputLayer Flatten Reshape Permute
RepeatVector ZeroPadding1D ZeroPadding2D ZeroPadding3D Cropping1D Cropping2D Cropping3D UpSampling1D UpSampling2D
UpSampling3D Add Subtract Multiply Average Maximum Minimum Concatenate Dot Conv1D Conv2D Conv3D DepthwiseConv1D
DepthwiseConv2D SeparableConv1D SeparableConv2D Conv1DTranspose Conv2DTranspose Conv3DTranspose MaxPooling1D
MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D GlobalAveragePooling1D
GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D
add subtract multiply average maximum minimum concatenate dot
SimpleRNN SimpleRNNCell LSTM LSTMCell GRU GRUCell RNN StackedRNNCells Bidirectional TimeDistributed
MultiHeadAttention GroupQueryAttention Attention AdditiveAttention Rescaling Normalization Resizing
AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D
AdaptiveMaxPooling3D ConvLSTM1D ConvLSTM2D ConvLSTM3D SpectralNormalization ReversibleEmbedding CategoryEncoding
Discretization Hashing HashedCrossing IntegerLookup StringLookup TextVectorization STFTSpectrogram MelSpectrogram
CenterCrop RandomCrop RandomFlip RandomZoom RandomRotation RandomTranslation RandomShear RandomPerspective
RandomElasticTransform RandomBrightness RandomContrast RandomColorDegeneration RandomGrayscale RandomHue RandomSaturation
RandomInvert RandomPosterization RandomSharpness RandomGaussianBlur RandomColorJitter RandomErasing Solarization
AutoContrast Equalization ContrastLimitedAdaptiveHistogramEqualization MixUp CutMix AugMix RandAugment MaxNumBoundingBoxes
"""

for name in NAMES.split():
    rule(f"keras.layers.{name}", to=f"compat.{name}", like=f"compat.{name}")(check_options)

MISSING = {
    "TFSMLayer JaxLayer FlaxLayer TorchModuleWrapper": (
        "a network of another framework can't be read",
        "build the network with its own code, and convert that",
    ),
    "Pipeline": (
        "a list of layers for the data's map function is not kept as one",
        "write a function that calls the layers one after the other",
    ),
}
for names, (why, instead) in MISSING.items():
    for name in names.split():
        rule(f"keras.layers.{name}", missing=why, strategy="equivalent", advice=instead)
