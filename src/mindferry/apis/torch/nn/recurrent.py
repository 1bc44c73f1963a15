"""Recurrent layers, and the sequences of different lengths that they take. Helpers, because an input may be packed or unbatched."""

from ... import Case, rule

REST = "bias batch_first dropout bidirectional"
X = ((5, 2, 3),)
for name, args in (
    ("LSTM", f"input_size hidden_size num_layers {REST} proj_size device dtype"),
    ("GRU", f"input_size hidden_size num_layers {REST} device dtype"),
    ("RNN", f"input_size hidden_size num_layers nonlinearity {REST} device dtype"),
):
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args=args,
        like=f"compat.{name}",
        cases=[
            Case(f"nn.{name}(3, 4)", f"ms_compat.{name}(3, 4)", shapes=X),
            Case(
                f"nn.{name}(3, 4, 2, bidirectional=True, dropout=1.0)",
                f"ms_compat.{name}(3, 4, 2, bidirectional=True, dropout=1.0)",
                shapes=X,
                rtol=1e-3,
            ),
            Case(
                f"nn.{name}(3, 4, 2, batch_first=True, bidirectional=True)",
                f"ms_compat.{name}(3, 4, 2, batch_first=True, bidirectional=True)",
                shapes=X,
            ),
            Case(
                f"nn.{name}(input_size=3, hidden_size=4, bias=False)",
                f"ms_compat.{name}(input_size=3, hidden_size=4, bias=False)",
                shapes=((5, 3),),
            ),
            *(
                [
                    Case(
                        "nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2)",
                        "ms_compat.LSTM(3, 4, 2, bidirectional=True, proj_size=2)",
                        shapes=X,
                    )
                ]
                if name == "LSTM"
                else [Case(f"nn.{name}(3, 4, 2)", f"ms_compat.{name}(3, 4, 2)", shapes=((5, 2, 3), (2, 2, 4)))]
            ),
        ],
    )
    cell = f"{name}Cell"
    rule(
        f"torch.nn.{cell}",
        to=f"compat.{cell}",
        args="input_size hidden_size bias " + ("nonlinearity " if name == "RNN" else "") + "device dtype",
        like=f"compat.{cell}",
        cases=[
            Case(f"nn.{cell}(3, 4)", f"ms_compat.{cell}(3, 4)", shapes=((2, 3),)),
            Case(f"nn.{cell}(3, 4, bias=False)", f"ms_compat.{cell}(3, 4, bias=False)", shapes=((3,),)),
        ],
    )

UTILS = "torch.nn.utils.rnn"
PACKED = "its result is a PackedSequence; tests/apis/test_layers.py runs it"
rule(
    f"{UTILS}.pack_padded_sequence",
    to="compat.pack_padded_sequence",
    args="input lengths batch_first enforce_sorted",
    like="compat.pack_padded_sequence",
    cases=[
        Case(
            f"{UTILS}.pack_padded_sequence(x, [5, 3]).data", "ms_compat.pack_padded_sequence(x, [5, 3]).data", shapes=X
        ),
        Case(
            f"{UTILS}.pack_padded_sequence(x, y, batch_first=True, enforce_sorted=False).data",
            "ms_compat.pack_padded_sequence(x, y, batch_first=True, enforce_sorted=False).data",
            inputs=("float32[3,5,2]", "int64[3](2,6)"),
        ),
    ],
)
rule(
    f"{UTILS}.pad_packed_sequence",
    to="compat.pad_packed_sequence",
    args="sequence batch_first padding_value total_length",
    like="compat.pad_packed_sequence",
    cases=[
        Case(
            f"{UTILS}.pad_packed_sequence({UTILS}.pack_padded_sequence(x, y, enforce_sorted=False), True, -1.0, 8)",
            "ms_compat.pad_packed_sequence(ms_compat.pack_padded_sequence(x, y, enforce_sorted=False), True, -1.0, 8)",
            inputs=("float32[5,3,2]", "int64[3](2,6)"),
        ),
        Case(
            f"{UTILS}.pad_packed_sequence(nn.GRU(2, 3)({UTILS}.pack_padded_sequence(x, y, enforce_sorted=False))[0])[1]",
            "ms_compat.pad_packed_sequence(ms_compat.GRU(2, 3)(ms_compat.pack_padded_sequence(x, y, enforce_sorted=False))[0])[1]",
            inputs=("float32[5,3,2]", "int64[3](2,6)"),
            gradient=False,
        ),
    ],
)
rule(
    f"{UTILS}.pad_sequence",
    to="compat.pad_sequence",
    args="sequences batch_first padding_value padding_side",
    like="compat.pad_sequence",
    cases=[
        Case(f"{UTILS}.pad_sequence([x, y])", "ms_compat.pad_sequence([x, y])", shapes=((2, 3), (4, 3))),
        Case(
            f"{UTILS}.pad_sequence([x, y], batch_first=True, padding_value=1.5)",
            "ms_compat.pad_sequence([x, y], batch_first=True, padding_value=1.5)",
            shapes=((2,), (4,)),
        ),
    ],
)
rule(
    f"{UTILS}.pack_sequence",
    to="compat.pack_sequence",
    args="sequences enforce_sorted",
    like="compat.pack_sequence",
    cases=[
        Case(
            f"{UTILS}.pack_sequence([x, y], enforce_sorted=False).data",
            "ms_compat.pack_sequence([x, y], enforce_sorted=False).data",
            shapes=((2, 3), (4, 3)),
        ),
    ],
)
rule(
    f"{UTILS}.unpad_sequence",
    to="compat.unpad_sequence",
    args="padded_sequences lengths batch_first",
    like="compat.unpad_sequence",
    cases=[
        Case(
            f"{UTILS}.unpad_sequence(x, y)",
            "ms_compat.unpad_sequence(x, y)",
            inputs=("float32[5,2,3]", "int64[2](2,6)"),
        ),
    ],
)
rule(
    f"{UTILS}.unpack_sequence",
    to="compat.unpack_sequence",
    args="packed_sequences",
    like="compat.unpack_sequence",
    cases=[
        Case(
            f"{UTILS}.unpack_sequence({UTILS}.pack_sequence([x, y]))",
            "ms_compat.unpack_sequence(ms_compat.pack_sequence([x, y]))",
            shapes=((4, 3), (2, 3)),
        ),
    ],
)
rule(
    f"{UTILS}.PackedSequence",
    to="compat.PackedSequence",
    args="data batch_sizes sorted_indices unsorted_indices",
    like="compat.PackedSequence",
    cases=[
        Case(
            f"{UTILS}.PackedSequence(x, y)",
            "ms_compat.PackedSequence(x, y)",
            inputs=("float32[3,2]", "int64[2]"),
            runs=False,
            why=PACKED,
        ),
    ],
)
for name in ("RNNBase", "RNNCellBase"):
    rule(
        f"torch.nn.{name}",
        missing="a base class without a counterpart",
        strategy="equivalent",
        advice="derive from LSTM, GRU, RNN or Cell",
    )
