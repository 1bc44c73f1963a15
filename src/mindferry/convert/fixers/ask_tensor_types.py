"""`isinstance(x, torch.LongTensor)` asks for the type of the numbers too; MindSpore has one class of tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import Change, ReplaceNode, Texts, claim_all


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.framework.typed_tensors or not facts.source.mentions("isinstance"):
        return
    for call in facts.source.calls_named("isinstance"):
        match call:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds], keywords=[]):
                asked = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
                typed = {each: dtype for each in asked if (dtype := _dtype(facts, each))}
                if typed:
                    yield ReplaceNode(call.func, partial(_spelled, "compat.is_tensor_of"))
                    for node, dtype in typed.items():
                        yield ReplaceNode(node, partial(_spelled, f"mindspore.{dtype}"))
                        yield facts.record(node, facts.api(node), facts.source.text(node), f"ms.{dtype}")
                    yield claim_all(call.func, *typed)


def _spelled(name: str, texts: Texts) -> str:
    return texts.name(name)


def _dtype(facts: Facts, node: ast.expr) -> str:
    """'int64' for torch.LongTensor and torch.cuda.LongTensor, '' for anything else."""
    api = facts.api(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    return facts.framework.typed_tensors.get(api, "")
