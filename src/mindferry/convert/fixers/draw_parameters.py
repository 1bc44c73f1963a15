"""A class that stands on a layer of torch's and has its own `reset_parameters`: torch's constructor calls it, MindSpore's does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore

WAYS = (("reset_parameters", Use.DRAWS_OPENLY), ("_reset_parameters", Use.DRAWS_PRIVATELY))


def plan(facts: Facts) -> Iterator[Change]:
    for owner in facts.source.of(ast.ClassDef):
        methods = {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
        for name, use in WAYS:
            if name in methods and _is_called_by_base(facts, owner, name, use):
                yield from _call(facts, methods, name)


def _is_called_by_base(facts: Facts, owner: ast.ClassDef, name: str, use: Use) -> bool:
    """The first below torch's class that has one: the classes below it are called through it."""
    symbols, qual = facts.reading.symbols, facts.reading.owners.get(owner, "")
    if not facts.uses.has(use, symbols.torch_base(qual)):
        return False
    above = (facts.reading.type(each).qual for each in owner.bases)
    return all(symbols.method(symbols.origin(each), name) is None for each in above)


def _call(facts: Facts, methods: dict[str, ast.FunctionDef], name: str) -> Iterator[Change]:
    source, called = facts.source, f"self.{name}()"
    built = methods.get("__init__")
    if built is None:
        indent, line = source.indent(methods[name]), source.newline()
        lines = ("def __init__(self, *args, **kwargs):", "    super().__init__(*args, **kwargs)", f"    {called}", "")
        text = "".join(f"{each}{line}{indent if each else ''}" for each in lines).replace(f"{indent}{line}", line)
        yield InsertBefore(methods[name], text + indent)
        yield facts.record(methods[name], facts.framework.network, "", called)
        return
    for statement in built.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
                yield InsertAfter(statement, f"{source.newline()}{source.indent(statement)}{called}")
                yield facts.record(statement, facts.framework.network, "", called)
                return
