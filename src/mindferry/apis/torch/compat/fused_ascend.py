"""Ascend's fused kernels, for --target ascend: where they take the inputs, and the plain computation otherwise. Not run here: no device was at hand."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functional_attention import scaled_dot_product_attention
from .functional_norm import rms_norm


def flash_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention, by ops.flash_attention_score: half precision, four axes, no dropout."""
    is_masked = attn_mask is not None
    is_fused = query.ndim == 4 and query.dtype in (ms.float16, ms.bfloat16) and dropout_p == 0 and not enable_gqa
    if not is_fused or (is_masked and attn_mask.dtype != ms.bool_):
        return scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    size = (query.shape[2], key.shape[2])
    hidden = None  # here True is what is left out, in torch what is kept
    if is_causal:
        hidden = ms.Tensor(~np.tril(np.ones(size, bool)))
    elif is_masked:
        hidden = ops.logical_not(attn_mask).broadcast_to((query.shape[0], query.shape[1], *size))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return ops.flash_attention_score(
        query, key, value, query.shape[1], attn_mask=hidden, scalar_value=factor, input_layout="BNSD"
    )


def fused_rms_norm(input, normalized_shape, weight=None, eps=None):
    """torch.nn.functional.rms_norm, by ops.rms_norm, which gives the root of the mean square too."""
    if weight is None or eps is None or ms.get_context("device_target") != "Ascend":
        return rms_norm(input, normalized_shape, weight, eps)
    return ops.rms_norm(input, weight, eps)[0]
