"""Names of torch's that are still in the text when everything is converted: what stands for them once their import has gone."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Collection, Iterable

from ...artifacts import Finding
from ...read.edits import Edits
from ...read.infer import Reading

LONGEST = 120  # characters of a line


def left_over_names(
    reading: Reading, edits: Edits, dropped: Collection[str], taken: Collection[str]
) -> dict[str, list[ast.Name]]:
    """Of the names that lose their import, those that are still read somewhere, with the places; `taken` stands for MindSpore's modules."""
    replaced = edits.replacements()
    starts = [start for start, _ in replaced]
    found: dict[str, list[ast.Name]] = {}
    for node in (node for name in dropped for node in reading.source.named.get(name, ())):
        if not isinstance(node.ctx, ast.Load) or _is_bound_otherwise(node, reading):
            continue
        start, end = reading.source.start(node), reading.source.end(node)
        index = bisect.bisect_right(starts, start)
        if not (index > 0 and replaced[index - 1][1] >= end) and not _is_in(reading, node, edits.removed):
            found.setdefault(node.id, []).append(node)
    moved = _moved_names(edits, set(dropped) - found.keys() - set(taken))
    return found | {name: [] for name in sorted(moved)}


def _moved_names(edits: Edits, names: Iterable[str]) -> set[str]:
    """Of the names, those that are read in what was written, as in a loop's lines that became a function; no node of the source stands there."""
    written = edits.written()
    wanted = {
        name for name in names if any(name in text and re.search(rf"(?<![\w.]){name}\.", text) for text in written)
    }
    if not wanted:
        return set()
    try:
        tree = ast.parse(edits.span(0, len(edits.source.data)))
    except SyntaxError:
        return set()
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and node.id in wanted - bound}


def _is_bound_otherwise(node: ast.Name, reading: Reading) -> bool:
    """An argument, a variable or a caught exception of the same name."""
    kind, symbols = reading.type(node), reading.symbols
    return kind.kind not in ("ref", "value") or not symbols.framework.is_own(symbols.origin(kind.qual))


def _is_in(reading: Reading, node: ast.AST, removed: set[ast.AST]) -> bool:
    current: ast.AST | None = node
    while current is not None and current not in removed:
        current = reading.source.parents.get(current)
    return current is not None


def placeholder(spelled: str, name: str, origin: str, findings: Iterable[Finding]) -> str:
    """`torch = ms_compat.Missing("torch", {"torch.ops.foo": "torch.ops.foo has no rule"})`; lines are indented by the caller."""
    notes = {each.rule: each.message for each in findings if each.rule and _are_related(each.rule, origin)}
    line = f'{name} = {spelled}("{origin}", {notes!r})'
    if len(line) <= LONGEST:
        return line
    inner = "".join(f"    {rule!r}: {message!r},\n" for rule, message in notes.items())
    return f'{name} = {spelled}("{origin}", {{\n{inner}}})'


def _are_related(one: str, other: str) -> bool:
    """Whether one of two dotted names is in the other."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
