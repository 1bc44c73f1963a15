"""Short forms of helpers: what stands in compat/short_*.py takes a helper's place where a project needs no more of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from .helper_parts import NEEDED, TRAINERS
from .helper_use import CallShape, ProjectUse

PREFIX = "Short"
OPTIMIZERS = {"Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "RAdam", "Rprop"}
OTHER_OPTIMIZERS = {"Optimizer", "LBFGS", "NAdam", "ASGD", "SparseAdam", "Adafactor", "Muon"}
SCHEDULES = {"LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR"} | {
    "PolynomialLR",
    "CosineAnnealingLR",
}
OTHER_SCHEDULES = re.compile(r"Scheduler|Plateau|Cycl|WarmRestarts|SequentialLR|SWALR")
MOMENTUM = {"momentum", "betas", "maximize"}  # settings of a group that the short form reads once
PARAMETERS = re.compile(r"(?:[\w.]+\.trainable_params\(\)|(?:\w+\.)?parameters\([\w.]+\))\Z")
OWN_PARTS = ("LACKS_GRADIENTS", "KEEPS_OPTIMIZER_STATE", "TAKES_CLOSURES", "TAKES_PLANNED_RATES")
GIVEN_UP = {"size_average", "reduce"}  # arguments of losses that torch has given up
# Settings of a loader that the short one takes no notice of, and the attributes of a loader that it has.
UNUSED = {"pin_memory", "timeout", "prefetch_factor", "persistent_workers", "pin_memory_device", "in_order"}
LOADER_SETTINGS = {"dataset", "batch_size", "shuffle", "sampler", "collate_fn", "drop_last", "num_workers", *UNUSED}
LOADER_WORDS = {"sampler", "batch_sampler", "num_workers", "worker_init_fn", "generator", *UNUSED}


def short_forms(use: ProjectUse | None, wanted: Collection[str]) -> dict[str, str]:
    """By helper, the short form that is enough for the project."""
    if use is None or use.is_library or TRAINERS & set(wanted):
        return {}
    return {name: PREFIX + name for name, is_enough in ENOUGH.items() if is_enough(use, set(wanted))}


def has_one_group(use: ProjectUse, wanted: set[str]) -> bool:
    """Every optimizer is made of one network's parameters, and nobody asks for more of it than its learning rate."""
    made = OPTIMIZERS & wanted
    calls = [shape for name in made for shape in use.calls.get(name, ())]
    if not calls or made & use.values or OTHER_OPTIMIZERS & wanted or _asks_for_more(use, wanted):
        return False
    if any(NEEDED[part](use, wanted) for part in ("TAKES_CLOSURES", "TAKES_PLANNED_RATES", "TAKES_COMPLEX_NUMBERS")):
        return False
    # Where steps are left out for single parameters, their numbers are part of the state.
    if all(NEEDED[part](use, wanted) for part in ("KEEPS_OPTIMIZER_STATE", "LACKS_GRADIENTS")):
        return False
    return all(PARAMETERS.match(shape.first) and not shape.is_open for shape in calls)


def looks_like_optimizer(owner: str) -> bool:
    """Whether what is written so may be an optimizer. A wrong guess is an AttributeError."""
    return "opt" in owner.lower()


def _asks_for_more(use: ProjectUse, wanted: set[str]) -> bool:
    """A schedule that moves the momentum, or a project that reads or writes what only a full group has."""
    moves_momentum = bool(use.keys & MOMENTUM) or any("Cycl" in name or "SWA" in name for name in wanted)
    has_words = "add_param_group" in use.mentioned or "maximize" in use.stored
    is_updated = "param_groups" in use.mentioned and "update" in use.given
    return moves_momentum or has_words or is_updated or any(looks_like_optimizer(each) for each in use.group_owners)


def reads_plain_batches(use: ProjectUse, wanted: set[str]) -> bool:
    """Every loader has a batch size and a dataset that can be indexed, and makes its batches in this process."""
    calls = use.calls.get("DataLoader", [])
    asked = LOADER_WORDS & (use.mentioned | use.assigned)
    if calls and all(shape.keywords.get("sampler", "None") != "None" for shape in calls):
        asked.discard("sampler")  # it is the one that was given
    if not calls or "DataLoader" in use.values or asked:
        return False
    if any(NEEDED[part](use, wanted) for part in ("STREAMS_DATA", "TAKES_SINGLE_SAMPLES")):
        return False
    is_marked = NEEDED["MARKS_DATA"](use, wanted) and NEEDED["COLLATES_OTHERWISE"](use, wanted)
    return not is_marked and all(_is_plain_loader(shape) for shape in calls)


def _is_plain_loader(shape: CallShape) -> bool:
    is_known = not shape.is_open and len(shape.positions) <= 3 and set(shape.keywords) <= LOADER_SETTINGS
    return is_known and shape.keywords.get("num_workers", "0") == "0"


def starts_schedules_once(use: ProjectUse, wanted: set[str]) -> bool:
    """Every schedule starts with its optimizer, and step() is given nothing."""
    made = SCHEDULES & wanted
    if not made or OTHER_SCHEDULES.search(" ".join(wanted)) or {"LRScheduler", *made} & use.values:
        return False
    if any(NEEDED[part](use, wanted) for part in ("KEEPS_OPTIMIZER_STATE", "RESUMES_SCHEDULES", "TAKES_EPOCHS")):
        return False
    return "LRScheduler" not in wanted and not any(shape.is_open for name in made for shape in use.calls.get(name, ()))


def picks_plain_classes(loss: str) -> Callable[[ProjectUse, set[str]], bool]:
    """MindSpore's functions multiply what is not picked by zero, which -inf does not stand, and can't add up nothing."""

    def is_enough(use: ProjectUse, wanted: set[str]) -> bool:
        calls = use.calls.get(loss, [])
        is_known = bool(calls) and loss not in use.values and not (use.writes_negative_infinity or use.selects)
        return (
            is_known
            and not any(shape.is_open or GIVEN_UP & set(shape.keywords) for shape in calls)
            and all(each == "None" for shape in calls for each in (*shape.positions[1:2], *shape.positions[3:4]))
        )

    return is_enough


def allows_exact_optimizers(use: ProjectUse | None, wanted: set[str]) -> bool:
    """Whether the project gets by with MindSpore's own optimizers and schedules, and Adam in its short form."""
    if use is None or use.is_library or TRAINERS & wanted or "param_groups" in use.mentioned | use.stored:
        return False
    others = (OPTIMIZERS | OTHER_OPTIMIZERS | SCHEDULES) - {"Adam"}
    if (others | {"Adam"}) & use.values or others & wanted or any(OTHER_SCHEDULES.search(name) for name in wanted):
        return False
    takes_epochs = "lr_scheduler" in use.mentioned and NEEDED["TAKES_EPOCHS"](use, wanted)
    if takes_epochs or any(NEEDED[part](use, wanted) for part in OWN_PARTS) or _asks_for_more(use, wanted):
        return False
    return all(map(_is_plain_adam, use.calls.get("Adam", ())))


def _is_plain_adam(shape: CallShape) -> bool:
    has_options = len(shape.positions) <= 5 and set(shape.keywords) <= {"lr", "betas", "eps", "weight_decay"}
    return has_options and not shape.is_open and bool(PARAMETERS.match(shape.first))


def saves_states_only(use: ProjectUse, wanted: set[str]) -> bool:
    """Files hold a network's state, and whoever reads one hands it to a network."""
    parts = ("SAVES_OBJECTS", "TAKES_FILES", "NAMES_ENTRIES")
    calls = [shape for name in ("save", "load") for shape in use.calls.get(name, ())]
    is_plain = not any(shape.is_open or shape.keywords for shape in calls)
    return is_plain and not {"save", "load"} & use.values and not any(NEEDED[part](use, wanted) for part in parts)


def renames_entries_only(use: ProjectUse, wanted: set[str]) -> bool:
    """What a network is given has its own names, or torch's where MindSpore's layers have others."""
    parts = ("NAMES_ENTRIES", "OVERRIDES_STATE", "HAS_LOAD_HOOKS", "HAS_LAZY_LAYERS", "HAS_FLAT_WEIGHTS")
    is_asked = "load_state_dict" in use.values or any(NEEDED[part](use, wanted) for part in parts)
    # Layers that are helpers call their parameters as torch does, and a file may have MindSpore's names for them.
    has_own_layers = any(re.search(r"Norm|Embedding|PReLU|Transformer", name) for name in wanted)
    return not is_asked and not has_own_layers and NEEDED["RENAMES_ENTRIES"](use, wanted)


ENOUGH: Mapping[str, Callable[[ProjectUse, set[str]], bool]] = {
    "Adam": lambda use, wanted: use.has_exact_optimizers,
    "ParamGroup": has_one_group,
    "GradientOptimizer": has_one_group,
    "LRScheduler": starts_schedules_once,
    "DataLoader": reads_plain_batches,
    "CrossEntropyLoss": picks_plain_classes("CrossEntropyLoss"),
    "NLLLoss": picks_plain_classes("NLLLoss"),
    "save": saves_states_only,
    "load": saves_states_only,
    "load_state_dict": renames_entries_only,
}
