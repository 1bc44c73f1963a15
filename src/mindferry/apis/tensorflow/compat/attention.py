"""Keras' attention layers."""

import math

import mindspore as ms
from mindspore import ops

from .activations import softmax
from .layers_base import Layer
from .layers_core import EinsumDense
from .products import einsum, product
from .random_values import dropout_mask
from .tensors import as_tensor

NEGATIVE = -1e9


class MultiHeadAttention(Layer):
    """Attention over the second axis; kernels are (features, heads, size), as in Keras."""

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**{key: value for key, value in kwargs.items() if key in ("name", "dtype", "trainable")})
        if attention_axes is not None:
            raise NotImplementedError(
                "MultiHeadAttention attends over the second axis here: leave attention_axes out, or transpose the inputs"
            )
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.rate, self.use_bias, self.wanted = dropout, use_bias, output_shape
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.supports_masking = True

    def build(self, query_shape, value_shape, key_shape=None):
        settings = {"kernel_initializer": self.kernel_initializer, "bias_initializer": self.bias_initializer}
        bias = "de" if self.use_bias else None
        for name, size in (("query", self.key_dim), ("key", self.key_dim), ("value", self.value_dim)):
            made = EinsumDense("abc,cde->abde", (None, self.num_heads, size), bias_axes=bias, name=name, **settings)
            setattr(self, f"{name}_dense", made)
        last = self.wanted if self.wanted is not None else query_shape[-1]
        last = last[-1] if isinstance(last, (list, tuple)) else last
        self.output_dense = EinsumDense(
            "abcd,cde->abe", (None, last), bias_axes="e" if self.use_bias else None, name="attention_output", **settings
        )
        self.query_dense.build(query_shape)
        self.value_dense.build(value_shape)
        self.key_dense.build(key_shape or value_shape)
        self.output_dense.build((None, None, self.num_heads, self.value_dim))
        self.built = True

    @property
    def sublayers(self):
        names = ("query_dense", "key_dense", "value_dense", "output_dense")
        return [getattr(self, name) for name in names if hasattr(self, name)]

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        key = value if key is None else key
        query_mask = getattr(query, "_keras_mask", None)
        value_mask = getattr(value, "_keras_mask", None) if value_mask is None else value_mask
        key_mask = getattr(key, "_keras_mask", None) if key_mask is None else key_mask
        for each in (query, value, key):  # as in Keras: their masks end here
            each._keras_mask = None
        mask = joint_mask(query, value, query_mask, value_mask, key_mask, attention_mask, use_causal_mask)
        q, k, v = self.query_dense(query), self.key_dense(key), self.value_dense(value)
        scores = einsum("aecd,abcd->acbe", k, q * (1 / math.sqrt(self.key_dim)))
        if mask is not None:
            mask = mask if mask.ndim == 4 else ops.expand_dims(mask, 1)
            scores = ops.where(ops.cast(mask, ms.bool_), scores, as_tensor(NEGATIVE, scores.dtype))
        scores = softmax(scores)
        if mask is not None and (self.rate or return_attention_scores):  # Keras' other way to compute it
            scores = scores * ops.cast(mask, scores.dtype)
        kept = scores * dropout_mask(scores.shape, self.rate) if training and self.rate else scores
        out = self.output_dense(einsum("acbe,aecd->abcd", kept, v))
        if query_mask is not None:
            out._keras_mask = query_mask
        return (out, scores) if return_attention_scores else out


def joint_mask(query, value, query_mask, value_mask, key_mask, mask, is_causal):
    """All that may not be looked at, in one: (batch, queries, values)."""
    found = None if mask is None else ops.cast(mask, ms.bool_)
    parts = []
    if query_mask is not None:
        parts.append(ops.expand_dims(ops.cast(query_mask, ms.bool_), -1))
    if value_mask is not None:
        parts.append(ops.expand_dims(ops.cast(value_mask, ms.bool_), -2))
    if key_mask is not None:
        parts.append(ops.expand_dims(ops.cast(key_mask, ms.bool_), -2))
    if is_causal:
        rows, columns = ops.arange(query.shape[1]), ops.arange(value.shape[1])
        parts.append(ops.expand_dims(ops.expand_dims(rows, -1) >= columns, 0))
    for each in parts:
        found = each if found is None else ops.logical_and(found, each)
    return found


class Attention(Layer):
    """Dot products of queries and keys; given [query, value] or [query, value, key]."""

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.use_scale, self.score_mode, self.rate = use_scale, score_mode, dropout
        self.scale = self.concat_score_weight = None

    def build(self, input_shape):
        if self.use_scale:
            self.scale = self.add_weight((), "ones", name="scale")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight")
        self.built = True

    def scores(self, query, key):
        if self.score_mode == "concat":
            joint = ops.expand_dims(query, -2) + ops.expand_dims(key, -3)
            joint = joint * self.scale if self.use_scale else joint
            return self.concat_score_weight * ops.sum(ops.tanh(joint), -1)
        made = product(query, ops.swapaxes(key, -1, -2))
        return made * self.scale if self.use_scale else made

    def call(self, inputs, mask=None, return_attention_scores=False, training=False, use_causal_mask=False):
        query, value, key = inputs[0], inputs[1], inputs[2] if len(inputs) > 2 else inputs[1]
        value_mask = mask[1] if mask is not None and len(mask) > 1 else None
        hidden = joint_mask(query, value, None, value_mask, None, None, use_causal_mask)
        scores = self.scores(query, key)
        if hidden is not None:
            scores = scores + (1.0 - ops.cast(hidden, scores.dtype)) * NEGATIVE
        scores = softmax(scores)
        kept = scores * dropout_mask(scores.shape, self.rate) if training and self.rate else scores
        out = product(kept, value)
        if mask is not None and mask[0] is not None:
            out = out * ops.cast(ops.expand_dims(mask[0], -1), out.dtype)
        return (out, scores) if return_attention_scores else out


class AdditiveAttention(Attention):
    def __init__(self, use_scale=True, dropout=0.0, **kwargs):
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape):
        if self.use_scale:
            self.scale = self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale")
        self.built = True

    def scores(self, query, key):
        made = ops.tanh(ops.expand_dims(query, -2) + ops.expand_dims(key, -3))
        return ops.sum(made * self.scale if self.use_scale else made, -1)
