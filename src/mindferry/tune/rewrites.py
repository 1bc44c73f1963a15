"""Changes of the converted code itself: a compiled gradient, dynamic shapes, mixed precision, parallel workers. Doing one twice changes nothing."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ..files import write_text
from ..layout import find_files
from ..read.edits import Edits
from ..read.source import Source, Unreadable

LEVEL = "O2"


def workers() -> int:
    return max(1, min(8, os.cpu_count() or 1))


def compile_gradient(source: Source, edits: Edits) -> None:
    """grad_fn = ms.value_and_grad(...) -> grad_fn = ms.jit(ms.value_and_grad(...))."""
    compiled = {id(each.args[0]) for each in _calls(source, "jit") if each.args}
    for call in _calls(source, "value_and_grad"):
        if id(call) not in compiled and isinstance(call.func, ast.Attribute):
            edits.before(source.start(call), f"{ast.unparse(call.func.value)}.jit(")
            edits.after(source.end(call), ")")


def compile_dynamic(source: Source, edits: Edits) -> None:
    """@ms.jit -> @ms.jit(dynamic=1), and the same keyword in calls."""
    for node in source.nodes:
        for decorator in getattr(node, "decorator_list", ()):
            if isinstance(decorator, ast.Attribute | ast.Name) and ast.unparse(decorator).rpartition(".")[2] == "jit":
                edits.after(source.end(decorator), "(dynamic=1)")
    for call in _calls(source, "jit"):
        if all(keyword.arg != "dynamic" for keyword in call.keywords):
            edits.after(source.end(call) - 1, ", dynamic=1" if call.args or call.keywords else "dynamic=1")


def mix_precision(source: Source, edits: Edits) -> None:
    """Before the optimizer takes a network's parameters: net = ms.amp.auto_mixed_precision(net, "O2")."""
    if b"auto_mixed_precision" in source.data:
        return
    done = set[str]()
    for call in _calls(source, "trainable_params"):
        owner, statement = call.func.value if isinstance(call.func, ast.Attribute) else None, source.parents.get(call)
        while statement is not None and not isinstance(statement, ast.stmt):
            statement = source.parents.get(statement)
        if isinstance(statement, ast.Assign) and isinstance(owner, ast.Name) and owner.id not in done:
            done.add(owner.id)
            indent = " " * statement.col_offset
            mixed = f'{owner.id} = ms.amp.auto_mixed_precision({owner.id}, "{LEVEL}")'
            edits.before(source.start(statement), f"{mixed}\n{indent}")


def parallel_workers(source: Source, edits: Edits) -> None:
    """num_parallel_workers=… of sources and maps becomes the number of cores."""
    for call in source.of(ast.Call):
        for keyword in call.keywords:
            if keyword.arg == "num_parallel_workers" and not isinstance(keyword.value, ast.Constant):
                edits.replace_node(keyword.value, str(workers()))
        name = ast.unparse(call.func).rpartition(".")[2]
        if name == "GeneratorDataset" and all(keyword.arg != "num_parallel_workers" for keyword in call.keywords):
            end = len(source.data[: source.end(call) - 1].rstrip())
            comma = " " if source.data[:end].endswith(b",") else ", "
            edits.after(end, f"{comma}num_parallel_workers={workers()}")


REWRITES: dict[str, Callable[[Source, Edits], None]] = {
    "jit": compile_gradient,
    "dynamic": compile_dynamic,
    "amp": mix_precision,
    "workers": parallel_workers,
}


def rewrite(text: str, name: str) -> str:
    """The file with the change `name`; the same text where there is nothing to do."""
    try:
        source = Source(text.encode("utf-8"))
    except Unreadable:
        return text
    edits = Edits(source)
    REWRITES[name](source, edits)
    return edits.apply()


def rewrite_project(project: Path, names: set[str]) -> list[Path]:
    """Change the project's own files, helpers excepted; returns those that changed."""
    changed = []
    for file in find_files(project, ()).python:
        if file.path.name in ("ms_compat.py", "ms_tuning.py") or file.path.parent.name == "ms_compat":
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


def _calls(source: Source, name: str) -> Iterator[ast.Call]:
    for call in source.of(ast.Call):
        if ast.unparse(call.func).rpartition(".")[2] == name:
            yield call
