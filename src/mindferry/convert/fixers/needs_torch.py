"""Imports of packages that themselves need torch: the converted project must not, so each is a finding.

The file can be imported all the same: what such a package would give has a placeholder, which says why where it is used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ... import findings
from ...apis.torch._packages import need_of_torch
from ..facts import Facts
from ..plan import Change, MayBeAbsent

COMPILED = "write what it computes in Python, or build it for MindSpore with ops.CustomOpBuilder"


def plan(facts: Facts) -> Iterator[Change]:
    imports: list[ast.Import | ast.ImportFrom] = [*facts.source.of(ast.Import), *facts.source.of(ast.ImportFrom)]
    symbols = facts.reading.symbols
    own = symbols.roots | {module.partition(".")[0] for module in symbols.excluded}  # left out, and yet no package
    for node in imports:
        if isinstance(node, ast.Import):
            names = [(alias.name.partition(".")[0], alias) for alias in node.names]
        else:
            names = [] if node.level else [((node.module or "").partition(".")[0], alias) for alias in node.names]
        for head in dict.fromkeys(head for head, _ in names):
            if head in own or (need := need_of_torch(head)) is None or is_optional(facts, node):
                continue
            if _stands_beside(facts, node, head):
                continue
            yield facts.found(
                node,
                findings.MF150,
                f"{head} {need.why}, so what uses it doesn't run without torch",
                f"bring along what is used of it: convert with --with {head}; otherwise {need.advice}",
                "warning" if need.is_guess and not symbols.roots else "",  # a file alone may have it beside it
                rule=head,
            )
            if not need.is_guess and _stops_the_file(facts, node):
                yield from (MayBeAbsent(alias) for of, alias in names if of == head and alias.name != "*")
    for node in facts.source.of(ast.ImportFrom):
        is_own = node.level or (node.module or "").partition(".")[0] in own
        if is_own and not is_optional(facts, node):
            yield from _compiled(facts, node)


def _stands_beside(facts: Facts, node: ast.Import | ast.ImportFrom, head: str) -> bool:
    """Whether a folder above the file holds a package of that name with all that is taken: `clip/` beside the script that imports it."""
    exports, above = facts.reading.symbols.exports, facts.reading.module.split(".")[:-1]
    for length in range(len(above), 0, -1):
        home = ".".join([*above[:length], head])
        if home != facts.reading.module and _has_module(exports, home):
            return all(_is_there(exports, ".".join([*above[:length], each])) for each in _taken(facts, node, head))
    return False


def _taken(facts: Facts, node: ast.Import | ast.ImportFrom, head: str) -> Iterator[str]:
    """The full names that the file takes by this import."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield node.module or "" if alias.name == "*" else f"{node.module}.{alias.name}"
        elif alias.name.partition(".")[0] == head:
            yield alias.name
            bound, module = (alias.asname, alias.name) if alias.asname else (head, head)
            for each in facts.source.of(ast.Attribute):
                if isinstance(each.value, ast.Name) and each.value.id == bound:
                    yield f"{module}.{each.attr}"


def _is_there(exports: Mapping[str, Mapping[str, object]], name: str) -> bool:
    module, _, last = name.rpartition(".")
    return _has_module(exports, name) or last in exports.get(module, ())


def _has_module(exports: Mapping[str, Mapping[str, object]], name: str) -> bool:
    return name in exports or any(each.startswith(f"{name}.") for each in exports)


def _compiled(facts: Facts, node: ast.ImportFrom) -> Iterator[Change]:
    """`from . import _C`, `from ._C import nms`: what no file of the project has is compiled, or made by a build."""
    own, exports, home = facts.reading.symbols.roots, facts.reading.symbols.exports, _home(facts, node)
    is_alone = not own or (node.level and "." not in facts.reading.module)  # nobody read what stands beside it
    is_above = not home  # the folder that holds all packages, ported/ for one
    if is_alone or is_above or facts.reading.module not in exports or home in facts.reading.symbols.excluded:
        return
    is_there = _has_module(exports, home)
    if not (is_there or node.level or looks_compiled(home.rpartition(".")[2])):
        return  # a folder that some path leads to when it runs
    for alias in node.names:
        name = f"{home}.{alias.name}" if is_there else home
        if is_there and (
            not looks_compiled(alias.name)
            or alias.name in exports.get(home, ())
            or name in exports
            or alias.name == "*"
        ):
            continue
        message = f"no file of the project is {name}: if it is compiled code, it is built with torch"
        yield facts.found(node, findings.MF150, message, COMPILED, "warning", rule=name)
        if _stops_the_file(facts, node) and alias.name != "*":
            yield MayBeAbsent(alias)


def _home(facts: Facts, node: ast.ImportFrom) -> str:
    """The module that an import takes from."""
    if not node.level:
        return node.module or ""
    parts = facts.reading.module.split(".")
    keep = len(parts) - node.level + facts.source.path.endswith("__init__.py")
    return ".".join((*parts[: max(keep, 0)], *([node.module] if node.module else [])))


def looks_compiled(name: str) -> bool:
    """`_C`, `_ext`, `nms_cuda`: what extensions of torch's are called; not `_ConvBN`, `_extract`."""
    return re.fullmatch(r"_C(?:[\dA-Z_]\w*)?|_ext(?:[\d_]\w*)?|_?\w+_(?:cuda|cpp|ext|C|kernels?)", name) is not None


def is_optional(facts: Facts, node: ast.AST) -> bool:
    """Inside `try: import apex` with a handler: the project runs without it."""
    guard = facts.enclosing(node, ast.Try)
    return isinstance(guard, ast.Try) and bool(guard.handlers)


def _stops_the_file(facts: Facts, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether it is imported with the file; one in a function fails where it is used, and says which package is missing."""
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    return function is None and not facts.source.indent(node).strip()
