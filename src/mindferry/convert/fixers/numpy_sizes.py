"""`nn.Linear(np.prod(shape), 64)`: torch takes numpy's integers for the sizes of a layer, MindSpore's layers ask for Python's."""

from __future__ import annotations

from collections.abc import Iterator

from ...read.types import Type
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore

SIZES = frozenset(
    "in_features out_features in_channels out_channels num_features num_embeddings embedding_dim input_size hidden_size num_layers "
    "groups num_groups num_channels d_model nhead embed_dim num_heads dim_feedforward in1_features in2_features".split()
)


def plan(facts: Facts) -> Iterator[Change]:
    if b"numpy" not in facts.source.data:
        return
    for call in facts.calls_for(Use.NETWORK_PART):
        for given in facts.options_given(call, SIZES):
            if _is_numpy(facts.reading.type(given)):
                yield InsertBefore(given, "int(")
                yield InsertAfter(given, ")")


def _is_numpy(kind: Type) -> bool:
    return kind.kind == "ndarray" or (kind.kind == "foreign" and kind.qual.startswith("numpy"))
