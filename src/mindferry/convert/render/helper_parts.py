"""Decides which parts of the helpers a project needs: apis/torch/compat/parts.py names them, and none of the names is in the output."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files

from ...read.guesses import looks_like_optimizer
from ...read.walk import walk
from .fixed_locals import with_fixed_locals
from .fold_constants import Offsets, parsed, simplified
from .helper_use import ProjectUse

GRADIENT_HELPERS = {
    "backward",
    "partial_backward",
    "loss_and_gradients",
    "value_and_gradients",
    "add_gradients",
    "apply_gradients",
    "gathered",
    "clear_gradients",
    "closure_with_gradients",
}
PARTIAL = {
    "partial_backward",
    "loss_and_gradients",
    "value_and_gradients",
    "recorded_gradients",
    "closure_with_gradients",
}
WHOLE = {"backward", "apply_gradients", "clear_gradients"}
WHOLE_NETWORK = re.compile(r"\w+\.trainable_params\(\)\Z")
MAPPINGS = re.compile(r"BatchEncoding|\w+Tokenizer(Fast)?|DataCollator\w*|\w*(Easy|Attr|User|Tensor)Dict|Munch|Box")
MAPPING_BASES = re.compile(r"dict|(?!Module|Parameter)\w+([dD]ict|Mapping)")
MARKING = {"in_this_process", "with_tensors", "on_tensors"}
READING = {"load", "load_state_dict", "any_load_state_dict"}
SHARING = {"NAdam", "ASGD"}
FREEZING = {"set_requires_grad", "tensor_requires_grad", "embedding_from_pretrained"}  # helpers
EXTENDED = set("Adadelta Adafactor Adagrad Adam AdamW Adamax ASGD NAdam RAdam RMSprop Rprop SGD SparseAdam".split())
TRAINERS = {"Trainer", "LightningModule", "Accelerator", "Fabric"}  # helpers that call whatever others have


def _mentions(*words: str) -> Callable[[ProjectUse, Collection[str]], bool]:
    return lambda use, _: any(word in use.mentioned or word in use.stored for word in words)


def _plans_rates(use: ProjectUse, _: Collection[str]) -> bool:
    """nn.cosine_decay_lr(…) and its like, which only MindSpore has."""
    return any(word.endswith(("_decay_lr", "_lr_schedule", "DecayLR", "WarmUpLR")) for word in use.mentioned)


def freezes_parameters(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether `p.requires_grad` is set somewhere, or given to what makes a parameter: to read it freezes nothing."""
    words = use.mentioned | use.stored
    if FREEZING & {*wanted, *use.values, *words}:
        return True
    return "requires_grad" in use.assigned or any("requires_grad_" in word or "freeze" in word for word in words)


def _lacks_gradients(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether some of an optimizer's gradients may be None. A loss that reaches all parameters gives all of a network's, or none."""
    is_partial = _leaves_out_parameters(use, wanted) or bool(GRADIENT_HELPERS - WHOLE & set(wanted))
    is_kept = bool(GRADIENT_HELPERS & set(wanted)) and (is_partial or not _trains_whole_networks(use, wanted))
    is_other = freezes_parameters(use, wanted) or _resets_state(use, wanted)
    return is_kept or "grad" in use.mentioned | use.stored or is_other


def _resets_state(use: ProjectUse, _: Collection[str]) -> bool:
    """Whether an optimizer's .state is asked for: what is taken out of it begins anew."""
    return any(looks_like_optimizer(owner) for owner in use.group_owners)


def _trains_whole_networks(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether each optimizer has the parameters of one network."""
    calls = [shape for name in EXTENDED & set(wanted) for shape in use.calls.get(name, ())]
    is_scaled = any("Scaler" in name or "Optimizer" in name for name in wanted)
    return not is_scaled and all(WHOLE_NETWORK.match(shape.first) and not shape.is_open for shape in calls)


def _leaves_out_parameters(_: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether a loss may be computed without some of the parameters that it trains, or it is not known which it trains."""
    return bool(PARTIAL & set(wanted))


def _takes_generators(use: ProjectUse, wanted: Collection[str]) -> bool:
    words = (use.mentioned | use.stored | set(wanted)) - {"GeneratorDataset"}
    return any("generator" in word.lower() for word in words)


def keeps_optimizer_state(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether state_dict() of anything but a network is asked for, or of something that only running tells."""
    return bool(use.state_owners - use.networks or {"any_state_dict", "any_load_state_dict"} & set(wanted))


def _takes_closures(use: ProjectUse, wanted: Collection[str]) -> bool:
    return "closure_with_gradients" in wanted or any("closure" in word for word in use.mentioned)


def looks_like_dataset(word: str) -> bool:
    """Whether what is called so may be a dataset. A wrong guess is a TypeError where two datasets are added."""
    kinds = "data|set|split|corpus|sample|train|test|val|valid|validation|ds|source|image|extra|part|fold|other"
    return bool(re.search(rf"(?:{kinds})s?\d*\Z", word.lower()))


def _takes_complex_numbers(use: ProjectUse, wanted: Collection[str]) -> bool:
    return any("complex" in word.lower() for word in (*use.mentioned, *use.stored, *wanted))


def _adds_datasets(use: ProjectUse, _: Collection[str]) -> bool:
    return any(looks_like_dataset(word) for word in use.added)


def _takes_single_samples(use: ProjectUse, _: Collection[str]) -> bool:
    """A loader without a batch size. Where the number comes from elsewhere, None would be a TypeError in the sampler."""
    shapes = use.calls.get("DataLoader", [])
    given = [shape.keywords.get("batch_size") or "".join(shape.positions[1:2]) for shape in shapes]
    return "None" in given or "batch_size" in use.unset or "DataLoader" in use.values


def _collates_otherwise(use: ProjectUse, _: Collection[str]) -> bool:
    """Whether a loader is told how to put samples together, or asked for it."""
    shapes = use.calls.get("DataLoader", [])
    is_told = any(len(shape.positions) > 6 or shape.is_open or "collate_fn" in shape.keywords for shape in shapes)
    return is_told or "collate_fn" in use.mentioned | use.assigned


def _names_mappings(use: ProjectUse, _: Collection[str]) -> bool:
    """A wrong guess is a plain dict in place of one of another class."""
    return any(map(MAPPINGS.fullmatch, use.mentioned)) or any(map(MAPPING_BASES.fullmatch, use.bases))


def _holds_objects(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether a batch may be an object: the project has classes for that, and says how batches or samples are made."""
    is_told = _collates_otherwise(use, wanted) or _takes_single_samples(use, wanted) or "to_tensors" in use.calls
    return is_told and bool(use.records or {"SimpleNamespace", "Namespace"} & use.mentioned)


def _saves_objects(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether save() is given anything but what state_dict() returns; what it reads back was written by such a save(), or is asked for parts."""
    is_other = not use.saves_state_only or bool(use.saved_states - use.networks)  # an optimizer's, perhaps
    has_saved_none = not ({"save"} & set(wanted) or "save_checkpoint" in use.mentioned)
    is_downloaded = "load_state_dict_from_url" in wanted  # and may hold more than a network's state
    return use.loads_objects or "save" in use.values or has_saved_none or is_other or is_downloaded


def resumes_schedules(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether a schedule may begin in the middle: from a state, or with a last_epoch."""
    shapes = [shape for name in wanted if name.endswith("LR") for shape in use.calls.get(name, ())]
    has_more = any(len(shape.positions) > 3 or shape.is_open for shape in shapes)
    return keeps_optimizer_state(use, wanted) or has_more or "last_epoch" in use.stored


def _names_entries(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether state dicts are more than loaded: then their entries have torch's names, as the project's code has."""
    is_passed_on = bool({"load", "load_state_dict"} & use.values)
    return use.looks_into_state or is_passed_on or "state_dict" in wanted or "BatchNorm3d" in {*wanted, *use.mentioned}


def _prints_datasets(use: ProjectUse, _: Collection[str]) -> bool:
    """A wrong guess shows as `<ms_compat.CIFAR10 object at …>`."""
    return any(re.search(r"(?:data|set|ds|split|transform|trans|aug|compose)s?\Z", word.lower()) for word in use.shown)


def _changes_rates(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether there are schedules, or somebody reads or writes a group's settings."""
    has_schedules = any(re.search(r"LR(?:On|\Z)|Schedule|Cosine", name) for name in wanted)
    return has_schedules or keeps_optimizer_state(use, wanted) or "param_groups" in use.mentioned | use.stored


def _has_doubles(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether an optimizer may be given float64: by name, or as a parameter that the project makes. A wrong guess is a TypeError."""
    words = {*use.mentioned, *use.stored, *use.values, *wanted}
    makes_parameters = bool({"Parameter", "parameter", "ParameterClass", "leaf", "hold_leaf"} & words)
    return makes_parameters or any(re.search(r"float64|double|default_dtype", word, re.IGNORECASE) for word in words)


def _renames_entries(use: ProjectUse, wanted: Collection[str]) -> bool:
    """Whether a network may hold layers whose parameters MindSpore calls otherwise."""
    words = {*use.mentioned, *use.values, *wanted}
    return any(re.search(r"Norm|Embedding|PReLU|Transformer|\w+_norm\Z|norm_layer", word) for word in words)


NEEDED: Mapping[str, Callable[[ProjectUse, Collection[str]], bool]] = {
    "TAKES_PLANNED_RATES": _plans_rates,
    "TAKES_ORDER": _mentions("order_params"),
    "FREEZES_PARAMETERS": freezes_parameters,
    "LACKS_GRADIENTS": _lacks_gradients,
    "LEAVES_OUT_PARAMETERS": _leaves_out_parameters,
    "CHANGES_RATES": _changes_rates,
    "KEEPS_OPTIMIZER_STATE": keeps_optimizer_state,
    "SHARES_GRADIENTS": lambda use, wanted: False,  # an Accelerator needs all parts
    "SEEDS_APART": lambda use, wanted: any("seed" in name for name in wanted),
    "RESETS_STATE": _resets_state,
    "SHARES_STATE": lambda use, wanted: bool(SHARING & set(wanted)),
    "HAS_OWN_OPTIMIZERS": lambda use, wanted: (
        bool({"Optimizer", "LBFGS"} & set(wanted)) or _takes_closures(use, wanted)
    ),
    "WRAPS_OPTIMIZERS": lambda use, wanted: "step" in use.defined,
    "SELECTS_PARTS": lambda use, wanted: use.selects,
    "EXTENDS_OPTIMIZERS": lambda use, wanted: "step" in use.mentioned and bool(EXTENDED & use.values),
    "TAKES_CLOSURES": _takes_closures,
    "TAKES_EPOCHS": lambda use, wanted: "step" in use.given or "SequentialLR" in wanted,
    "RESUMES_SCHEDULES": resumes_schedules,
    "READS_STATES": lambda use, wanted: bool(READING & {*wanted, *use.values}),
    "ADDS_DATASETS": _adds_datasets,
    "TAKES_COMPLEX_NUMBERS": _takes_complex_numbers,
    "SUBSCRIPTS_CLASSES": lambda use, wanted: use.is_subscripted,
    "TAKES_GENERATORS": _takes_generators,
    "STREAMS_DATA": lambda use, wanted: "IterableDataset" in wanted or "__iter__" in use.mentioned,
    "TAKES_SINGLE_SAMPLES": _takes_single_samples,
    "MARKS_DATA": lambda use, wanted: bool(MARKING & set(wanted) or {"stays_in_process", "takes_tensors"} & use.stored),
    "COLLATES_OTHERWISE": _collates_otherwise,
    "NAMES_MAPPINGS": _names_mappings,
    "HOLDS_OBJECTS": _holds_objects,
    "NAMES_TUPLES": _mentions("namedtuple", "NamedTuple", "_fields"),
    "SAVES_OBJECTS": _saves_objects,
    "TAKES_FILES": lambda use, wanted: use.takes_files or bool({"save", "load"} & use.values),
    "NAMES_ENTRIES": _names_entries,
    "OVERRIDES_STATE": lambda use, wanted: bool({"state_dict", "load_state_dict"} & use.defined),
    "HAS_LOAD_HOOKS": lambda use, wanted: "register_load_hook" in wanted,
    "HAS_LAZY_LAYERS": lambda use, wanted: any("Lazy" in name for name in wanted),
    "HAS_FLAT_WEIGHTS": lambda use, wanted: any(
        "1d" in name.lower() or "weight_norm" in name for name in {*wanted, *use.mentioned}
    ),
    "JOINS_TRANSFORMS": lambda use, wanted: "transforms" in use.mentioned | use.stored or _prints_datasets(use, wanted),
    "PRINTS_DATASETS": _prints_datasets,
    "PACKS_SEQUENCES": lambda use, wanted: any(re.search(r"pack_|Packed", word) for word in {*use.mentioned, *wanted}),
    "HAS_DOUBLES": _has_doubles,
    "RENAMES_ENTRIES": _renames_entries,
}


@functools.cache
def part_names() -> frozenset[str]:
    tree = ast.parse(files("mindferry.apis.torch.compat").joinpath("parts.py").read_text("utf-8"))
    return frozenset(
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def with_parts(text: str, use: ProjectUse | None, wanted: Collection[str]) -> str:
    """A helper with every part decided; a project of which not everything is known, or that others import, needs them all."""
    found = [name for name in part_names() if name in text]
    if not found:
        return text
    is_open = bool(TRAINERS & set(wanted))
    values = {name: repr(use is None or use.is_library or is_open or NEEDED[name](use, wanted)) for name in found}
    offsets = Offsets(text)
    spans = [
        (offsets.start(node), offsets.end(node), values[node.id])
        for node in walk(parsed(text))
        if isinstance(node, ast.Name) and node.id in values
    ]
    decided = simplified(with_fixed_locals(simplified(offsets.edited(spans))))
    return re.sub(r"\n{3,}", "\n\n", decided).rstrip() + "\n"
