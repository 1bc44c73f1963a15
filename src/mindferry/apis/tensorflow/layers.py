"""Keras' layers: each has a helper of its name, a MindSpore Cell that is built when it is first called."""

from .._rule import rule

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
MultiHeadAttention Attention AdditiveAttention Rescaling Normalization Resizing
"""

for name in NAMES.split():
    rule(f"keras.layers.{name}", to=f"compat.{name}", like=f"compat.{name}")
