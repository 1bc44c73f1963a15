"""What needs a person, as SARIF 2.1.0, which code hosts show beside the lines."""

from __future__ import annotations

from ..artifacts import Inventory
from ..sarif import document, result

RULES = {
    "unreadable": "A file that can't be read",
    "missing-api": "A torch API that has no counterpart",
    "dynamic-shape": "A shape that depends on data",
    "special-code": "Code that needs more than a conversion",
}


def sarif(inventory: Inventory) -> str:
    results = [
        result("unreadable", "error", each.path, each.line, each.message, each.advice) for each in inventory.findings
    ]
    for use in inventory.apis:
        if use.kind in ("missing", "unknown"):
            text = f"{use.api}: {use.differs or 'has no rule'}"
            results += [result("missing-api", "error", use.path, line, text, use.advice) for line in use.lines]
    results += [
        result("dynamic-shape", "warning", each.path, each.line, f"{each.topic}: {each.what}", each.advice)
        for each in inventory.dynamic
    ]
    results += [
        result("special-code", "note", each.path, each.line, f"{each.topic}: {each.what}", each.advice)
        for each in inventory.special
    ]
    return document(RULES, results)
