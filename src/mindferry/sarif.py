"""SARIF 2.1.0, which code hosts show beside the lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Result = dict[str, object]


def document(rules: Mapping[str, str], results: Iterable[Result]) -> str:
    """A whole file. `rules`: what each ruleId in the results stands for."""
    described = [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]
    driver = {"name": "mindferry", "version": _version(), "rules": described}
    body = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": list(results)}]}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def result(rule: str, level: str, path: str, line: int, text: str, advice: str, column: int = 0) -> Result:
    """`level` is error, warning or note. A column, where one is known, counts from 1."""
    region = {"startLine": max(line, 1), **({"startColumn": column} if column > 0 else {})}
    place = {"artifactLocation": {"uri": path}, "region": region}
    message = {"text": f"{text} → {advice}" if advice else text}
    return {"ruleId": rule, "level": level, "message": message, "locations": [{"physicalLocation": place}]}


def _version() -> str:
    try:
        return version("mindferry")
    except PackageNotFoundError:
        return "0"
