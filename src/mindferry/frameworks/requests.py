"""What the parent asks of a worker and what it answers, as frozen dataclasses: they travel as JSON, by as_json.py."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..tune_record import Profile
from ..verify.compare import Measurement


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """To torch: build the model, run it, write the golden file."""

    model: str
    inputs: tuple[str, ...]
    golden: str  # path
    weights: str = ""
    modes: tuple[str, ...] = ("eval", "train")
    seed: int = 0
    inside: bool = False  # every module's inputs too, to find a culprit
    has_weights: bool = True  # written to the file; not where the conversion has them already
    is_quick: bool = False  # no float64
    loss: str = ""
    targets: tuple[str, ...] = ()
    optimizer: str = ""
    steps: int = 0
    variant: str = ""  # the inputs in another size: its description, from VariantsRequest
    is_rough: bool = False  # with MindSpore's own formula for tanh
    is_watched: bool = False  # of other inputs: the lines that run are noted
    turned: dict[str, float] = field(default_factory=dict)  # attribute -> the number that it holds meanwhile


@dataclass(frozen=True, slots=True)
class VariantsRequest:
    """To torch: in which other sizes could the inputs be? The answer: groups of descriptions."""

    inputs: tuple[str, ...]
    seed: int
    methods: dict[str, list[str]] = field(default_factory=dict)  # class -> methods that nothing has called


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """To torch: build the model again with another seed. The answer names the buffers that came out otherwise."""

    model: str
    seed: int


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """To MindSpore: build the model, run it as the golden file says."""

    model: str
    golden: str
    modes: tuple[str, ...]
    loss: str = ""
    optimizer: str = ""
    is_kept: bool = False  # the cell of the last request will do; it was loaded with the same weights
    turned: dict[str, float] = field(default_factory=dict)  # attribute -> the number that it holds meanwhile
    variant: str = ""  # what the inputs are, or the method that is called instead of construct


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Something that was not compared, as the conversion's side saw it."""

    subject: str  # gradient, buffer, output, mode …
    name: str
    state: str  # not comparable, not reached
    why: str
    matters: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that one comparison measured, before it is judged."""

    measurements: tuple[Measurement, ...]
    unmatched: tuple[str, ...] = ()  # modules that only one side has, or calls
    shortfalls: tuple[Shortfall, ...] = ()
    classes: dict[str, str] = field(default_factory=dict)  # path -> the cell's class
    is_spoilt: bool = False  # an operator failed: MindSpore computes wrong gradients from then on
    settings: dict[str, dict[str, float]] = field(default_factory=dict)  # path -> what is too small to show in a value
    keeps_state: bool = False  # a call leaves something behind here alone, and the reference was not called twice
    turnable: dict[str, float] = field(default_factory=dict)  # attribute that both sides keep -> another number for it


@dataclass(frozen=True, slots=True)
class PredictRequest:
    data: str  # module:function
    samples: int


@dataclass(frozen=True, slots=True)
class CellRequest:
    """To MindSpore: something about one cell of the network that was compared last."""

    path: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A method as it stands in a file; all empty where there is none."""

    file: str = ""
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """To either: what each line of one module assigns."""

    path: str
    call: int
    mode: str
    golden: str
    inputs: tuple[str, ...]
    seed: int
    backward: bool = False  # the gradients of what is assigned, too


@dataclass(frozen=True, slots=True)
class TracedLine:
    file: str
    line: int
    text: str
    variable: str


@dataclass(frozen=True, slots=True)
class Traced:
    lines: tuple[TracedLine, ...]
    arrays: str  # path
    gradients: str = ""  # path


@dataclass(frozen=True, slots=True)
class Found:
    """A file that the worker wrote."""

    path: str


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """To either: run the training script for so many steps; batches, weights and random numbers go through `exchange`."""

    exchange: str  # folder
    script: str
    args: tuple[str, ...]
    steps: int
    has_optimizer: bool = False  # a reference that ended by itself: the others should, too
    helpers: tuple[str, ...] = ()  # modules that the conversion brought along
    stdin: str = ""  # what the script reads from its standard input


@dataclass(frozen=True, slots=True)
class TrainStep:
    loss: float
    lr: float
    grad_norm: float
    distance: float = 0.0  # the largest of a parameter from its twin
    worst: str = ""  # that parameter
    batch: tuple[int, ...] = ()  # the loop over a loader, and the number of the batch in it


@dataclass(frozen=True, slots=True)
class CauseRequest:
    """To torch: why do these two trainings part? What they did at each step is in `exchange`."""

    exchange: str  # folder
    reference: tuple[TrainStep, ...]
    converted: tuple[TrainStep, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    cause: str  # a sentence; "" if it can't be told


@dataclass(frozen=True, slots=True)
class Trained:
    steps: tuple[TrainStep, ...]
    has_optimizer: bool = False
    printed: tuple[str, ...] = ()  # lines
    modes: tuple[str, ...] = ()  # in which networks were called: "Net in eval mode"
    loops: tuple[int, ...] = ()  # of each loop over a loader, which loader, in the order of their first loops
    starts: tuple[str, ...] = ()  # parameters that the script itself starts otherwise than the reference


@dataclass(frozen=True, slots=True)
class DoubleLosses:
    """Of the reference in float64; none where the script insists on float32, and then `why`."""

    losses: tuple[float, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many steps of each stage `tune` watches. A stage also ends when its seconds are used up: a timed one after
    two steps at the earliest, the others after one step that takes a quarter of them."""

    warm: int = 2
    plain: int = 6
    observed: int = 4
    profiled: int = 2
    seconds: float = 40.0


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """To either: run a script, a step function or a model under clocks."""

    plan: Plan
    script: str = ""
    args: tuple[str, ...] = ()
    model: str = ""
    inputs: tuple[str, ...] = ()
    step: str = ""
    helpers: tuple[str, ...] = ()
    is_plain: bool = False  # dropout off
    preload: str = ""  # a module to import first
    environment: dict[str, str | None] = field(default_factory=dict)  # None: not set


@dataclass(frozen=True, slots=True)
class SyncPlace:
    """A line that waits for the device."""

    place: str
    calls: float  # a step
    often: float  # share of the steps


@dataclass(frozen=True, slots=True)
class Counted:
    name: str
    count: float


@dataclass(frozen=True, slots=True)
class TuneFacts:
    """What the diagnosis needs beside the profile."""

    lines: tuple[Counted, ...] = ()  # of the script, by the looks that found them at work
    looks: int = 0
    syncs: tuple[SyncPlace, ...] = ()
    batch: int = 0  # rows
    parameters: int = 0
    first_step: float = 0.0  # seconds
    warm: int = 2  # steps
    calls: float = 0.0  # of a network, a step
    repeats: tuple[Counted, ...] = ()  # modules that run more than once a step
    isa: str = ""  # what ONEDNN_MAX_CPU_ISA says
    queued: tuple[int, ...] = ()  # rows that were ready when the loop asked for a batch
    has_avx512: bool = False


@dataclass(frozen=True, slots=True)
class Tuned:
    profile: Profile
    facts: TuneFacts = TuneFacts()


@dataclass(frozen=True, slots=True)
class Cipher:
    """How a MindIR file is encrypted."""

    key: str = ""  # hexadecimal
    mode: str = ""


@dataclass(frozen=True, slots=True)
class PrepareRequest:
    """To MindSpore: what the cell computes on each set of inputs, and its parameters, as files."""

    model: str
    weights: str
    inputs: str  # paths, from here on
    expected: str
    parameters: str


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """To MindSpore: export the cell. The answer says why there is no file, or nothing."""

    model: str
    parameters: str
    inputs: str
    form: str
    path: str
    cipher: Cipher


@dataclass(frozen=True, slots=True)
class ExportedRequest:
    """To a fresh MindSpore: what the exported file computes, as a file."""

    path: str
    form: str
    inputs: str
    outputs: str
    cipher: Cipher


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """To MindSpore, with torch beside it: one case of one rule of the table."""

    title: str  # the rule's
    case: int


@dataclass(frozen=True, slots=True)
class CountRequest:
    """To torch: build a network and count its parameters."""

    model: str


@dataclass(frozen=True, slots=True)
class ParameterCount:
    name: str  # the network's class
    lines: tuple[str, ...]  # the whole network's, then each child's


@dataclass(frozen=True, slots=True)
class BatchesRequest:
    """To either: run a data pipeline and write its batches to files."""

    data: str  # module:function(arguments), or a script and its arguments
    epochs: int
    batches: int
    seed: int
    helpers: tuple[str, ...]
    offset: int = 0  # added to every seed but that of the order of samples
    longest: int = 20_000  # batches of an epoch whose end is waited for


@dataclass(frozen=True, slots=True)
class BatchPlaces:
    epoch: int
    batch: int
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoaderRun:
    """What one loader gave."""

    name: str
    file: str  # path
    lengths: tuple[int, ...]  # of its epochs, in batches
    places: tuple[BatchPlaces, ...]
    announced: int | None  # its own len()
