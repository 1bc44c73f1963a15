"""`with autocast(): out = net(x)` for Ascend: the network that is called there is cast by amp.auto_mixed_precision.

MindSpore casts networks, not blocks. On a CPU, which torch's own autocast for CUDA leaves alone too, the helper does nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.framework import Role
from ...read.networks import is_named_like_network
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore, Texts


def plan(facts: Facts) -> Iterator[Change]:
    if facts.settings.target != "ascend" or not facts.source.mentions("autocast"):
        return
    done: set[ast.expr] = set()
    for block in facts.source.of(ast.With):
        for cast in casts_of(facts, block):
            for callee in networks_called(facts, block):
                if callee not in done:
                    done.add(callee)
                    yield InsertBefore(facts.source.start(callee), _opening)
                    yield InsertAfter(facts.source.end(callee), partial(_closing, _is_bfloat16(facts, cast)))


def _opening(texts: Texts) -> str:
    return f"{texts.name('compat.mixed_precision')}("


def _closing(is_bfloat16: bool, texts: Texts) -> str:
    return f", {texts.name('mindspore.bfloat16')})" if is_bfloat16 else ")"


def casts_of(facts: Facts, block: ast.With) -> list[ast.Call]:
    """The autocast of a block, unless it is switched off."""
    calls = [item.context_expr for item in block.items if isinstance(item.context_expr, ast.Call)]
    return [call for call in calls if facts.is_use(Use.AUTOCAST, call.func) and not _is_off(call)]


def _is_off(call: ast.Call) -> bool:
    return any(
        each.arg == "enabled" and isinstance(each.value, ast.Constant) and not each.value.value
        for each in call.keywords
    )


def _is_bfloat16(facts: Facts, call: ast.Call) -> bool:
    return "bfloat16" in facts.source.text(call)


def networks_called(facts: Facts, block: ast.With) -> list[ast.expr]:
    """Networks, held in variables or attributes, that are called in the block; a loss is computed in float32 by torch too."""
    found: list[ast.expr] = []
    for node in (part for statement in block.body for part in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            kind = facts.reading.type(node.func)
            symbols = facts.reading.symbols
            is_known = kind.kind == "instance" and symbols.is_module(kind.qual)
            is_guessed = kind.kind == "unknown" and is_named_like_network(node.func)  # anything else is refused there
            if is_guessed or (is_known and symbols.role(kind.qual) is not Role.LOSS):
                found.append(node.func)
    return found
