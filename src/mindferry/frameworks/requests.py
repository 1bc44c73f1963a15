"""What the parent asks of a worker and what it answers, as frozen dataclasses: they travel as JSON, by as_json.py."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    is_quick: bool = False  # no float64
    loss: str = ""
    targets: tuple[str, ...] = ()
    optimizer: str = ""
    steps: int = 0
    variant: str = ""  # the inputs in another size: its description, from VariantsRequest
    is_rough: bool = False  # with MindSpore's own formula for tanh


@dataclass(frozen=True, slots=True)
class VariantsRequest:
    """To torch: in which other sizes could the inputs be? The answer: groups of descriptions."""

    inputs: tuple[str, ...]
    seed: int


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
