"""`--prefer native`: MindSpore's own optimizers, schedules and activations in place of helpers that are exact, with a note for each."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files

from .. import findings
from ..apis import Rule
from ..artifacts import Finding
from .code_words import Text, says
from .one_file import Written

OPTIMIZERS = "mindspore.experimental.optim."
# What MindSpore's optimizers and schedules don't have, or have as tensors: then all of a project's stay helpers, which go together.
OWN_RATES = re.compile(
    rb"param_groups|\.state\b|get_last_lr|get_lr|add_param_group|\bclosure\b|\.grad\b"
    rb"|(?:opt\w*|sched\w*|lr_\w+)\.(?:load_)?state_dict|\b(?:LBFGS|SparseAdam|Adafactor|Muon|SWALR|OneCycleLR|CyclicLR"
    rb"|ReduceLROnPlateau|SequentialLR|ChainedScheduler|GradScaler|Optimizer|LRScheduler|_LRScheduler)\b|requires_grad"
)


@dataclass(frozen=True, slots=True)
class Native:
    """What stands in for a helper, and how far it is from torch's."""

    name: str
    difference: str
    what: str
    is_exact: bool  # no further from torch's than the helper is

    @property
    def sentence(self) -> str:
        also = f"; {self.what}" if self.what else ""
        after = " after 20 steps" if ".optim." in self.name else ""
        return f"{self.name} differs from torch's by up to {self.difference}{after}{also}"


@functools.cache
def natives() -> dict[str, Native]:
    lines = files("mindferry.apis.torch").joinpath("native.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {api: Native(name, difference, what, exact == "exact") for api, name, difference, what, exact in rows}


def keeps_own_rates(texts: Iterable[Text]) -> bool:
    """Whether a project reads or writes what an optimizer holds, or skips parameters: MindSpore's would not do."""
    return any(says(OWN_RATES, text) for text in texts)


def with_exact(entry: Rule) -> Rule:
    """The rule with MindSpore's own optimizer or schedule where it computes the same; as a value the helper stays."""
    found = natives().get(entry.api)
    return (
        entry
        if found is None or not found.is_exact
        else replace(made_native(entry, True), like=entry.like, differs=entry.differs)
    )


def made_native(entry: Rule, has_optimizers: bool) -> Rule:
    """The rule with MindSpore's own in the helper's place."""
    found = natives().get(entry.api)
    if found is None:
        return entry
    is_optimizer = found.name.startswith(OPTIMIZERS)
    if is_optimizer and not has_optimizers:
        return entry
    rate = {"lr": "1e-3"} if found.name == f"{OPTIMIZERS}SGD" else {}
    return replace(
        entry,
        to=found.name,
        like=found.name,
        differs=found.sentence,
        defaults={**entry.defaults, **rate},
        function=entry.function if is_optimizer else None,
        drop=(*entry.drop, "verbose") if "lr_scheduler" in entry.api else entry.drop,
    )


def with_differences(written: Written) -> Written:
    """A note at every place where the choice shows."""
    record = written.record
    code = findings.MF211
    notes = [
        Finding(code, code.severity, record.path, each.line, each.column, natives()[each.rule].sentence, "", each.rule)
        for each in record.rewrites
        if each.rule in natives()
        and natives()[each.rule].name.rpartition(".")[2] in each.after
        and "ms_compat" not in each.after.partition("(")[0]
    ]
    return replace(written, record=replace(record, findings=(*record.findings, *notes))) if notes else written
