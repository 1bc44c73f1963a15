"""torch's functions over lists of tensors, those that return new ones; and checks."""

from ... import Case, rule
from ..._call import Call

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
TERNARY = {"addcdiv": "[x], [y], [z]", "addcmul": "[x], [y], [z]", "lerp": "[x], [y], 0.3"}
for _name, _given in TERNARY.items():
    rule(
        f"torch._foreach_{_name}",
        to=f"compat.foreach_{_name}",
        args="self tensors1 weight" if _name == "lerp" else "self tensor1 tensor2 value",
        like=f"compat.foreach_{_name}",
        cases=[
            Case(
                f"torch._foreach_{_name}({_given})",
                f"ms_compat.foreach_{_name}({_given})",
                inputs=("float32[3,4]", "float32[3,4]", "float32[3,4](0.5,2)"),
            ),
        ],
    )
for _name in ("maximum", "minimum"):
    rule(
        f"torch._foreach_{_name}",
        to=f"compat.foreach_{_name}",
        args="self other",
        like=f"compat.foreach_{_name}",
        cases=[
            Case(f"torch._foreach_{_name}([x], 0.1)", f"ms_compat.foreach_{_name}([x], 0.1)", shapes=((3, 4),)),
        ],
    )
# Their results go into the tensors of the list.
for _name, _given in (
    *((each, "") for each in ("neg", "sqrt", "reciprocal", "zero")),
    *((each, "other") for each in ("add", "sub", "mul", "div", "maximum", "minimum")),
    *((each, "tensor1 tensor2 value") for each in ("addcdiv", "addcmul")),
    ("lerp", "tensors1 weight"),
):

    @rule(
        f"torch._foreach_{_name}_",
        args=f"self {_given}",
        cases=[
            Case(
                f"torch._foreach_{_name}_(xs{''.join(f', {each}' for each in _given.split())})",
                f"ms_compat.write_each(xs, ms_compat.foreach_{_name}(xs{''.join(f', {each}' for each in _given.split())}))",
                runs=False,
                why="it returns nothing; tests/apis runs it",
            ),
        ],
    )
    def in_place(call: Call, name: str = _name) -> None:
        given = ", ".join(call.of(each) for each in (*call.node.args, *call.node.keywords))  # type: ignore[arg-type]
        values = f"{call.name(f'compat.foreach_{name}')}({given})"
        call.replace(f"{call.name('compat.write_each')}({call.text('self')}, {values})")


rule(
    "torch._shape_as_tensor",
    to="compat.shape_as_tensor",
    args="input",
    like="compat.shape_as_tensor",
    cases=[
        Case(
            "torch._shape_as_tensor(x) + x[0, :2].long()",
            "ms_compat.shape_as_tensor(x) + ops.stop_gradient(x[0, :2]).long()",
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
