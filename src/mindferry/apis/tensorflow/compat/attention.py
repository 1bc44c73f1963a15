"""Keras' attention layers."""

import math

import mindspore as ms
from mindspore import ops

from .activations import softmax
from .layers_base import Layer
from .layers_core import EinsumDense
from .layers_shaping import repeat_axis
from .products import einsum, product
from .random_values import dropout_mask

NEGATIVE = -1e9


class MultiHeadAttention(Layer):
    """Attention over all axes between batch and features, or over some; kernels are (features, heads, size), as in Keras."""

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
        sliding_window=None,
        use_gate=False,
        flash_attention=None,
        seed=None,
        name=None,
        dtype=None,
        trainable=True,
        **settings,
    ):
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        self.attention_axes = (attention_axes,) if isinstance(attention_axes, int) else attention_axes
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.rate, self.use_bias, self.wanted = dropout, use_bias, output_shape
        self.sliding_window, self.use_gate, self.settings = sliding_window, use_gate, settings
        self.num_key_value_heads, self.supports_masking = num_heads, True

    def projection(self, name, heads, size, shape, activation=None):
        bias = "de" if self.use_bias else None
        made = EinsumDense("abc,cde->abde", (None, heads, size), activation, bias, name=name, **self.settings)
        made.build((None, None, shape[-1]))
        return made

    def build(self, query_shape, value_shape, key_shape=None):
        self.query_dense = self.projection("query", self.num_heads, self.key_dim, query_shape)
        self.key_dense = self.projection("key", self.num_key_value_heads, self.key_dim, key_shape or value_shape)
        if self.use_gate:
            self.gate_dense = self.projection("gate", self.num_heads, self.value_dim, query_shape, "sigmoid")
        self.value_dense = self.projection("value", self.num_key_value_heads, self.value_dim, value_shape)
        last = self.wanted if self.wanted is not None else query_shape[-1]
        last = last[-1] if isinstance(last, (list, tuple)) else last
        bias = "e" if self.use_bias else None
        self.output_dense = EinsumDense(
            "abcd,cde->abe", (None, last), bias_axes=bias, name="attention_output", **self.settings
        )
        self.output_dense.build((None, None, self.num_heads, self.value_dim))
        self.built = True

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
        query_mask = getattr(query, "_keras_mask", None) if query_mask is None else query_mask
        value_mask = getattr(value, "_keras_mask", None) if value_mask is None else value_mask
        key_mask = getattr(key, "_keras_mask", None) if key_mask is None else key_mask
        for each in (query, value, key):  # as in Keras: their masks end here
            each._keras_mask = None
        if query.ndim == 3:
            mask = joint_mask(query, value, query_mask, value_mask, key_mask, attention_mask, use_causal_mask)
            out, scores = self.attend(query, value, key, mask, training, return_attention_scores)
            if query_mask is not None:
                out._keras_mask = query_mask
            return (out, scores) if return_attention_scores else out
        axes = self.folded_axes(query.ndim)
        parts = [fold_axes(each, *axes) for each in (query, value, key)]
        mask = fold_mask(attention_mask, query, value, *axes)
        mask = joint_mask(parts[0], parts[1], None, None, None, mask, use_causal_mask)
        out, scores = self.attend(*parts, mask, training, return_attention_scores)
        out = unfold_axes(out, query.shape, *axes)
        if not return_attention_scores:
            return out
        sizes = [[each.shape[axis] for axis in axes[1]] for each in (query, value)]
        free = [query.shape[axis] for axis in axes[0]]
        return out, ops.reshape(scores, (query.shape[0], *free, self.num_heads, *sizes[0], *sizes[1]))

    def folded_axes(self, rank):
        """(axes that count as a batch, axes that are attended over)."""
        inner = range(1, rank - 1)
        attended = inner if self.attention_axes is None else sorted(axis % rank for axis in self.attention_axes)
        return [axis for axis in inner if axis not in attended], list(attended)

    def attend(self, query, value, key, mask, training, has_scores):
        """(batch, places, features) each: what comes out, and the scores."""
        mask = within_window(mask, query, value, self.sliding_window)
        q, k, v = self.query_dense(query), self.key_dense(key), self.value_dense(value)
        count = self.num_heads // self.num_key_value_heads
        k, v = repeat_axis(k, count, 2), repeat_axis(v, count, 2)
        scores = einsum("aecd,abcd->acbe", k, q * (1 / math.sqrt(self.key_dim)))
        if mask is not None:
            mask = ops.cast(mask if mask.ndim == 4 else ops.expand_dims(mask, 1), ms.bool_)
        scores = masked_softmax(scores, mask, bool(has_scores or self.rate))
        kept = scores * dropout_mask(scores.shape, self.rate) if training and self.rate else scores
        made = einsum("acbe,aecd->abcd", kept, v)
        return self.output_dense(made * self.gate_dense(query) if self.use_gate else made), scores


def masked_softmax(scores, mask, is_zeroed):
    """Where all places of a row are masked, Keras' fused attention gives them even shares, and its own softmax none."""
    if mask is None:
        return softmax(scores)
    made = softmax(ops.where(mask, scores, ops.full_like(scores, NEGATIVE)))
    return ops.where(mask, made, ops.zeros_like(made)) if is_zeroed else made


def fold_axes(x, free, attended):
    """(batch and free axes, attended axes, features)."""
    sizes = [math.prod([x.shape[axis] for axis in axes]) for axes in ((0, *free), attended)]
    return ops.reshape(ops.transpose(x, (0, *free, *attended, x.ndim - 1)), (*sizes, x.shape[-1]))


def unfold_axes(x, shape, free, attended):
    order = (0, *free, *attended)
    wide = ops.reshape(x, (*(shape[axis] for axis in order), x.shape[-1]))
    back = [order.index(axis) for axis in range(len(order))]
    return ops.transpose(wide, (*back, len(order)))


def fold_mask(mask, query, value, free, attended):
    """A mask (batch, attended axes of the query, those of the value) for folded axes."""
    if mask is None:
        return None
    places = [math.prod([each.shape[axis] for axis in attended]) for each in (query, value)]
    mask = ops.reshape(ops.cast(mask, ms.int32), (-1, 1, *places))
    count = math.prod([query.shape[axis] for axis in free])
    mask = ops.broadcast_to(mask, (query.shape[0], count, *places))
    return ops.reshape(mask, (-1, *places))


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


def within_window(mask, query, value, window):
    """The mask without what is `window` places away, or farther."""
    if window is None:
        return mask
    rows, columns = ops.arange(query.shape[1]), ops.arange(value.shape[1])
    is_near = ops.expand_dims(ops.abs(ops.expand_dims(rows, -1) - columns) < window, 0)
    return is_near if mask is None else ops.logical_and(mask, is_near)


class GroupQueryAttention(MultiHeadAttention):
    """Several heads of queries share one of keys and values."""

    def __init__(
        self, head_dim, num_query_heads, num_key_value_heads, dropout=0.0, use_bias=True, sliding_window=None, **kwargs
    ):
        super().__init__(
            num_query_heads, head_dim, dropout=dropout, use_bias=use_bias, sliding_window=sliding_window, **kwargs
        )
        self.num_key_value_heads = num_key_value_heads


class Attention(Layer):
    """Dot products of queries and keys; given [query, value] or [query, value, key]."""

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.use_scale, self.score_mode, self.rate = use_scale, score_mode, dropout
        self.scale = self.concat_score_weight = None

    def compute_mask(self, inputs, previous_mask=None):
        return previous_mask[0] if isinstance(previous_mask, (list, tuple)) else None

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
