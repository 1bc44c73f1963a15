"""Where a call stands in its file: what a rule can't tell from the call alone."""

import ast

from ....read.container_uses import SLICED, ContainerUse
from ....read.infer import Reading
from ....read.thawed_parameters import may_thaw_behind
from ..._call import Call


def parent_of(call: Call) -> ast.AST | None:
    """The node that the call is part of."""
    return call.reading.source.parents.get(call.node)


def slices_a(call: Call, api: str) -> bool:
    """Whether the file slices something that is an `api`, such as `self.blocks[1:]`, or the project what the call makes."""
    return calls_a(call, api, SLICED)


def calls_a(call: Call, api: str, *methods: str) -> bool:
    """Whether the file calls one of these methods of something that is an `api`, or the project of what the call makes."""
    uses = [each for each in call.reading.symbols.container_uses if each.kind == api and each.use in methods]
    return any(each.module == call.reading.module for each in uses) or any(_is_of(call, each) for each in uses)


def _is_of(call: Call, use: ContainerUse) -> bool:
    """Whether it is done with the attribute that the call is assigned to."""
    match parent_of(call):
        case ast.Assign(targets=[ast.Attribute(attr=name, value=holder)]) if name == use.attribute:
            symbols, kind = call.reading.symbols, call.reading.type(holder)
            return not use.owner or kind.qual in (use.owner, *symbols.bases(use.owner))
    return False


def parameters_in_turn(reading: Reading) -> set[str]:
    """Names that the file gives nothing but a network's parameters, in loops: `for name, p in net.named_parameters()`."""
    found: dict[str, int] = {}
    loops: list[ast.For | ast.comprehension] = [*reading.source.of(ast.For), *reading.source.of(ast.comprehension)]
    for node in loops:
        match node.target, node.iter:
            case ast.Name(id=name), ast.Call(func=ast.Attribute(attr="parameters")):
                found[name] = found.get(name, 0) + 1
            case ast.Tuple(elts=[_, ast.Name(id=name)]), ast.Call(func=ast.Attribute(attr="named_parameters")):
                found[name] = found.get(name, 0) + 1
    given = {node.arg for node in reading.source.of(ast.arg)}
    stores = {
        name: sum(isinstance(each.ctx, ast.Store) for each in reading.source.named.get(name, ())) for name in found
    }
    return {name for name, count in found.items() if stores[name] == count and name not in given}


def is_only_called(reading: Reading, name: str) -> bool:
    """Whether the file does nothing with members of that name but set and call them."""
    return all(
        isinstance(node.ctx, ast.Store) or _is_function(reading, node) for node in reading.source.members.get(name, ())
    )


def _is_function(reading: Reading, node: ast.Attribute) -> bool:
    parent = reading.source.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def is_thawed_later(call: Call) -> bool:
    """Whether parameters that are frozen here may have gradients afterwards."""
    reading = call.reading
    return may_thaw_behind(reading.symbols.thawing, reading.source, reading.module, call.node)
