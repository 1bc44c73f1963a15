"""torch.utils._pytree: nested tuples, lists and dictionaries, leaf by leaf."""

from ... import Case, rule

HOME = "torch.utils._pytree."
NESTED = "{'a': x, 'b': [x * 2, (y,)]}"
rule(
    f"{HOME}tree_map",
    to="compat.tree_map",
    args="func tree",
    like="compat.tree_map",
    cases=[
        Case(
            f"{HOME}tree_map(lambda v: v + 1, {NESTED})",
            f"ms_compat.tree_map(lambda v: v + 1, {NESTED})",
            shapes=((2, 3), (4,)),
        ),
    ],
)
rule(
    f"{HOME}tree_map_only",
    to="compat.tree_map_only",
    args="kind func tree",
    like="compat.tree_map_only",
    cases=[
        Case(
            f"{HOME}tree_map_only(torch.Tensor, lambda v: v + 1, [x, 3, {{'b': y}}])",
            "ms_compat.tree_map_only(ms.Tensor, lambda v: v + 1, [x, 3, {'b': y}])",
            shapes=((2, 3), (4,)),
        ),
    ],
)
rule(
    f"{HOME}tree_flatten",
    to="compat.tree_flatten",
    args="tree",
    like="compat.tree_flatten",
    cases=[
        Case(f"{HOME}tree_flatten({NESTED})[0]", f"ms_compat.tree_flatten({NESTED})[0]", shapes=((2, 3), (4,))),
    ],
)
rule(
    f"{HOME}tree_leaves",
    to="compat.tree_leaves",
    args="tree",
    like="compat.tree_leaves",
    cases=[Case(f"{HOME}tree_leaves({NESTED})", f"ms_compat.tree_leaves({NESTED})", shapes=((2, 3), (4,)))],
)
rule(
    f"{HOME}tree_unflatten",
    to="compat.tree_unflatten",
    args="leaves treespec",
    like="compat.tree_unflatten",
    cases=[
        Case(
            f"{HOME}tree_unflatten([y, x, x * 3], {HOME}tree_flatten({NESTED})[1])",
            f"ms_compat.tree_unflatten([y, x, x * 3], ms_compat.tree_flatten({NESTED})[1])",
            shapes=((2, 3), (4,)),
        ),
    ],
)
