"""What other versions of MindSpore lack of what the counterparts need. The rules were measured with one version; this only knows names."""

from __future__ import annotations

import ast
import functools
import tomllib
from importlib.resources import files
from typing import TypedDict

from ..apis import Rule
from ..errors import MindferryError

MEASURED = "2.10"


def known_versions() -> list[str]:
    return sorted([*_versions(), MEASURED], key=lambda each: [int(part) for part in each.split(".")])


def checked(version: str) -> str:
    """`2.8.1` -> `2.8`, if anything is known of it."""
    short = ".".join(version.split(".")[:2])
    if short not in known_versions():
        raise MindferryError(
            f"nothing is known here of MindSpore {version}; choose one of {', '.join(known_versions())} "
            f"(the rules were measured with {MEASURED})"
        )
    return short


def lacking(entry: Rule, version: str) -> str:
    """A name that the rule's counterpart needs and the version doesn't have, or ''."""
    if version == MEASURED:
        return ""
    return min(_needs(entry) & set(_versions()[version]["absent"]), default="")


def fewer_arguments(entry: Rule, version: str) -> str:
    """What the version's own functions don't take, of those that the counterpart calls; '' if nothing is known to differ."""
    without = {} if version == MEASURED else _versions()[version]["without"]
    return "; ".join(
        f"in {version} {name} has no {', '.join(without[name])}" for name in sorted(_needs(entry) & set(without))
    )


def _needs(entry: Rule) -> set[str]:
    return {entry.to} | helper_needs().get(entry.to, frozenset())


class _Version(TypedDict):
    absent: list[str]
    without: dict[str, list[str]]


@functools.cache
def _versions() -> dict[str, _Version]:
    body: dict[str, _Version] = tomllib.loads((files("mindferry.analyze") / "versions.toml").read_text("utf-8"))
    return body


@functools.cache
def helper_needs() -> dict[str, frozenset[str]]:
    """`compat.name` -> all MindSpore names that its code uses, and the code of the helpers that it uses."""
    direct: dict[str, set[str]] = {}
    uses: dict[str, set[str]] = {}
    for path in sorted(files("mindferry.apis.torch").joinpath("compat").iterdir(), key=lambda each: each.name):
        if path.name.endswith(".py"):
            _read(ast.parse(path.read_text("utf-8")), direct, uses)
    return {f"compat.{name}": frozenset().union(*(direct[each] for each in _reached(name, uses))) for name in direct}


def _read(tree: ast.Module, direct: dict[str, set[str]], uses: dict[str, set[str]]) -> None:
    homes: dict[str, str] = {}
    for node in tree.body:
        match node:
            case ast.Import(names=aliases):
                homes |= {alias.asname or alias.name: alias.name for alias in aliases}
            case ast.ImportFrom(module=str(source), names=aliases, level=0):
                homes |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in aliases}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                dotted = {_dotted(part, homes) for part in ast.walk(node) if isinstance(part, ast.Attribute | ast.Name)}
                direct[name] = {each for each in dotted if each.startswith("mindspore.")}
                uses[name] = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - {name}


def _dotted(node: ast.AST, homes: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return homes.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value, homes)):
        return f"{owner}.{node.attr}"
    return ""


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        for each in uses[waiting.pop()]:
            if each in uses and each not in found:
                found.add(each)
                waiting.append(each)
    return found
