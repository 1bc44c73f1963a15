"""`nn.Linear(np.prod(shape), 64)`: torch takes numpy's integers for the sizes of a layer, MindSpore's layers ask for Python's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.array_numbers import is_of_arrays, looks_like_array_number
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore

SIZES = frozenset(
    "in_features out_features in_channels out_channels num_features num_embeddings embedding_dim input_size hidden_size num_layers "
    "groups num_groups num_channels d_model nhead embed_dim num_heads dim_feedforward in1_features in2_features".split()
)
# These may be tuples, too: only what numpy makes of a whole array becomes Python's.
NUMBERS_OR_TUPLES = frozenset(
    "normalized_shape kernel_size stride padding dilation output_padding output_size num_parameters".split()
)
OF_ONE_NUMBER = frozenset("prod sum max min ceil floor int64 int32 int_ round sqrt".split())


def plan(facts: Facts) -> Iterator[Change]:
    names = facts.reading.symbols.array_names
    if not names and not facts.source.mentions("numpy"):
        return
    for call in facts.calls_for(Use.NETWORK_PART):
        known = [each for each in facts.options_given(call, SIZES) if _is_known(facts, each)]
        known += [each for each in facts.options_given(call, NUMBERS_OR_TUPLES) if _is_one_number(facts, each)]
        guessed = [each for each in facts.options_given(call, SIZES) if _may_be_of_arrays(facts, each, names)]
        for given in (*known, *guessed):
            yield InsertBefore(given, "int(")
            yield InsertAfter(given, ")")


def _is_one_number(facts: Facts, size: ast.expr) -> bool:
    """`np.prod(scales)`, `(np.prod(scales) - 1) // 2`: not an array with a number for each axis."""
    match size:
        case ast.BinOp(left=left, right=right):
            parts = (left, right)
            return _is_known(facts, size) and all(
                isinstance(each, ast.Constant) or _is_one_number(facts, each) for each in parts
            )
        case ast.Call(func=ast.Attribute(attr=name)):
            return _is_known(facts, size) and name in OF_ONE_NUMBER
    return False


def _is_known(facts: Facts, size: ast.expr) -> bool:
    return is_of_arrays(facts.reading.type(size))


def _may_be_of_arrays(facts: Facts, size: ast.expr, names: set[str]) -> bool:
    is_open = facts.reading.type(size).kind == "unknown"
    return is_open and looks_like_array_number(size, names | _given_arrays(facts, size))


def _given_arrays(facts: Facts, node: ast.AST) -> set[str]:
    """Parameters of the function around it that some call gives such a value."""
    function = facts.enclosing(node, ast.FunctionDef)
    if not isinstance(function, ast.FunctionDef):
        return set()
    given = facts.reading.symbols.arguments.get(facts.reading.owners.get(function, ""), {})
    names: dict[int | str, str] = dict(
        enumerate(each.arg for each in (*function.args.posonlyargs, *function.args.args))
    )
    return {names.get(place, str(place)) for place, kinds in given.items() if any(map(is_of_arrays, kinds))}
