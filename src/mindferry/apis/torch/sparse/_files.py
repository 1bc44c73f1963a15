"""Files in which a matrix may be sparse: told by the word, and only where a helper that takes both kinds is the answer."""

from ..._call import Call


def mentions_sparse(call: Call) -> bool:
    """Whether the file speaks of sparse tensors at all."""
    data = call.reading.source.data
    return b"sparse_coo" in data or b"torch.sparse" in data or b"spmm" in data or b"to_sparse" in data
