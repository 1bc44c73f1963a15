"""All rules by API name, found by walking this folder."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain

from ..errors import MindferryError
from ..read.framework import Framework
from ._framework import framework, package_of
from ._rule import STRATEGIES, Case, Form, Rule, take_collected

HIDDEN = ("_", "compat")


class Table:
    """The entries of one source framework."""

    def __init__(self, rules: Iterable[Rule], source: Framework) -> None:
        self.framework = source
        self.calls: dict[str, Rule] = {}
        self.attributes: dict[str, Rule] = {}
        self.unknown: dict[str, Rule] = {}  # by the method's name
        forms = {Form.CALL: self.calls, Form.ATTRIBUTE: self.attributes, Form.UNKNOWN: self.unknown}
        for entry in rules:
            name = entry.api if entry.form is not Form.UNKNOWN else entry.api.rpartition(".")[2]
            other = forms[entry.form].get(name)
            if other is not None:
                raise MindferryError(
                    f"{entry.file}:{entry.line}: {entry.title} has a rule already, at {other.file}:{other.line}; keep one"
                )
            if entry.missing and entry.strategy not in STRATEGIES:
                raise MindferryError(
                    f"{entry.file}:{entry.line}: {entry.api} is missing but its strategy is none of {', '.join(STRATEGIES)}"
                )
            forms[entry.form][name] = entry
        self._modules = {prefix for entry in self for prefix in _prefixes(entry.api)}

    def get(self, api: str) -> Rule | None:
        """What answers for a call of the API, or for its name."""
        return self.calls.get(api) or self.calls.get(self.framework.canonical(api))

    def attribute(self, api: str) -> Rule | None:
        """What answers for reading an attribute."""
        return self.attributes.get(api) or self.attributes.get(self.framework.canonical(api))

    def titled(self, title: str) -> Rule:
        """By what a list of the entries calls it."""
        return next(entry for entry in self if entry.title == title)

    def __contains__(self, api: str) -> bool:
        return self.get(api) is not None

    def __iter__(self) -> Iterator[Rule]:
        return chain(self.calls.values(), self.attributes.values(), self.unknown.values())

    def is_api(self, name: str) -> bool:
        """Whether it is a name of the framework's that has a counterpart."""
        entry = self.get(name) or self.attribute(name)
        return entry is not None and not entry.missing

    def is_module(self, name: str) -> bool:
        """Whether it is a package of APIs, such as torch.nn.functional."""
        return self.framework.canonical(name) in self._modules


def _prefixes(api: str) -> list[str]:
    parts = api.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def table(source: str = "torch") -> Table:
    """The entries for a source framework: a folder here, or any package that is made like one."""
    return _table(source)


@functools.cache
def _table(source: str) -> Table:
    """Collected once, however it is asked for: what a module adds, it adds when it is first imported."""
    package = importlib.import_module(package_of(source))
    depth = package.__name__.count(".") + 1
    take_collected()
    names = sorted(
        module.name
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not any(part.startswith(HIDDEN) for part in module.name.split(".")[depth:])
    )
    rules: list[Rule] = []
    for name in names:
        importlib.import_module(name)
        rules += take_collected()
    for path in sorted(_tsv_files(files(package), "renames.tsv"), key=str):
        rules += _read_tsv(path)
    for path in sorted(_tsv_files(files(package), "missing.tsv"), key=str):
        rules += _read_missing(path)
    return Table(rules, framework(source))


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
    """Columns: the framework's name, why MindSpore has none, strategy, what to do."""
    return [
        Rule(api, missing=why, strategy=strategy, advice=advice, file=str(path), line=number)
        for number, (api, why, strategy, advice) in _lines(path, 4)
    ]


def _read_tsv(path: Traversable) -> list[Rule]:
    """Columns: the framework's name, MindSpore's name, the framework's parameters, a call, what it becomes, the inputs."""
    rules = []
    for number, (api, to, args, before, after, inputs) in _lines(path, 6):
        case = Case(before, after, inputs=tuple(inputs.split()), gradient="float" in inputs)
        rules.append(Rule(api, to, tuple(args.split()), like=to, cases=(case,), file=str(path), line=number))
    return rules
