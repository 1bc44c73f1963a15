"""Every name of MindSpore's that the table emits, for every target, exists in the installed MindSpore and takes those arguments.

There is no Ascend here: what runs there alone is checked by name and signature, and not run.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from importlib.resources import files

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


PLATFORMS = re.compile(r"Supported Platforms:\s*(.+)")


def test_what_only_ascend_gets_is_documented_for_ascend() -> None:
    portable = {rule.api: rule for rule in rules_for("portable")}
    chosen = [rule for rule in rules_for("ascend") if is_native(rule) and rule.to != portable[rule.api].to]
    documented = {rule.to: PLATFORMS.search(inspect.getdoc(resolved(rule.to)) or "") for rule in chosen}
    told = {name: found[1] for name, found in documented.items() if found}
    assert len(told) > 20
    assert {name: text for name, text in told.items() if "Ascend" not in text} == {}


def calls_of_mindspore(text: str) -> Iterator[tuple[str, ast.Call]]:
    """(what is called, the call) of every call of an operator, a layer or another function of MindSpore's."""
    tree = ast.parse(text)
    bound = {"ms": "mindspore"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindspore"):
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names = [alias for alias in node.names if alias.name.startswith("mindspore") and alias.asname]
            bound |= {str(alias.asname): alias.name for alias in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, _, rest = ast.unparse(node.func).partition(".")
            if first in bound and (not rest or all(part.isidentifier() for part in rest.split("."))):
                yield f"{bound[first]}.{rest}".rstrip("."), node


@pytest.mark.parametrize("source", ["torch", "tensorflow"])
def test_every_call_in_a_helper_is_one_that_mindspore_takes(source: str) -> None:
    wrong, compared = [], 0
    for path in sorted(files(f"mindferry.apis.{source}.compat").iterdir(), key=lambda each: each.name):
        if not path.name.endswith(".py"):
            continue
        for name, call in calls_of_mindspore(path.read_text("utf-8")):
            if any(isinstance(each, ast.Starred) for each in call.args) or any(not key.arg for key in call.keywords):
                continue
            place = f"{path.name}:{call.lineno} {name}"
            try:
                signature = inspect.signature(resolved(name))  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue  # a class of the core, or overloaded
            except (AttributeError, ModuleNotFoundError):
                wrong.append(f"{place} does not exist")
                continue
            compared += 1
            try:
                signature.bind(*call.args, **{str(key.arg): key.value for key in call.keywords})
            except TypeError as error:
                wrong.append(f"{place}: {error}")
    assert compared > 200
    assert wrong == []
