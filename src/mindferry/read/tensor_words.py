"""Whether a file that names no framework works on tensors all the same: `pred.eq(y.view_as(pred)).cpu()` in a metric's file."""

from __future__ import annotations

import ast

from .source import Source
from .symbols import Symbols

MOVING = frozenset({"cpu", "cuda", "view_as", "type_as", "detach"})  # those of tensors that networks may have too
# Those of networks that nothing else has.
OF_NETWORKS = frozenset(
    "parameters named_parameters named_buffers named_modules named_children load_state_dict zero_grad requires_grad_ "
    "register_forward_hook register_forward_pre_hook register_full_backward_hook".split()
)
OF_SCIPY = frozenset({"softmax", "log_softmax", "logsumexp"})  # scipy.special.softmax(x)


def meets_tensors(source: Source, symbols: Symbols) -> bool:
    """Whether the file names the framework, or calls what only its tensors have."""
    return source.mentions(symbols.framework.name) or works_on_tensors(source, symbols)


def works_on_tensors(source: Source, symbols: Symbols) -> bool:
    """In a project: a file alone has nobody that gives it tensors. What is none after all answers for itself when it runs."""
    told_by = symbols.framework.members.unmistakable
    if not told_by or not symbols.roots:
        return False
    sizes = (call for call in source.calls_named("size") if call.args)  # x.size(0): numpy's size is no method
    return not ((told_by | MOVING | OF_NETWORKS) - OF_SCIPY).isdisjoint(source.called_methods) or any(
        isinstance(call.func, ast.Attribute) for call in sizes
    )
