"""What needs a person, as SARIF 2.1.0, which code hosts show beside the lines."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

from ..artifacts import Inventory

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    "unreadable": "A file that can't be read",
    "missing-api": "A torch API that has no counterpart",
    "dynamic-shape": "A shape that depends on data",
    "special-code": "Code that needs more than a conversion",
}


def sarif(inventory: Inventory) -> str:
    results = [_result("unreadable", "error", each.path, each.line, each.message, each.advice) for each in inventory.findings]
    for use in inventory.apis:
        if use.kind in ("missing", "unknown"):
            text = f"{use.api}: {use.differs or 'has no rule'}"
            results += [_result("missing-api", "error", use.path, line, text, use.advice) for line in use.lines]
    results += [
        _result("dynamic-shape", "warning", each.path, each.line, f"{each.topic}: {each.what}", each.advice) for each in inventory.dynamic
    ]
    results += [
        _result("special-code", "note", each.path, each.line, f"{each.topic}: {each.what}", each.advice) for each in inventory.special
    ]
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    driver = {"name": "mindferry", "version": _version(), "rules": rules}
    body = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _result(rule: str, level: str, path: str, line: int, text: str, advice: str) -> dict[str, object]:
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": max(line, 1)}}
    message = {"text": f"{text} → {advice}" if advice else text}
    return {"ruleId": rule, "level": level, "message": message, "locations": [{"physicalLocation": place}]}


def _version() -> str:
    try:
        return version("mindferry")
    except PackageNotFoundError:
        return "0"
