"""Every name of MindSpore's that the table emits, for every target, exists in the installed MindSpore and takes those arguments.

There is no Ascend here: what runs there alone is checked by name and signature, and not run.
"""

from __future__ import annotations

import functools
import importlib
import inspect

import pytest

from mindferry.apis import Rule
from mindferry.convert.settings import TARGETS, rules_for


@functools.cache
def resolved(name: str) -> object:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def is_native(rule: Rule) -> bool:
    return rule.to.startswith("mindspore.") and all(part.isidentifier() for part in rule.to.split("."))


@pytest.mark.parametrize("target", TARGETS)
def test_every_native_name_exists(target: str) -> None:
    missing = []
    for rule in rules_for(target):
        if is_native(rule) and not rule.missing:
            try:
                resolved(rule.to)
            except (AttributeError, ModuleNotFoundError):
                missing.append(f"{rule.api} -> {rule.to}")
    assert missing == []


def test_what_only_ascend_gets_takes_torchs_arguments() -> None:
    """A row of ascend.tsv renames nothing, so every argument of the portable rule has to be known there by its name."""
    portable = {rule.api: rule for rule in rules_for("portable")}
    wrong, compared = [], 0
    for rule in rules_for("ascend"):
        if not is_native(rule) or rule.to == portable[rule.api].to or not rule.args:
            continue
        found = resolved(rule.to)
        try:
            signature = inspect.signature(found.__init__ if inspect.isclass(found) else found)  # type: ignore[misc]
        except (TypeError, ValueError):
            continue  # an operator of the kernel library
        taken = set(signature.parameters)
        if any(
            each.kind is inspect.Parameter.VAR_KEYWORD or each.kind is inspect.Parameter.VAR_POSITIONAL
            for each in signature.parameters.values()
        ):
            continue
        compared += 1
        given = {rule.rename.get(name, name) for name in rule.args if name not in rule.drop}
        if unknown := sorted(given - taken):
            wrong.append(f"{rule.api} -> {rule.to}: {', '.join(unknown)}")
    assert compared > 20
    assert wrong == []
