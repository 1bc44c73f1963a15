"""What the stages hand to each other: frozen dataclasses, and their JSON in `.mindferry/<stage>.json`."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

from .as_json import UNBUILDABLE, build, laid_out, plain
from .errors import MindferryError, brief, printable
from .files import is_inside, is_name, read_regular, write_text

STATE = ".mindferry"
FORMAT = 1
FOLDERS = ("source", "output", "root", "project")  # fields that name a place on this machine

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that needs a person, or that a person should know of."""

    code: str  # one of findings.CODES
    severity: str  # "error": left unconverted; "warning": converted, look at it; "note": for information
    path: str
    line: int
    column: int
    message: str
    advice: str = ""
    rule: str = ""

    def __str__(self) -> str:
        advice = f" → {self.advice}" if self.advice else ""
        return printable(f"{self.path}:{self.line}:{self.column} {self.code} {self.message}{advice}")


@dataclass(frozen=True, slots=True)
class ApiUse:
    """One torch API in one file."""

    api: str
    path: str
    lines: tuple[int, ...]
    counterpart: str
    kind: str  # native, helper, removed, missing, unknown
    differs: str = ""  # what is other than in torch for the calls in this file: names, defaults, meaning
    strategy: str = ""  # for a missing one: equivalent, wrapper, custom operator, upstream request, not needed
    advice: str = ""
    platforms: tuple[str, ...] = ("CPU", "Ascend")


@dataclass(frozen=True, slots=True)
class ModuleClass:
    name: str
    path: str
    line: int
    base: str


@dataclass(frozen=True, slots=True)
class CodeClass:
    """One function, or what stands outside of all of them in a file, and what it is for."""

    path: str
    function: str  # "" outside of functions
    line: int
    lines: int
    kind: str  # to migrate: input, construction, execution, output; to keep: numpy, images, text, config, logging, files, plain
    is_migrated: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the project's structure."""

    kind: str  # network, block, entry point, dataset
    name: str
    path: str
    line: int
    role: str = ""  # backbone, neck, head, where the name tells
    children: tuple[str, ...] = ()  # "conv1: Conv2d", as written


@dataclass(frozen=True, slots=True)
class Trick:
    """One entry of the checklist: what the code does, not what the paper says."""

    topic: str  # augmentation, shuffling, learning rate, optimizer, batch size, epochs, initialisation, structure, training
    name: str
    value: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the code that matters for the migration, and what to do there."""

    topic: str
    what: str
    path: str
    line: int
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Port:
    """A model in one of MindSpore's collections that has the name of one here."""

    name: str
    collection: str
    address: str
    evidence: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Effort:
    """How much converts with no finding, and what is left, most rewarding first."""

    sites: int
    clean_sites: int
    files: int
    clean_files: int
    lines: int
    clean_lines: int
    is_measured: bool  # False: estimated from the API table alone
    todo: tuple[Place, ...] = ()
    ledger: str = ""  # what became of every place that may be torch's, counted; '' if it was only estimated


@dataclass(frozen=True, slots=True)
class Baseline:
    """The reference as it ran: what later stages are compared with."""

    command: str
    losses: tuple[float, ...]
    steps: int  # of optimizers
    steps_per_second: float
    peak_memory: int  # bytes of the process
    peak_device_memory: int  # bytes on the accelerator, 0 without one
    seed: int
    versions: dict[str, str] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()  # checkpoints that it saved
    metrics: dict[str, str] = field(default_factory=dict)  # what it printed last of each: accuracy, mAP, ...
    epochs: int = 0  # times that it went through a data loader; 0: not seen
    ended: str = "itself"  # or what stopped it: steps, seconds


@dataclass(frozen=True, slots=True)
class Package:
    """A package that the project asks for, and whether what is installed here satisfies it."""

    name: str
    asked: str  # "==1.2", ">=1,<2", or ""
    installed: str  # "" if it is not
    verdict: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """What `analyze` read in a project, without running any of it."""

    root: str
    files: tuple[str, ...]
    torch_files: tuple[str, ...]
    lines: int
    apis: tuple[ApiUse, ...]
    modules: tuple[ModuleClass, ...]
    findings: tuple[Finding, ...]
    code: tuple[CodeClass, ...] = ()
    parts: tuple[Part, ...] = ()
    tricks: tuple[Trick, ...] = ()
    dynamic: tuple[Place, ...] = ()
    special: tuple[Place, ...] = ()
    ports: tuple[Port, ...] = ()
    features: tuple[Place, ...] = ()
    effort: Effort | None = None
    target: str = "CPU"
    baseline: Baseline | None = None
    packages: tuple[Package, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One applied rule: where, which, and what it wrote there."""

    line: int
    column: int
    rule: str
    before: str
    after: str
    receiver: str = ""  # "observed": a watched run showed its type, the text alone did not


@dataclass(frozen=True, slots=True)
class Site:
    """A place that may be torch's, and what became of it: one line of the ledger."""

    line: int
    column: int
    name: str  # torch.nn.Linear, or .size for a method or attribute of something
    outcome: str  # converted, dispatched, left, not torch's
    why: str = ""
    receiver: str = "proven"  # where the receiver's type comes from: proven, observed, assumed, unknown


@dataclass(frozen=True, slots=True)
class FileConversion:
    path: str
    status: str  # converted, unchanged, copied, helpers, launch, skipped, kept (edited since), failed
    digest: str
    rewrites: tuple[Rewrite, ...] = ()
    findings: tuple[Finding, ...] = ()
    key: str = ""  # of what it was made from; the same key need not be converted again
    helpers: tuple[str, ...] = ()  # names in ms_compat.py that it uses
    sites: tuple[Site, ...] = ()  # the ledger
    layout: str = ""  # where its networks have their channels, where that is not MindSpore's own place


@dataclass(frozen=True, slots=True)
class ProjectConversion:
    """What `convert` did, file by file."""

    source: str
    output: str
    files: tuple[FileConversion, ...]
    helpers: tuple[str, ...] = ()
    parameter_names: dict[str, dict[str, str]] = field(default_factory=dict)  # class -> torch name -> its name
    inputs: str = ""  # digest of all code and settings
    facts: str = ""  # digest of what the project defines
    reused: tuple[str, ...] = ()  # files that were as they had been

    @property
    def helper_modules(self) -> tuple[str, ...]:
        """Where helpers are imported from: modules, and packages by their own name."""
        paths = [file.path for file in self.files if file.status == "helpers"]
        packages = {path.removesuffix("/__init__.py") for path in paths if path.endswith("/__init__.py")}
        modules = [path.removesuffix(".py") for path in paths if path.rpartition("/")[0] not in packages]
        return tuple(path.replace("/", ".") for path in (*modules, *sorted(packages)))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for file in self.files for finding in file.findings)


@dataclass(frozen=True, slots=True)
class WeightEntry:
    source: str
    target: str
    shape: tuple[int, ...]
    dtype: str
    how: str  # exact, cell, record, structure, pattern, map, whole
    path: str = ""  # its place in the model, where one is known; two layers of one name differ in it


@dataclass(frozen=True, slots=True)
class WeightsReport:
    """Which parameter became which, and what found no place."""

    source: str
    output: str
    entries: tuple[WeightEntry, ...]
    dropped: tuple[str, ...] = ()  # has no counterpart by design, such as num_batches_tracked
    missing: tuple[str, ...] = ()  # in the model, not in the file
    unexpected: tuple[str, ...] = ()  # in the file, not in the model
    mismatched: tuple[str, ...] = ()  # shapes differ
    kept: tuple[str, ...] = ()  # in the model only, by design: a norm without affine keeps its ones and zeros
    key: str = ""  # where in a nested training checkpoint the parameters were
    others: tuple[str, ...] = ()  # other sets of parameters in there, such as an EMA copy

    @property
    def complete(self) -> bool:
        return not (self.missing or self.unexpected or self.mismatched)


@dataclass(frozen=True, slots=True)
class Difference:
    """One tensor on both sides: a module's output or gradient, a parameter's gradient, the network's output."""

    name: str
    kind: str  # network, output, input, gradient, input gradient, parameter, buffer, loss, update
    shape: tuple[int, ...]
    max_abs: float
    max_rel: float  # largest absolute error / largest absolute reference value
    cosine: float
    tolerance: float  # what max_rel had to stay under
    reference_error: float  # the reference's own float32 error against float64, same measure; nan where not measured
    own_error: float  # the module's error on the reference's own input; nan where not measured
    passed: bool
    mode: str = "eval"  # eval, train, jit, step
    call: int = 0  # which call of the module, from 0
    own_tolerance: float = math.nan  # what own_error had to stay under
    own_reference_error: float = math.nan  # the reference's own float32 error in the same run
    note: str = ""  # what is wrong, where a number doesn't say it
    incomparable: str = ""  # why nothing can be said here: the reference does not agree with itself
    inputs: str = ""  # the set of inputs, where there are several


class Outcome(StrEnum):
    """What `verify` says of a conversion."""

    SAME = "same"
    DIFFERENT = "different"
    PARTIAL = "same as far as compared"


EXIT_CODES = {Outcome.SAME: 0, Outcome.DIFFERENT: 1, Outcome.PARTIAL: 4}


@dataclass(frozen=True, slots=True)
class Gap:
    """Something of the network that no comparison has seen."""

    subject: str  # parameter, gradient, update, buffer, output, module, branch, mode, random
    name: str
    state: str  # not comparable, not reached
    why: str
    matters: bool = True  # without it, "same" would say too much


@dataclass(frozen=True, slots=True)
class Coverage:
    """The ledger: how much of each kind was compared, and all that was not."""

    compared: dict[str, int]
    gaps: tuple[Gap, ...] = ()

    @property
    def is_complete(self) -> bool:
        return not any(gap.matters for gap in self.gaps)


@dataclass(frozen=True, slots=True)
class Predictions:
    """Both models over the same samples."""

    samples: int
    agree: int
    reference_accuracy: float
    accuracy: float
    differing: tuple[int, ...] = ()
    passed: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `verify` measured."""

    model: str
    inputs: str
    differences: tuple[Difference, ...]
    predictions: Predictions | None
    passed: bool
    first_divergence: str = ""
    seconds: float = 0.0
    culprits: tuple[str, ...] = ()  # modules or parameters that are wrong by themselves, in execution order
    unmatched: tuple[str, ...] = ()  # modules that only one side has
    notes: tuple[str, ...] = ()
    diagnosis: tuple[str, ...] = ()  # what --bisect found in the first culprit
    script: str = ""  # a few lines that reproduce it
    outcome: Outcome = Outcome.SAME  # `passed` only where it is "same"
    coverage: Coverage | None = None
    framework: str = "torch"  # of the reference, as people call it


@dataclass(frozen=True, slots=True)
class Step:
    loss: float
    lr: float
    grad_norm: float


@dataclass(frozen=True, slots=True)
class Curves:
    """The same training steps on both sides."""

    reference: tuple[Step, ...]
    converted: tuple[Step, ...]
    tolerance: float
    worst: float  # largest relative loss difference
    passed: bool
    first_difference: str = ""
    seconds: float = 0.0
    distances: tuple[float, ...] = ()  # per step: how far the parameter that differs most is from its twin, relative
    drift: tuple[float, ...] = ()  # per step: its own float32 loss against its float64 loss, relative, if measured
    cause: str = ""  # why they part: the rate, decay, momentum, clipping, the schedule, the order of data
    framework: str = "torch"  # of the reference, as people call it
    updates: int = 0  # parameters whose way through the steps was compared
    unmatched: tuple[str, ...] = ()  # those of the reference that the conversion's script never met
    networks: tuple[str, ...] = ()  # classes with the same first output, whose parameters all agree
    conduct: tuple[str, ...] = ()  # what the script does otherwise besides its steps: modes, figures that it prints

    @property
    def gaps(self) -> tuple[str, ...]:
        """What of training these steps do not show, though they agree."""
        losses = {step.loss for step in self.reference}
        found = [] if losses else ["training: no step was made"]
        if not all(math.isfinite(loss) for loss in losses):
            found.append("losses of training: some are no numbers in the original")
        elif len(losses) == 1 < len(self.reference):
            found.append("training: the loss is the same at every step, so it tells nothing")
        if self.unmatched:
            count, first = len(self.unmatched), ", ".join(self.unmatched[:3])
            found.append(f"updates of {count} parameter{'s' if count > 1 else ''} without a twin in training ({first})")
        return (*found, *self.conduct)

    @property
    def outcome(self) -> Outcome:
        return Outcome.DIFFERENT if not self.passed else Outcome.PARTIAL if self.gaps else Outcome.SAME


@dataclass(frozen=True, slots=True)
class PlainRun:
    """The converted script as it is: own data, own random numbers, dropout on, its first framework not in reach."""

    command: str
    ended: str  # itself, steps, seconds, error, killed
    reference_ended: str
    losses: tuple[float, ...]
    seeds: tuple[tuple[float, ...], ...]  # losses of the reference, once with its own seeds and then with others
    passed: bool
    finding: Finding | None = None  # the first thing that is wrong
    outside: tuple[int, ...] = ()  # steps, from 0, whose loss lies outside of what the seeds span
    seconds: float = 0.0
    output: str = ""  # the last lines that it printed
    framework: str = "torch"  # the reference's, as people call it
    left_band: int = 0  # runs of the conversion whose losses lay outside, before others that lie in the band
    printed: int = 0  # numbers that both print alike, where no loss tells what is computed
    missed: str = ""  # a line of numbers that was not compared there

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the script computes and this run does not show, though it ended well."""
        if not self.losses:
            why = f"not `{self.missed}`" if self.printed and self.missed else "neither side made a training step"
            return () if self.printed and not self.missed else (f"what the script computes in its own run: {why}",)
        is_told = all(math.isfinite(loss) for losses in self.seeds for loss in losses)
        return () if is_told else ("losses of the script's own run: some are no numbers in the original",)

    @property
    def outcome(self) -> Outcome:
        return Outcome.DIFFERENT if not self.passed else Outcome.PARTIAL if self.gaps else Outcome.SAME


def save(artifact: Any, folder: Path, stage: str) -> Path:
    """Write `artifact` as `folder/.mindferry/<stage>.json`."""
    path = folder / STATE / f"{stage}.json"
    write_text(path, dumps(artifact))
    return path


def dumps(artifact: Any) -> str:
    return laid_out({"mindferry": FORMAT, "kind": type(artifact).__name__, **plain(artifact)}) + "\n"


def load(kind: type[T], folder: Path, stage: str) -> T:
    """Read `folder/.mindferry/<stage>.json` back."""
    path = folder / STATE / f"{stage}.json"
    try:
        body = json.loads(read_regular(path))
    except FileNotFoundError:
        raise MindferryError(f"no {path}; run `mindferry {stage}` first") from None
    except (OSError, ValueError, RecursionError) as error:
        raise MindferryError(f"cannot read {path} ({error}); run `mindferry {stage}` again") from None
    if not isinstance(body, dict) or body.get("kind") != kind.__name__ or body.get("mindferry") != FORMAT:
        raise MindferryError(f"{path} was not written by this version of mindferry; run `mindferry {stage}` again")
    try:
        made = build(kind, body)
    except UNBUILDABLE as error:
        raise MindferryError(f"{path} is incomplete ({str(error)[:200]}); run `mindferry {stage}` again") from None
    folders = () if kind is PlainRun else FOLDERS  # what a plain run put out is text
    if not all(is_name(str(getattr(made, name, ""))) for name in folders):
        raise MindferryError(f"{path} names a folder that can't be one: it is damaged or forged")
    if isinstance(made, ProjectConversion) and (strays := [f.path for f in made.files if not is_inside(f.path)]):
        raise MindferryError(
            f"{path} names {brief(repr(strays[0]))}, which is no file of the project: it is damaged or forged"
        )
    return cast(T, made)


def is_whole(folder: Path, stage: str) -> bool:
    """Whether a stage's record is there, and so is what it wrote beside it: the converted files, the checkpoint."""
    if stage not in ("convert", "weights"):
        return (folder / STATE / f"{stage}.json").is_file()
    try:
        if stage == "weights":
            return Path(load(WeightsReport, folder, stage).output).is_file()
        files = load(ProjectConversion, folder, stage).files
        return all((folder / each.path).is_file() for each in files if each.digest)
    except MindferryError:
        return False
