"""Numbers in a network's code that one side alone holds."""

from __future__ import annotations

import ast
from functools import partial

from mindferry.verify.literals import Literal, implied_by, literals_of, only_here, only_there
from mindferry.verify.lookups import lookups, stores_in_modules


def held(text: str) -> dict[Literal, int]:
    tree = ast.parse(text)
    return literals_of((tree, node) for node in tree.body if isinstance(node, ast.FunctionDef))


def test_numbers_are_found_without_their_sign_and_by_the_name_of_a_constant() -> None:
    found = held("EPS = 1e-6\ndef forward(x, k=7):\n    return x.clamp(-30, 30) * 2 + EPS\n")
    assert found == {Literal(7): 2, Literal(30): 3, Literal(1e-6): 3}


def test_a_number_that_a_size_is_compared_with_is_one_of_its_own() -> None:
    found = held("def forward(x):\n    b, t = x.shape\n    return x * (b == 4) + (len(x) % 3) + x.view(4)\n")
    assert found.keys() == {Literal(4, is_size=True), Literal(3, is_size=True)}


def test_what_only_the_conversion_holds_is_told_and_of_the_reference_epsilons_and_limits() -> None:
    theirs, ours = (
        held("def f(x):\n    return x * 9 + 1e-6 - 1e9\n"),
        held("def f(x):\n    return x * 8 + 1e-7 - 1e9\n"),
    )
    assert set(only_here(ours, theirs)) == {Literal(8), Literal(1e-7)}
    assert only_there(ours, theirs) == [Literal(1e-6)]


def normalize(x: float, eps: float = 1e-12) -> float:
    return x / max(x, eps)


def test_a_default_of_what_is_called_is_known() -> None:
    node = ast.parse("def f(x):\n    return normalize(x)\n").body[0]
    assert implied_by([(node, globals())]) == {Literal(1e-12)}
    assert implied_by([(node, {"normalize": partial(normalize, eps=1e-3)})]) == {Literal(1e-3)}
    assert implied_by([(node, {})]) == set()


def test_a_table_of_functions_is_looked_into_by_a_key() -> None:
    tree = ast.parse(
        "T = {'a': f, 'b': g}\ndef forward(self, x):\n    return T[self.kind](x) + T['a'](x) + self.layers[0](x)\n"
    )
    assert list(lookups(tree, tree.body[1])) == [(3, "T")]  # type: ignore[arg-type]


def test_what_is_kept_on_another_module_is_seen() -> None:
    node = ast.parse("def forward(self, x):\n    ast.calls = 1\n    self.n = 1\n    setattr(ast, 'n', 2)\n").body[0]
    assert [line for line, _ in stores_in_modules(node, {"ast": ast})] == [2, 4]  # type: ignore[arg-type]
