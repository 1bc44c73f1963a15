"""Whether a project's datasets need a base class: MindSpore reads any object that can be indexed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..read.source import Source, Unreadable
from .code_words import Text
from .render.helper_parts import looks_like_dataset

BASE = "Dataset"
JOINS = frozenset({"sum", "reduce", "add"})


def has_plain_datasets(texts: Iterable[Text]) -> bool:
    """Whether `Dataset` is nothing but the only base of classes, and no two datasets are added up."""
    sources, has_any = [], False
    for text, parsed in texts:
        has_base = BASE.encode() in text
        if not has_base and b"+" not in text and not any(name.encode() in text for name in JOINS):
            continue
        try:
            source = parsed()
        except (OSError, Unreadable):
            return False
        if source.mended or _asks_for_base(source):
            return False
        has_any = has_any or has_base
        sources.append(source)
    made = {each.name for source in sources for each in source.of(ast.ClassDef) if BASE in map(_last_name, each.bases)}
    return has_any and not any(_adds_datasets(source, made) for source in sources)


def _asks_for_base(source: Source) -> bool:
    named = [*source.named.get(BASE, ()), *source.members.get(BASE, ())]
    return any(not _is_only_base(source, each) and not _is_annotation(source, each) for each in named)


def _is_only_base(source: Source, node: ast.expr) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.ClassDef) and parent.bases == [node]


def _is_annotation(source: Source, node: ast.expr) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.arg) or (
        isinstance(parent, ast.AnnAssign | ast.FunctionDef)
        and node in (getattr(parent, "annotation", None), getattr(parent, "returns", None))
    )


def _adds_datasets(source: Source, classes: set[str]) -> bool:
    """A wrong guess would be a TypeError where two datasets are added."""
    sums = [(each.left, each.right) for each in source.of(ast.BinOp) if isinstance(each.op, ast.Add)]
    sums += [(each.target, each.value) for each in source.of(ast.AugAssign) if isinstance(each.op, ast.Add)]
    made = classes | {
        name
        for each in source.of(ast.Assign)
        if isinstance(each.value, ast.Call) and _last_name(each.value.func) in classes
        for name in map(_last_name, each.targets)
        if name
    }
    if any(_is_dataset(left, made) and _is_dataset(right, made) for left, right in sums):
        return True
    joins = [each for each in source.of(ast.Call) if _last_name(each.func) in JOINS]
    return any(_is_dataset(part, made) for each in joins for given in each.args for part in source.walk(given))


def _is_dataset(node: ast.AST, made: set[str]) -> bool:
    return looks_like_dataset(_last_name(node)) or _last_name(node) in made


def _last_name(node: ast.AST) -> str:
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
