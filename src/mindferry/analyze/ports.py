"""Models in MindSpore's own collections that have the name of one here: a port to start from, or to compare with."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from importlib.resources import files

from ..artifacts import Port
from ..read.uses import Use
from .scan import CallSite, FileScan
from .structure import is_built_on_network

SHORTEST = 6
FAMILIES = re.compile(r"(vit|unet|resnet|bert|swin_transformer|yolox)(v?\d+d?)?$")  # models that others are named after
VARIANT = r"(v?\d.*|model|for[a-z]+|network|backbone|[a-z]|tiny|small|base|large)?"  # what may follow a model's name


def ports(scan: FileScan) -> list[Port]:
    """By the names of network classes and of the functions that build them, and by models taken from libraries."""
    symbols, found = scan.reading.symbols, []
    for node, qual in scan.reading.owners.items():
        is_network = isinstance(node, ast.ClassDef) and (
            symbols.is_module(qual) or is_built_on_network(node, qual, scan)
        )
        is_builder = isinstance(node, ast.FunctionDef) and symbols.is_module(symbols.results.get(qual, _NOTHING).qual)
        if is_network or is_builder:
            assert isinstance(node, ast.ClassDef | ast.FunctionDef)
            found += _matches(node.name, f"{'class' if is_network else 'function'} {node.name}", scan.path, node.lineno)
    for call in scan.calls:
        if scan.uses.has(Use.READY_MODEL, call.name) or call.last in ("create_model", "from_pretrained"):
            name = (
                call.last
                if scan.uses.has(Use.VISION, call.name)
                else _first_string(call.node) or call.name.rpartition(".")[0].rpartition(".")[2]
            )
            found += _matches(name, f"call {name}", scan.path, call.node.lineno)
        elif _is_foreign_class(call, scan):
            found += _matches(call.last, f"call {call.last}", scan.path, call.node.lineno)
    return found


def _is_foreign_class(call: CallSite, scan: FileScan) -> bool:
    """A class of another package, with a name long enough to be a model's."""
    is_class = call.last[:1].isupper() and len(call.last) >= SHORTEST and "." in call.name.strip(".")
    return is_class and not scan.framework.has(call.name) and not scan.reading.symbols.is_local(call.name)


def one_of_each(found: list[Port]) -> list[Port]:
    return list({(port.name, port.collection): port for port in reversed(found)}.values())[::-1]


class _NOTHING:
    qual = ""


def _first_string(call: ast.Call) -> str:
    match call.args:
        case [ast.Constant(value=str(name)), *_]:
            return name.rpartition("/")[2]
    return ""


def _matches(name: str, evidence: str, path: str, line: int) -> list[Port]:
    plain = re.sub(r"[_\-. ]", "", name).lower()
    found = [each for each in _collections() if each[0].fullmatch(plain)]
    if not found and (family := FAMILIES.search(plain)):  # NaViT is a ViT
        found = [each for each in _collections() if each[1] == family[1]]
    return [Port(port, collection, address, evidence, path, line) for _, port, collection, address in found]


@functools.cache
def _collections() -> list[tuple[re.Pattern[str], str, str, str]]:
    """(pattern over a name in small letters, model, collection, address)."""
    body = tomllib.loads((files("mindferry.analyze") / "ports.toml").read_text("utf-8"))
    found = []
    for collection in body["collection"]:
        for model in collection["models"].split():
            name, _, stem = model.partition("=")
            found.append((re.compile(f"(?:{stem or name}){VARIANT}"), name, collection["name"], collection["address"]))
    return found
