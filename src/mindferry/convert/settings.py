"""What a conversion is told: where the result is to run, and which rules apply."""

from __future__ import annotations

import fnmatch
import functools
from dataclasses import dataclass, replace
from importlib.resources import files

from ..apis import Table, table
from ..apis._table import canonical
from ..apis.quirks import native_on
from ..errors import MindferryError

TARGETS = ("portable", "cpu", "ascend")
STYLES = ("functional", "cell", "model")  # how a training step is written


@dataclass(frozen=True, slots=True)
class Settings:
    target: str = "portable"
    only: tuple[str, ...] = ()  # patterns over the names of rules and passes
    skip: tuple[str, ...] = ()
    style: str = "functional"
    jit: bool = False  # compile the training step
    trainer: bool = False  # write a trainer for a project that has none
    observed: str = ""  # digest of the observation that the conversion uses
    packages: tuple[str, ...] = ()  # libraries to bring along, by import name
    sites: tuple[str, ...] = ()  # folders where they are installed, before Python's own
    most_modules: int = 400  # of these libraries

    @property
    def is_restricted(self) -> bool:
        return bool(self.only or self.skip)

    def applies(self, *names: str) -> bool:
        """Whether a rule or pass that goes by these names takes part."""
        return (not self.only or _matches(names, self.only)) and not _matches(names, self.skip)

    def applies_to(self, api: str, rule: str) -> bool:
        """Whether a call of `api` that follows `rule` is converted."""
        return not self.is_restricted or self.applies(*_spellings(api), *_spellings(rule))

    def check(self, passes: list[str]) -> None:
        """A pattern that nothing matches is a slip of the pen."""
        if self.jit and self.style != "functional":
            raise MindferryError(f"--jit compiles the functional form; leave out --style {self.style}, or --jit")
        names: set[str] = set(passes)
        for entry in table():
            names.update(_spellings(entry.api))
            if entry.api.count(".") == 1 or entry.api.startswith("torch.nn.functional."):
                names.add(f"torch.Tensor.{entry.api.rpartition('.')[2]}")  # x.add follows torch.add
        for pattern in (*self.only, *self.skip):
            if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
                raise MindferryError(
                    f"{pattern} matches no rule; rules are named after torch's APIs, as in 'torch.nn.*' or torch.Tensor.view: see `mindferry rules list`"
                )


def _matches(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _spellings(api: str) -> tuple[str, ...]:
    plain = api.rstrip("@").replace("any#", "torch.Tensor.")
    return plain, canonical(plain)


@functools.cache
def rules_for(target: str) -> Table:
    """The rules, with mint's own operators for Ascend, and what only Ascend has left alone for a CPU."""
    if target == "portable":
        return table()
    rules = {api: replace(entry, target=target) for api, entry in table().rules.items()}
    for api, entry in rules.items():
        if target == "cpu" and "CPU" not in entry.platforms:
            rules[api] = replace(
                entry,
                missing=f"{entry.to} runs on Ascend only",
                strategy="not needed",
                advice="leave it out, or convert with --target ascend",
                function=None,
            )
    if target == "ascend":
        for api, name in _native_on_ascend():
            rules[api] = replace(rules[api], to=name, like=name, function=None)
    for api, name in native_on(target).items():
        rules[api] = replace(rules[api], to=name, like=name, drop=("inplace",), function=None)
    return Table(list(rules.values()))


def _native_on_ascend() -> list[tuple[str, str]]:
    lines = files("mindferry.apis.torch").joinpath("ascend.tsv").read_text("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [(api, name) for api, name in pairs]
