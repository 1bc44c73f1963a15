"""keras.applications.….preprocess_input: pixels as each family of networks was trained on them."""

import numpy as np
from mindspore import Tensor

from .tensors import as_tensor


def like_given(made, x):
    return made if isinstance(x, Tensor) else made.astype(np.float32)


def preprocess_caffe(x, data_format=None, mode="caffe"):
    """VGG, ResNet: blue first, without the mean of ImageNet's pixels."""
    if mode != "caffe":
        return preprocess_tf(x) if mode == "tf" else preprocess_torch(x)
    mean = np.array([103.939, 116.779, 123.68], np.float32)
    if isinstance(x, Tensor):
        return x.astype("float32").flip((-1,)) - as_tensor(mean)
    return like_given(np.asarray(x)[..., ::-1] - mean, x)


def preprocess_tf(x, data_format=None):
    """Inception, MobileNet, Xception: from -1 to 1."""
    return like_given((x if isinstance(x, Tensor) else np.asarray(x, np.float32)) / 127.5 - 1.0, x)


def preprocess_torch(x, data_format=None):
    """DenseNet: by the mean and deviation of ImageNet's colours."""
    mean, deviation = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
    if isinstance(x, Tensor):
        return (x / 255.0 - as_tensor(mean)) / as_tensor(deviation)
    return like_given((np.asarray(x, np.float32) / 255.0 - mean) / deviation, x)


def preprocess_none(x, data_format=None):
    """EfficientNet, ConvNeXt, MobileNetV3 have a layer of their own for it."""
    return x
