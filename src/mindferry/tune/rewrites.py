"""Changes of the converted code itself: a compiled gradient, dynamic shapes, mixed precision, parallel workers. Doing one twice changes nothing."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ..files import write_text
from ..layout import find_files

LEVEL = "O2"
Insertion = tuple[int, int, str]  # from, to, text


def workers() -> int:
    return max(1, min(8, os.cpu_count() or 1))


def compile_gradient(tree: ast.AST, text: str) -> Iterator[Insertion]:
    """grad_fn = ms.value_and_grad(...) -> grad_fn = ms.jit(ms.value_and_grad(...))."""
    at = _offsets(text)
    compiled = {id(each.args[0]) for each in _calls(tree, "jit") if each.args}
    for call in _calls(tree, "value_and_grad"):
        if id(call) not in compiled and isinstance(call.func, ast.Attribute):
            base = ast.unparse(call.func.value)
            yield at(call.lineno, call.col_offset), at(call.lineno, call.col_offset), f"{base}.jit("
            end = at(call.end_lineno or 0, call.end_col_offset or 0)
            yield end, end, ")"


def compile_dynamic(tree: ast.AST, text: str) -> Iterator[Insertion]:
    """@ms.jit -> @ms.jit(dynamic=1), and the same keyword in calls."""
    at = _offsets(text)
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", ()):
            if isinstance(decorator, ast.Attribute | ast.Name) and ast.unparse(decorator).rpartition(".")[2] == "jit":
                end = at(decorator.end_lineno or 0, decorator.end_col_offset or 0)
                yield end, end, "(dynamic=1)"
    for call in _calls(tree, "jit"):
        if all(keyword.arg != "dynamic" for keyword in call.keywords):
            end = at(call.end_lineno or 0, call.end_col_offset or 0) - 1
            yield end, end, ", dynamic=1" if call.args or call.keywords else "dynamic=1"


def mix_precision(tree: ast.AST, text: str) -> Iterator[Insertion]:
    """Before the optimizer takes a network's parameters: net = ms.amp.auto_mixed_precision(net, "O2")."""
    if "auto_mixed_precision" in text:
        return
    at, done = _offsets(text), set[str]()
    for block in ast.walk(tree):
        for statement in getattr(block, "body", ()) if isinstance(getattr(block, "body", None), list) else ():
            for call in _calls(statement, "trainable_params") if isinstance(statement, ast.Assign) else ():
                owner = call.func.value if isinstance(call.func, ast.Attribute) else None
                if isinstance(owner, ast.Name) and owner.id not in done:
                    done.add(owner.id)
                    start = at(statement.lineno, statement.col_offset)
                    indent = " " * statement.col_offset
                    yield start, start, f'{owner.id} = ms.amp.auto_mixed_precision({owner.id}, "{LEVEL}")\n{indent}'


def parallel_workers(tree: ast.AST, text: str) -> Iterator[Insertion]:
    """num_parallel_workers=… of sources and maps becomes the number of cores."""
    at = _offsets(text)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        for keyword in call.keywords:
            value = keyword.value
            if keyword.arg == "num_parallel_workers" and not isinstance(value, ast.Constant):
                yield (
                    at(value.lineno, value.col_offset),
                    at(value.end_lineno or 0, value.end_col_offset or 0),
                    str(workers()),
                )
        name = ast.unparse(call.func).rpartition(".")[2]
        if name == "GeneratorDataset" and all(keyword.arg != "num_parallel_workers" for keyword in call.keywords):
            end = at(call.end_lineno or 0, call.end_col_offset or 0) - 1
            before = text[:end].rstrip()
            comma = " " if before.endswith(",") else ", "
            yield len(before), len(before), f"{comma}num_parallel_workers={workers()}"


REWRITES: dict[str, Callable[[ast.AST, str], Iterator[Insertion]]] = {
    "jit": compile_gradient,
    "dynamic": compile_dynamic,
    "amp": mix_precision,
    "workers": parallel_workers,
}


def rewrite(text: str, name: str) -> str:
    """The file with the change `name`; the same text where there is nothing to do."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    edits = sorted(REWRITES[name](tree, text), key=lambda each: each[:2], reverse=True)
    for start, end, new in edits:
        text = text[:start] + new + text[end:]
    return text


def rewrite_project(project: Path, names: set[str]) -> list[Path]:
    """Change the project's own files, helpers excepted; returns those that changed."""
    changed = []
    for file in find_files(project, ()).python:
        if file.path.name in ("ms_compat.py", "ms_tuning.py"):
            continue
        old = text = file.path.read_text("utf-8", "replace")
        for name in REWRITES:
            if name in names:
                text = rewrite(text, name)
        if text != old:
            compile(text, str(file.path), "exec")
            write_text(file.path, text)
            changed.append(file.path)
    return changed


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
            yield node


def _offsets(text: str) -> Callable[[int, int], int]:
    """ast counts bytes of a line; Python strings count characters."""
    starts, total = [], 0
    lines = text.splitlines(keepends=True)
    for line in lines:
        starts.append(total)
        total += len(line)

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode("utf-8", "ignore"))

    return at
