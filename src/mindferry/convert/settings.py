"""What a conversion is told: where the result is to run, and which rules apply."""

from __future__ import annotations

import fnmatch
import functools
from dataclasses import dataclass, replace
from importlib.resources import files

from ..apis import SOURCES, Rule, Table, framework, table
from ..apis.quirks import native_on
from ..errors import MindferryError
from .changes_between_steps import Changes
from .names_in_text import NO_TEXTS, NamesInText

TARGETS = ("portable", "cpu", "ascend")
PREFERENCES = ("exact", "native")
HELPERS = ("module", "package")
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
    helpers: str = "module"  # how ms_compat is written
    jit_auto: bool = False  # compile those steps of which it is known that they compile
    prefer: str = "exact"  # or MindSpore's own where it is not quite torch's
    record_graphs: bool = False  # where a backward() can't be lifted, by functions that MindSpore doesn't document
    has_native_optimizers: bool = True  # as preferred; not where the project needs what torch's hold
    has_plain_datasets: bool = False  # nobody asks for the base class of datasets, nor adds two of them
    has_exact_optimizers: bool = False  # MindSpore's own where they compute the same: the project asks no more of them
    native_methods: tuple[str, ...] = ()  # which of a network's methods are MindSpore's own, see native_methods.tsv
    changes: tuple[Changes, ...] = ()  # by the project's functions; known where steps are compiled
    texts: NamesInText = NO_TEXTS  # that the project evaluates, or imports what they name

    @property
    def is_restricted(self) -> bool:
        return bool(self.only or self.skip)

    def applies(self, *names: str) -> bool:
        """Whether a rule or pass that goes by these names takes part."""
        if not self.is_restricted:  # asked for every fixer of every file
            return True
        return (not self.only or _matches(names, self.only)) and not _matches(names, self.skip)

    def applies_to(self, api: str, rule: str) -> bool:
        """Whether a call of `api` that follows `rule` is converted."""
        return not self.is_restricted or self.applies(*_spellings(api), *_spellings(rule))

    def check(self, passes: list[str]) -> None:
        """A pattern that nothing matches is a slip of the pen."""
        if (self.jit or self.jit_auto) and self.style != "functional":
            raise MindferryError(f"--jit compiles the functional form; leave out --style {self.style}, or --jit")
        if not self.is_restricted:
            return
        names: set[str] = set(passes)
        for source in map(framework, SOURCES):
            for entry in table(source.name):
                names.update(_spellings(entry.api))
                home, _, name = entry.api.rpartition(".")
                if home in source.functions:
                    names.add(source.of_tensor(name))  # x.add follows torch.add
        for pattern in (*self.only, *self.skip):
            if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
                raise MindferryError(
                    f"{pattern} matches no rule; rules are named after torch's APIs, as in 'torch.nn.*' or torch.Tensor.view: see `mindferry rules list`"
                )


def _matches(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _spellings(api: str) -> tuple[str, ...]:
    return api, *(framework(source).canonical(api) for source in SOURCES)


def chosen_rules(settings: Settings, source: str) -> Table:
    native = settings.has_native_optimizers if settings.prefer == "native" else settings.has_exact_optimizers
    return rules_for(settings.target, source, settings.prefer, native, settings.native_methods)


@functools.cache
def rules_for(
    target: str,
    source: str = "torch",
    prefer: str = "exact",
    has_native_optimizers: bool = False,
    native_methods: tuple[str, ...] = (),
) -> Table:
    """The rules, with mint's own operators for Ascend, what only Ascend has left alone for a CPU, and MindSpore's own as preferred."""
    is_usual = target == "portable" and prefer == "exact" and not has_native_optimizers and not native_methods
    if is_usual or source != "torch":
        return table(source)
    made = Table((_for_target(entry, target) for entry in table()), framework())
    if prefer == "native" or has_native_optimizers:
        from .prefer_native import made_native, with_exact

        for api, entry in list(made.calls.items()):
            is_exact = prefer == "exact"
            made.calls[api] = with_exact(entry) if is_exact else made_native(entry, has_native_optimizers)
    if target == "ascend":
        for api, name in _native_on_ascend():
            made.calls[api] = replace(made.calls[api], to=name, like=name, function=None)
        for api, name in _rows("ascend_fused.tsv"):
            made.calls[api] = replace(made.calls[api], to=name, like=name)
    for api, name in native_on(target).items():
        made.calls[api] = replace(made.calls[api], to=name, like=name, drop=("inplace",), function=None)
    for api, name, kind in _rows("native_methods.tsv"):
        if kind in native_methods:
            made.calls[api] = replace(made.calls[api], to=name)
    return made


def _for_target(entry: Rule, target: str) -> Rule:
    if target != "cpu" or "CPU" in entry.platforms:
        return replace(entry, target=target)
    return replace(
        entry,
        target=target,
        missing=f"{entry.to} runs on Ascend only",
        strategy="not needed",
        advice="leave it out, or convert with --target ascend",
        function=None,
    )


def _native_on_ascend() -> list[list[str]]:
    return _rows("ascend.tsv")


def _rows(table_file: str) -> list[list[str]]:
    lines = files("mindferry.apis.torch").joinpath(table_file).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]
