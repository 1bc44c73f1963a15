"""Embeddings. MindSpore's starts near zero and trains its padding row; torch's starts from N(0, 1) and keeps that row."""

import ast

from ... import Case, rule
from ..._call import Call

INDEX = ("int64[4,3](0,7)",)


@rule(
    "torch.nn.Embedding",
    to="mindspore.nn.Embedding",
    like="compat.Embedding",
    args="num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse _weight _freeze device dtype",
    rename={"num_embeddings": "vocab_size", "embedding_dim": "embedding_size"},
    positional=2,
    drop="device sparse",
    only={
        "padding_idx": "None",
        "max_norm": "None",
        "norm_type": "2.0",
        "scale_grad_by_freq": "False",
        "_weight": "None",
        "_freeze": "False",
        "dtype": "None",
    },
    params={"weight": "embedding_table", "num_embeddings": "vocab_size", "embedding_dim": "embedding_size"},
    differs="MindSpore starts from N(0, 0.01) and trains the row of padding_idx",
    cases=[
        Case("nn.Embedding(7, 5)", "nn.Embedding(7, 5, embedding_table=initializer.Normal(1.0))", inputs=INDEX),
        Case(
            "nn.Embedding(num_embeddings=7, embedding_dim=5, sparse=True)",
            "nn.Embedding(vocab_size=7, embedding_size=5, embedding_table=initializer.Normal(1.0))",
            inputs=INDEX,
            runs=False,
            why="sparse gradients can't be compared",
        ),
        Case("nn.Embedding(7, 5, padding_idx=2)", "ms_compat.Embedding(7, 5, padding_idx=2)", inputs=INDEX),
        Case("nn.Embedding(7, 5, -1)", "ms_compat.Embedding(7, 5, -1)", inputs=INDEX),
        Case(
            "nn.ModuleDict({'a': nn.Embedding(7, 5)})['a'](x)",
            "ms_compat.ModuleDict({'a': ms_compat.Embedding(7, 5)})['a'](x)",
            inputs=INDEX,
            runs=False,
            why="the same layer as below; tests/trainers trains it",
        ),
        Case(
            "nn.Embedding(7, 5, scale_grad_by_freq=True)",
            "ms_compat.Embedding(7, 5, scale_grad_by_freq=True)",
            inputs=INDEX,
        ),
    ],
)
def embedding(call: Call) -> None:
    if isinstance(call.reading.source.parents.get(call.node), ast.Dict | ast.DictComp):
        call.use_like()  # taken from a ModuleDict, it is known as a layer only: its table must be called weight
        return
    call.set(embedding_table=f"{call.name('mindspore.common.initializer.Normal')}(1.0)")


rule(
    "torch.nn.Embedding.from_pretrained",
    to="compat.embedding_from_pretrained",
    like="compat.embedding_from_pretrained",
    args="embeddings freeze padding_idx max_norm norm_type scale_grad_by_freq sparse",
    cases=[
        Case(
            "nn.Embedding.from_pretrained(x)(y)",
            "ms_compat.embedding_from_pretrained(x)(y)",
            inputs=("float32[7,5]", "int64[4,3](0,7)"),
            gradient=False,
        ),
        Case(
            "nn.Embedding.from_pretrained(x, freeze=False, padding_idx=1)(y)",
            "ms_compat.embedding_from_pretrained(x, freeze=False, padding_idx=1)(y)",
            inputs=("float32[7,5]", "int64[4,3](0,7)"),
            gradient=False,
        ),
    ],
)
BAG = "num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse _weight include_last_offset padding_idx device dtype"
rule(
    "torch.nn.EmbeddingBag",
    to="compat.EmbeddingBag",
    args=BAG,
    like="compat.EmbeddingBag",
    cases=[
        Case("nn.EmbeddingBag(7, 5)", "ms_compat.EmbeddingBag(7, 5)", inputs=INDEX),
        Case(
            "nn.EmbeddingBag(7, 5, mode='sum', padding_idx=2)",
            "ms_compat.EmbeddingBag(7, 5, mode='sum', padding_idx=2)",
            inputs=INDEX,
        ),
        Case("nn.EmbeddingBag(7, 5, mode='max')", "ms_compat.EmbeddingBag(7, 5, mode='max')", inputs=INDEX),
    ],
)
rule(
    "torch.nn.EmbeddingBag.from_pretrained",
    missing="no helper builds an EmbeddingBag from a table",
    strategy="equivalent",
    advice="build EmbeddingBag(rows, columns) and call layer.weight.set_data(table)",
)
