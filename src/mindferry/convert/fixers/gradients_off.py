"""`with torch.no_grad():` goes away: MindSpore computes gradients only of what value_and_grad is given.

Where such a function may take part in a loss, what it computed without gradients is cut off from them explicitly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...read.uses import Use
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, RemoveDecorator, RemoveStatement, ReplaceSpan, Texts, claim_all
from . import detach_no_grad_results, keep_gradient_switches, mixed_precision

AFTER = ("format_tensors", "hold_leaf_parameters", "in_place", "make_leaf_parameters")

OFF = (Use.NO_GRADIENT, Use.GRADIENT_SWITCH, Use.AUTOCAST)


def plan(facts: Facts) -> Iterator[Change]:
    for node in _candidates(facts):
        if isinstance(node, ast.With) and _is_all_off(node, facts):
            yield claim_all(*node.items)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_off(decorator, facts):
                    yield claim_all(decorator)
        elif isinstance(node, ast.Expr) and _is_off(node.value, facts):
            yield claim_all(node)
    yield AtEnd(partial(_write, facts))


def _is_off(node: ast.expr, facts: Facts) -> bool:
    api = facts.api(node.func if isinstance(node, ast.Call) else node)
    goes = (Use.AUTOCAST,) if facts.derived(keep_gradient_switches.is_needed) else OFF
    return bool(api) and any(facts.uses.has(use, api) for use in goes)


def _is_all_off(node: ast.With, facts: Facts) -> bool:
    return all(_is_off(item.context_expr, facts) and item.optional_vars is None for item in node.items)


def _casts(item: ast.withitem, facts: Facts) -> bool:
    return _is_cast(item.context_expr, facts)


def _is_cast(node: ast.expr, facts: Facts) -> bool:
    return facts.is_use(Use.AUTOCAST, node.func if isinstance(node, ast.Call) else node)


def _candidates(facts: Facts) -> list[ast.stmt]:
    of = facts.source.of
    return [*of(ast.With), *of(ast.FunctionDef), *of(ast.AsyncFunctionDef), *of(ast.Expr)]


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    for node in _candidates(facts):
        if isinstance(node, ast.With) and _is_all_off(node, facts):
            yield from _write_block(facts, node, texts)
        elif isinstance(node, ast.With) and not facts.derived(keep_gradient_switches.is_needed):
            for item in node.items:
                if detach_no_grad_results.chosen(facts, item.context_expr, texts):
                    yield from detach_no_grad_results.after_block(facts, node, item.context_expr, texts)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_off(decorator, facts):
                    yield RemoveDecorator(decorator)
                    if not _is_cast(decorator, facts):
                        yield from detach_no_grad_results.in_function(facts, node, texts)
        elif isinstance(node, ast.Expr) and _is_off(node.value, facts):
            yield RemoveStatement(node)
            if detach_no_grad_results.trains(facts.source.tree):
                yield facts.found(
                    node,
                    findings.MF204,
                    f"{facts.source.text(node)}: gradients are not switched by a statement here",
                    "use the block `with torch.no_grad():`, or detach() what is computed without gradients",
                )


def _write_block(facts: Facts, node: ast.With, texts: Texts) -> Iterator[Edit]:
    yield from _unwrap(facts, node)
    is_cast = facts.settings.target == "ascend" and bool(mixed_precision.networks_called(facts, node))
    if any(_casts(item, facts) for item in node.items) and not is_cast:
        yield facts.found(
            node,
            findings.MF203,
            "runs in float32 now: MindSpore casts networks, not blocks",
            "for mixed precision on Ascend wrap the network: `amp.auto_mixed_precision(net, 'O2')`",
        )
    for item in node.items:
        if not _casts(item, facts):
            yield from detach_no_grad_results.after_block(facts, node, item.context_expr, texts)


def _unwrap(facts: Facts, node: ast.With) -> Iterator[Edit]:
    """Remove the header and dedent the body; lines inside strings keep their place."""
    source = facts.source
    first = node.body[0]
    if first.lineno == node.lineno:  # with torch.no_grad(): x = 1
        yield ReplaceSpan(source.start(node), source.start(first), "", swallows=True)
        return
    outer, inner = source.indent(node), source.indent(first)
    header_end = source.find_token(b":", source.end(node.items[-1].context_expr), source.start(first)) + 1
    line_end = source.line_end(header_end)
    comment = source.data[header_end:line_end].strip()
    if comment:
        yield ReplaceSpan(source.start(node), source.skip_blanks(header_end), "", swallows=True)
    else:
        yield ReplaceSpan(source.line_start(source.start(node)), line_end, "", swallows=True)
    last_line = _last_line(node)
    in_strings = source.lines_inside_strings
    for line in range(source.position(line_end)[0], last_line + 1):
        start = source.offset(line, 0)
        if (
            line not in in_strings
            and source.data[start : start + len(inner)].strip() == b""
            and source.data[start:].strip(b" \t")[:1] not in (b"\n", b"\r", b"")
        ):
            # not at the start: blocks may be nested
            place = (start + len(outer), start + len(inner))
            yield ReplaceSpan(*place, partial(_lines_above, *place, inner[len(outer) :]), is_optional=True)


def _lines_above(start: int, end: int, indent: str, texts: Texts) -> str:
    """What was put above a line of a block at the margin, such as a mark, goes along."""
    above, newline, _ = texts.span(start, end).rpartition("\n")
    return "\n".join(line.removeprefix(indent) for line in above.split("\n")) + newline


def _last_line(node: ast.With) -> int:
    return node.end_lineno or node.lineno
