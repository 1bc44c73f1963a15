"""`x.long()`, `x.bool()`, `x.to(torch.int64)`: in torch no gradient passes, in MindSpore it does once the numbers are computed with."""

import ast

from ..._call import Call

WITHOUT_GRADIENT = frozenset(
    "argmax argmin argsort randint arange floor ceil round sign trunc detach multinomial bool long int short byte "
    "eq ne lt le gt ge isnan isinf isfinite logical_and logical_or logical_not logical_xor any all nonzero bincount "
    "ones zeros full empty tensor rand randn bernoulli randperm searchsorted bucketize size numel item".split()
)
COMPUTES = frozenset(
    "float double half bfloat16 to type type_as mul add sub div mul_ add_ sub_ div_ sum mean pow".split()
)
SAME_NUMBERS = frozenset(
    "unsqueeze squeeze view reshape expand expand_as repeat flatten permute transpose t clone contiguous clamp".split()
)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def lets_gradient_through(call: Call) -> bool:
    """Whether a cast to whole numbers or truth values may carry a gradient that torch has not."""
    return not _has_none(call.subject) and _is_computed_with(call, call.node, frozenset())


def _has_none(node: ast.expr) -> bool:
    match node:
        case ast.Compare() | ast.Constant() | ast.UnaryOp(op=ast.Invert() | ast.Not()):
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in WITHOUT_GRADIENT
    return False


def _is_computed_with(call: Call, node: ast.AST, seen: frozenset[str]) -> bool:
    """Whether the value takes part in arithmetic, or is made a fraction again; as an index or a label it may carry what it likes."""
    parents = call.reading.source.parents
    match parent := parents.get(node):
        case ast.BinOp() | ast.UnaryOp(op=ast.USub()) | ast.AugAssign():
            return True
        case ast.Attribute(attr=name):
            called = parents.get(parent)
            if not isinstance(called, ast.Call) or called.func is not parent:
                return False
            return name in COMPUTES or (name in SAME_NUMBERS and _is_computed_with(call, called, seen))
        case ast.Subscript(value=value) if value is node:
            return _is_computed_with(call, parent, seen)
        case ast.Assign(targets=[ast.Name(id=name)]) if name not in seen:
            return any(_is_computed_with(call, each, seen | {name}) for each in _reads(call, parent, name))
    return False


def _reads(call: Call, statement: ast.Assign, name: str) -> list[ast.Name]:
    """Where the function around reads the name, until it is bound again."""
    source = call.reading.source
    scope: ast.AST | None = statement
    while scope is not None and not isinstance(scope, FUNCTIONS | ast.Module):
        scope = source.parents.get(scope)
    begin = source.end(statement)
    later = [each for each in source.named_within(name, scope or statement) if source.start(each) >= begin]
    bound = [_end_of_statement(call, each) for each in later if isinstance(each.ctx, ast.Store)]
    end = min(bound, default=len(source.data))
    return [each for each in later if isinstance(each.ctx, ast.Load) and source.start(each) < end]


def _end_of_statement(call: Call, node: ast.AST) -> int:
    """Up to here the old value is read: `x = f(x)`."""
    source, current = call.reading.source, node
    while not isinstance(current, ast.stmt):
        current = source.parents[current]
    return source.end(current) if isinstance(current, ast.Assign | ast.AugAssign) else source.start(current)
