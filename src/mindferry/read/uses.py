"""What a framework's APIs are used for, as far as stages treat them by more than their entry in the table. apis/<name>/uses.tsv has the names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum


class Use(Enum):
    """A row of uses.tsv is one of these and the names that it stands for; `torch.nn.init.*` is everything that begins so."""

    __hash__ = object.__hash__  # an enum's own hashes the name anew each time

    # training
    BACKWARD = "backward"  # the loss's method
    BACKWARD_FUNCTION = "backward function"
    DERIVATIVE = "derivative"  # the gradient of some values by others
    FUNCTION_DERIVATIVE = "function derivative"  # takes a function, whose derivative it gives
    STEP = "step"  # the optimizer's
    ZERO_GRADIENT = "zero gradient"
    DRIVES_STEP = "drives step"  # whatever else stands around these
    CLIPS_NORM = "clips norm"
    CLIPS_VALUE = "clips value"
    CLIPS = "clips"
    NO_GRADIENT = "no gradient"  # blocks and decorators
    OWN_GRADIENT = "own gradient"  # a class that says how its result is differentiated
    GRADIENT_SWITCH = "gradient switch"  # the same, by an argument
    AUTOCAST = "autocast"
    LOSS_SCALER = "loss scaler"
    REQUIRES_GRADIENT = "requires gradient"
    VARIABLE = "variable"  # makes a tensor that has a gradient
    PARAMETER = "parameter"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    INITIALIZER = "initializer"
    STARTING_VALUE = "starting value"  # methods that set a parameter's first value
    TRAINER = "trainer"  # runs the steps and hooks of a module
    TRAINED_MODULE = "trained module"
    TRAINER_CALLBACK = "trainer callback"
    # values
    FUNCTIONAL = "functional"
    INIT_FUNCTION = "init function"
    COLLECTIVE = "collective"
    NETWORK_PART = "network part"
    NETWORK_LIST = "network list"
    NETWORK_TABLE = "network table"
    FLAT_CONVOLUTION = "flat convolution"
    FLAT_LAYER = "flat layer"  # of these, MindSpore's keep sizes for two axes
    IMAGE_CONVOLUTION = "image convolution"
    ADAPTIVE_POOL = "adaptive pool"
    VOLUME_NORM = "volume norm"
    SYNCED_NORM = "synced norm"
    ONES = "ones"
    BOOLEAN = "boolean"
    LEFT_SHIFT = "left shift"
    RIGHT_SHIFT = "right shift"
    BITWISE_NOT = "bitwise not"
    COMPLEX = "complex"  # what they return is complex
    COMPLEX_TYPE = "complex type"
    FROM_NUMBER = "from number"  # makes a tensor of numbers that are there
    DOUBLE = "double"
    OF_PYTHON = "of Python"  # a class of Python's own that the framework hands on
    BYTE_TYPE = "byte type"
    TAKES_PARAMETER = "takes parameter"  # a parameter itself, not its values
    IMAGE_TO_ARRAY = "image to array"
    SEARCH = "search"  # gives places
    SEARCH_BY_CONDITION = "search by condition"  # if it is given nothing but the condition
    SELECTION = "selection"  # gives as many as there are, perhaps none
    SUM = "sum"  # adds up, perhaps nothing
    ARRANGES_MEMORY = "arranges memory"  # methods of layers, by their bare names
    GIVES_VALUES = "gives values"  # parameters have other values afterwards; by bare names, like the next two
    LEAVES_VALUES = "leaves values"  # named like a method that writes in place, and changes no values
    MOVES_MOMENTUM = "moves momentum"  # schedules that change more of an optimizer than its rate
    STOPS_GRADIENTS = "stops gradients"
    CHECKS_INPUT = "checks input"  # the same: they raise or do nothing
    DRAWS_OPENLY = "draws by reset_parameters"  # the constructor calls this method of the object's
    DRAWS_PRIVATELY = "draws by _reset_parameters"
    NEEDS_NO_INSTANCE = "needs no instance"  # what it is called on doesn't count
    REPEAT = "repeat"  # by numbers
    JOIN = "join"
    STACK = "stack"
    GROW = "grow"
    SPARSE = "sparse"
    EMBEDDING = "embedding"
    DROPOUT = "dropout"
    MANY_AT_ONCE = "many at once"
    NO_ENTRY = "no entry"  # names of tensors that no entry of the table answers for
    # programs
    SETTING = "setting"  # of the framework itself
    COMPILED_OPERATOR = "compiled operator"
    OWN_OPERATOR = "own operator"  # called by its internal name
    PROCESS = "process"
    LAUNCH = "launch"  # of several processes
    SHUFFLE = "shuffle"
    SAMPLER = "sampler"
    IMAGE_TRANSFORM = "image transform"
    MIX = "mix"  # of samples
    COMPOSE = "compose"
    ANY_FUNCTION = "any function"  # as a transform
    MAKES_TENSOR = "makes tensor"  # of an image
    VISION = "vision"
    READY_MODEL = "ready model"
    LAUNCHER = "launcher"  # a module that starts processes
    DATA_PIPELINE = "data pipeline"
    LARGEST = "largest"  # of all, or along a dimension with where it stands
    LARGEST_INDEX = "largest index"
    SMALLEST = "smallest"
    SMALLEST_INDEX = "smallest index"
    DATASET_BASE = "dataset base"
    READY_DATASET = "ready dataset"
    ARRAY_DATA = "array data"  # gives arrays already
    # code that touches the device
    INPUT = "input"
    OUTPUT = "output"
    EXECUTION = "execution"
    CONSTRUCTION = "construction"
    NEUTRAL = "neutral"
    SAVE = "save"
    LOAD = "load"


@dataclass(frozen=True, slots=True)
class Uses:
    """Names by use."""

    exact: Mapping[Use, frozenset[str]] = field(default_factory=dict)
    starts: Mapping[Use, tuple[str, ...]] = field(default_factory=dict)
    first: Mapping[Use, str] = field(default_factory=dict)

    def name(self, use: Use) -> str:
        """The name that a report gives it; '' if the framework has none."""
        return self.first.get(use, "")

    def has(self, use: Use, api: str) -> bool:
        return api in self.exact.get(use, ()) or api.startswith(self.starts.get(use, ()))

    def of(self, api: str, among: Iterable[Use]) -> Use | None:
        """Which of these it is: by its whole name, or else by the longest beginning."""
        found, length = None, 0
        for use in among:
            if api in self.exact.get(use, ()):
                return use
            longest = max((len(start) for start in self.starts.get(use, ()) if api.startswith(start)), default=0)
            if longest > length:
                found, length = use, longest
        return found


def read_uses(rows: Iterable[tuple[str, str]]) -> Uses:
    """(use, names) rows."""
    names: dict[Use, list[str]] = {}
    for use, listed in rows:
        names.setdefault(Use(use), []).extend(listed.split())
    return Uses(
        {use: frozenset(name for name in listed if not name.endswith("*")) for use, listed in names.items()},
        {use: tuple(name[:-1] for name in listed if name.endswith("*")) for use, listed in names.items()},
        {use: listed[0] for use, listed in names.items()},
    )
