"""Attention and Transformer layers with torch's arguments and parameter names."""

import copy
import math

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import XavierNormal, XavierUniform, Zero, initializer

from .functional_attention import multi_head_attention_forward
from .layers import Linear
from .layers_norm import LayerNorm


class MultiheadAttention(nn.Cell):
    """torch.nn.MultiheadAttention."""

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim, self.dropout = (
            embed_dim,
            num_heads,
            embed_dim // num_heads,
            dropout,
        )
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.is_same_size = self.kdim == embed_dim and self.vdim == embed_dim
        dtype = dtype or ms.float32
        if self.is_same_size:
            self.in_proj_weight = ms.Parameter(initializer(XavierUniform(), (3 * embed_dim, embed_dim), dtype))
            self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        else:
            self.in_proj_weight = None
            self.q_proj_weight = ms.Parameter(initializer(XavierUniform(), (embed_dim, embed_dim), dtype))
            self.k_proj_weight = ms.Parameter(initializer(XavierUniform(), (embed_dim, self.kdim), dtype))
            self.v_proj_weight = ms.Parameter(initializer(XavierUniform(), (embed_dim, self.vdim), dtype))
        self.in_proj_bias = ms.Parameter(initializer(Zero(), (3 * embed_dim,), dtype)) if bias else None
        self.bias_k = ms.Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype)) if add_bias_kv else None
        self.bias_v = ms.Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype)) if add_bias_kv else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias.set_data(ops.zeros((embed_dim,)))

    def _reset_parameters(self):
        """As they were drawn first; like torch's, it leaves the output's weight as it is."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                weight.set_data(initializer(XavierUniform(), weight.shape, weight.dtype))
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                bias.set_data(initializer(Zero(), bias.shape, bias.dtype))
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                bias.set_data(initializer(XavierNormal(), bias.shape, bias.dtype))

    def construct(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        is_swapped = self.batch_first and query.ndim == 3
        if is_swapped:
            query, key, value = query.swapaxes(0, 1), key.swapaxes(0, 1), value.swapaxes(0, 1)
        output, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            not self.is_same_size,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            None,
            None,
            average_attn_weights,
            is_causal,
        )
        return output.swapaxes(0, 1) if is_swapped else output, weights


def activation_function(activation):
    """An activation by name, or itself."""
    if isinstance(activation, str):
        return {"relu": ops.relu, "gelu": exact_gelu}[activation]
    return activation


def exact_gelu(x):
    """gelu by the error function."""
    return x * 0.5 * (1 + ops.erf(x / math.sqrt(2)))


def causal_mask(sz):
    """torch.nn.Transformer.generate_square_subsequent_mask: minus infinity above the diagonal."""
    blocked = ops.arange(sz).expand_dims(0) > ops.arange(sz).expand_dims(1)
    return ops.select(blocked, ops.full((sz, sz), float("-inf"), dtype=ms.float32), ops.zeros((sz, sz)))


class TransformerLayer(nn.Cell):
    """What encoder and decoder layers share: the feed-forward block, norms and dropouts."""

    def __init__(
        self,
        count,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        if count == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1, self.linear2 = Linear(d_model, dim_feedforward, bias), Linear(dim_feedforward, d_model, bias)
        self.dropout, self.dropout1, self.dropout2 = [nn.Dropout(p=float(dropout)) for _ in range(3)]
        self.count, self.norm_first, self.activation = count, norm_first, activation_function(activation)
        self.norm1, self.norm2 = (
            LayerNorm(d_model, layer_norm_eps, bias=bias),
            LayerNorm(d_model, layer_norm_eps, bias=bias),
        )
        if count == 3:
            self.norm3, self.dropout3 = LayerNorm(d_model, layer_norm_eps, bias=bias), nn.Dropout(p=float(dropout))

    def attend(self, x, mask, padding):
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask)[0])

    def feed(self, x):
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x) if self.count == 2 else self.dropout3(x)


class TransformerEncoderLayer(TransformerLayer):
    """torch.nn.TransformerEncoderLayer."""

    def __init__(self, d_model, nhead, *args, **kwargs):
        super().__init__(2, d_model, nhead, *args, **kwargs)

    def construct(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        if self.norm_first:
            x = src + self.attend(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(src + self.attend(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self.feed(x))


class TransformerDecoderLayer(TransformerLayer):
    """torch.nn.TransformerDecoderLayer."""

    def __init__(self, d_model, nhead, *args, **kwargs):
        super().__init__(3, d_model, nhead, *args, **kwargs)

    def look_up(self, x, memory, mask, padding):
        return self.dropout2(self.multihead_attn(x, memory, memory, padding, False, mask)[0])

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        if self.norm_first:
            x = tgt + self.attend(self.norm1(tgt), tgt_mask, tgt_key_padding_mask)
            x = x + self.look_up(self.norm2(x), memory, memory_mask, memory_key_padding_mask)
            return x + self.feed(self.norm3(x))
        x = self.norm1(tgt + self.attend(tgt, tgt_mask, tgt_key_padding_mask))
        x = self.norm2(x + self.look_up(x, memory, memory_mask, memory_key_padding_mask))
        return self.norm3(x + self.feed(x))


class TransformerEncoder(nn.Cell):
    """torch.nn.TransformerEncoder: copies of a layer, one after the other."""

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers, self.num_layers, self.norm = (
            nn.CellList([copy.deepcopy(encoder_layer) for _ in range(num_layers)]),
            num_layers,
            norm,
        )

    def construct(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(nn.Cell):
    """torch.nn.TransformerDecoder: copies of a layer, one after the other."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers, self.num_layers, self.norm = (
            nn.CellList([copy.deepcopy(decoder_layer) for _ in range(num_layers)]),
            num_layers,
            norm,
        )

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(nn.Cell):
    """torch.nn.Transformer."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        rest = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(d_model, nhead, *rest),
            num_encoder_layers,
            LayerNorm(d_model, layer_norm_eps, bias=bias),
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(d_model, nhead, *rest),
            num_decoder_layers,
            LayerNorm(d_model, layer_norm_eps, bias=bias),
        )
        self._reset_parameters()

    def _reset_parameters(self):
        for parameter_ in self.get_parameters():
            if parameter_.ndim > 1:
                parameter_.set_data(initializer(XavierUniform(), parameter_.shape, parameter_.dtype))

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return causal_mask(sz)

    def construct(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
