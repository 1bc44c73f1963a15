"""Modules of torch's that hold few classes and nothing else, such as its optimizers: as values they become tables of all that they hold."""

from __future__ import annotations

from ..apis import Table
from ..read.framework import Framework

LONGEST = 24  # names of a table that is written out


def classes_of(home: str, rules: Table, framework: Framework) -> dict[str, str]:
    """Name -> what stands for it; nothing where the module holds functions too, or too much, or what has no counterpart."""
    prefix = framework.canonical(f"{home}.")
    if home in framework.roots:  # what a whole framework holds is more than its classes
        return {}
    found = {
        entry.api[len(prefix) :]: "" if entry.missing else entry.like or entry.to
        for entry in rules
        if entry.api.startswith(prefix) and entry.api[len(prefix) :].isidentifier()
    }
    public = {name: target for name, target in found.items() if not name.startswith("_")}
    is_whole = all(name[:1].isupper() and target and not target.startswith(".") for name, target in public.items())
    return public if is_whole and len(public) <= LONGEST else {}
