"""Padding layers."""

from ... import Case, rule

SHAPES = {1: (2, 3, 6), 2: (2, 3, 6, 7), 3: (2, 3, 6, 7, 8)}
for rank, shape in SHAPES.items():
    sides = tuple(range(1, 2 * rank + 1))[::-1] if rank < 3 else (1, 2, 0, 1, 3, 2)
    for kind in ("Reflection", "Replication", "Circular", "Zero"):
        name = f"{kind}Pad{rank}d"
        rule(
            f"torch.nn.{name}",
            to=f"compat.{name}",
            args="padding",
            like=f"compat.{name}",
            cases=[
                Case(f"nn.{name}(1)", f"ms_compat.{name}(1)", shapes=(shape,)),
                Case(f"nn.{name}(padding={sides})", f"ms_compat.{name}(padding={sides})", shapes=(shape[1:],)),
            ],
        )
    name = f"ConstantPad{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="padding value",
        like=f"compat.{name}",
        cases=[
            Case(f"nn.{name}(1, 2.5)", f"ms_compat.{name}(1, 2.5)", shapes=(shape,)),
            Case(
                f"nn.{name}({(-1, *sides[1:])}, value=1)",
                f"ms_compat.{name}({(-1, *sides[1:])}, value=1)",
                shapes=(shape[1:],),
            ),
        ],
    )
