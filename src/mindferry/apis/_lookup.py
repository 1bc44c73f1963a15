"""Which API an expression refers to, and which rule answers for it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..read.infer import Reading
from ._rule import Rule
from ._table import Table


class Reference(NamedTuple):
    """What an expression refers to, as the table sees it."""

    api: str = ""  # the framework's dotted name; '' if it is none of the framework's, or that can't be told
    receiver: ast.expr | None = None  # if it is a method or attribute of a value
    unknown: str = ""  # the method or attribute, where nothing is known of the receiver


NOTHING = Reference()


def api_of(node: ast.expr, reading: Reading, rules: Table) -> Reference:
    kind = reading.type(node)
    framework = reading.symbols.framework
    if kind.kind == "ref":
        qual = reading.symbols.origin(kind.qual)
        is_own = qual.partition(".")[0] in framework.roots and not reading.symbols.is_local(qual)
        return Reference(qual) if is_own else NOTHING
    if isinstance(node, ast.Attribute):
        receiver = reading.type(node.value)
        if receiver.is_tensor or framework.is_of_tensor(kind.qual):
            return Reference(framework.of_tensor(node.attr), node.value)
        if receiver.kind == "instance":
            return Reference(_method_api(receiver.qual, node.attr, reading, rules), node.value)
        if receiver.kind == "unknown" and framework.is_of_network(kind.qual):  # told by its name or its methods
            return Reference(kind.qual, node.value)
        if receiver.kind in ("unknown", "batch"):
            return Reference("", node.value, node.attr)
        if receiver.kind == "size":
            return Reference(f"{framework.size}.{node.attr}", node.value)
    return NOTHING


def rule_for(found: Reference, rules: Table) -> Rule | None:
    """What answers for a call of it."""
    if found.unknown:
        return rules.unknown.get(found.unknown)
    return rule_of(found.api, rules) if found.api else None


def rule_of(api: str, rules: Table) -> Rule | None:
    """The API's rule; `x.foo(y)` follows `torch.foo(x, y)` where the method has none of its own, and `foo_` follows `foo`."""
    entry = rules.get(api)
    if entry is not None:
        return entry
    framework = rules.framework
    if framework.is_of_tensor(api):
        name = api.rpartition(".")[2]
        entry = next(filter(None, (rules.get(f"{home}.{name}") for home in framework.functions)), None)
        if entry is not None and entry.args[:1] in (("input",), ("self",)):
            return entry
    if framework.is_in_place(api):
        return rule_of(api[:-1], rules)
    return None


def _method_api(qual: str, name: str, reading: Reading, rules: Table) -> str:
    """The table's name for a method of an instance, unless the project defines it itself."""
    symbols = reading.symbols
    is_renamed = name == "forward" and symbols.is_part_of_module(qual)
    if symbols.method(qual, name) is not None and not is_renamed:
        return ""
    base = symbols.torch_base(qual)
    own = f"{base}.{name}" if base else ""
    if own and (own in rules or rules.attribute(own) is not None):
        return own
    if symbols.is_module(qual):
        return symbols.framework.of_network(name)
    if symbols.framework.is_lost(base, name):
        return "" if symbols.has_attribute(qual, name) else own
    for prefix, answering in symbols.framework.answering:
        if base.startswith(prefix):  # a dataset's, a distribution's: its helper class has it too
            return f"{answering}.{name}" if answering else ""
    return own
