"""Files in which a matrix may be sparse: told by the word, and only where a helper that takes both kinds is the answer."""

from ....read.infer import Reading
from ..._call import Call

WORDS = ("sparse_coo", "torch.sparse", "spmm", "to_sparse")


def mentions_sparse(call: Call) -> bool:
    """Whether the file's code speaks of sparse tensors at all."""
    return call.reading.once(_speaks_of_sparse)


def _speaks_of_sparse(reading: Reading) -> bool:
    source = reading.source
    return any(map(source.mentions, WORDS)) or any(
        source.text(each.value) == "torch" for each in source.members.get("sparse", ())
    )
