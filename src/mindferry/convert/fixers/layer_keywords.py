"""`self.fc(input=x)` becomes `self.fc(x)`: MindSpore's layers name their inputs otherwise, but take them in torch's order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, ReplaceSpan

ORDERS = (("input", "target"), ("input1", "input2", "target"), ("x1", "x2"))  # as torch's layers and losses name them


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Call):
        if node.keywords and not node.args and _is_torch_layer(node.func, facts):
            names = [keyword.arg for keyword in node.keywords]
            order = next((each for each in ORDERS if names[0] == each[0]), ())
            for keyword, name in zip(node.keywords, order, strict=False):
                if keyword.arg != name:
                    break
                source = facts.source
                start = source.start(keyword)
                equals = source.find_token(b"=", start, source.start(keyword.value))
                yield ReplaceSpan(start, source.skip_trivia(equals + 1), "")


def _is_torch_layer(function: ast.expr, facts: Facts) -> bool:
    """Whether what is called is a layer whose forward is torch's own."""
    kind, symbols = facts.reading.type(function), facts.reading.symbols
    if kind.kind != "instance" or not symbols.is_module(kind.qual) or symbols.method(kind.qual, "forward") is not None:
        return False
    base = symbols.torch_base(kind.qual)
    return symbols.framework.is_network(base) and base != symbols.framework.network
