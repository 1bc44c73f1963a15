"""torch's functions over lists of tensors, those that return new ones; and checks."""

from ... import Case, rule

UNARY = {"neg": "float32[3,4]", "sqrt": "float32[3,4](0.1,2)", "reciprocal": "float32[3,4](0.5,2)"}
for _name, _input in UNARY.items():
    rule(
        f"torch._foreach_{_name}",
        to=f"compat.foreach_{_name}",
        args="self",
        like=f"compat.foreach_{_name}",
        cases=[
            Case(f"torch._foreach_{_name}([x, 2 * x])", f"ms_compat.foreach_{_name}([x, 2 * x])", inputs=(_input,)),
        ],
    )
for _name in ("add", "sub", "mul", "div"):
    rule(
        f"torch._foreach_{_name}",
        to=f"compat.foreach_{_name}",
        args="self other",
        like=f"compat.foreach_{_name}",
        cases=[
            Case(
                f"torch._foreach_{_name}([x, y], 2.0)", f"ms_compat.foreach_{_name}([x, y], 2.0)", shapes=((3, 4), (2,))
            ),
            Case(
                f"torch._foreach_{_name}([x], [y])",
                f"ms_compat.foreach_{_name}([x], [y])",
                inputs=("float32[3,4]", "float32[3,4](0.5,2)"),
            ),
        ],
    )
rule(
    "torch._shape_as_tensor",
    to="compat.shape_as_tensor",
    args="input",
    like="compat.shape_as_tensor",
    cases=[
        Case(
            "torch._shape_as_tensor(x) + x[0, :2].long()",
            "ms_compat.shape_as_tensor(x) + x[0, :2].long()",
            shapes=((3, 4),),
            gradient=False,
        ),
    ],
)
rule(
    "torch._check",
    to="compat.check",
    args="cond message",
    like="compat.check",
    cases=[
        Case("(torch._check(x.ndim == 2), x)[1]", "(ms_compat.check(x.ndim == 2), x)[1]", shapes=((3, 4),)),
    ],
)
rule(
    "torch.symeig",
    to="compat.symeig",
    args="input eigenvectors upper",
    like="compat.symeig",
    cases=[
        Case(
            "torch.symeig(x)",
            "ms_compat.symeig(x)",
            shapes=((3, 3),),
            runs=False,
            why="torch has removed it; linalg.eigh runs",
        ),
    ],
)
rule(
    "torch.frombuffer",
    to="compat.frombuffer",
    args="buffer",
    like="compat.frombuffer",
    cases=[
        Case(
            "torch.frombuffer(bytearray(4), dtype=torch.uint8) + x",
            "ms_compat.frombuffer(bytearray(4), dtype=ms.uint8) + x",
            shapes=((4,),),
        ),
    ],
)
for _name in ("assert_close", "assert_allclose"):
    rule(
        f"torch.testing.{_name}",
        to="compat.assert_close",
        args="actual expected",
        like="compat.assert_close",
        cases=[
            Case(
                f"(torch.testing.{_name}(x, x), x)[1]",
                "(ms_compat.assert_close(x, x), x)[1]",
                shapes=((3, 4),),
                runs=_name == "assert_close",
                why="" if _name == "assert_close" else "torch has removed it; assert_close runs",
            ),
        ],
    )
