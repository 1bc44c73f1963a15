"""Whether a class stands on one that is not of these packages, whose own code may call any of its methods."""

from __future__ import annotations

import ast

from ..apis import framework
from ..read.uses import Use
from .sources import Module, Sources, root_name

PLAIN_BASES = frozenset(
    {"object", "ABC", "Generic", "Protocol", "Module", "ModuleList", "Sequential", "Linear", "Conv2d", "Embedding"}
)


def is_called_by_bases(sources: Sources, module: Module, node: ast.ClassDef) -> bool:
    for base in node.bases:
        last = getattr(base, "attr", getattr(base, "id", ""))
        if last in PLAIN_BASES or isinstance(base, ast.Subscript):
            continue
        statements = module.bound.get(root_name(base), [])
        homes = _homes(module, statements)
        is_foreign = not statements or any(not sources.is_ours(home) for home in homes)
        if is_foreign and not (last[:1].isupper() and _is_torch(homes)):
            return True
    return False


def _homes(module: Module, statements: list[ast.stmt]) -> list[str]:
    return [
        (module.resolve(each) if isinstance(each, ast.ImportFrom) else each.names[0].name)
        for each in statements
        if isinstance(each, ast.Import | ast.ImportFrom)
    ]


def _is_torch(homes: list[str]) -> bool:
    uses = framework().uses
    return any(home == framework().name or uses.has(Use.NETWORK_PART, f"{home}.") for home in homes)
