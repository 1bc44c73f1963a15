"""Products and quotients of complex tensors: MindSpore 2.10 computes them, and fails when their gradient is taken.

`xc * freqs` with `xc = torch.view_as_complex(x)` becomes `ms_compat.multiply(xc, freqs)`, which works with real and imaginary parts.
A parameter of complex numbers can't be trained at all, which is a finding.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import AtNode, Change, Edit, ReplaceNode, Texts

HELPERS: dict[type[ast.operator], str] = {ast.Mult: "multiply", ast.Div: "divide"}
# What a complex tensor stays complex through.
SAME_KIND = frozenset(
    "view reshape unsqueeze squeeze expand expand_as permute transpose flatten repeat clone detach contiguous conj roll to cuda cpu".split()
)
ADVICE = "keep its real and imaginary parts as one real parameter with a last axis of 2, and join them by torch.view_as_complex in forward"
CHANGES_TYPE = ("to", "type")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.calls_for(Use.PARAMETER):
        if call.args and _holds_complex(facts, call.args[0]):
            message = f"{facts.source.text(call.func)}: MindSpore has no gradient for a parameter of complex numbers"
            yield facts.found(call, findings.MF101, message, ADVICE)
    if not _is_concerned(facts):
        return
    for node in facts.source.of(ast.BinOp):
        if type(node.op) in HELPERS and (_is_complex(facts, node.left) or _is_complex(facts, node.right)):
            yield AtNode(node, partial(_call_helper, facts, node, HELPERS[type(node.op)]))


def _holds_complex(facts: Facts, value: ast.expr) -> bool:
    """Whether the value is complex, or made with a complex type."""
    if _is_complex(facts, value):
        return True
    keywords = (each for call in walk(value) if isinstance(call, ast.Call) for each in call.keywords)
    return any(each.arg == "dtype" and facts.is_use(Use.COMPLEX_TYPE, each.value) for each in keywords)


def _is_concerned(facts: Facts) -> bool:
    if facts.calls_for(Use.COMPLEX):
        return True
    given = [each.value for each in facts.source.keywords.get("dtype", ())]
    given += [each for call in facts.source.calls_named(*CHANGES_TYPE) for each in call.args[:1]]
    return any(facts.is_use(Use.COMPLEX_TYPE, each) for each in given)


def _is_made_complex(facts: Facts, call: ast.Call) -> bool:
    """`torch.zeros(3, dtype=torch.cfloat)`, `x.to(torch.complex64)`."""
    given = [each.value for each in call.keywords if each.arg == "dtype"]
    if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGES_TYPE:
        given += call.args[:1]
    return any(facts.is_use(Use.COMPLEX_TYPE, each) for each in given)


def _is_complex(facts: Facts, node: ast.expr, known: frozenset[str] = frozenset()) -> bool:
    """Whether the code itself says that it is a complex tensor."""
    match node:
        case ast.Call() if facts.is_use(Use.COMPLEX, node.func) or _is_made_complex(facts, node):
            return True
        case ast.Call(func=ast.Attribute(attr=name, value=owner)):
            return name in SAME_KIND and _is_complex(facts, owner, known)
        case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
            return _is_complex(facts, inner, known)
        case ast.BinOp(left=left, right=right):
            return _is_complex(facts, left, known) or _is_complex(facts, right, known)
        case ast.Name(id=name) if name not in known:
            scope = facts.enclosing(node, *FUNCTIONS)
            values = [
                _assigned(facts, store) for store in facts.stores(name) if facts.enclosing(store, *FUNCTIONS) is scope
            ]
            return any(value is not None and _is_complex(facts, value, known | {name}) for value in values)
    return False


def _assigned(facts: Facts, store: ast.Name) -> ast.expr | None:
    """What `x = …` gives the name, or its own part of `x, y = …, …`."""
    parent = facts.parents.get(store)
    match parent, facts.parents.get(parent) if parent is not None else None:
        case ast.Assign(value=value), _:
            return value
        case ast.Tuple(elts=names), ast.Assign(value=ast.Tuple(elts=values)) if len(names) == len(values):
            return values[names.index(store)]
    return None


def _call_helper(facts: Facts, node: ast.BinOp, helper: str, texts: Texts) -> Iterator[Edit]:
    before = facts.source.text(node)
    yield ReplaceNode(node, f"{texts.name(f'compat.{helper}')}({texts.of(node.left)}, {texts.of(node.right)})")
    yield facts.record(node, f"operator {helper}", before, texts.of(node))
