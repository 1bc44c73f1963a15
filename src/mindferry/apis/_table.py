"""All rules by API name, found by walking this folder."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from ..errors import MindferryError
from ._rule import STRATEGIES, Case, Rule, take_collected
from .torch._aliases import canonical as canonical

HIDDEN = ("_", "compat")


class Table:
    def __init__(self, rules: list[Rule]) -> None:
        self.rules: dict[str, Rule] = {}
        for entry in rules:
            other = self.rules.get(entry.api)
            if other is not None:
                raise MindferryError(
                    f"{entry.file}:{entry.line}: {entry.api} has a rule already, at {other.file}:{other.line}; keep one"
                )
            if entry.missing and entry.strategy not in STRATEGIES:
                raise MindferryError(
                    f"{entry.file}:{entry.line}: {entry.api} is missing but its strategy is none of {', '.join(STRATEGIES)}"
                )
            self.rules[entry.api] = entry
        self._modules = {prefix for api in self.rules for prefix in _prefixes(api)}

    def get(self, api: str) -> Rule | None:
        return self.rules.get(api) or self.rules.get(canonical(api))

    def __contains__(self, api: str) -> bool:
        return self.get(api) is not None

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules.values())

    def is_api(self, name: str) -> bool:
        """Whether it is a name of torch's that has a counterpart."""
        entry = self.get(name)
        return entry is not None and not entry.missing

    def is_module(self, name: str) -> bool:
        """Whether it is a package of APIs, such as torch.nn.functional."""
        return canonical(name) in self._modules


def _prefixes(api: str) -> list[str]:
    parts = api.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


@functools.cache
def table() -> Table:
    package = importlib.import_module("mindferry.apis.torch")
    take_collected()
    names = sorted(
        module.name
        for module in pkgutil.walk_packages(package.__path__, "mindferry.apis.torch.")
        if not any(part.startswith(HIDDEN) for part in module.name.split(".")[3:])
    )
    rules: list[Rule] = []
    for name in names:
        importlib.import_module(name)
        rules += take_collected()
    for path in sorted(_tsv_files(files("mindferry.apis"), "renames.tsv"), key=str):
        rules += _read_tsv(path)
    for path in sorted(_tsv_files(files("mindferry.apis"), "missing.tsv"), key=str):
        rules += _read_missing(path)
    return Table(rules)


def _tsv_files(folder: Traversable, name: str) -> Iterator[Traversable]:
    for item in folder.iterdir():
        if item.name == name:
            yield item
        elif item.is_dir() and not item.name.startswith("__"):
            yield from _tsv_files(item, name)


def _lines(path: Traversable, count: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != count:
            raise MindferryError(
                f"{path}:{number}: a line has {count} columns separated by tabs, this one has {len(columns)}"
            )
        yield number, columns


def _read_missing(path: Traversable) -> list[Rule]:
    """Columns: torch's name, why MindSpore has none, strategy, what to do."""
    return [
        Rule(api, missing=why, strategy=strategy, advice=advice, file=str(path), line=number)
        for number, (api, why, strategy, advice) in _lines(path, 4)
    ]


def _read_tsv(path: Traversable) -> list[Rule]:
    """Columns: torch's name, MindSpore's name, torch's parameters, a call, what it becomes, the inputs."""
    rules = []
    for number, (api, to, args, before, after, inputs) in _lines(path, 6):
        case = Case(before, after, inputs=tuple(inputs.split()), gradient="float" in inputs)
        rules.append(Rule(api, to, tuple(args.split()), like=to, cases=(case,), file=str(path), line=number))
    return rules
