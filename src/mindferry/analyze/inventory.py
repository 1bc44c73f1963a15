"""Project -> Inventory: files, network classes, and every torch API with its counterpart."""

from __future__ import annotations

import ast
from pathlib import Path

from ..artifacts import ApiUse, Finding, Inventory, ModuleClass
from ..config import read_config
from ..errors import MindferryError
from ..layout import find_files, mentions_torch, read_symbols, uses_torch
from ..progress import Advance
from ..rules import table
from ..rules._lookup import FRAMEWORKS, api_of, rule_of
from ..syntax.infer import Reading, read
from ..syntax.source import Source, Unreadable

# Converted by a pass, since they are more than a call: what they become.
BY_PASSES = {
    "torch.Tensor.backward": "mindspore.value_and_grad",
    "torch.optim.Optimizer.step": "optimizer(grads)",
    "torch.optim.Optimizer.zero_grad": "nothing: gradients are return values",
    "torch.nn.Module.__init__": "mindspore.nn.Cell.__init__",
    "torch.no_grad": "nothing: only what value_and_grad is given is differentiated",
}


def analyze_project(path: Path, advance: Advance | None = None) -> Inventory:
    """Read every file of a project. One that can't be read becomes a finding."""
    layout = find_files(path, read_config(path).convert.exclude)
    if not uses_torch(layout):
        raise MindferryError(f"{path} uses no torch: there is nothing to migrate")
    symbols, rules = read_symbols(layout), table()
    uses: list[ApiUse] = []
    classes: list[ModuleClass] = []
    findings: list[Finding] = []
    lines = 0
    for file in layout.python:
        if advance:
            advance(file.relative)
        try:
            source = Source(file.path.read_bytes(), file.relative)
            reading = read(source, symbols, file.module, file.is_package, rules.is_api)
        except (Unreadable, OSError, RecursionError) as error:
            line, column = getattr(error, "line", 1), getattr(error, "column", 1)
            findings.append(Finding("MF900", "error", file.relative, line, column, str(error), "mend the file and analyze again"))
            continue
        lines += source.data.count(b"\n")
        uses += _api_uses(reading, file.relative)
        classes += _module_classes(reading, file.relative)
    names = tuple(file.relative for file in layout.files)
    touching = tuple(file.relative for file in layout.python if mentions_torch(file.path))
    return Inventory(str(path), names, touching, lines, tuple(uses), tuple(classes), tuple(findings))


def _api_uses(reading: Reading, path: str) -> list[ApiUse]:
    rules = table()
    lines: dict[str, list[int]] = {}
    called = {node.func for node in reading.source.nodes if isinstance(node, ast.Call)}
    inner = {node.value for node in reading.source.nodes if isinstance(node, ast.Attribute)}
    for node in reading.source.nodes:
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            api, receiver = api_of(node, reading, rules)
            if not api.startswith(tuple(f"{name}." for name in FRAMEWORKS)):
                continue
            if receiver is not None and rules.get(f"{api}@") is None and (node not in called or reading.type(node).kind != "method"):
                continue  # an attribute that stays
            if receiver is not None and reading.symbols.has_attribute(reading.type(receiver).qual, node.attr):
                continue  # the project's own: `self.conv1(x)`
            if receiver is None and node in inner and not rules.is_api(api):
                continue  # the `torch.nn` in `torch.nn.Linear`
            lines.setdefault(api, []).append(node.lineno)
    result = []
    for api, found in sorted(lines.items()):
        entry = rule_of(api, rules) or rules.get(f"{api}@")
        if entry is None and rules.is_module(api):
            continue
        if api in BY_PASSES:
            result.append(ApiUse(api, path, tuple(sorted(found)), BY_PASSES[api], "native"))
        else:
            result.append(ApiUse(api, path, tuple(sorted(found)), entry.to if entry else "", entry.kind if entry else "unknown"))
    return result


def _module_classes(reading: Reading, path: str) -> list[ModuleClass]:
    symbols = reading.symbols
    return [
        ModuleClass(node.name, path, node.lineno, symbols.classes[qual].bases[0] if symbols.classes[qual].bases else "")
        for node, qual in reading.owners.items()
        if isinstance(node, ast.ClassDef) and symbols.is_module(qual)
    ]
