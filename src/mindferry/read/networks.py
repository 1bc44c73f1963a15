"""Networks told by their methods and names, where no assignment or call tells their class."""

from __future__ import annotations

import ast

from .guesses import looks_like_mode, looks_like_network, name_of
from .source import Source


def is_named_like_network(node: ast.AST) -> bool:
    """`model`, `self.netG`, `nets["a"]`, `student_model`, `agent.policy`."""
    return looks_like_network(name_of(node))


def is_mode_call(node: ast.Call) -> bool:
    """Whether train() or eval() is called as a network's is: `model.train(loader)` is something else."""
    match [*node.args, *(keyword.value for keyword in node.keywords)]:
        case []:
            return True
        case [ast.Constant(value=bool())]:
            return True
        case [ast.Name(id=name) | ast.Attribute(attr=name)]:
            return looks_like_mode(name)
        case [ast.Compare() | ast.UnaryOp(op=ast.Not())]:  # model.train(phase == "train")
            return True
    return False


def is_used_as_network(source: Source, function: ast.AST, name: str, of_networks: frozenset[str]) -> bool:
    """Whether the function calls a method on its argument of that name that networks alone have."""
    found = False
    for node in source.named_within(name, function):
        member = source.parents[node]
        call = source.parents[member] if isinstance(member, ast.Attribute) else None
        if not isinstance(member, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not member:
            continue
        if member.attr in ("train", "eval"):
            if not is_mode_call(call):
                return False
            found = True
        found |= member.attr in of_networks
    return found
