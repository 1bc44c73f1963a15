"""Embeddings with torch's arguments, start values and padding rows."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import Normal, initializer

from .functional_attention import embedding, embedding_bag
from .layers_module import reset_layer


def embedding_start(num_embeddings, embedding_dim, padding_idx, weight, dtype):
    """N(0, 1), with zeros in the padding row."""
    if weight is not None:
        return weight
    table = initializer(Normal(1.0), (num_embeddings, embedding_dim), dtype or ms.float32).init_data()
    if padding_idx is not None:
        table[padding_idx] = ops.zeros((embedding_dim,), table.dtype)
    return table


class Embedding(nn.Embedding):
    """mindspore.nn.Embedding with torch's arguments: the padding row gets no gradient."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__(num_embeddings, embedding_dim)
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        table = embedding_start(num_embeddings, embedding_dim, padding_idx, _weight, dtype)
        self.embedding_table = ms.Parameter(table, name="embedding_table", requires_grad=not _freeze)

    @property
    def weight(self):
        """torch's name, for code that can't tell an embedding from another layer."""
        return self.embedding_table

    def construct(self, input):
        return embedding(
            input, self.embedding_table, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


def embedding_from_pretrained(
    embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """torch.nn.Embedding.from_pretrained."""
    rows, columns = embeddings.shape
    return Embedding(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(nn.Cell):
    """torch.nn.EmbeddingBag."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        _weight=None,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx, self.mode = (
            num_embeddings,
            embedding_dim,
            padding_idx,
            mode,
        )
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.include_last_offset = (
            max_norm,
            norm_type,
            scale_grad_by_freq,
            include_last_offset,
        )
        self.weight = ms.Parameter(embedding_start(num_embeddings, embedding_dim, padding_idx, _weight, dtype))

    def reset_parameters(self):
        reset_layer(self)

    def construct(self, input, offsets=None, per_sample_weights=None):
        return embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            False,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )
