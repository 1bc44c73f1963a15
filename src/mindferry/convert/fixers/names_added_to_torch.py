"""`nn.MaskedLinear = MaskedLinear`: what a file adds to torch's modules goes by its own name, as torch's modules are gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, RemoveStatement, ReplaceNode, Texts, claim, claim_all


def plan(facts: Facts) -> Iterator[Change]:
    added = {api: (node, value) for node in facts.source.tree.body for api, value in _added(facts, node)}
    if not added:
        return
    for use in facts.source.of(ast.Attribute):
        if isinstance(use.ctx, ast.Load) and (found := added.get(facts.api(use))) is not None:
            parent = facts.parents.get(use)
            yield claim_all(use)
            yield from [claim(parent)] if isinstance(parent, ast.Call) and parent.func is use else []
            yield ReplaceNode(use, found[1])
            yield facts.record(use, facts.framework.name, facts.source.text(use), found[1])
    for api, (node, value) in added.items():
        yield claim_all(node)
        yield facts.record(node, api, facts.source.text(node), value)
        yield AtEnd(partial(_remove, facts, node))


def _remove(facts: Facts, node: ast.stmt, texts: Texts) -> Iterator[Edit]:
    yield RemoveStatement(node)


def _added(facts: Facts, node: ast.stmt) -> Iterator[tuple[str, str]]:
    """(torch's dotted name, the file's own name), where torch has no such name and the file's never means anything else."""
    match node:
        case ast.Assign(targets=[ast.Attribute(attr=name, value=owner)], value=ast.Name(id=own)):
            home = facts.api(owner)
            api = f"{home}.{name}"
            is_torchs = bool(home) and facts.framework.is_own(home) and facts.rules.is_module(home)
            if is_torchs and facts.rules.get(api) is None and _is_defined_once(facts, own):
                yield api, own


def _is_defined_once(facts: Facts, name: str) -> bool:
    """By a class or a function of the file, and by nothing else: no argument and no variable hides it where it is used."""
    source = facts.source
    functions = [each for each in source.of(ast.FunctionDef) if each.name == name]
    definitions = [*functions, *(each for each in source.of(ast.ClassDef) if each.name == name)]
    is_hidden = facts.stores(name) or any(each.arg == name for each in facts.source.of(ast.arg))
    return len(definitions) == 1 and definitions[0] in facts.source.tree.body and not is_hidden
