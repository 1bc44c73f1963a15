"""Reads what the stages left in `.mindferry/`, and refuses artifacts that don't belong together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..artifacts import STATE, Comparison, Curves, Inventory, PlainRun, ProjectConversion, WeightsReport, load
from ..errors import MindferryError
from ..files import read_regular
from ..observation import Observation
from ..tune_record import TuneRecord

if TYPE_CHECKING:
    from ..export.result import Export
    from ..verify.data import Pipelines

COMMANDS = {  # stage -> what writes its artifact
    "analyze": "mindferry migrate PROJECT -o {out}",
    "convert": "mindferry convert PROJECT -o {out}",
    "weights": "mindferry migrate PROJECT -o {out}",
    "data": "mindferry verify {out} --data",
    "verify": "mindferry verify {out}",
    "train": "mindferry train {out}",
    "plain": "mindferry train {out} --plain",
    "tune": "mindferry tune {out}",
    "export": "mindferry export {out}",
}
STAGES = tuple(COMMANDS)
CODE = (".py", ".ipynb")
SLACK = 2.0  # seconds by which a copied folder may have its files in another order

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """Every artifact that is there; None where a stage has not run."""

    folder: Path
    analyze: Inventory | None
    convert: ProjectConversion | None
    weights: WeightsReport | None
    data: Pipelines | None
    verify: Comparison | None
    train: Curves | None
    plain: PlainRun | None
    tune: TuneRecord | None
    export: Export | None
    written: dict[str, float]  # stage -> when, seconds since the epoch
    observe: Observation | None  # the reference's own run
    failed: dict[str, str]  # stage that could not run -> why, as `migrate` noted it

    @property
    def source(self) -> Path | None:
        """Where the torch project was when it was converted."""
        if self.convert is None:
            return Path(self.analyze.root) if self.analyze else None
        path = Path(self.convert.source)
        return path.parent if path.is_file() else path

    @property
    def _edited(self) -> float:
        """When the newest file of the conversion was written."""
        files = [self.folder / file.path for file in self.convert.files if file.digest] if self.convert else []
        return max((path.stat().st_mtime for path in files if path.suffix in CODE and path.is_file()), default=0.0)

    @property
    def title(self) -> str:
        return (self.source.name if self.source else "") or self.folder.resolve().name

    @property
    def stale(self) -> tuple[str, ...]:
        """Stages that ran before the code was converted, or edited, the last time."""
        converted = max(self.written.get("convert", 0.0), self._edited)
        return tuple(stage for stage in STAGES[3:] if self.written.get(stage, converted) < converted - SLACK)


def gather(folder: Path) -> Found:
    """All artifacts of a converted project."""
    from ..export.result import Export
    from ..verify.data import Pipelines

    state = folder / STATE
    written = {
        stage: (state / f"{stage}.json").stat().st_mtime for stage in STAGES if (state / f"{stage}.json").is_file()
    }
    if not written:
        what = f"{state} holds no artifact" if state.is_dir() else f"{folder} holds nothing to report on"
        raise MindferryError(f"{what}; run `mindferry migrate PROJECT -o {folder}` first")

    def read(kind: type[T], stage: str) -> T | None:
        try:
            return load(kind, folder, stage) if stage in written else None
        except MindferryError as error:
            command = COMMANDS[stage].format(out=folder)
            raise MindferryError(str(error).replace(f"`mindferry {stage}`", f"`{command}`")) from None

    found = Found(
        folder,
        read(Inventory, "analyze"),
        read(ProjectConversion, "convert"),
        read(WeightsReport, "weights"),
        read(Pipelines, "data"),
        read(Comparison, "verify"),
        read(Curves, "train"),
        read(PlainRun, "plain"),
        read(TuneRecord, "tune"),
        read(Export, "export"),
        written,
        _observed(folder),
        {stage: why for stage, why in _failed(state).items() if stage not in written},
    )
    _check_one_project(found)
    return found


def _observed(folder: Path) -> Observation | None:
    return load(Observation, folder, "observe") if (folder / STATE / "observe.json").is_file() else None


def _failed(state: Path) -> dict[str, str]:
    try:
        noted = json.loads(read_regular(state / "migrate.json"))
        return {stage: str(entry["summary"]) for stage, entry in noted.items() if stage in STAGES and not entry["ok"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _check_one_project(found: Found) -> None:
    """What can be told: folder names and files of the code, parameter names of the network."""
    state = found.folder / STATE
    if found.analyze and found.convert:
        ours, theirs = Path(found.analyze.root), Path(found.convert.source)
        same_name = ours.resolve() == theirs if ours.is_absolute() else ours.name in ("", "..", theirs.name)
        files = {file.path for file in found.convert.files}
        if not same_name or (found.analyze.files and files and not files.intersection(found.analyze.files)):
            raise MindferryError(
                f"{state} holds artifacts of two projects: analyze.json is of {ours}, convert.json of {theirs}; "
                f"run `mindferry migrate {theirs} -o {found.folder}` again"
            )
    if found.weights and found.verify:
        matched = [
            entry for entry in found.weights.entries if entry.how != "whole"
        ]  # under torch's names, wherever they lie
        carried = {name for entry in matched for name in (entry.source, entry.target)}
        compared = {each.name for each in found.verify.differences if each.kind == "parameter"}
        if carried and compared and not carried & compared:
            raise MindferryError(
                f"{state} holds artifacts of two projects: weights.json and verify.json ({found.verify.model}) have no parameter "
                "in common; run `mindferry weights` and `mindferry verify` again"
            )
