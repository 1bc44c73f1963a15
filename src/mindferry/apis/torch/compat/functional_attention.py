"""Attention and embeddings as functions, with torch's arguments."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functional_conv import linear, pad
from .functional_norm import safe_softmax, softmax
from .functions_math import renorm
from .functions_shape import repeat_interleave
from .random import dropout


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """torch.nn.functional.scaled_dot_product_attention."""
    if enable_gqa:
        key = repeat_interleave(key, query.shape[-3] // key.shape[-3], -3)
        value = repeat_interleave(value, query.shape[-3] // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query, ops.swapaxes(key, -1, -2)) * factor
    if is_causal:
        attn_mask = ms.Tensor(np.tril(np.ones(scores.shape[-2:], bool)))
    if attn_mask is not None and attn_mask.dtype == ms.bool_:
        scores = ops.where(attn_mask, scores, ops.full_like(scores, float("-inf")))
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = safe_softmax(scores, -1)
    return ops.matmul(dropout(weights, dropout_p) if dropout_p > 0 else weights, value)


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """torch.nn.functional.multi_head_attention_forward."""
    is_single = query.ndim == 2
    if is_single:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    head = width // num_heads
    weights = (
        (q_proj_weight, k_proj_weight, v_proj_weight)
        if use_separate_proj_weight
        else ops.split(in_proj_weight, width, 0)
    )
    biases = (None,) * 3 if in_proj_bias is None else ops.split(in_proj_bias, width, 0)
    q, k, v = (linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
    extra = 0
    if bias_k is not None:
        k = ops.cat((k, ops.tile(bias_k, (1, batch, 1))), 0)
        v = ops.cat((v, ops.tile(bias_v, (1, batch, 1))), 0)
        extra += 1

    def heads(x):
        return ops.swapaxes(x.reshape(x.shape[0], batch * num_heads, head), 0, 1)

    q = heads(q)
    k = heads(k) if static_k is None else static_k
    v = heads(v) if static_v is None else static_v
    if add_zero_attn:
        empty = ops.zeros((k.shape[0], 1, head), k.dtype)
        k, v, extra = ops.cat((k, empty), 1), ops.cat((v, empty), 1), extra + 1
    scores = ops.matmul(q / math.sqrt(head), ops.swapaxes(k, 1, 2))
    if attn_mask is not None:
        scores = scores + _widened(_as_scores(attn_mask, q.dtype), extra)
    if key_padding_mask is not None:
        blocked = _widened(_as_scores(key_padding_mask, q.dtype), extra)
        scores = scores.reshape(batch, num_heads, length, -1) + blocked.reshape(batch, 1, 1, -1)
        scores = scores.reshape(batch * num_heads, length, -1)
    is_free = attn_mask is None and key_padding_mask is None
    shares = softmax(scores, -1) if need_weights or is_free else safe_softmax(scores, -1)  # as torch, which is NaN or 0
    shares = dropout(shares, dropout_p, training)
    mixed = ops.swapaxes(ops.matmul(shares, v), 0, 1).reshape(length, batch, width)
    result = linear(mixed, out_proj_weight, out_proj_bias)
    shown = shares.reshape(batch, num_heads, length, -1)
    shown = shown.mean(axis=1) if average_attn_weights else shown
    if is_single:
        result, shown = result.squeeze(1), shown.squeeze(0)
    return result, shown if need_weights else None


def _as_scores(mask, dtype):
    """True in a mask means blocked."""
    if mask.dtype != ms.bool_:
        return mask
    return ops.where(mask, ms.Tensor(float("-inf"), dtype), ms.Tensor(0.0, dtype))


def _widened(mask, extra):
    return pad(mask, (0, extra)) if extra else mask


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """torch.nn.functional.embedding; max_norm leaves the weight itself as it is."""
    table = weight if max_norm is None else renorm(weight, norm_type, 0, max_norm)
    if not input.size:
        return ops.zeros(input.shape + weight.shape[1:], weight.dtype)
    rows = ops.gather(table, input.reshape(-1), 0)
    if padding_idx is not None:
        is_padding = (input.reshape(-1) == padding_idx % weight.shape[0]).unsqueeze(1)
        rows = ops.where(is_padding, ops.stop_gradient(rows), rows)
    if scale_grad_by_freq:
        often = (input.reshape(-1, 1) == input.reshape(1, -1)).astype(weight.dtype).sum(axis=1).unsqueeze(1)
        rows = rows / often + ops.stop_gradient(rows - rows / often)
    return rows.reshape(input.shape + weight.shape[1:])


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """torch.nn.functional.embedding_bag."""
    index = input.reshape(-1)
    if input.ndim == 2:
        starts = np.arange(input.shape[0]) * input.shape[1]
    else:
        starts = offsets.asnumpy()[: -1 if include_last_offset else None]
    bags = np.searchsorted(starts, np.arange(index.shape[0]), side="right") - 1
    member = np.arange(len(starts))[:, None] == bags[None, :]
    if padding_idx is not None:
        member = member & (index.asnumpy() != padding_idx % weight.shape[0])[None, :]
    if not index.size:
        return ops.zeros((len(starts), weight.shape[1]), weight.dtype)
    rows = embedding(index, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)
    if mode == "max":
        table = ops.where(ms.Tensor(member[:, :, None]), rows.unsqueeze(0), ms.Tensor(float("-inf"), rows.dtype))
        top = ops.amax(table, 1)
        return ops.where(ms.Tensor(member.any(1)[:, None]), top, ops.zeros_like(top))
    rows = rows if per_sample_weights is None else rows * per_sample_weights.reshape(-1, 1)
    total = ops.matmul(ms.Tensor(member.astype(np.float32)).astype(rows.dtype), rows)
    counts = np.maximum(member.sum(1), 1)[:, None].astype(np.float32)
    return total / ms.Tensor(counts) if mode == "mean" else total


def one_hot(input, num_classes=-1):
    """torch.nn.functional.one_hot, int64."""
    count = int(input.max()) + 1 if num_classes == -1 else num_classes
    return (input.unsqueeze(-1) == ops.arange(count).astype(input.dtype)).astype(ms.int64)
