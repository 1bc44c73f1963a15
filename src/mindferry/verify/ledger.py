"""The verification ledger: what was compared, and what was not comparable or not reached. "Same" needs a ledger without gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ..artifacts import Coverage, Difference, Gap, Outcome
from ..frameworks.requests import Measured
from .beside import MANY
from .golden import FRACTIONS, Golden
from .other_settings import Settings, other_settings

SUBJECTS = {"network": "output", "parameter": "gradient", "output": "module", "init": "buffer"}
MODES = ("eval", "train")
CONTAINER = "torch.nn.modules.container"
ACTIVATION = "torch.nn.modules.activation"
DROPOUT = "torch.nn.modules.dropout"
DROPOUTS = {"dropout", "dropout1d", "dropout2d", "dropout3d", "alphadropout"}
DROPOUT = "torch.nn.modules.dropout"
ACTIVATIONS = set(
    "relu relu6 gelu silu sigmoid tanh elu celu selu leakyrelu hardswish hardsigmoid softplus mish hardtanh".split()
)
SPELLINGS = {"hswish": "hardswish", "hsigmoid": "hardsigmoid", "fastgelu": "gelu", "swish": "silu"}


def coverage(
    golden: Golden,
    measured: Measured,
    differences: Sequence[Difference],
    modes: Sequence[str],
    more: Sequence[Gap] = (),
) -> Coverage:
    """Each module, parameter, buffer, output and mode once."""
    compared = {(SUBJECTS.get(d.kind, d.kind), d.name) for d in differences if not (d.incomparable or d.note)}
    counts = Counter(subject for subject, _ in compared)
    counts["inputs"] = len({d.inputs for d in differences})
    counts["mode"] = len({d.mode for d in differences if d.mode in (*MODES, "jit", "amp")})
    gaps = [
        *_modes(golden, modes),
        *(Gap(each.subject, each.name, each.state, each.why, each.matters) for each in measured.shortfalls),
        *_incomparable(golden, differences),
        *_outputs(golden, differences),
        *_modules(golden),
        *_other_kinds(golden, measured.classes),
        *_parameters(golden, differences),
        *_branches(golden),
        *_states(golden),
        *_shared(golden),
        *_settings(golden, measured.settings),
        *more,
    ]
    return Coverage(dict(counts), tuple(dict.fromkeys(gaps)))


def outcome_of(passed: bool, ledger: Coverage) -> Outcome:
    if not passed:
        return Outcome.DIFFERENT
    return Outcome.SAME if ledger.is_complete else Outcome.PARTIAL


def _modes(golden: Golden, modes: Sequence[str]) -> Iterator[Gap]:
    for mode in MODES:
        if mode not in modes and golden.is_modal:
            yield Gap(
                "mode", mode, "not reached", "it was not asked for, and this network computes something else there"
            )


def _incomparable(golden: Golden, differences: Sequence[Difference]) -> Iterator[Gap]:
    known = {row.name for row in differences}
    for row in differences:
        is_enough = golden.drawn.get(row.name, [0.0])[0] >= MANY or is_iterated_vector(row.name, known)
        if row.mode == "init" and is_enough:
            continue  # both constructors draw it, as they should
        if row.incomparable:
            subject = SUBJECTS.get(row.kind, row.kind)
            yield Gap(subject, row.name or "the network", "not comparable", f"{row.mode}: {row.incomparable}")


def is_iterated_vector(name: str, known: Collection[str]) -> bool:
    """Whether spectral_norm draws it: torch's own code and a helper, whatever the network's says, and often one number."""
    start, _, end = name.rpartition("_")
    original = f"{start.removesuffix('.').rpartition('.')[0]}.original" if start.endswith(".") else f"{start}_orig"
    return end in ("u", "v") and original in known


def _outputs(golden: Golden, differences: Sequence[Difference]) -> Iterator[Gap]:
    if not any(row.kind in ("network", "output") for row in differences):
        yield Gap("output", "the network", "not comparable", "nothing that it returns could be compared")
    for mode, record in golden.modes.items():
        tensors = [leaf for leaf in record.structure if leaf.dtype]
        if not record.outputs:
            yield Gap("output", "the network", "not comparable", f"{mode}: it returns no tensor")
        for index, key in enumerate(record.outputs):
            reference = golden.references.get(key)
            if index in golden.moving:
                continue  # it was another number on other inputs or with other weights, and the same on both sides
            if reference is not None and reference.is_constant and golden.entries[key]["dtype"] in FRACTIONS:
                way = tensors[index].way if index < len(tensors) else ""
                why = f"{mode}: it is the same number everywhere, which says little; choose other inputs"
                yield Gap("output", way or "output", "not comparable", why)


def _modules(golden: Golden) -> Iterator[Gap]:
    called = {call.path for mode in golden.modes.values() for call in mode.calls}
    reported: list[str] = []
    for path, part in golden.parts.items():
        if not path or path in called or part.home == CONTAINER or "parametrizations" in path:
            continue
        if any(path.startswith(f"{above}.") for above in reported) or _is_used(path, golden):
            continue
        if any(_is_builtin(above, golden) and above in called for above in _above(path)):
            continue  # the parts of torch's own layers are used without being called
        matters = part.parameters > 0 or part.children > 0 or not part.home.startswith(("torch.", "keras."))
        reported.append(path)
        yield Gap("module", path, "not reached", f"{part.kind} was never called", matters)


def _other_kinds(golden: Golden, classes: Mapping[str, str]) -> Iterator[Gap]:
    """ReLU and ReLU6 agree on small values, two kinds of dropout on shared masks; that they are two functions is seen by their names."""
    for path, part in golden.parts.items():
        kinds = ACTIVATIONS if part.home == ACTIVATION else DROPOUTS if part.home == DROPOUT else set()
        if path not in classes:
            continue
        theirs, ours = (SPELLINGS.get(name.lower(), name.lower()) for name in (part.kind, classes[path]))
        if theirs != ours and theirs in kinds and ours in kinds:
            why = f"{part.kind} in torch, {classes[path]} in MindSpore: they agree on these inputs alone"
            yield Gap("module", path, "not comparable", why)


def _above(path: str) -> list[str]:
    pieces = path.split(".")
    return [".".join(pieces[:count]) for count in range(1, len(pieces))]


def _is_builtin(path: str, golden: Golden) -> bool:
    part = golden.parts.get(path)
    return part is not None and part.home.startswith("torch.nn") and part.home != CONTAINER


def _is_used(path: str, golden: Golden) -> bool:
    """Its parameters take part, by way of a function."""
    own = [name for name in golden.trainable if name.startswith(f"{path}.")]
    reached = {name for mode in golden.modes.values() for name in mode.parameters}
    return bool(own) and all(name in reached for name in own)


def _parameters(golden: Golden, differences: Sequence[Difference]) -> Iterator[Gap]:
    recorded = {name: key for mode in golden.modes.values() for name, key in mode.parameters.items()}
    if not any(mode.gradients for mode in golden.modes.values()):
        if golden.trainable:
            yield Gap("gradient", "all", "not reached", "no output depends on a parameter")
        return
    never = [gap.name for gap in _modules(golden)]
    compared = {row.name for row in differences if row.kind == "parameter"}
    if not compared:
        return  # the mode that takes gradients did not come so far, and that is said
    for name in golden.trainable:
        if any(name.startswith(f"{module}.") for module in never):
            continue
        if name not in recorded:
            yield Gap("gradient", name, "not reached", "no output depends on it")
        elif not golden.references[recorded[name]].scale:
            yield Gap("gradient", name, "not reached", "it is zero everywhere for these inputs")
        elif name not in compared:
            yield Gap("gradient", name, "not comparable", "the conversion has no parameter of its own for it")
    updated = {row.name for row in differences if row.kind == "update"}
    for name in golden.updates:
        if name not in updated:
            yield Gap("update", name, "not comparable", "the conversion has no parameter of its own for it")


def _settings(golden: Golden, converted: Settings) -> Iterator[Gap]:
    """Settings of torch's own layers that differ, and that no value showed."""
    for each in other_settings(golden, converted):
        why = f"{each.said}, which does not show on these inputs"
        yield Gap("module", each.path, "not comparable", why)


def _states(golden: Golden) -> Iterator[Gap]:
    """An attribute that only training changes is in no second call."""
    called_again = {name for record in golden.modes.values() if record.second for name in (*record.kept, *record.moved)}
    for mode, record in golden.modes.items():
        if record.draws_outside:
            why = "it draws from Python's or numpy's random numbers, and one draw was compared"
            yield Gap("random", mode, "not reached", why)
        for name in dict.fromkeys((*record.kept, *(record.moved if record.gradients else ()))):
            if name not in called_again:
                yield Gap("state", name, "not reached", f"{mode}: a call changes it, and no second call was compared")

        for place, key in record.outside.items():
            if not key:
                why = f"{mode}: a call changes it, outside of the network's modules, and one call was compared"
                yield Gap("state", place, "not reached", why)


def _shared(golden: Golden) -> Iterator[Gap]:
    for one, other in golden.shared:
        why = f"it lies in the memory of {one} in torch: a step of the one is a step of the other"
        yield Gap("update", other, "not comparable", why)


def _branches(golden: Golden) -> Iterator[Gap]:
    for each in golden.unrun:
        why = f"never ran: {each.function}, `{each.text}`"
        yield Gap("branch", f"{Path(each.file).name} line {each.line}", "not reached", why)
