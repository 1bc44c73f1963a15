"""nn.Module classes: `forward` becomes `construct`, whose first argument must be called self; a `train` of its own is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertBefore, ReplaceNode, ReplaceSpan, Texts, claim, claim_all

UNBOUND = {"forward": "construct", "train": "set_train"}


def plan(facts: Facts) -> Iterator[Change]:
    for node, qual in facts.reading.owners.items():
        if not isinstance(node, ast.ClassDef):
            continue
        if facts.reading.symbols.is_part_of_module(qual):
            yield from _rename_forward(facts, node)
        if facts.reading.symbols.is_module(qual):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == "train" and _sets_mode(each):
                    yield from _call_own_train(facts, node, each)
    unbound = [name for name in facts.source.members if name in UNBOUND or _is_dunder(name)]
    for call in facts.source.calls_named(*unbound):
        if isinstance(call.func, ast.Attribute) and call.args:
            yield from _rename_unbound(facts, call, call.func)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _rename_forward(facts: Facts, node: ast.ClassDef) -> Iterator[Change]:
    """`def forward`, and the method under its name in the class: `__call__ = forward`, `forward = _slow`."""
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "forward":
            yield from _rename(facts, member)
        elif isinstance(member, ast.Assign | ast.AnnAssign):
            for name in ast.walk(member):
                if isinstance(name, ast.Name) and name.id == "forward":
                    yield ReplaceNode(name, "construct")
                    yield facts.record(name, facts.framework.of_network("forward"), "forward", "construct")


def _rename_unbound(facts: Facts, call: ast.Call, method: ast.Attribute) -> Iterator[Change]:
    """`nn.Module.__init__(self)`, `Base.forward(self, x)`: a method taken from its class."""
    kind, symbols = facts.reading.type(method.value), facts.reading.symbols
    if kind.kind != "ref":
        return
    qual = symbols.origin(kind.qual)
    before, end = facts.source.text(method), facts.source.end(method)
    if qual in symbols.classes:
        if method.attr != "forward" or not symbols.is_module(qual):
            return
    else:
        entry = facts.rules.get(qual)
        if entry is None or entry.missing or not (facts.uses.has(Use.NETWORK_PART, qual) and symbols.is_module(qual)):
            return
        target = entry.like or entry.to
        yield ReplaceNode(method.value, lambda texts: texts.name(target))
        yield claim(call)
        yield claim_all(method)
    yield ReplaceSpan(end - len(method.attr), end, UNBOUND.get(method.attr, method.attr))
    yield facts.record(method, facts.framework.network, before, lambda texts: texts.of(method))


def _rename(facts: Facts, method: ast.FunctionDef) -> Iterator[Change]:
    source = facts.source
    start = source.data.index(b"forward", source.start(method))
    yield ReplaceSpan(start, start + len(b"forward"), "construct")
    yield facts.record(method, facts.framework.of_network("forward"), "def forward", "def construct")
    arguments = [*method.args.posonlyargs, *method.args.args]
    if arguments and arguments[0].arg != "self":
        yield facts.found(
            method,
            findings.MF120,
            f"the first argument of construct must be named self, not {arguments[0].arg}, for jit and export",
            "rename it",
        )


def _sets_mode(method: ast.FunctionDef) -> bool:
    """`def train(self, mode=True)`, in place of Module's; another may take a loader and train."""
    if "mode" in [each.arg for each in method.args.args]:
        return True
    calls = [each.func for each in ast.walk(method) if isinstance(each, ast.Call)]
    return any(
        isinstance(each, ast.Attribute) and each.attr == "train" and ast.unparse(each.value).startswith("super(")
        for each in calls
    )


def _call_own_train(facts: Facts, node: ast.ClassDef, method: ast.FunctionDef) -> Iterator[Change]:
    """MindSpore's set_train() sets the cells below it without calling anything of theirs."""
    source = facts.source

    def decorator(texts: Texts) -> str:
        return f"@{texts.name('compat.with_own_train')}"

    indent = f"{source.newline()}{source.indent(node)}"
    yield InsertBefore(node, lambda texts: decorator(texts) + indent)
    before = f"class {node.name}"
    yield facts.record(
        method, facts.framework.of_network("train"), before, lambda texts: f"{decorator(texts)} {before}"
    )
